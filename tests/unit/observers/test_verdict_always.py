"""The verdict: what holds whatever is observed."""

from datetime import UTC, datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from observers import (
    Both,
    Circumstances,
    ConfirmationText,
    Match,
    Observation,
    Observer,
    Outcome,
    Record,
    Sight,
    Site,
    absence_missing,
    new_matches,
    weigh,
)

Case = tuple[list[Observation], list[Observation | None], list[Observer], Circumstances]
whatever_it_takes = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])

SITE = Site("books", url="https://books.example", account="acme", sole_user=True)
OBSERVERS: list[Observer] = [
    Record(SITE, "a", key={"K": "1"}),
    Record(SITE, "b", key={"K": "1"}, unique=False),
    ConfirmationText("(?P<number>[0-9]+) done"),
]
OBSERVERS += [Both(OBSERVERS[0], OBSERVERS[1]), Both(OBSERVERS[0], OBSERVERS[2])]
AT = datetime(2026, 11, 30, tzinfo=UTC)

matches = st.lists(
    st.builds(
        Match,
        values=st.sampled_from([{}, {"number": "1"}, {"number": "2"}]),
        identity=st.sampled_from("abc"),
        ours=st.booleans(),
        at=st.sampled_from([None, AT, AT - timedelta(days=1)]),
    ),
    max_size=3,
)
spans = st.none() | st.integers(0, 60).map(lambda seconds: timedelta(seconds=seconds))
circumstances = st.builds(
    Circumstances,
    sender_dead=st.booleans(),
    waited=spans,
    late_commit=spans,
    spaced_looks_agree=st.booleans(),
    guarded=st.booleans(),
    restarts=st.none() | st.integers(0, 2),
    unanswered=st.booleans(),
    nothing_left=st.integers(0, 9).map(lambda n: n == 0),
    window=st.sampled_from([None, (AT, AT + timedelta(seconds=9))]),
    key_used_otherwise=st.booleans(),
)
nearly_all_hold = st.builds(
    Circumstances,
    sender_dead=st.booleans(),
    waited=st.just(timedelta(seconds=60)),
    late_commit=st.sampled_from([None, timedelta(seconds=5)]),
    spaced_looks_agree=st.booleans(),
    guarded=st.just(True),
    restarts=st.just(0),
)


@st.composite
def observation(draw: st.DrawFn, observer: Observer) -> Observation:
    if isinstance(observer, Both):
        return observer.together(tuple(draw(observation(part)) for part in observer.parts))
    found = draw(matches)
    if found:
        made = observer.seen(found, at=AT, partial=draw(st.booleans()), pending=draw(st.booleans()))
    elif draw(st.booleans()):
        return observer.cannot_tell("it is dark", at=AT)
    else:
        made = observer.not_seen(at=AT)
    blind = made.sight is Sight.cannot_tell
    return made.model_copy(update={"complete": not blind and draw(st.booleans()), "fresh": draw(st.booleans())})


@st.composite
def random_cases(draw: st.DrawFn) -> Case:
    proof = draw(st.lists(st.sampled_from(OBSERVERS), max_size=4))
    seen = [draw(observation(observer)) for observer in proof]
    before = [draw(st.none() | observation(observer)) for observer in proof]
    return seen, before, proof, draw(circumstances)


@st.composite
def nearly_absent_cases(draw: st.DrawFn) -> Case:
    """Lists that were read and hold nothing: chance alone hardly ever proves an absence."""
    proof = draw(st.lists(st.sampled_from(OBSERVERS[:2]), min_size=1, max_size=2))
    empty = {"complete": True, "fresh": True}
    seen = [observer.not_seen(at=AT).model_copy(update=empty) for observer in proof]
    return seen, [None] * len(proof), proof, draw(nearly_all_hold)


def cases() -> st.SearchStrategy[Case]:
    return random_cases() | nearly_absent_cases()


@whatever_it_takes
@given(cases())
def test_nothing_happened_without_something_new_that_was_seen(case: Case) -> None:
    seen, before, proof, told = case
    verdict = weigh(seen, before, proof, told)
    if verdict.outcome is Outcome.happened:
        assert verdict.matches
        assert all(new_matches(seen[i], before[i]) for i in verdict.by)
        assert told.once_at_most or any(observation.counts for observation in seen)


@whatever_it_takes
@given(cases())
def test_nothing_is_absent_while_a_condition_is_missing_or_something_new_was_seen(case: Case) -> None:
    seen, before, proof, told = case
    if weigh(seen, before, proof, told).outcome is Outcome.not_happened:
        assert told.nothing_left or any(not absence_missing(observation, told) for observation in seen)
        assert told.nothing_left or (told.sender_dead and told.spaced_looks_agree)
        assert not any(new_matches(now, then) for now, then in zip(seen, before, strict=True))
        assert told.nothing_left or not any(observation.pending for observation in seen)


@whatever_it_takes
@given(cases())
def test_a_part_never_stands_for_the_whole(case: Case) -> None:
    seen, before, proof, told = case
    verdict = weigh(seen, before, proof, told)
    for i in verdict.by if verdict.outcome is Outcome.happened else ():
        then = before[i]
        parts_then = then.parts if then and then.parts else (None,) * len(seen[i].parts)
        assert all(new_matches(part, was) for part, was in zip(seen[i].parts, parts_then, strict=True))


@whatever_it_takes
@given(cases(), st.sampled_from(OBSERVERS))
def test_an_observer_that_cannot_tell_never_changes_the_outcome(case: Case, observer: Observer) -> None:
    seen, before, proof, told = case
    without = weigh(seen, before, proof, told)
    blind = observer.cannot_tell("it is dark", at=AT)
    more = weigh([*seen, blind], [*before, None], [*proof, observer], told)
    if observer.counts and without.outcome is Outcome.happened and not any(seen[i].counts for i in without.by):
        assert more.outcome in {
            Outcome.happened,
            Outcome.unknown,
        }  # a text that nobody saw early now waits for the list
    else:
        assert (more.outcome, more.count, more.values) == (without.outcome, without.count, without.values)


@whatever_it_takes
@given(cases())
def test_the_order_of_the_observers_doesnt_matter_to_the_outcome(case: Case) -> None:
    seen, before, proof, told = case
    forth = weigh(seen, before, proof, told)
    back = weigh(seen[::-1], before[::-1], proof[::-1], told)
    assert (forth.outcome, forth.count, forth.contradiction) == (back.outcome, back.count, back.contradiction)


@whatever_it_takes
@given(cases())
def test_knowing_more_of_the_senders_death_never_makes_a_happened_of_a_not_happened(case: Case) -> None:
    seen, before, proof, told = case
    more = told.model_copy(update={"sender_dead": True, "waited": timedelta(hours=9), "spaced_looks_agree": True})
    outcomes = {weigh(seen, before, proof, each).outcome for each in (told, more)}
    assert outcomes != {Outcome.happened, Outcome.not_happened}
