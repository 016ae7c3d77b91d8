"""`temporal`: workers for Temporal's queues, and commands to start, answer, resume and schedule runs there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from browser_agent.cli.answer import ANSWERS, answer_of
from browser_agent.cli.desk import named_values, open_desk, resolved
from browser_agent.cli.exit_codes import Exit
from browser_agent.cli.parameters import (
    Account,
    Arguments,
    AsJson,
    By,
    File,
    Given,
    Hours,
    KillAtText,
    Only,
    Override,
    QuestionId,
    Reason,
    RunId,
    Set,
    SiteUrl,
    StorePath,
    UntilDone,
)
from browser_agent.cli.run import bind, display
from browser_agent.cli.screen import Screen
from browser_agent.errors import Misuse, installing
from browser_agent.keeper.launch import submit as write_down
from browser_agent.ownership.watchdog import Watchdog
from browser_agent.script.arguments import parse_arguments
from browser_agent.script.task_file import load_task
from browser_agent.settings_sources import Settings
from browser_agent.states import RunState

if TYPE_CHECKING:
    from browser_agent.keeper.temporal.client import TemporalAddress
    from browser_agent.keeper.temporal.messages import Limits, ScheduledRun
    from browser_agent.store import Store

Address = Annotated[
    str | None, typer.Option("--address", metavar="HOST:PORT", help="Where Temporal is (localhost:7233).")
]
Namespace = Annotated[str | None, typer.Option("--namespace", help="The namespace there (default).")]
Queue = Annotated[str | None, typer.Option("--queue", help="The task queue of the browser workers (browser-agent).")]


def worker(
    *,
    browsers: Annotated[
        int, typer.Option("--browsers", min=1, help="How many runs to carry out at the same time.")
    ] = 1,
    kill_at: KillAtText = None,
    address: Address = None,
    namespace: Namespace = None,
    queue: Queue = None,
    given: Set = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Run a browser worker: carry out runs that Temporal assigns, and MAKE their changes, until Ctrl-C.

    Each attempt first looks at what is in doubt. If this process dies or is silent, Temporal assigns its runs to
    another. It also attests which attempts of this machine are dead, so that others may rely on it.

    Example:  browser-agent temporal worker --browsers 2
    """
    using = _using(given, address, namespace, queue)
    options = display(using, kill_at=kill_at)
    door = _door()
    from browser_agent.keeper.temporal.browser_activities import BrowserActivities

    desk = open_desk(store, as_json, new=True, keeps_sessions=True, using=using)

    async def serve() -> None:
        client = await door.connect(_temporal_address(using))
        desk.screen.progress(f"Waiting for runs in {using.temporal_queue}, up to {browsers} at once.")

        def submit_wanted(wanted: ScheduledRun, day: str) -> str:
            return _submit_wanted(desk.store, using, wanted, day)

        activities = BrowserActivities(
            client, desk.store, options, at_once=browsers, submit=submit_wanted, on_event=desk.screen.print_event
        )
        await door.serve(activities.worker(using.temporal_queue))

    with Watchdog(desk.store, options, desk.screen.print_event).running():
        asyncio.run(serve())
    return Exit.FINISHED


