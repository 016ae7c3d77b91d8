"""A run as one self-contained HTML file, for a reviewer: which changes were left behind, and how do we know?

Reads the store and writes one file; changes no row. All texts of pages are hostile: the template escapes everything,
and the file forbids itself every script and every outside address. What may never happen: a gesture that was made and
has no verdict looks settled; a mark is drawn on a stored picture.
"""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader

from browser_agent.browser.pictures import Box, NotAPicture, mark_target
from browser_agent.errors import Misuse, UnknownName
from browser_agent.records import AttemptRow, GestureRow, ObservationRow, QuestionRow, StepRow
from browser_agent.states import GestureState
from browser_agent.store import Store
from browser_agent.wire import restarts_in_words

_G = GestureState

TONES: Mapping[GestureState, tuple[str, str]] = {
    _G.INTENT: ("grey", "written down, not made"),
    _G.DISPATCHING: ("red", "made, no verdict"),
    _G.IN_DOUBT: ("red", "made, no verdict"),
    _G.UNKNOWN: ("red", "unknown"),
    _G.ASKED: ("red", "unknown"),
    _G.HAPPENED: ("green", "happened"),
    _G.NOT_HAPPENED: ("grey", "not happened"),
    _G.REFUSED: ("grey", "refused: nothing was sent"),
    _G.REJECTED: ("amber", "rejected by the site"),
    _G.ABANDONED: ("amber", "given up by a person"),
}
"""The colour of a gesture's state and its words; red = made, and nothing is concluded yet."""


@dataclass(frozen=True)
class Shot:
    """A picture as a data address, or the reason why there is none."""

    words: str
    source: str = ""
    absent: str = ""


@dataclass(frozen=True)
class Look:
    """What all observers said in one look; each observation with its pictures, by position."""

    number: int
    attempt: int
    at: datetime
    observations: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Made:
    """A gesture as it is shown."""

    row: GestureRow
    step: StepRow
    tone: str
    words: str
    proof: Sequence[str]
    reasons: Sequence[str]
    values: Mapping[str, Any]
    before: Shot
    after: Shot
    change: str
    wire: Sequence[Mapping[str, Any]]
    resent: Sequence[str]
    released: Sequence[str]
    looks: Sequence[Look]
    questions: Sequence[Mapping[str, Any]]


@dataclass
class Lane:
    """One attempt: what it read and what it made, in the order of time."""

    row: AttemptRow
    entries: list[tuple[datetime, StepRow | Made]] = field(default_factory=list)


def write_report(store: Store, run: str, path: Path) -> Path:
    """Write the report of a run.

    Args:
        store: where the run is written.
        run: its id.
        path: the file to write; an older one is replaced.

    Returns:
        The absolute path of the file.

    Raises:
        UnknownName: no such run.
        Misuse: the file could not be written.
    """
    html = _environment().get_template("report.html").render(_facts(store, run))
    target = path.expanduser().absolute()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(html, encoding="utf-8")
    except OSError as error:
        raise Misuse(f"The report {target} could not be written: {error.strerror}.") from error
    return target


