"""`run` and `resume`: the commands that change something at the sites of a task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from browser_agent.cli import plain_text, question_text
from browser_agent.cli.desk import Desk, named_values, open_desk, resolved
from browser_agent.cli.exit_codes import Exit, exit_of
from browser_agent.cli.explanation_text import explain as explain_verdicts
from browser_agent.cli.parameters import (
    Account,
    Arguments,
    AsJson,
    Explain,
    File,
    Headed,
    KeepLooking,
    Key,
    KillAtText,
    LogFile,
    LogLevel,
    Netlog,
    Pause,
    RunId,
    Set,
    SiteUrl,
    SlowMo,
    StorePath,
)
from browser_agent.errors import InOtherHands, Misuse
from browser_agent.keeper.launch import submit
from browser_agent.keeper.preflight import check_attended
from browser_agent.options import OPEN_TASK, Ended, KillAt, Options
from browser_agent.ownership.takeover import give_to_queue
from browser_agent.processes import own_user
from browser_agent.script.arguments import parse_arguments
from browser_agent.script.task_file import load_task
from browser_agent.script.tasks import Task
from browser_agent.settings_sources import Settings
from browser_agent.states import RunState
from browser_agent.store.leases import refuse_ended
from browser_agent.store.records import QuestionRow, RunRow


def run(
    file: File,
    arguments: Arguments = None,
    *,
    site: SiteUrl = None,
    account: Account = None,
    headed: Headed = None,
    slow_mo: SlowMo = None,
    pause_before_gesture: Pause = False,
    keep_looking: KeepLooking = None,
    netlog: Netlog = None,
    kill_at: KillAtText = None,
    explain: Explain = False,
    log_level: LogLevel = None,
    log_file: LogFile = None,
    given: Set = None,
    key: Key = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Start a run of a task: it MAKES the task's changes at its sites.

    Every change is written down before it is made. After an interruption the run looks at what its last gesture
    did. If nothing can prove that, it stops and asks a person.

    Example:  browser-agent run invoices.py day=2026-11-30 --site books=http://127.0.0.1:8001 --headed
    """
    flags = {"headed": headed, "slow_mo": slow_mo, "keep_looking": keep_looking, "netlog": netlog}
    using = resolved(given, **flags, log_level=log_level, log_file=log_file).settings
    options = display(using, pause_before_gesture, kill_at)
    found = load_task(file)
    values = parse_arguments(found, named_values(arguments or [], "an argument of the task"))  # before a store is made
    desk = open_desk(store, as_json, new=True, keeps_sessions=True, using=using)
    bind(found, named_values(site or [], "a site"), named_values(account or [], "an account"), desk.settings)
    return keep_run(desk, submit(desk.store, found, values, key), options, explain=explain)


