"""The report of a run: one self-contained HTML file that says which changes it left behind, and how that is known.

Text from pages is hostile: the template escapes everything, and the file's own policy forbids scripts and outside
addresses. A gesture that was made and has no verdict never looks settled. Marks are drawn on copies of the pictures.
"""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader

from browser_agent.browser.image import Box, NotAPicture, decode, mark_target
from browser_agent.errors import Misuse, UnknownName
from browser_agent.reporting.explanation import Explanation, explanations
from browser_agent.reporting.words import (
    TONES,
    checkpoints_in_words,
    clock,
    commands,
    compact,
    counted,
    end_in_words,
    input_in_words,
    interruptions,
    moment,
    no_picture_after,
    proofs_in_words,
)
from browser_agent.states import GestureState
from browser_agent.store import Store
from browser_agent.store.answers import DECLARE
from browser_agent.store.records import AttemptRow, GestureRow, ObservationRow, QuestionRow, StepRow
from browser_agent.wire import restarts_in_words

MOST_OF_A_PICTURE = 0.6
"""A change that covers more of the picture is stated, not framed: a frame around everything points at nothing."""


@dataclass(frozen=True)
class Figure:
    """A picture as a data URL, or the reason why there is none."""

    words: str
    source: str = ""
    absent: str = ""


@dataclass(frozen=True)
class ShownLook:
    """One look: what each observer said, with its pictures."""

    number: int
    attempt: int
    at: datetime
    observations: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class ShownGesture:
    """A gesture with everything that the report shows of it."""

    row: GestureRow
    step: StepRow
    tone: str
    words: str
    proof: Sequence[str]
    proven_in: Sequence[int]
    reasons: Sequence[str]
    page_said: Sequence[str]
    values: Mapping[str, Any]
    input: Sequence[str]
    before: Figure
    after: Figure
    change: str
    wire: Sequence[Mapping[str, Any]]
    restarts: int | None
    resent: Sequence[str]
    released: Sequence[str]
    looks: Sequence[ShownLook]
    questions: Sequence[Mapping[str, Any]]
    approved: str


@dataclass
class AttemptLane:
    """One attempt: what it read and made, in the order of time."""

    row: AttemptRow
    entries: list[tuple[datetime, StepRow | ShownGesture]] = field(default_factory=list)


def write_report(store: Store, run: str, path: Path, more: str = "", *, explain: bool = False) -> Path:
    """Write the report of a run.

    Args:
        store: the run's store.
        run: its id.
        path: the file to write; an existing one is replaced.
        more: options to add to each command in it, such as `--store PATH`.
        explain: show the conditions of each verdict unfolded.

    Returns:
        The absolute path of the file.

    Raises:
        UnknownName: no such run.
        Misuse: the file could not be written.
    """
    html = _environment(more).get_template("report.html").render(_facts(store, run), explain=explain)
    target = path.expanduser().absolute()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(html, encoding="utf-8")
    except OSError as error:
        raise Misuse(f"The report {target} could not be written: {error.strerror}.") from error
    return target