def workflows(
    *,
    address: Address = None,
    namespace: Namespace = None,
    queue: Queue = None,
    given: Set = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Run a workflow worker: it decides what comes next in each run, and needs no browser. At least one must run.

    It is a process of its own, so that a browser worker's death doesn't delay the decision who resumes its runs.

    Example:  browser-agent temporal workflows
    """
    using = _using(given, address, namespace, queue)
    door = _door()
    from browser_agent.keeper.temporal.store_activities import StoreActivities

    desk = open_desk(store, as_json, new=True, using=using)

    async def serve() -> None:
        client = await door.connect(_temporal_address(using))
        desk.screen.progress(f"Serving the workflows of {using.temporal_queue}.")
        await door.serve(StoreActivities(client, desk.store).worker(using.temporal_queue))

    asyncio.run(serve())
    return Exit.FINISHED


def submit(
    file: File,
    arguments: Arguments = None,
    *,
    site: SiteUrl = None,
    account: Account = None,
    key: Annotated[
        str | None,
        typer.Option("--key", help="Your own name for this work, and the id of its workflow: never started twice."),
    ] = None,
    address: Address = None,
    namespace: Namespace = None,
    queue: Queue = None,
    given: Set = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Queue a run and start its workflow; a browser worker then MAKES its changes. Returns at once.

    Example:  browser-agent temporal submit invoices.py day=2026-11-30 --key invoices-2026-11-30
    """
    using = _using(given, address, namespace, queue)
    door, where = _door(), _temporal_address(using)
    found = load_task(file)
    values = parse_arguments(found, named_values(arguments or [], "an argument of the task"))
    desk = open_desk(store, as_json, new=True, using=using)
    bind(found, named_values(site or [], "a site"), named_values(account or [], "an account"), using)

    async def start() -> Exit:
        client = await door.connect(where)
        row = write_down(desk.store, found, values, key)
        new = await door.start(client, row, where, _limits(using))
        workflow = door.workflow_id(row)
        desk.screen.say(f"Run {row.id}: {row.task_name}", "bold")
        desk.screen.say(f"Workflow {workflow} {'was started' if new else 'exists already; nothing was started'}.")
        desk.screen.document({"run": row.id, "workflow": workflow, "started": new})
        return Exit.FINISHED

    return asyncio.run(start())


WORDS = (*ANSWERS, "approve", "refuse")
"""The answers that the command line accepts."""


def answer(
    question: QuestionId,
    word: Annotated[
        str,
        typer.Argument(
            metavar="WORD", help=f"One of: {', '.join(WORDS)}. The question itself lists which of these it takes."
        ),
    ],
    *,
    by: By,
    reason: Reason,
    value: Given = None,
    override: Override = False,
    only: Only = None,
    until_done: UntilDone = False,
    hours: Hours = None,
    address: Address = None,
    namespace: Namespace = None,
    given: Set = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Answer a question through its workflow: a browser worker LOOKS once more, then resumes the run.

    The workflow also notices an answer that is given to the store (`browser-agent answer ID ... --no-resume`).

    Example:  browser-agent temporal answer q-7k2m9 happened --by ann --reason "it is on the list" --value number=INV-7
    """
    using, said = _using(given, address, namespace, None), answer_of(word, WORDS)
    door = _door()
    from browser_agent.keeper.temporal.messages import Reply

    desk = open_desk(store, as_json, using=using)
    row = desk.store.leases.run(desk.store.inbox.question(question).run_id)
    values = named_values(value or [], "a value")
    consent: dict[str, Any] = {"only": only or [], "until_done": until_done, "hours": hours}
    reply = Reply(question, str(said), by, reason, values, override, **consent)

    async def give() -> Exit:
        found = await door.answer(await door.connect(_temporal_address(using)), row, reply)
        taken = desk.store.inbox.question(question)
        settled = f"One more look settled it: {taken.reason}. Your answer was not recorded."
        desk.screen.say(f"Answer recorded: {word}, by {by}." if taken.answer else settled, "green")
        desk.screen.document({"question": question, "taken": taken.answer is not None, "run": row.id})
        return Exit.STOPPED if found.state == RunState.ABANDONED else Exit.FINISHED

    return asyncio.run(give())


def resume(
    name: RunId,
    *,
    address: Address = None,
    namespace: Namespace = None,
    queue: Queue = None,
    given: Set = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Resume a run that has raised, or whose workers have died too often. A browser worker LOOKS first.

    Example:  browser-agent temporal resume last
    """
    using = _using(given, address, namespace, queue)
    door = _door()
    desk = open_desk(store, as_json, using=using)
    row = desk.run(name)

    async def resume_workflow() -> Exit:
        await door.resume(await door.connect(_temporal_address(using)), row, _temporal_address(using), _limits(using))
        desk.screen.say(f"Workflow {door.workflow_id(row)} resumes run {row.id}.")
        desk.screen.document({"run": row.id, "workflow": door.workflow_id(row)})
        return Exit.FINISHED

    return asyncio.run(resume_workflow())


def schedule(
    name: Annotated[str, typer.Argument(help="Your name for the schedule.")],
    file: File,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="name=value ...", help="The task's arguments; {day} is the day that it was due."),
    ] = None,
    *,
    cron: Annotated[list[str], typer.Option("--cron", metavar="WHEN", help="When, as cron writes it, in UTC.")],
    key: Annotated[
        str,
        typer.Option("--key", help="The name of each run, with {day} in it: one run a day, however often it fires."),
    ],
    site: SiteUrl = None,
    account: Account = None,
    address: Address = None,
    namespace: Namespace = None,
    queue: Queue = None,
    given: Set = None,
    as_json: AsJson = False,
) -> Exit:
    """Run a task on a schedule. A browser worker submits each run when it is due, and MAKES its changes.

    Example:  browser-agent temporal schedule daily invoices.py day={day} --key "invoices {day}" --cron "0 6 * * *"
    """
    using = _using(given, address, namespace, queue)
    door = _door()
    from browser_agent.keeper.temporal.messages import ScheduledRun

    found = load_task(file)
    if "{day}" not in key:
        raise Misuse(f"The key {key!r} is the same every day, so it would mean one single run: write {{day}} in it.")
    wanted = ScheduledRun(
        f"{found.file}:{found.name}",
        key,
        named_values(arguments or [], "an argument of the task"),
        named_values(site or [], "a site"),
        named_values(account or [], "an account"),
    )
    parse_arguments(found, _of_day(wanted.arguments, "2026-01-01"))
    screen = Screen(as_json)

    async def make() -> Exit:
        client = await door.connect(_temporal_address(using))
        await door.schedule(client, name, wanted, cron=cron, at=_temporal_address(using), limits=_limits(using))
        screen.say(f"Schedule {name} starts {found.name} at: {'; '.join(cron)} (UTC).")
        screen.document({"schedule": name, "task": wanted.task})
        return Exit.FINISHED

    return asyncio.run(make())


