"""A question for a person: what is unknown and why, what was seen, and the commands that answer it."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from browser_agent.cli import plain_text
from browser_agent.cli.plain_text import one_line
from browser_agent.cli.screen import Screen
from browser_agent.options import OPEN_TASK
from browser_agent.reporting.words import commands, needs
from browser_agent.script.steps import WORDS
from browser_agent.states import Answer, QuestionKind, RunState
from browser_agent.store.address import shown
from browser_agent.store.answers import DECLARE, allowed
from browser_agent.store.records import QuestionRow, RunRow


def put(screen: Screen, question: QuestionRow, more: str = "") -> None:
    """Print a question in full.

    Args:
        screen: where it is printed.
        question: the open question.
        more: further options for the answer command, such as `--store PATH`.
    """
    data = plain_text.row(question, *plain_text.QUESTION)
    screen.say()
    screen.say(f"Question {question.id}  ({question.kind.replace('_', ' ')}, run {question.run_id})", "bold yellow")
    screen.say(f"  {question.words}", "bold")
    if question.kind is QuestionKind.APPROVAL:
        _listed(screen, "Exactly these would be made", _calls(data), numbered=True)
    else:
        _listed(screen, "Why you are asked", data["reasons"])
    _listed(screen, "What was seen", [line for seen in data["evidence"] for line in _evidence(seen)])
    if question.kind is not QuestionKind.APPROVAL:
        screen.say(f"  Last confirmed: {question.last_confirmed or 'nothing in this run so far'}")
    if question.kind is QuestionKind.OUTCOME and Answer.NOT_HAPPENED in allowed(question):
        screen.say(f"  Earliest safe time to answer not-happened: {_when(question.earliest_safe)}")
    if names := needs(question):
        screen.say(f"  If it happened, the run needs its: {', '.join(names)}")
    _listed(screen, "What would have avoided this question, declared in the task", data["details"].get(DECLARE, []))
    if question.safe_step:
        screen.say(f"  Safe next step: {question.safe_step}")
    screen.say("  To answer:")
    for command in commands(question, more):
        screen.say(f"    {command}", "cyan")


def document(question: QuestionRow, more: str = "") -> dict[str, Any]:
    """The question as JSON data."""
    return {**plain_text.row(question, *plain_text.QUESTION), "commands": commands(question, more)}


def keeper_is_dead(run: RunRow, more: str = "") -> str:
    """What to do about a run whose state is "running" although its keeper is dead."""
    if run.task_file == OPEN_TASK:
        return "its process is dead; to resume it, open it there again with the same key. It looks first"
    if run.queued:
        return "its keeper is dead; the next `browser-agent worker` resumes the run, and looks first"
    command = f"browser-agent resume {run.id} {more}".strip()
    return f"its keeper is dead; `{command}` resumes the run, and looks first"


def is_answered(run: RunRow, asked: Collection[str]) -> bool:
    """Whether a run is still waiting although none of its questions is open any more.

    Args:
        run: the run.
        asked: the ids of the runs that have an open question.
    """
    return run.state is RunState.WAITING and run.id not in asked


def how_it_resumes(run: RunRow, more: str = "", *, worker_alive: bool) -> str:
    """How a run continues whose questions are all answered."""
    if run.task_file == OPEN_TASK:
        return "to resume it, open it there again with the same key"
    if run.queued and worker_alive:
        return "a worker will resume the run"
    if run.queued:
        return f"the run waits for a worker; start one with: browser-agent worker {more}".strip()
    return f"resume the run with: browser-agent resume {run.id} {more}".strip()


def store_option(where: Path | str, default: Path | str) -> str:
    """The option with which a printed command finds the same store. Never has a password: libpq has places for it."""
    return "" if where == default else f"--store {shlex.quote(shown(where))}"


def _calls(data: Mapping[str, Any]) -> list[str]:
    """The calls with all their arguments, never shortened, because a person answers for them."""
    return [_call(call) for call in data["details"]["calls"]]


def _call(call: Mapping[str, str]) -> str:
    """The call as it is written in the task; if that was shortened, the step with its stored arguments."""
    if len(call["words"]) < WORDS:
        return call["words"]
    name = call["step"].rpartition("@")[0]  # without the version
    return f"{name} {call['arguments']}"


def _listed(screen: Screen, title: str, lines: list[str], *, numbered: bool = False) -> None:
    if lines:
        screen.say(f"  {title}:")
    for number, line in enumerate(lines, 1):
        screen.say(f"    {f'{number}.' if numbered else '-'} {line}")


def _evidence(seen: Mapping[str, Any]) -> Iterator[str]:
    address = f" ({seen['address']})" if seen.get("address") else ""
    text = f": {one_line(seen['text'], 400)}" if seen.get("text") else ""
    picture = " [picture: see `browser-agent report`]" if seen.get("blob") else ""
    yield f"{one_line(seen.get('words', ''))}{address}{text}{picture}"
    for row in seen.get("rows") or ():
        yield "  " + " | ".join(f"{name}: {one_line(value, 60)}" for name, value in row.items())


def _when(moment: datetime | None) -> str:
    if moment is None:
        return "unknown, because the site does not declare `late_commit`: how late it may still carry out a request"
    left = (moment - datetime.now(UTC)).total_seconds()
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC ({f'in {left:.0f} s' if left > 0 else 'it has passed'})"