def _environment(more: str) -> Environment:
    """Missing keys are allowed: what an older version stored must still be shown."""
    environment = Environment(
        loader=PackageLoader("browser_agent.reporting"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"moment": moment, "clock": clock, "compact": compact, "ended": end_in_words}
    environment.filters["commands"] = partial(commands, more=more)
    return environment


def _facts(store: Store, run: str) -> dict[str, Any]:
    row, lines = store.leases.run(run), store.audit_lines(run)
    steps, questions = store.journal.steps(run), store.inbox.questions(run)
    made = _Gestures(store, steps, questions).all(run)
    attempts = store.leases.attempts(run)
    return {
        "run": row,
        "arguments": json.loads(row.arguments),
        "sites": json.loads(row.sites),
        "result": json.loads(row.result) if row.result else None,
        "steps": [(step, [gesture for gesture in made if gesture.step.id == step.id]) for step in steps if step.writes],
        "lanes": _lanes(attempts, steps, made),
        "counts": counted(gesture.row for gesture in made),
        "interruptions": interruptions(attempts),
        "questions": [_question(store, question) for question in questions if question.gesture_id is None],
        "open": [question for question in questions if question.ended_at is None],
        "red": [gesture for gesture in made if gesture.tone == "red"],
        "checkpoints": checkpoints_in_words(store.checkpoints.rows(run), unsealed=store.checkpoints.unsealed(run)),
        "chain": store.verify(),
        "lines": len(lines),
        "explanations": _by_gesture(explanations(lines)),
        "written": datetime.now(UTC),
    }


def _by_gesture(found: Iterable[Explanation]) -> Mapping[str, list[Explanation]]:
    grouped = defaultdict[str, list[Explanation]](list)
    for explanation in found:
        grouped[explanation.gesture].append(explanation)
    return grouped


def _lanes(attempts: Sequence[AttemptRow], steps: Iterable[StepRow], made: Sequence[ShownGesture]) -> list[AttemptLane]:
    lanes = {row.number: AttemptLane(row) for row in attempts}
    for step in steps:
        if not any(gesture.step.id == step.id for gesture in made):
            lanes[step.attempt].entries.append((step.began, step))
    for gesture in made:
        lanes[gesture.row.attempt].entries.append((gesture.row.intent_at, gesture))
    for lane in lanes.values():
        lane.entries.sort(key=lambda entry: entry[0])
    return list(lanes.values())


class _Gestures:
    """Collects what the store holds of each gesture."""

    def __init__(self, store: Store, steps: Iterable[StepRow], questions: Sequence[QuestionRow]) -> None:
        self._store = store
        self._approvals: Mapping[str | None, str] = {
            yes.id: f"approved by {yes.by} ({question.id})"
            for question in questions
            for yes in store.approvals.of_question(question.id)
        }
        self._steps = {step.id: step for step in steps}
        self._questions = defaultdict[str | None, list[QuestionRow]](list)
        for question in questions:
            self._questions[question.gesture_id].append(question)

    def all(self, run: str) -> list[ShownGesture]:
        return [self._made(row) for row in self._store.journal.gestures(run)]

    def _made(self, row: GestureRow) -> ShownGesture:
        observations = self._store.journal.observations(row.id)
        colour, words = TONES[row.state]
        intent, wire = json.loads(row.intent), json.loads(row.wire or "{}")
        target = _from_corner(json.loads(row.target_box or "null"))
        questions = [_question(self._store, question) for question in self._questions[row.id]]
        asked = {reason for question in questions for reason in question["reasons"]}
        reasons = [reason for reason in json.loads(row.reasons or "[]") if reason not in asked]
        own = 1 if row.state is GestureState.REJECTED else len(reasons)  # the site's no, then what its page said
        after, change = self._after(row)
        proven_by = json.loads(row.proven_by or "[]")
        return ShownGesture(
            row=row,
            step=self._steps[row.step_id],
            tone=colour,
            words=words,
            proof=proofs_in_words(proven_by, observations),
            proven_in=sorted({seen.look for seen in observations if seen.id in proven_by}),
            reasons=reasons[:own],
            page_said=reasons[own:],
            values=json.loads(row.values or "{}"),
            input=input_in_words(intent),
            before=self._shot(row.before, "before", target, "target", intent.get("no_picture")),
            after=after,
            change=change,
            wire=wire.get("facts", []),
            restarts=wire.get("restarts"),
            resent=restarts_in_words(row.wire),
            released=[
                f"{clock(request.at)} {request.method} {request.address}"
                for request in self._store.journal.releases(row.id)
            ],
            looks=self._looks(observations),
            questions=questions,
            approved=self._approvals.get(row.approval, ""),
        )

    def _after(self, row: GestureRow) -> tuple[Figure, str]:
        """The picture after a gesture, or why there is none, and how much of it changed."""
        change = json.loads(row.change or "{}")
        if row.after is None and not change.get("no_picture"):
            return Figure("after", absent=no_picture_after(row)), ""
        box = _corners(change.get("box"))
        most = box is not None and self._covers(row.after, box)
        shot = self._shot(row.after, "after", None if most else box, "changed", change.get("no_picture"))
        words = ["it has only one colour, so it shows nothing"] if change.get("one_colour") else []
        if most:
            words.append("most of the page changed")
        elif "ratio" in change:
            unsettled = ": it may show the page before its new view was drawn" if change.get("unsettled") else ""
            words.append(f"{change['ratio']:.1%} of the picture changed{unsettled}")
        return shot, "; ".join(words)

    def _covers(self, digest: str | None, box: Box) -> bool:
        """Whether the box covers most of the picture."""
        try:
            image = decode(self._store.artifacts.read(digest or "")[0])
        except (UnknownName, NotAPicture):
            return False
        area = (box.right - box.left) * (box.bottom - box.top)
        return area > MOST_OF_A_PICTURE * image.width * image.height

    def _looks(self, observations: Iterable[ObservationRow]) -> list[ShownLook]:
        looks = defaultdict[int, list[ObservationRow]](list)
        for observation in observations:
            looks[observation.look].append(observation)
        return [
            ShownLook(number, rows[0].attempt, rows[0].at, [self._observation(row) for row in rows])
            for number, rows in looks.items()
        ]

    def _observation(self, row: ObservationRow) -> dict[str, Any]:
        """What an observer said, with the pictures of its evidence."""
        said: dict[str, Any] = json.loads(row.observation)
        for seen in said.get("evidence", ()):
            if seen.get("blob"):
                box = _from_corner(seen.get("box"))
                seen["shot"] = self._shot(seen["blob"], seen["words"], box, said["observer"])
        return said

    def _shot(self, digest: str | None, words: str, box: Box | None, label: str, absent: str | None = None) -> Figure:
        if digest is None:
            return Figure(words, absent=f"no picture: {absent}" if absent else "no picture was taken")
        try:
            content, media_type = self._store.artifacts.read(digest)
            if not media_type.startswith("image/"):
                return Figure(words, absent=f"not a picture ({media_type})")
            if box is not None:
                content, media_type = mark_target(content, box, _middle(box, label), label), "image/webp"
        except (UnknownName, NotAPicture) as error:
            return Figure(words, absent=f"no picture: {error}")
        return Figure(words, f"data:{media_type};base64,{base64.b64encode(content).decode()}")


def _question(store: Store, row: QuestionRow) -> dict[str, Any]:
    details = json.loads(row.details)
    decided = ["approved" if yes.approved else "refused" for yes in store.approvals.of_question(row.id)]
    return {
        "row": row,
        "kind": row.kind.replace("_", " "),
        "reasons": json.loads(row.reasons),
        "declare": details.get(DECLARE, ()),
        "calls": [
            {"step": call["step"].rpartition("@")[0], "arguments": _readable(call["arguments"]), "decided": word}
            for call, word in zip_longest(details.get("calls", ()), decided)
        ],
        "answer": row.answer.replace("_", " ") if row.answer else None,
        "values": json.loads(row.values or "{}"),
    }


def _readable(arguments: str) -> str:
    """A call's arguments in words if they are JSON, else as they are; nothing is left out."""
    try:
        return compact(json.loads(arguments))
    except ValueError:
        return arguments


def _from_corner(box: Sequence[float] | None) -> Box | None:
    """From left, top, width, height."""
    return _corners([box[0], box[1], box[0] + box[2], box[1] + box[3]]) if box else None


def _corners(box: Sequence[float] | None) -> Box | None:
    return Box(*(round(side) for side in box)) if box else None


def _middle(box: Box, label: str) -> tuple[int, int] | None:
    """The point that was clicked; only a target has one."""
    return ((box.left + box.right) // 2, (box.top + box.bottom) // 2) if label == "target" else None
