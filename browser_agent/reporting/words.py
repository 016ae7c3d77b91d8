"""The words for rows: outcomes, ends of attempts, proofs, and the commands that answer a question.

A gesture whose outcome isn't settled never gets a word that sounds settled.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from textwrap import shorten
from typing import Any

from browser_agent.secrets.secret import SECRET_TAG
from browser_agent.states import TROUBLE_CODE, Answer, EndKind, GestureState, QuestionKind
from browser_agent.store.answers import allowed
from browser_agent.store.records import AttemptRow, CheckpointRow, GestureRow, ObservationRow, QuestionRow

_G = GestureState

TONES: Mapping[GestureState, tuple[str, str]] = {
    _G.INTENT: ("grey", "recorded, not made"),
    _G.DISPATCHING: ("red", "made, no verdict"),
    _G.IN_DOUBT: ("red", "made, no verdict"),
    _G.UNKNOWN: ("red", "unknown"),
    _G.ASKED: ("red", "unknown"),
    _G.HAPPENED: ("green", "happened"),
    _G.NOT_HAPPENED: ("grey", "not happened"),
    _G.REFUSED: ("grey", "refused: nothing was sent"),
    _G.REJECTED: ("amber", "rejected by the site"),
    _G.ABANDONED: ("amber", "abandoned by a person"),
}
"""The colour of a gesture's state, and its words. Red = made, and nothing is concluded yet."""

_COUNTED = {_G.ASKED: "unknown, asked", _G.REFUSED: "refused", _G.REJECTED: "rejected"}
_PROVES = {"wire": "what the gate saw on the wire", "gate": "the gate at the wire, which nothing passed"}
_ENDS = {
    0: "its worker ended by itself",
    TROUBLE_CODE: "its worker ended, since its browser, driver or machine had failed",
}
_SIGNED = "--by NAME --reason TEXT"


def counted(gestures: Iterable[GestureRow]) -> list[tuple[str, str]]:
    """How many gestures are in each state: the colour, and words such as "3 happened"; in the order of the states."""
    words = Counter((TONES[row.state][0], _COUNTED.get(row.state, TONES[row.state][1])) for row in gestures)
    order = [(tone, _COUNTED.get(state, said)) for state, (tone, said) in TONES.items()]
    return [(tone, f"{words[tone, said]} {said}") for tone, said in sorted(words, key=order.index)]


def state_in_words(row: GestureRow, *, keeper_alive: bool = True) -> str:
    """A gesture's state.

    Args:
        row: the gesture.
        keeper_alive: a living keeper may still be making it.
    """
    if row.state is _G.DISPATCHING and not keeper_alive:
        return "in doubt"
    if row.state is _G.REFUSED:  # by us: a site rejects
        return "refused: never dispatched" if row.dispatched_at is None else "refused: nothing was sent"
    return row.state.replace("_", " ")


def end_in_words(row: AttemptRow) -> str:
    """How an attempt ended."""
    if row.how is None:
        return "has not ended"
    if row.exit_code is None:
        return row.how
    return f"its worker was {row.how}" if row.exit_code < 0 else _ENDS.get(row.exit_code, row.how)


def interruptions(attempts: Sequence[AttemptRow]) -> str:
    """Which attempts were interrupted, by what and when, and whether another one resumed the run; "" if none was."""
    cut = [row for row in attempts if _was_interrupted(row)]
    if not cut:
        return ""
    causes = "; ".join(f"{end_in_words(row)} at {clock(row.ended)} UTC (attempt {row.number})" for row in cut)
    times = f"{len(cut)} interruption{'s' if len(cut) > 1 else ''}"
    return f"{'Resumed after' if cut[-1] is not attempts[-1] else 'Not resumed after'} {times}: {causes}."


def _was_interrupted(row: AttemptRow) -> bool:
    died = row.end_kind is EndKind.WORKER_ENDED and row.exit_code != 0
    return died or row.end_kind is EndKind.KEEPER_DIED


def last_confirmed(gestures: Sequence[GestureRow]) -> str:
    """The last change of a run that is known to have happened.

    Args:
        gestures: the run's gestures in their order.
    """
    happened = [row for row in gestures if row.state is _G.HAPPENED]
    if not happened:
        return "none in this run"
    values = json.loads(happened[-1].values or "{}")
    proven = ", ".join(f"{name} = {value}" for name, value in values.items())
    return happened[-1].words + (f" ({proven})" if proven else "")


def proofs_in_words(proven_by: Iterable[Any], observations: Iterable[ObservationRow]) -> list[str]:
    """What proves an outcome: an observation by its observer, its text and its look; a person's answer as stored."""
    seen = {row.id: f"{_observer(json.loads(row.observation))} (look {row.look})" for row in observations}
    return [seen.get(proof) or _PROVES.get(proof, proof) for proof in map(str, proven_by)]


