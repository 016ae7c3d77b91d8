"""Absence: when "not seen" proves "not there", and what contradicts it. Pure.

An absence that is accepted too early causes a second gesture, so each condition that doesn't hold is named in words.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from .baselines import new_matches, there_before
from .circumstances import Circumstances
from .condition import Condition, unmet
from .evidence import Match, Observation, Sight

NOTHING_LEFT = Condition(
    of="absence",
    needs="nothing was sent, and nothing can be sent any more",
    holds=True,
    seen="the gate, or the order of writes, proves it",
)
"""The only condition of an absence that needs no look."""


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
    return unmet(absence_conditions(observation, circumstances, before))


def absence_conditions(
    observation: Observation, circumstances: Circumstances, before: Observation | None = None
) -> tuple[Condition, ...]:
    """All conditions for this observation to prove absence, met or not. Arguments as of `absence_missing`."""
    if circumstances.nothing_left:
        return (NOTHING_LEFT,)
    return tuple(_conditions(observation, circumstances, before))


def uncontradicted(against: Sequence[str]) -> Condition:
    """The condition that nothing stands against an absence."""
    return _check(not against, "nothing that was seen contradicts the absence", "; ".join(against))


def _conditions(seen: Observation, circumstances: Circumstances, before: Observation | None) -> Iterator[Condition]:
    yield from _conditions_of_the_look(seen)
    yield from _conditions_of_the_list(seen, before)
    own = f"{seen.observer} is an observer of your own that has never seen anything at this site yet: that it sees "
    tried = seen.kind not in circumstances.untried
    yield _check(tried, "it is known to see such records at this site", f"{own}nothing proves nothing", of=seen)
    second = "a second look, spaced in time, must say the same"
    yield _check(circumstances.spaced_looks_agree, "two looks, spaced in time, say the same", second)
    jumped = "the clock was set during the wait, so the length of the wait is unknown"
    yield _check(not circumstances.clock_jumped, "the clock was not set during the wait", jumped)
    alive = "the browser that made the gesture isn't confirmed dead"
    yield _check(circumstances.sender_dead, "the browser that made the gesture was confirmed dead", alive)
    late = may_be_late(seen, circumstances)
    yield _check(not late, "nothing can take effect late any more", late, _waited(seen, circumstances))


def _conditions_of_the_look(seen: Observation) -> Iterator[Condition]:
    because = f": {'; '.join(seen.reasons)}" if seen.reasons else ""
    looked, name = seen.sight is not Sight.cannot_tell, seen.observer
    yield _check(looked, "it finished its look", f"{name} could not tell{because}", of=seen)
    counter = f"{name} proves presence only: it isn't an observer that counts"
    yield _check(seen.counts, "it counts effects", counter, of=seen)
    if looked:
        whole = f"{name} doesn't vouch for the whole list{because}"
        yield _check(seen.complete, "it read the whole list", whole, _read(seen), of=seen)
        stale = f"{name} was not read on a fresh page"
        yield _check(seen.fresh, "it was read on a page that was opened for the look", stale, of=seen)
        unfinished = "the site has accepted something and isn't done with it"
        yield _check(not seen.pending, "the site isn't still working on it", unfinished, of=seen)


def may_be_late(seen: Observation, circumstances: Circumstances) -> str:
    """Why an effect may still appear that this observation can't show; empty if none can."""
    if circumstances.late_commit is None:
        return "the site doesn't declare how late a request can still take effect (late_commit)"
    if circumstances.waited is None:
        return "it is unknown how long ago the browser that made the gesture died"
    left = (circumstances.late_commit + _lag(seen) - circumstances.waited).total_seconds()
    return f"a late effect is possible for another {left:.0f} s" if left > 0 else ""


