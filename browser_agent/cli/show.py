"""`runs`, `show`, `inbox`, `report` and `audit`: commands that only read the store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from browser_agent.cli import plain_text, question_text
from browser_agent.cli.desk import Desk, open_desk
from browser_agent.cli.exit_codes import Exit
from browser_agent.cli.explanation_text import explain as explain_verdicts
from browser_agent.cli.parameters import AsJson, Explain, RunId, StorePath
from browser_agent.cli.plain_text import loaded, one_line, values_in_words
from browser_agent.errors import Misuse
from browser_agent.ownership.liveness import worker_alive
from browser_agent.ownership.takeover import keeper_alive
from browser_agent.reporting.words import checkpoints_in_words, state_in_words
from browser_agent.states import GestureState, QuestionState, RunState
from browser_agent.store.checkpoints import PAGE
from browser_agent.store.records import GestureRow, QuestionRow, RunRow
from browser_agent.wire import restarts_in_words
from observers.session import SESSION_STORAGE

MOST_RUNS = 20
_COLUMNS = {"run": True, "task": False, "state": True, "attempts": True, "created (UTC)": True, "key": False}
"""The columns of `runs`; True = a cell is never wrapped."""


def runs(
    every: Annotated[
        bool, typer.Option("--all", metavar="", help=f"List all runs, not only the {MOST_RUNS} newest.")
    ] = False,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """List the newest runs; with --all or --json all of them. Changes nothing.

    Example:  browser-agent runs
    """
    desk = open_desk(store, as_json)
    rows = desk.store.leases.runs()
    shown = rows if every or as_json else rows[:MOST_RUNS]
    alive = {row.id: keeper_alive(desk.store, row) for row in shown}
    asked = {question.run_id for question in desk.store.inbox.questions(open_only=True)}
    answered = {row.id for row in shown if question_text.is_answered(row, asked)}
    desk.screen.table(_table(shown, alive, answered))
    for row in (row for row in shown if row.state is RunState.NEW and row.not_before is not None):
        desk.screen.say(f"{row.id}: no worker takes it before {row.not_before:%Y-%m-%d %H:%M:%S} UTC", "dim")
    for row in (row for row in shown if alive[row.id] is False):
        desk.screen.say(f"{row.id}: {question_text.keeper_is_dead(row, desk.more)}", "yellow")
    for row in (row for row in shown if row.id in answered):
        desk.screen.say(f"{row.id}: answered; {_how_it_resumes(desk, row)}", "cyan")
    if len(shown) < len(rows):
        desk.screen.say(f"{len(rows) - len(shown)} older ones: browser-agent runs --all {desk.more}".strip(), "dim")
    desk.screen.document([{**plain_text.row(row, *plain_text.RUN), "keeper_alive": alive[row.id]} for row in shown])
    return Exit.FINISHED


def _how_it_resumes(desk: Desk, run: RunRow) -> str:
    return question_text.how_it_resumes(run, desk.more, worker_alive=worker_alive(desk.store))


def _table(rows: list[RunRow], alive: dict[str, bool | None], answered: set[str]) -> Table:
    """The runs as a table 80 columns wide; an id is never cut."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name, whole in _COLUMNS.items():
        table.add_column(name, no_wrap=whole, overflow="fold")
    for row in rows:
        cells = (
            row.id,
            row.task_name,
            "answered" if row.id in answered else _state(row, alive[row.id]),
            str(row.attempt),
            f"{row.created:%Y-%m-%d %H:%M}",
            row.key or "",
        )
        table.add_row(*(one_line(cell) for cell in cells))
    return table


def _state(row: RunRow, alive: bool | None) -> str:
    """A run's state for people: "queued" if it waits for a worker, "interrupted" if its keeper is dead."""
    if alive is False:
        return "interrupted"
    return "queued" if row.queued and row.state is RunState.NEW else row.state.replace("_", " ")


