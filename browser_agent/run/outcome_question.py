"""The question "did this happen?" about a gesture in doubt: what is known, what is missing, and what is safe to do."""

from __future__ import annotations

from collections.abc import Sequence

from browser_agent.run.attempt import Attempt
from browser_agent.run.helpful_declarations import helpful_declarations
from browser_agent.run.look import Case, LookResult
from browser_agent.run.sign_in import ended_words
from browser_agent.states import QuestionKind
from browser_agent.store import NewQuestion
from browser_agent.store.answers import DECLARE, TIMES
from browser_agent.store.records import GestureRow
from browser_agent.wire import WireFact, WireReport
from observers import Site

_SAFE_STEP = (
    "Look at {site} yourself for: {words}. If it is there, answer happened. If it is not, answer not-happened; "
    "the run then makes it as a new gesture. If you cannot tell, leave the question open: each resume looks again."
)
_SAFE_STEP_OF_MORE = (
    "Look at {site} yourself for: {words}. Remove what is surplus there, then answer happened, with the values of "
    "the one that the run shall use. The run makes no further one. A resume looks again; if one is left, that is proof."
)


def outcome_question(
    attempt: Attempt,
    row: GestureRow,
    case: Case | None,
    *,
    reasons: Sequence[str],
    looked: LookResult | None,
    signed_out: Sequence[Site],
) -> NewQuestion:
    """The question about a gesture in doubt.

    Args:
        attempt: the attempt that looked.
        row: the gesture.
        case: its proof; None if it can't be looked for here.
        reasons: why nothing is proven.
        looked: the last look; None if nobody looked.
        signed_out: the sites that showed a login page to the last look.
    """
    ended = [ended_words(attempt, site) for site in signed_out]
    seen = looked.observations if looked is not None else ()
    times = looked.verdict.count if looked is not None and looked.verdict.more_than_once else 1
    twice = times > 1
    declare = helpful_declarations(case, seen, attempt.wire(row.id)) if case is not None and not twice else ()
    safe_step = _SAFE_STEP_OF_MORE if twice else _SAFE_STEP
    return NewQuestion(
        kind=QuestionKind.OUTCOME,
        words=f"This happened {times} times: {row.words}. Which one counts?"
        if twice
        else f"Did this happen: {row.words}?",
        reasons=(*reasons, *ended, *wire_words(attempt, row)),
        evidence=tuple(kept.model_dump(mode="json") for said in seen for kept in said.evidence),
        details={TIMES: times} if twice else {DECLARE: list(declare)} if declare else {},
        safe_step=safe_step.format(site=row.site or "the site", words=row.words),
        earliest_safe=case.safe_from if case else None,
        step=row.step_id,
        gesture=row.id,
    )


def wire_words(attempt: Attempt, row: GestureRow) -> tuple[str, ...]:
    """What was seen of a gesture at the wire: by its keeper, else as stored, else at least the released requests."""
    wire = attempt.wire(row.id)
    if not wire.released and row.wire is not None:
        wire = WireReport.model_validate_json(row.wire)
    if not wire.released:
        released = attempt.store.journal.releases(row.id)
        facts = tuple(WireFact(method=one.method, address=one.address, at=one.at, released=True) for one in released)
        wire = wire.model_copy(update={"facts": facts})
    return wire.in_words