def _submit_wanted(store: Store, using: Settings, wanted: ScheduledRun, day: str) -> str:
    """Submit the run that is due on that day, unless it was submitted before. Returns its id."""
    found = load_task(wanted.task)
    bind(found, dict(wanted.sites), dict(wanted.accounts), using)
    row = write_down(store, found, _of_day(wanted.arguments, day), wanted.key.replace("{day}", day))
    return row.id


def _of_day(arguments: Mapping[str, str], day: str) -> dict[str, str]:
    return {name: value.replace("{day}", day) for name, value in arguments.items()}


def _door() -> ModuleType:
    """The module that talks to Temporal.

    Raises:
        Misuse: its package isn't installed.
    """
    try:
        from browser_agent.keeper.temporal import client as temporal
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "temporalio":
            raise
        raise Misuse(f"Temporal needs a package of its own; {installing('temporal')}. Nothing was done.") from error
    return temporal


def _using(given: list[str] | None, address: str | None, namespace: str | None, queue: str | None) -> Settings:
    return resolved(given, temporal_address=address, temporal_namespace=namespace, temporal_queue=queue).settings


def _temporal_address(using: Settings) -> TemporalAddress:
    from browser_agent.keeper.temporal.client import TemporalAddress

    return TemporalAddress(using.temporal_address, using.temporal_namespace, using.temporal_queue)


def _limits(using: Settings) -> Limits:
    from browser_agent.keeper.temporal.messages import Limits

    return Limits(heartbeat_seconds=using.temporal_heartbeat, attempts=using.attempts)
