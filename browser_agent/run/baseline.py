"""The baseline: what a proof's observers see before a gesture. Without one that can be read, no gesture is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from browser_agent.errors import ProofTooThin
from browser_agent.run.attempt import Attempt
from browser_agent.run.look import observe
from browser_agent.run.sign_in import check_baseline
from browser_agent.run.step_history import StepHistory
from browser_agent.states import QuestionKind, QuestionState
from browser_agent.store import NewQuestion
from browser_agent.store.records import StepRow
from observers import Observation, Observer, Sight

LOOK_AGAIN_SECONDS = (0.5, 1.0, 2.0)
"""Waits before a list that can't be read is looked at again."""
_SAFE_STEP = (
    "Nothing of this step was sent. Look at the site yourself. If it isn't there, answer not-happened, and the gesture "
    "is made once; if it is, answer abandon. A resume looks again first."
)


def look_until_readable(attempt: Attempt, look: Callable[[], tuple[Observation, ...]]) -> tuple[Observation, ...]:
    """Look, and look again a few times while an observer that counts can't tell."""
    seen = look()
    for seconds in LOOK_AGAIN_SECONDS:
        if not blind_among(seen):
            break
        attempt.sleep(seconds)
        seen = look()
    return seen


def blind_among(seen: Sequence[Observation]) -> list[Observation]:
    """The observations of observers that count and can't tell. What may be it is for a person to judge later."""
    return [said for said in seen if said.counts and said.sight is Sight.cannot_tell and not said.candidates]


@dataclass(frozen=True)
class Baseline:
    """The look before a gesture.

    Args:
        attempt: the attempt that looks.
        step: the step's row.
        history: the step's gestures so far.
        intent: the gesture in words.
        proof: its observers.
    """

    attempt: Attempt
    step: StepRow
    history: StepHistory
    intent: str
    proof: Sequence[Observer]

    def readable(self) -> tuple[Observation, ...]:
        """What each observer sees now.

        Raises:
            SignedOut: an observer was shown a login page.
            ProofTooThin: a list isn't the one that its observer was told to read.
            WaitingForPerson: an observer that counts can't tell, and nobody has answered for it.
        """
        seen = look_until_readable(self.attempt, self._look)
        blind = blind_among(seen)
        misread = [said for said in blind if said.misfit]
        if misread:
            raise ProofTooThin(
                f"The proof of “{self.intent}” can't work: {misread[0].observer}: {'; '.join(misread[0].reasons)}. "
                "Nothing was made."
            )
        if blind and not self._answered_for():
            self._ask(blind)
        return seen

    def _look(self) -> tuple[Observation, ...]:
        seen = observe(self.attempt, self.proof)
        check_baseline(self.attempt, self.proof, seen)
        return seen

    def _answered_for(self) -> bool:
        """Whether a person has looked instead, since the step's last gesture: one answer is for one gesture."""
        last = self.history.last
        since = last.settled_at if last is not None else None
        return any(
            question.step_id == self.step.id
            and question.kind is QuestionKind.BASELINE
            and question.state is QuestionState.ANSWERED
            and question.ended_at is not None
            and (since is None or question.ended_at > since)
            for question in self.attempt.store.inbox.questions(self.attempt.lease.run)
        )

    def _ask(self, blind: Sequence[Observation]) -> None:
        asked = NewQuestion(
            kind=QuestionKind.BASELINE,
            words=f"Unknown whether this is there already: {self.intent}. May it be made?",
            reasons=tuple(f"{said.observer}: {'; '.join(said.reasons)}" for said in blind),
            evidence=tuple(kept.model_dump(mode="json") for said in blind for kept in said.evidence),
            safe_step=_SAFE_STEP,
            step=self.step.id,
        )
        self.attempt.ask(asked)