def resume(
    name: RunId,
    *,
    headed: Headed = None,
    slow_mo: SlowMo = None,
    pause_before_gesture: Pause = False,
    keep_looking: KeepLooking = None,
    netlog: Netlog = None,
    kill_at: KillAtText = None,
    queue: Annotated[
        bool, typer.Option("--queue", metavar="", help="Leave it to a worker process (`browser-agent worker`).")
    ] = False,
    explain: Explain = False,
    log_level: LogLevel = None,
    log_file: LogFile = None,
    given: Set = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Resume a run: it first LOOKS at what its last gesture did, then MAKES the changes that are left.

    Finished steps aren't made again. Sites, accounts and arguments are those that the run was started with.

    Example:  browser-agent resume last
    """
    flags = {"headed": headed, "slow_mo": slow_mo, "keep_looking": keep_looking, "netlog": netlog}
    using = resolved(given, **flags, log_level=log_level, log_file=log_file).settings
    options = display(using, pause_before_gesture, kill_at)
    desk = open_desk(store, as_json, using=using)
    if queue:
        return _queue(desk, desk.run(name))
    return keep_run(desk, desk.run(name), options, explain=explain)


def _queue(desk: Desk, row: RunRow) -> Exit:
    """Hand the run to the workers.

    Raises:
        Misuse: it is an open run, whose code no worker has.
    """
    if row.task_file == OPEN_TASK:
        raise Misuse(f"Run {row.id} was opened by other code. To resume it, open it there again with the same key.")
    give_to_queue(desk.store, row.id, own_user())
    desk.screen.say(f"Run {row.id}: {row.task_name} waits for a worker, which will look first.")
    desk.screen.document(plain_text.row(desk.store.leases.run(row.id), *plain_text.RUN))
    return Exit.FINISHED


def display(using: Settings, pause: bool = False, kill_at: str | None = None) -> Options:
    """The options with which the run is kept.

    Raises:
        Misuse: `kill_at` names no such point, or nobody can attend the run here (see `check_attended`).
    """
    options = using.options(pause_before_gesture=pause, kill_at=KillAt.parse(kill_at) if kill_at else None)
    check_attended(options)
    return options


def bind(task: Task[..., Any], urls: dict[str, str], accounts: dict[str, str], known: Settings) -> None:
    """Bind the task's sites to their addresses and accounts; the command line overrides the settings.

    Raises:
        Misuse: the task has no such site, or an address is invalid.
    """
    for name in sorted((urls.keys() | accounts.keys()) - task.sites.keys()):
        raise Misuse(f"{task} has no site {name!r}; it has: {', '.join(task.sites) or 'none'}.")
    for name, site in task.sites.items():
        held = known.sites.get(name)
        url = urls.get(name, held.url if held else None)
        account = accounts.get(name, held.account if held else None)
        try:
            site.bind(url, account)
        except ValueError as error:
            raise Misuse(f"{error}.") from error


def keep_run(desk: Desk, row: RunRow, options: Options, *, explain: bool = False) -> Exit:
    """Keep the run until it ends or waits, and print where it stands; a finished run is only printed.

    Args:
        desk: the store and the screen.
        row: the run.
        options: how it is kept.
        explain: print why each verdict is what it is, too.

    Raises:
        NotAllowed: the run was abandoned.
    """
    if row.state is RunState.FINISHED:
        desk.screen.say(f"Run {row.id} is finished already. Nothing was done.")
        ended = Ended(row.id, row.state, row.ended_by or "", row.result, (), row.attempt)
    else:
        refuse_ended(row)
        desk.screen.say(f"Run {row.id}: {row.task_name}", "bold")
        ended = keep_with_progress(desk, row.id, options)
    verdicts = {"verdicts": explain_verdicts(desk, row.id)} if explain else {}
    desk.screen.document({**document(desk, ended), **verdicts})
    close(desk, ended)
    return exit_of(ended.state)


def keep_with_progress(desk: Desk, run: str, options: Options) -> Ended:
    """Keep the run and print its live lines."""
    from browser_agent.keeper.keeper import keep  # Playwright is slow to import

    try:
        return keep(desk.store, run, options, desk.screen.print_event)
    finally:
        desk.screen.ended()


def look_with_progress(desk: Desk, run: str) -> Ended | None:
    """Look once more at what is in doubt; None if another process keeps the run, since that one looks itself."""
    from browser_agent.keeper.keeper import look

    try:
        return look(desk.store, run, desk.settings.options(), desk.screen.print_event)
    except InOtherHands:
        return None
    finally:
        desk.screen.ended()


def document(desk: Desk, ended: Ended) -> dict[str, Any]:
    """Where the run stands, as JSON data."""
    questions = [question_text.document(desk.store.inbox.question(question), desk.more) for question in ended.questions]
    return {
        "run": ended.run,
        "state": str(ended.state),
        "words": ended.words,
        "result": plain_text.loaded(ended.result),
        "attempts": ended.attempts,
        "questions": questions,
        "refused_calls": refused_calls(desk, desk.store.inbox.questions(ended.run)),
        "exit": int(exit_of(ended.state)),
        "next": _next(desk, ended),
    }


def close(desk: Desk, ended: Ended) -> None:
    """Print where the run stands: its state, its questions in full, and the command that resumes it."""
    styles = {RunState.FINISHED: "bold green", RunState.RAISED: "bold red", RunState.NEEDS_ATTENTION: "bold red"}
    desk.screen.say(
        f"\n{ended.state.replace('_', ' ').capitalize()}: {ended.words}", styles.get(ended.state, "bold yellow")
    )
    if ended.result is not None and ended.result != "null":
        desk.screen.say(f"Result: {ended.result}")
    say_refused(desk, refused_calls(desk, desk.store.inbox.questions(ended.run)))
    for question in ended.questions:
        question_text.put(desk.screen, desk.store.inbox.question(question), desk.more)
    if (command := _next(desk, ended)) and not ended.questions:
        desk.screen.say(f"Resume it with: {command}", "cyan")


def say_refused(desk: Desk, calls: int) -> None:
    """Print how many calls a person has refused in this run; nothing if none."""
    if calls:
        desk.screen.say(f"{calls} {'call was' if calls == 1 else 'calls were'} refused and NOT made.", "yellow")


def refused_calls(desk: Desk, questions: Iterable[QuestionRow]) -> int:
    """The number of calls refused in the answers to these questions, either by a no or by approving only others."""
    said = (call for question in questions for call in desk.store.approvals.of_question(question.id))
    return sum(not call.approved for call in said)


def _next(desk: Desk, ended: Ended) -> str | None:
    """The command that resumes a run; None if it has ended for good."""
    if ended.state in (RunState.FINISHED, RunState.ABANDONED):
        return None
    if ended.state is RunState.RUNNING:
        return f"browser-agent show {ended.run} {desk.more}".strip()
    return f"browser-agent resume {ended.run} {desk.more}".strip()