def _environment() -> Environment:
    """Lenient about a missing key: what an older version stored must still be shown."""
    environment = Environment(
        loader=PackageLoader("browser_agent"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"moment": _moment, "clock": _clock, "compact": _compact}
    return environment


def _facts(store: Store, run: str) -> dict[str, Any]:
    row = store.leases.run(run)
    steps, questions = store.journal.steps(run), store.inbox.questions(run)
    made = _Gestures(store, steps, questions).all(run)
    return {
        "run": row,
        "arguments": json.loads(row.arguments),
        "sites": json.loads(row.sites),
        "result": json.loads(row.result) if row.result else None,
        "steps": [(step, [gesture for gesture in made if gesture.step.id == step.id]) for step in steps if step.writes],
        "lanes": _lanes(store.leases.attempts(run), steps, made),
        "questions": [_question(question) for question in questions if question.gesture_id is None],
        "open": [question for question in questions if question.ended_at is None],
        "red": [gesture for gesture in made if gesture.tone == "red"],
        "chain": store.verify(),
        "lines": len(store.audit_lines(run)),
        "written": datetime.now(UTC),
    }


def _lanes(attempts: Sequence[AttemptRow], steps: Iterable[StepRow], made: Sequence[Made]) -> list[Lane]:
    lanes = {row.number: Lane(row) for row in attempts}
    for step in steps:
        if not any(gesture.step.id == step.id for gesture in made):
            lanes[step.attempt].entries.append((step.began, step))
    for gesture in made:
        lanes[gesture.row.attempt].entries.append((gesture.row.intent_at, gesture))
    for lane in lanes.values():
        lane.entries.sort(key=lambda entry: entry[0])
    return list(lanes.values())


class _Gestures:
    """Puts together what the store holds of each gesture."""

    def __init__(self, store: Store, steps: Iterable[StepRow], questions: Iterable[QuestionRow]) -> None:
        self._store = store
        self._steps = {step.id: step for step in steps}
        self._questions = defaultdict[str | None, list[QuestionRow]](list)
        for question in questions:
            self._questions[question.gesture_id].append(question)

    def all(self, run: str) -> list[Made]:
        return [self._made(row) for row in self._store.journal.gestures(run)]

    def _made(self, row: GestureRow) -> Made:
        observations = self._store.journal.observations(row.id)
        colour, words = TONES[row.state]
        change = json.loads(row.change or "{}")
        target, absent = _from_corner(json.loads(row.target_box or "null")), json.loads(row.intent).get("no_picture")
        return Made(
            row=row,
            step=self._steps[row.step_id],
            tone=colour,
            words=words,
            proof=_proof(json.loads(row.proven_by or "[]"), observations),
            reasons=json.loads(row.reasons or "[]"),
            values=json.loads(row.values or "{}"),
            before=self._shot(row.before, "before", target, "target", absent),
            after=self._shot(row.after, "after", _corners(change.get("box")), "changed"),
            change=f"{change['ratio']:.1%} of the picture changed" if "ratio" in change else "",
            wire=json.loads(row.wire or "{}").get("facts", []),
            resent=restarts_in_words(row.wire),
            released=[
                f"{_clock(let_go.at)} {let_go.method} {let_go.address}"
                for let_go in self._store.journal.releases(row.id)
            ],
            looks=self._looks(observations),
            questions=[_question(question) for question in self._questions[row.id]],
        )

    def _looks(self, observations: Iterable[ObservationRow]) -> list[Look]:
        looks = defaultdict[int, list[ObservationRow]](list)
        for observation in observations:
            looks[observation.look].append(observation)
        return [
            Look(number, rows[0].attempt, rows[0].at, [self._said(json.loads(row.observation)) for row in rows])
            for number, rows in looks.items()
        ]

    def _said(self, said: dict[str, Any]) -> dict[str, Any]:
        """An observation, its evidence with pictures."""
        for seen in said.get("evidence", ()):
            if seen.get("blob"):
                box = _from_corner(seen.get("box"))
                seen["shot"] = self._shot(seen["blob"], seen["words"], box, said["observer"])
        return said

    def _shot(self, digest: str | None, words: str, box: Box | None, label: str, absent: str | None = None) -> Shot:
        if digest is None:
            return Shot(words, absent=f"no picture: {absent}" if absent else "no picture was taken")
        try:
            content, media_type = self._store.artifacts.read(digest)
            if not media_type.startswith("image/"):
                return Shot(words, absent=f"not a picture ({media_type})")
            if box is not None:
                content, media_type = mark_target(content, box, _middle(box, label), label), "image/webp"
        except (UnknownName, NotAPicture) as error:
            return Shot(words, absent=f"no picture: {error}")
        return Shot(words, f"data:{media_type};base64,{base64.b64encode(content).decode()}")


def _proof(proven_by: Iterable[Any], observations: Iterable[ObservationRow]) -> list[str]:
    """What proves it, in words: an observation by its observer and look, or a person's answer as it stands."""
    known = {row.id: f"{json.loads(row.observation)['observer']} (look {row.look})" for row in observations}
    return [known.get(str(proof), str(proof)) for proof in proven_by]


def _question(row: QuestionRow) -> dict[str, Any]:
    return {
        "row": row,
        "kind": row.kind.replace("_", " "),
        "reasons": json.loads(row.reasons),
        "calls": json.loads(row.details).get("calls", []),
        "answer": row.answer.replace("_", " ") if row.answer else None,
        "values": json.loads(row.values or "{}"),
    }


def _from_corner(box: Sequence[float] | None) -> Box | None:
    """From left, top, width, height."""
    return _corners([box[0], box[1], box[0] + box[2], box[1] + box[3]]) if box else None


def _corners(box: Sequence[float] | None) -> Box | None:
    return Box(*(round(side) for side in box)) if box else None


def _middle(box: Box, label: str) -> tuple[int, int] | None:
    """The point of a click; only a target has one."""
    return ((box.left + box.right) // 2, (box.top + box.bottom) // 2) if label == "target" else None


def _moment(at: datetime | None) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if at else "-"


def _clock(at: datetime | None) -> str:
    return f"{at.astimezone(UTC):%H:%M:%S}" if at else "-"


def _compact(value: object) -> str:
    """JSON data in a line that reads well."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_compact(inner)}" for name, inner in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(_compact(inner) for inner in value)
    return "" if value is None else str(value)