def show(
    name: RunId,
    checkpoint: Annotated[
        bool, typer.Option("--checkpoint", metavar="", help="Decrypt and show the state of its last page.")
    ] = False,
    explain: Explain = False,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Show a run: its attempts, steps, gestures and their outcomes, and its open question. Changes nothing.

    Example:  browser-agent show last
    """
    desk = open_desk(store, as_json)
    run = desk.run(name)
    alive, questions = keeper_alive(desk.store, run), desk.store.inbox.questions(run.id)
    _show_run(desk, run, questions, alive)
    page = _page(desk, run) if checkpoint else None
    _show_steps(desk, run, questions, alive)
    verdicts = {"verdicts": explain_verdicts(desk, run.id)} if explain else {}
    for question in (question for question in questions if question.ended_at is None):
        question_text.put(desk.screen, question, desk.more)
    stored_page = {"checkpoint": page} if checkpoint else {}
    desk.screen.document({**_document(desk, run, questions, alive), **stored_page, **verdicts})
    return Exit.FINISHED


def _show_run(desk: Desk, run: RunRow, questions: list[QuestionRow], alive: bool | None) -> None:
    """The run itself, what continues it, its attempts and its stored sessions."""
    answered = question_text.is_answered(run, [question.run_id for question in questions if question.ended_at is None])
    state = "answered" if answered else run.state.replace("_", " ")
    desk.screen.say(f"Run {run.id}: {run.task_name}  {state}", "bold")
    desk.screen.say(f"  arguments {run.arguments}\n  sites {run.sites}")
    if run.ended_by:
        desk.screen.say(f"  {run.ended_by}")
    if answered:
        desk.screen.say(f"  answered; {_how_it_resumes(desk, run)}", "cyan")
    if alive is False:
        desk.screen.say(f"  {question_text.keeper_is_dead(run, desk.more)}", "bold yellow")
    for attempt in desk.store.leases.attempts(run.id):
        desk.screen.say(f"  attempt {attempt.number}  {attempt.began:%H:%M:%S}  {attempt.how or 'has not ended'}")
    kept = desk.store.checkpoints
    for line in checkpoints_in_words(kept.rows(run.id), unsealed=kept.unsealed(run.id)):
        desk.screen.say(f"  {one_line(line)}")


def _document(desk: Desk, run: RunRow, questions: list[QuestionRow], alive: bool | None) -> dict[str, Any]:
    """The run as JSON data."""
    gestures = desk.store.journal.gestures(run.id)
    return {
        "run": {**plain_text.row(run, *plain_text.RUN), "keeper_alive": alive},
        "attempts": [plain_text.row(attempt, *plain_text.ATTEMPT) for attempt in desk.store.leases.attempts(run.id)],
        "steps": [
            {
                **plain_text.row(step, *plain_text.STEP),
                "gestures": [plain_text.row(made, *plain_text.GESTURE) for made in gestures if made.step_id == step.id],
            }
            for step in desk.store.journal.steps(run.id)
        ],
        "questions": [question_text.document(question, desk.more) for question in questions],
    }


def _page(desk: Desk, run: RunRow) -> dict[str, Any] | None:
    """The state of the run's last page. The session's contents aren't shown: only browsers get them."""
    if not desk.store.checkpoints.sealed:
        raise Misuse("There is no key here that can decrypt a checkpoint. See: browser-agent key")
    found = desk.store.checkpoints.last(run.id, PAGE)
    if found is None:
        desk.screen.say("  No page is stored.")
        return None
    desk.screen.say(f"  The last page: {one_line(found['title'])}  {one_line(found['address'])}", "bold")
    desk.screen.say(f"    scrolled to {found['scroll'][0]}, {found['scroll'][1]}")
    for field in found["fields"]:
        value = "(withheld)" if field["withheld"] else one_line(field["value"])
        desk.screen.say(f"    {one_line(field['name'] or field['kind'])}: {value}")
    return {name: value for name, value in found.items() if name != SESSION_STORAGE}


def inbox(store: StorePath = None, as_json: AsJson = False) -> Exit:
    """List what waits for a person, oldest first, with evidence and the commands to answer. Changes nothing.

    Example:  browser-agent inbox
    """
    desk = open_desk(store, as_json)
    questions = desk.store.inbox.questions(open_only=True)
    runs_of = {question.run_id: desk.store.leases.run(question.run_id) for question in questions}
    alive = {name: keeper_alive(desk.store, run) for name, run in runs_of.items()}
    for question in questions:
        question_text.put(desk.screen, question, desk.more)
        if alive[question.run_id] is False:
            desk.screen.say(f"  {question_text.keeper_is_dead(runs_of[question.run_id], desk.more)}", "bold yellow")
    if not questions:
        desk.screen.say("Nothing waits for a person.")
    desk.screen.document(
        [
            {**question_text.document(question, desk.more), "keeper_alive": alive[question.run_id]}
            for question in questions
        ]
    )
    return Exit.FINISHED


def report(
    name: RunId,
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.", dir_okay=False)] = Path(
        "run.html"
    ),
    explain: Explain = False,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Write a report of a run, with its pictures, as one self-contained HTML file. Changes no run.

    Example:  browser-agent report last -o run.html
    """
    from browser_agent.reporting.html_report import write_report

    desk = open_desk(store, as_json)
    run = desk.run(name)
    written = write_report(desk.store, run.id, output, desk.more, explain=explain)
    desk.screen.say(f"Written: {written}")
    desk.screen.document({"run": run.id, "report": str(written)})
    return Exit.FINISHED


def audit_verify(store: StorePath = None, as_json: AsJson = False) -> Exit:
    """Check the hashes of the audit log and of every stored picture. Changes nothing; exit code 1 if one is wrong.

    It finds changed, removed and inserted lines. It can't find a cut tail, nor a log that was rewritten as a whole.

    Example:  browser-agent audit verify
    """
    desk = open_desk(store, as_json)
    chain, missing = desk.store.verify(), desk.store.artifacts.missing()
    holds = not chain.broken and not missing
    desk.screen.say(f"{chain.size} lines, head {chain.head}")
    for place in chain.broken:
        desk.screen.say(f"  line {place.seq}: {place.because}", "red")
    for digest in missing:
        desk.screen.say(f"  picture or page copy {digest}: missing or altered", "red")
    desk.screen.say(
        "The log is intact." if holds else "Something was ALTERED or is missing.", "green" if holds else "bold red"
    )
    broken = [{"line": place.seq, "because": place.because} for place in chain.broken]
    desk.screen.document(
        {"holds": holds, "lines": chain.size, "head": chain.head, "broken": broken, "missing": missing}
    )
    return Exit.FINISHED if holds else Exit.RAISED


def audit_show(
    name: Annotated[str | None, typer.Argument(metavar="[RUN]", help='One run, or "last"; all by default.')] = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Print the audit log, line by line. Changes nothing.

    Example:  browser-agent audit show last
    """
    desk = open_desk(store, as_json)
    lines = desk.store.audit_lines(desk.run(name).id if name else None)
    for line in lines:
        desk.screen.say(_line(line))
    desk.screen.document(lines)
    return Exit.FINISHED


def _show_steps(desk: Desk, run: RunRow, questions: list[QuestionRow], alive: bool | None) -> None:
    """The steps of a run, each with its gestures."""
    gestures, answers = desk.store.journal.gestures(run.id), desk.store.inbox.settling_answers(run.id)
    asked = {question.gesture_id: question for question in questions if question.state is QuestionState.OPEN}
    current_attempt = run.attempt if run.state is RunState.RUNNING and alive is not False else 0
    for step in desk.store.journal.steps(run.id):
        value = values_in_words(loaded(step.value))
        ended = f"  -> {value}" if value else f"  raised {one_line(step.raised)}" if step.raised else ""
        desk.screen.say(f"  {step.seq:>3}  {one_line(step.words)}  {step.state}{ended}")
        for gesture in (gesture for gesture in gestures if gesture.step_id == step.id):
            known = _known(gesture, answers.get(gesture.id), asked.get(gesture.id))
            _show_gesture(desk, gesture, known, keeper_alive=gesture.attempt == current_attempt)
            if gesture.reverse is not None and gesture.state is GestureState.HAPPENED:
                command = f"browser-agent reverse {run.id} {step.id} {desk.more}".strip()
                desk.screen.say(f"       {gesture.reverse} reverses it: {command}", "dim")


def _show_gesture(desk: Desk, gesture: GestureRow, known: str, *, keeper_alive: bool) -> None:
    state = state_in_words(gesture, keeper_alive=keeper_alive)
    states = f"{state}{'' if gesture.count is None else f' (count {gesture.count})'}"
    desk.screen.say(f"       {gesture.kind} (attempt {gesture.attempt}): {one_line(gesture.words)}: {states}{known}")
    for restart in restarts_in_words(gesture.wire):
        desk.screen.say(f"       at the wire: {one_line(restart)}")


def _known(gesture: GestureRow, answer: QuestionRow | None, asked: QuestionRow | None) -> str:
    """The reason why a gesture's state is known.

    Args:
        gesture: the gesture.
        answer: the answered question that settled it.
        asked: the open question about it.
    """
    if asked is not None and gesture.state is GestureState.ASKED:
        return f": {asked.id} waits in the inbox"
    if answer is not None:
        return f", as answered by {one_line(answer.by)}: {one_line(answer.reason)}"
    reasons = loaded(gesture.reasons) or []
    return f", known by: {one_line(reasons[0])}" if reasons else ""


_FIRST = ("seq", "at", "kind", "run", "monotonic", "attempt")


def _line(line: dict[str, Any]) -> str:
    rest = ", ".join(
        f"{name}={one_line(fact, 120)}" for name, fact in line.items() if name not in _FIRST and fact != []
    )
    attempt = f" [attempt {line['attempt']}]" if "attempt" in line else ""
    return f"{line['seq']:>5}  {line['at']}  {line.get('run') or '-'}{attempt}  {line['kind']}  {rest}"
