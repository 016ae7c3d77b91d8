"""Absence: when "not seen" proves "not there", and what contradicts it. Pure.

An absence that is accepted too early causes a second gesture, so each condition that doesn't hold is named in words.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta

from .baselines import new_matches, there_before
from .circumstances import Circumstances
from .evidence import Match, Observation, Sight


def against_absence(
    observations: Sequence[Observation], baselines: Sequence[Observation | None], circumstances: Circumstances
) -> tuple[str, ...]:
    """What contradicts "not happened" although a list doesn't show the effect, in plain words. Any of it blocks an
    absence.

    A list may be stale, filtered or of another account. An answer that promised something, or a page that shows a
    number for the first time, is a fact about this gesture.
    """
    against = [] if circumstances.refusal_shown else list(circumstances.promises)
    for position, seen in enumerate(observations):
        before = baselines[position] if position < len(baselines) else None
        known = {one.identity for one in (*there_before(before), *before.without_effect)} if before else set()
        for words, found in _MAY_BE_IT.items():
            against += [
                f"{seen.observer} {words}: “{one.identity}”" for one in found(seen) if one.identity not in known
            ]
    return tuple(against)


_MAY_BE_IT: dict[str, Callable[[Observation], tuple[Match, ...]]] = {
    "saw what may be it": lambda seen: seen.candidates,
    "saw a new row that is declared to have no effect": lambda seen: seen.without_effect,
}


def absence_missing(
    observation: Observation, circumstances: Circumstances, before: Observation | None = None
) -> tuple[str, ...]:
    """The unmet conditions for this observation to prove absence, in plain words.

    Empty = the observation saw no new match, and that proves "not happened".

    Args:
        observation: what the observer said.
        circumstances: what else is known.
        before: what it said before the gesture; None if nobody looked.
    """
    if circumstances.nothing_left:
        return ()
    return tuple(words for words, holds in _conditions(observation, circumstances, before) if not holds)


def _conditions(
    seen: Observation, circumstances: Circumstances, before: Observation | None
) -> Iterable[tuple[str, bool]]:
    because = f": {'; '.join(seen.reasons)}" if seen.reasons else ""
    looked = seen.sight is not Sight.cannot_tell
    yield f"{seen.observer} could not tell{because}", looked
    yield f"{seen.observer} proves presence only: it isn't an observer that counts", seen.counts
    yield f"{seen.observer} doesn't vouch for the whole list{because}", seen.complete or not looked
    yield f"{seen.observer} was not read on a fresh page", seen.fresh or not looked
    yield "the site has accepted something and isn't done with it", not seen.pending
    yield from _conditions_of_the_list(seen, before)
    own = f"{seen.observer} is an observer of your own that has never seen anything at this site yet"
    yield f"{own}: that it sees nothing proves nothing", seen.kind not in circumstances.untried
    yield "a second look, spaced in time, must say the same", circumstances.spaced_looks_agree
    yield (
        "the clock was set during the wait, so the length of the wait is unknown",
        not circumstances.clock_jumped,
    )
    yield "the browser that made the gesture isn't confirmed dead", circumstances.sender_dead
    late = may_be_late(seen, circumstances)
    yield late, not late


def may_be_late(seen: Observation, circumstances: Circumstances) -> str:
    """Why an effect may still appear that this observation can't show; empty if none can."""
    if circumstances.late_commit is None:
        return "the site doesn't declare how late a request can still take effect (late_commit)"
    if circumstances.waited is None:
        return "it is unknown how long ago the browser that made the gesture died"
    left = (circumstances.late_commit + _lag(seen) - circumstances.waited).total_seconds()
    return f"a late effect is possible for another {left:.0f} s" if left > 0 else ""


def _conditions_of_the_list(seen: Observation, before: Observation | None) -> Iterable[tuple[str, bool]]:
    """Whether it is the same list as before the gesture: no shorter, and of the same account."""
    if before is None:
        return
    if before.rows is not None and seen.rows is not None:
        words = f"{seen.observer} read {seen.rows} rows, and {before.rows} before the gesture"
        yield words, seen.rows >= before.rows
    if before.account or seen.account:
        words = f"{seen.observer} was read under “{seen.account}”, and under “{before.account}” before the gesture"
        yield words, seen.account == before.account


def _lag(seen: Observation) -> timedelta:
    """The possible age of what was read: as declared, or by the list's own timestamp if that is older."""
    return max(seen.staleness, seen.at - seen.as_of) if seen.as_of is not None else seen.staleness


def agrees_with_refusal(
    observations: Sequence[Observation], baselines: Sequence[Observation | None], circumstances: Circumstances
) -> bool:
    """Whether what was seen agrees with a negative answer of the site. Sites send statuses such as 401, 404 and 422
    after a commit too.

    Either every observer that counts could tell and saw nothing new, in a list that no longer lags behind the answer,
    or none counts and a page shows the refusal.
    """
    counting = [seen for seen in observations if seen.counts]
    befores = [*baselines, *([None] * len(observations))]
    if any(new_matches(seen, before) for seen, before in zip(observations, befores, strict=False)):
        return False
    if not counting:
        return circumstances.refusal_shown
    against = against_absence(observations, baselines, circumstances.model_copy(update={"promises": ()}))
    waited = circumstances.waited or timedelta(0)
    return not against and all(seen.sight is Sight.not_seen and _lag(seen) <= waited for seen in counting)
