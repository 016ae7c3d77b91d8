"""What is there before a gesture is made: the late effect of an earlier gesture, or somebody else's.

Neither is decided by making one more. A late effect settles the step; anything else is put before a person.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from browser_agent.run.attempt import Attempt
from browser_agent.run.look import BASELINE, Case, Looker, LookResult
from browser_agent.run.outcome_question import wire_words
from browser_agent.run.step_history import StepHistory
from browser_agent.states import QuestionKind
from browser_agent.store import NewQuestion
from browser_agent.store.records import GestureRow
from observers import Observation, already_there, new_matches


@dataclass(frozen=True)
class PriorEffect:
    """Looks for what is there before a step's next gesture.

    Args:
        attempt: the attempt.
        case: the next gesture's case.
        row: the next gesture's row.
        history: the step's gestures so far.
    """

    attempt: Attempt
    case: Case
    row: GestureRow
    history: StepHistory

    def late(self) -> LookResult | None:
        """What proves that an earlier gesture took effect after it was settled as not made; None if nothing does.

        Raises:
            WaitingForPerson: something new is there, and it doesn't prove that.
        """
        earlier = self.history.last
        if earlier is None or self.history.said_what_is_there(earlier):
            return None
        before = BASELINE.validate_json(earlier.baseline or "[]")
        now = tuple(seen for seen in self.case.baseline if seen is not None)
        if not any(new_matches(seen, then) for seen, then in zip(now, before, strict=False)):
            return None
        since = replace(self.case, baseline=before, earlier_may_be_late=False)
        looked = Looker(self.attempt, since, made=False).weigh(now, self.attempt.wire(self.row.id))
        if not looked.happened:
            self._ask("It was not there before, and now there is something that may be it", looked.observations)
        return looked

    def ask_if_there(self) -> None:
        """Ask a person if the baseline holds a match of a unique key, unless a person has already decided.

        Raises:
            WaitingForPerson: it does.
        """
        counting = [
            (seen, watch) for seen, watch in zip(self.case.baseline, self.case.proof, strict=True) if watch.counts
        ]
        there = already_there([seen for seen, _ in counting], [watch for _, watch in counting])
        if there and not any(self.history.said_what_is_there(gesture) for gesture in self.history.gestures):
            seen = tuple(said for said in self.case.baseline if said is not None)
            self._ask("What this step would make is there already", seen, [match.identity for match in there])

    def _ask(self, why: str, seen: Sequence[Observation], matches: Sequence[str] = ()) -> None:
        values = _values(seen)
        reasons = [*matches, *(reason for said in seen for reason in said.reasons)]
        on_the_wire = (words for gesture in self.history.gestures for words in wire_words(self.attempt, gesture))
        asked = NewQuestion(
            kind=QuestionKind.ALREADY_THERE,
            words=f"{why}: {self.row.words}. Use it, or make another?",
            reasons=(*reasons, *on_the_wire),
            evidence=tuple(kept.model_dump(mode="json") for said in seen for kept in said.evidence),
            details={"values": values},
            safe_step="answer happened: what is there is used; answer not-happened: another one is made",
            step=self.row.step_id,
            gesture=self.row.id,
        )
        if values:
            self.attempt.store.journal.record(self.attempt.lease, self.row.id, values=json.dumps(values))
        self.attempt.ask(asked)


def _values(observations: Sequence[Observation]) -> dict[str, str]:
    """The values of what is there, if it is exactly one thing."""
    matches = [match for seen in observations if seen.counts for match in seen.matches]
    return dict(matches[0].values) if len(matches) == 1 else {}