def _conditions_of_the_list(seen: Observation, before: Observation | None) -> Iterator[Condition]:
    """Whether it is the same list as before the gesture: no shorter, and of the same account."""
    if before is None or seen.sight is Sight.cannot_tell:
        return
    if before.rows is not None and seen.rows is not None:
        words = f"{seen.observer} read {seen.rows} rows, and {before.rows} before the gesture"
        facts = f"{seen.rows} rows now, {before.rows} before the gesture"
        yield _check(seen.rows >= before.rows, "it shows no fewer rows than before", words, facts, of=seen)
    if before.account or seen.account:
        words = f"{seen.observer} was read under “{seen.account}”, and under “{before.account}” before the gesture"
        same = f"under “{seen.account}”, as before the gesture"
        yield _check(seen.account == before.account, "it is the list of the same account", words, same, of=seen)


def _lag(seen: Observation) -> timedelta:
    """The possible age of what was read: as declared, or by the list's own timestamp if that is older."""
    return max(seen.staleness, seen.at - seen.as_of) if seen.as_of is not None else seen.staleness


def _read(seen: Observation) -> str:
    """How the list was read, as far as that is known."""
    facts = [] if seen.rows is None else [f"{seen.rows} rows were read"]
    if (listing := seen.listing) is not None:
        facts += [f"on {listing.pages} pages"] if listing.pages > 1 else []
        facts += [f"the page counts {max(listing.told)}"] if listing.told else []
        facts += ["the page says that the list is empty"] if listing.told_empty else []
    return ", ".join(facts)


def _waited(seen: Observation, circumstances: Circumstances) -> str:
    waited, late_commit = circumstances.waited, circumstances.late_commit
    if waited is None or late_commit is None:
        return ""
    lag = _lag(seen).total_seconds()
    return (
        f"it has been dead for {waited.total_seconds():.0f} s; late_commit is {late_commit.total_seconds():g} s"
        f"{f', and the list lags by at most {lag:.0f} s' if lag else ''}"
    )


def refusal_conditions(
    observations: Sequence[Observation], baselines: Sequence[Observation | None], circumstances: Circumstances
) -> tuple[Condition, ...]:
    """The conditions for what was seen to agree with a negative answer of the site, met or not. Sites send statuses
    such as 401, 404 and 422 after a commit too.

    Either every observer that counts could tell and saw nothing new, in a list that no longer lags behind the answer,
    or none counts and a page shows the refusal.
    """
    return tuple(
        each.model_copy(update={"of": "refusal"}) for each in _of_a_refusal(observations, baselines, circumstances)
    )


def _of_a_refusal(
    observations: Sequence[Observation], baselines: Sequence[Observation | None], circumstances: Circumstances
) -> Iterator[Condition]:
    befores = [*baselines, *([None] * len(observations))]
    news = [one for seen, then in zip(observations, befores, strict=False) for one in new_matches(seen, then)]
    there = "; ".join(f"“{one.identity}” is there" for one in news)
    yield _check(not news, "no observer sees what the gesture would have made", there)
    counting = [seen for seen in observations if seen.counts]
    if not counting:
        nobody = "no observer counts, and no page shows the refusal"
        yield _check(circumstances.refusal_shown, "a page shows the refusal, as no observer counts", nobody)
        return
    against = against_absence(observations, baselines, circumstances.model_copy(update={"promises": ()}))
    yield uncontradicted(against)
    waited = circumstances.waited or timedelta(0)
    for seen in counting:
        because = f": {'; '.join(seen.reasons)}" if seen.reasons else ""
        told = seen.sight is Sight.not_seen
        yield _check(
            told, "it finished its look, and sees nothing", f"{seen.observer} could not tell{because}", of=seen
        )
        lags = f"{seen.observer} may lag behind the answer by {_lag(seen).total_seconds():.0f} s"
        yield _check(_lag(seen) <= waited, "it no longer lags behind the answer", lags, of=seen)


def _check(holds: bool, needs: str, missing: str, shown: str = "", *, of: Observation | None = None) -> Condition:
    seen, observer = shown if holds else missing, of.observer if of is not None else ""
    return Condition(of="absence", observer=observer, needs=needs, holds=holds, seen=seen)