def _observer(said: Mapping[str, Any]) -> str:
    """An observer; one that reads text and counts nothing is named with the text that it read."""
    texts = [] if said.get("counts") else [match["identity"] for match in said.get("matches", ())]
    return f"{said['observer']} “{shorten(texts[0], 120)}”" if texts else str(said["observer"])


def input_in_words(intent: Mapping[str, Any]) -> list[str]:
    """What a gesture has beside its target: the key, whether a box is set, the option, the files."""
    words = [f"key {intent['key']}"] if "key" in intent else []
    if "on" in intent:
        words.append("set on" if intent["on"] else "set off")
    if "option" in intent:
        words.append(f"option “{intent['option']}”" + (" (by its value)" if intent.get("by") == "value" else ""))
    files = intent.get("files", ())
    return words + [f"file {one['name']} ({one['size']:,} bytes, SHA-256 {one['sha256']})" for one in files]


def no_picture_after(row: GestureRow) -> str:
    """Why there is no picture after a gesture, if no reason is stored."""
    if row.state in {_G.INTENT, _G.REFUSED}:
        return "no picture: nothing was made"
    if row.sender_dead_at is not None:
        return f"no picture: its browser was ended at {clock(row.sender_dead_at)} UTC, before one was taken"
    return "no picture was taken"


def commands(question: QuestionRow, more: str = "") -> list[str]:
    """The exact commands that answer a question.

    Args:
        question: the open question.
        more: options to add to each command, such as `--store PATH`.
    """
    signed = f"{_SIGNED} {more}".strip()
    if question.kind in (QuestionKind.ATTEMPTS, QuestionKind.SIGNED_OUT):
        first = [f"{command} {more}".strip() for command in json.loads(question.details).get("commands", ())]
        resume = f"browser-agent resume {question.run_id} {more}".strip()
        return [*first, resume, _answer(question, Answer.ABANDON, signed)]
    if question.kind is QuestionKind.APPROVAL:
        yes_or_no = [f"browser-agent {word} {question.id} {signed}" for word in ("approve", "refuse")]
        return [*yes_or_no, _answer(question, Answer.ABANDON, signed)]
    return [_answer(question, answer, signed) for answer in Answer if answer in allowed(question)]


def checkpoints_in_words(rows: Iterable[CheckpointRow], *, unsealed: bool) -> list[str]:
    """The stored checkpoints of a run's session and page, as far as they may be shown without the key."""
    lines = [_checkpoint(row, json.loads(row.shown)) for row in rows]
    if unsealed:
        lines.append("session and pages were kept in memory only, since there was no key: browser-agent key --new")
    return lines


def _checkpoint(row: CheckpointRow, shown: Mapping[str, str]) -> str:
    stored = f"stored, encrypted, at {moment(row.at)} (attempt {row.attempt})"
    if "address" not in shown:
        return f"{row.purpose} {stored}"
    return f"{row.purpose} {stored}: “{shown['title']}” at {shown['address']}, {shown['of']}"


def needs(question: QuestionRow) -> list[str]:
    """The names of the values that the run needs if the answer is "happened"."""
    names: list[str] = json.loads(question.details).get("needs", [])
    return names


def _answer(question: QuestionRow, answer: Answer, signed: str) -> str:
    values = "".join(f" --value {name}=..." for name in needs(question)) or " [--value NAME=VALUE]..."
    words = f"browser-agent answer {question.id} {answer.replace('_', '-')} {signed}"
    return words + (values if answer is Answer.HAPPENED else "")


def moment(at: datetime | None) -> str:
    """Day and time, in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if at else "-"


def clock(at: datetime | None) -> str:
    """The time alone, in UTC."""
    return f"{at.astimezone(UTC):%H:%M:%S}" if at else "-"


def compact(value: object) -> str:
    """JSON data as one readable line."""
    if isinstance(value, Mapping):
        if SECRET_TAG in value:
            return f"secret {value[SECRET_TAG]}"
        if _tagged(value):
            return compact(next(iter(value.values())))
        return ", ".join(f"{name}: {_inside(inner)}" for name, inner in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(compact(inner) for inner in value)
    return "" if value is None else str(value)


def _inside(value: object) -> str:
    """A nested value: in brackets if it has names of its own."""
    return f"({compact(value)})" if isinstance(value, Mapping) and not _tagged(value) else compact(value)


def _tagged(value: Mapping[str, object]) -> bool:
    """Whether it is a value with its type, such as `{"$decimal": "1.5"}`."""
    return len(value) == 1 and next(iter(value)).startswith("$")
