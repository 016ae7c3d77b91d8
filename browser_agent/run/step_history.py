"""The gestures that a step has made so far, and what follows from them: a decision that the step runner acts on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Self

from browser_agent.states import OPEN_GESTURE_STATES, GestureState
from browser_agent.store import Store
from browser_agent.store.records import GestureRow, StepRow

_BY_THE_GATE = '["gate"]'


class NextAct(Enum):
    """What a step does next."""

    USE_VALUE = auto()  # its last gesture happened
    SETTLE_FIRST = auto()  # its last gesture is in doubt
    RAISE_REFUSED = auto()  # more refusals than the step allows
    RAISE_REJECTED = auto()  # the site said no
    RAISE_NOT_HAPPENED = auto()  # more proven absences than the step allows
    MAKE = auto()  # its first gesture, or one more


@dataclass(frozen=True)
class StepHistory:
    """A step's gestures, oldest first, those of earlier attempts among them.

    Args:
        gestures: their rows.
        answered: ids of the gestures that a person's answer settled.
        reopened: when the step had ended before a person's resume opened it again. None = it has not ended before.
    """

    gestures: Sequence[GestureRow] = ()
    answered: frozenset[str] = frozenset()
    reopened: datetime | None = None

    @classmethod
    def of(cls, store: Store, step: StepRow) -> Self:
        """The history that the journal holds."""
        gestures = [row for row in store.journal.gestures(step.run_id) if row.step_id == step.id]
        answered = store.inbox.settling_answers(step.run_id) if gestures else {}
        return cls(gestures, frozenset(answered), step.ended)

    @classmethod
    def before(cls, store: Store, gesture: GestureRow) -> Self:
        """The history that a stored gesture of a step was made with."""
        rows = (row for row in store.journal.gestures(gesture.run_id) if row.step_id == gesture.step_id)
        return cls([row for row in rows if row.number < gesture.number])

    @property
    def may_be_late(self) -> bool:
        """Whether an earlier gesture of the step may still take effect, though it is settled as not made.

        What the gate proves is for good; an absence by a look, a site's no and a person's word are not.
        """
        undone = (row for row in self.gestures if row.state in {GestureState.NOT_HAPPENED, GestureState.REJECTED})
        return any(row.proven_by != _BY_THE_GATE for row in undone)

    @property
    def last(self) -> GestureRow | None:
        """The last gesture."""
        return self.gestures[-1] if self.gestures else None

    @property
    def absent(self) -> GestureRow | None:
        """The last gesture that is known not to have happened."""
        return next((row for row in reversed(self.gestures) if row.state is GestureState.NOT_HAPPENED), None)

    def by_person(self, gesture: GestureRow | None) -> bool:
        """Whether a person's answer settled the gesture."""
        return gesture is not None and gesture.id in self.answered

    def said_what_is_there(self, gesture: GestureRow) -> bool:
        """Whether a person has said what to make of a match that was there before the gesture.

        It was then never dispatched. An answer to "did this happen?" says nothing of what is there now.
        """
        return self.by_person(gesture) and gesture.dispatched_at is None

    def next_act(self, *, again: int, refusals_left: int) -> NextAct:  # noqa: PLR0911 (one line a decision)
        """What the step does next.

        Args:
            again: how many further gestures the step makes after a proven absence. A person who says that it isn't
                there, and shall be made again, may exceed it.
            refusals_left: how many refusals this attempt has left; below 0 = too many.
        """
        if self.last is None:
            return NextAct.MAKE
        if self.last.state is GestureState.HAPPENED:
            return NextAct.USE_VALUE
        if self.last.state in OPEN_GESTURE_STATES:
            return NextAct.SETTLE_FIRST
        if refusals_left < 0:
            return NextAct.RAISE_REFUSED
        counted = [row for row in self.gestures if self._counts(row)]
        if counted and counted[-1].state is GestureState.REJECTED:
            return NextAct.RAISE_REJECTED
        if counted and self.absences > again and not self.by_person(counted[-1]):
            return NextAct.RAISE_NOT_HAPPENED
        return NextAct.MAKE

    @property
    def absences(self) -> int:
        """How many gestures were proven absent since the step was last opened."""
        return sum(row.state is GestureState.NOT_HAPPENED for row in self.gestures if self._counts(row))

    def _counts(self, row: GestureRow) -> bool:
        """A gesture that was settled before a person opened the step again doesn't count against its budget."""
        return self.reopened is None or row.settled_at is None or row.settled_at > self.reopened
