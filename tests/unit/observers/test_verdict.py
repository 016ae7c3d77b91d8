"""The verdict: each rule of what an observer may prove, as a fact."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from observers import (
    Both,
    Circumstances,
    ConfirmationText,
    Gone,
    Match,
    Observation,
    Observer,
    Outcome,
    Record,
    SentMail,
    Sight,
    Site,
    Verdict,
    absence_missing,
    already_there,
    looks_agree,
    new_refusal,
    weigh,
)

BOOKS = Site("books", url="https://books.example", account="acme", sole_user=True)
SHARED = Site("shared", url="https://shared.example", account="acme")
KEY = {"Reference": "S-101"}
RECORD = Record(BOOKS, "invoices", key=KEY, complete=True)
NOT_UNIQUE = Record(BOOKS, "invoices", key=KEY, complete=True, unique=False)
TEXT = ConfirmationText(r"Invoice (?P<number>\S+) posted for S-101")
AT = datetime(2026, 11, 30, tzinfo=UTC)

NOTHING_KNOWN = Circumstances()
CLEAN = Circumstances(guarded=True, restarts=0)
SURE = Circumstances(
    sender_dead=True, waited=timedelta(seconds=30), late_commit=timedelta(seconds=30), spaced_looks_agree=True
)


def inv(number: str = "INV-7", **more: Any) -> Match:
    return Match(values={"number": number}, identity=f"S-101 | {number}", **more)


def seen(observer: Observer, *matches: Match, **more: Any) -> Observation:
    more = {"complete": observer.counts, "fresh": observer.counts, **more}
    return observer.seen(matches, at=AT).model_copy(update=more)


def empty(observer: Observer = RECORD, **more: Any) -> Observation:
    return observer.not_seen(complete=True, fresh=True, at=AT).model_copy(update=more)


def blind(observer: Observer = RECORD) -> Observation:
    return observer.cannot_tell("the page doesn't answer", at=AT)


# Presence


def test_one_new_row_of_a_unique_key_is_proof_that_it_happened() -> None:
    verdict = weigh([seen(RECORD, inv())], [empty()], [RECORD], NOTHING_KNOWN)
    assert (verdict.outcome, verdict.count, verdict.values) == (Outcome.happened, 1, {"number": "INV-7"})
    assert verdict.by == (0,)
    assert not verdict.more_than_once


@pytest.mark.parametrize("baselines", [[], [None], [blind()]])
def test_without_a_readable_baseline_a_row_of_a_unique_key_may_have_been_there_already(
    baselines: list[Observation | None],
) -> None:
    verdict = weigh([seen(RECORD, inv())], baselines, [RECORD], SURE)
    assert verdict.outcome is Outcome.unknown
    assert "may have been there already" in verdict.reasons[0]
    assert weigh([seen(RECORD, inv(ours=True))], baselines, [RECORD], SURE).outcome is Outcome.happened


def test_a_row_that_was_there_before_the_gesture_proves_nothing() -> None:
    verdict = weigh([seen(RECORD, inv())], [seen(RECORD, inv())], [RECORD], NOTHING_KNOWN)
    assert verdict.outcome is Outcome.unknown
    assert verdict.matches == ()


def test_two_equal_rows_where_one_was_before_are_one_new_effect() -> None:
    verdict = weigh([seen(RECORD, inv(), inv())], [seen(RECORD, inv())], [RECORD], NOTHING_KNOWN)
    assert (verdict.outcome, verdict.count) == (Outcome.happened, 1)


def test_two_new_rows_of_a_unique_key_happened_more_than_once() -> None:
    verdict = weigh([seen(RECORD, inv("INV-7"), inv("INV-8"))], [empty()], [RECORD], CLEAN)
    assert (verdict.outcome, verdict.count, verdict.more_than_once) == (Outcome.happened, 2, True)
    assert [match.values["number"] for match in verdict.matches] == ["INV-7", "INV-8"]
    assert verdict.values == {}, "which of the two numbers is it? nobody may pick one"


def test_a_record_that_the_site_isnt_done_with_proves_nothing_yet() -> None:
    verdict = weigh([seen(RECORD, inv(), pending=True)], [empty()], [RECORD], SURE)
    assert verdict.outcome is Outcome.unknown
    assert "isn't done with it yet" in verdict.reasons[0]


def test_a_part_of_the_effect_is_for_a_person_even_beside_a_confirmation() -> None:
    observations = [seen(TEXT, inv()), seen(RECORD, inv(), partial=True)]
    verdict = weigh(observations, [None, empty()], [TEXT, RECORD], CLEAN)
    assert verdict.outcome is Outcome.unknown
    assert "only a part" in verdict.reasons[1]


# A confirmation


RELEASED = AT + timedelta(seconds=1)
ANSWERED = CLEAN.model_copy(update={"released_at": RELEASED})


def test_a_confirmation_in_a_document_that_came_after_the_request_settles_it() -> None:
    of_the_answer = inv(since=RELEASED + timedelta(seconds=1))
    verdict = weigh([seen(TEXT, of_the_answer), blind()], [None, empty()], [TEXT, RECORD], ANSWERED)
    assert (verdict.outcome, verdict.count, verdict.by) == (Outcome.happened, 1, (0,))


def test_a_confirmation_that_a_look_before_the_answer_did_not_see_settles_it() -> None:
    told = ANSWERED.model_copy(update={"early": frozenset()})
    assert weigh([seen(TEXT, inv(since=AT))], [None], [TEXT], told).outcome is Outcome.happened


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (ANSWERED.model_copy(update={"early": frozenset({inv().identity})}), "it stood there before the answer"),
        (ANSWERED, "nobody looked before the answer, and a list can decide"),
        (ANSWERED.model_copy(update={"unanswered": True}), "the answer has not ended, or another write was sent too"),
        (CLEAN.model_copy(update={"restarts": 1}), "the browser sent it twice"),
    ],
)
def test_a_confirmation_that_may_be_too_early_leaves_it_to_the_list(told: Circumstances, why: str) -> None:
    verdict = weigh([seen(TEXT, inv(since=AT)), blind()], [None, empty()], [TEXT, RECORD], told)
    assert verdict.outcome is Outcome.unknown, why
    both = weigh([seen(TEXT, inv(since=AT)), seen(RECORD, inv())], [None, empty()], [TEXT, RECORD], told)
    assert both.outcome is Outcome.happened, why


@pytest.mark.parametrize(
    "circumstances",
    [
        Circumstances(guarded=False, restarts=0),
        Circumstances(guarded=True, restarts=1),
        Circumstances(guarded=True, restarts=0, unanswered=True),
    ],
    ids=["unguarded", "restarted", "timed out"],
)
def test_a_confirmation_of_a_gesture_that_may_have_been_sent_twice_waits_for_a_count(
    circumstances: Circumstances,
) -> None:
    alone = weigh([seen(TEXT, inv()), blind()], [None, empty()], [TEXT, RECORD], circumstances)
    assert alone.outcome is Outcome.unknown
    assert "sent more than once" in alone.missing[0]
    not_there = weigh([seen(TEXT, inv()), empty(complete=False)], [None, empty()], [TEXT, RECORD], circumstances)
    assert not_there.outcome is Outcome.unknown
    counted = weigh([seen(TEXT, inv()), seen(RECORD, inv())], [None, empty()], [TEXT, RECORD], circumstances)
    assert (counted.outcome, counted.count, counted.by) == (Outcome.happened, 1, (0, 1))


def test_a_double_behind_a_confirmation_is_found_by_the_count() -> None:
    observations = [seen(TEXT, inv("INV-8")), seen(RECORD, inv("INV-7"), inv("INV-8"))]
    verdict = weigh(observations, [None, empty()], [TEXT, RECORD], NOTHING_KNOWN)
    assert (verdict.outcome, verdict.count, verdict.more_than_once) == (Outcome.happened, 2, True)


def test_the_same_confirmation_in_two_places_is_one_effect() -> None:
    again = Match(values={"number": "INV-7"}, identity="the toast says INV-7")
    assert weigh([seen(TEXT, inv(), again)], [], [TEXT], CLEAN).count == 1
    plain = ConfirmationText("posted for S-101")
    assert weigh([seen(plain, Match(identity="a"), Match(identity="a"))], [], [plain], CLEAN).count == 1


def test_a_confirmation_that_stood_there_before_the_gesture_proves_nothing() -> None:
    assert weigh([seen(TEXT, inv())], [seen(TEXT, inv())], [TEXT], CLEAN).outcome is Outcome.unknown


# Absence


def test_a_whole_list_without_it_proves_not_happened_when_nothing_can_come_any_more() -> None:
    verdict = weigh([empty()], [empty()], [RECORD], SURE)
    assert (verdict.outcome, verdict.count, verdict.by, verdict.missing) == (Outcome.not_happened, 0, (0,), ())


def test_without_a_baseline_a_whole_list_without_it_proves_absence_too() -> None:
    assert weigh([empty()], [None], [RECORD], SURE).outcome is Outcome.not_happened


def test_a_row_of_before_does_not_stand_against_absence() -> None:
    verdict = weigh([seen(NOT_UNIQUE, inv())], [seen(NOT_UNIQUE, inv())], [NOT_UNIQUE], SURE)
    assert verdict.outcome is Outcome.not_happened


def without(**less: Any) -> Circumstances:
    return SURE.model_copy(update=less)


@pytest.mark.parametrize(
    ("observation", "circumstances", "words"),
    [
        (blind(), SURE, "could not tell: the page doesn't answer"),
        (empty(counts=False), SURE, "presence only"),
        (empty(complete=False, reasons=("page 2 is missing",)), SURE, "the whole list: page 2 is missing"),
        (empty(fresh=False), SURE, "fresh page"),
        (empty(pending=True), SURE, "isn't done with"),
        (empty(), without(spaced_looks_agree=False), "second look"),
        (empty(), without(sender_dead=False), "isn't confirmed dead"),
        (empty(), without(late_commit=None), "doesn't declare how late"),
        (empty(), without(waited=None), "how long ago"),
        (empty(), without(waited=None, late_commit=timedelta(0)), "how long ago"),
        (empty(), without(waited=timedelta(seconds=29)), "another 1 s"),
        (empty(staleness=timedelta(seconds=5)), SURE, "another 5 s"),
    ],
)
def test_each_condition_of_absence_is_needed(
    observation: Observation, circumstances: Circumstances, words: str
) -> None:
    assert absence_missing(empty(), SURE) == ()
    missing = absence_missing(observation, circumstances)
    assert len(missing) == 1
    assert words in missing[0]
    verdict = weigh([observation], [empty()], [RECORD], circumstances)
    assert verdict.outcome is Outcome.unknown
    assert verdict.missing


def test_what_is_missing_is_not_said_a_second_time_as_a_reason() -> None:
    verdict = weigh([TEXT.cannot_tell("it isn't there", at=AT), blind()], [None, None], [TEXT, RECORD], SURE)
    told = [*verdict.reasons, *verdict.missing]
    assert verdict.missing
    assert [sum(reason in words for words in told) for reason in ("it isn't there", "the page doesn't answer")] == [
        1,
        1,
    ]


def test_something_in_an_outbox_stands_against_the_absence_in_another_list() -> None:
    waiting = seen(RECORD, inv(), pending=True)
    verdict = weigh([waiting, empty()], [waiting, empty()], [RECORD, RECORD], SURE)
    assert verdict.outcome is Outcome.unknown
    assert verdict.missing == (f"{RECORD}: the site isn't done with something",)


def test_what_is_missing_is_told_of_the_observer_that_is_nearest_to_a_proof() -> None:
    verdict = weigh([blind(TEXT), empty()], [None, None], [TEXT, RECORD], without(sender_dead=False))
    assert verdict.missing == ("the browser that made the gesture isn't confirmed dead",)


def test_without_observers_nothing_is_known() -> None:
    assert weigh([], [], [], SURE).missing == ("nobody has looked",)


def test_what_never_left_the_gate_did_not_happen_and_needs_no_look() -> None:
    nothing_left = Circumstances(nothing_left=True)
    assert weigh([], [], [], nothing_left).outcome is Outcome.not_happened
    assert weigh([blind(), blind(TEXT)], [], [RECORD, TEXT], nothing_left).outcome is Outcome.not_happened
    assert absence_missing(blind(), nothing_left) == ()


# Contradiction


def test_proof_against_proof_is_for_a_person() -> None:
    verdict = weigh([seen(TEXT, inv()), empty()], [None, empty()], [TEXT, RECORD], SURE)
    assert (verdict.outcome, verdict.contradiction) == (Outcome.unknown, True)
    assert verdict.matches == (inv(),)


def test_something_seen_that_never_left_the_gate_is_a_contradiction() -> None:
    verdict = weigh([seen(RECORD, inv())], [empty()], [RECORD], Circumstances(nothing_left=True))
    assert (verdict.outcome, verdict.contradiction) == (Outcome.unknown, True)


def test_not_seeing_it_without_proof_of_absence_is_no_contradiction() -> None:
    observations = [seen(RECORD, inv()), empty(complete=False)]
    assert weigh(observations, [empty(), empty()], [RECORD, RECORD], NOTHING_KNOWN).outcome is Outcome.happened


def test_different_values_are_a_contradiction_and_both_are_kept() -> None:
    observations = [seen(TEXT, inv("INV-8")), seen(RECORD, inv("INV-7"))]
    verdict = weigh(observations, [None, empty()], [TEXT, RECORD], CLEAN)
    assert (verdict.outcome, verdict.contradiction) == (Outcome.unknown, True)
    assert [match.values["number"] for match in verdict.matches] == ["INV-8", "INV-7"]


def test_amounts_that_are_written_differently_are_no_contradiction() -> None:
    one, other = Match(values={"sum": "1,200.00"}, identity="a"), Match(values={"sum": "1200"}, identity="b")
    verdict = weigh([seen(TEXT, one), seen(RECORD, other)], [None, empty()], [TEXT, RECORD], CLEAN)
    assert verdict.outcome is Outcome.happened


# Keys that aren't unique


MADE = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
ALONE = Circumstances(window=(MADE, MADE + timedelta(seconds=9)), key_used_otherwise=False)


def made_at(seconds: float) -> Match:
    return inv().model_copy(update={"at": MADE + timedelta(seconds=seconds)})


@pytest.mark.parametrize("seconds", [-120, 0, 9, 129])
def test_a_shared_key_proves_if_nobody_else_can_have_used_it(seconds: float) -> None:
    verdict = weigh([seen(NOT_UNIQUE, made_at(seconds))], [empty()], [NOT_UNIQUE], ALONE)
    assert verdict.outcome is Outcome.happened


@pytest.mark.parametrize(
    ("match", "less", "why"),
    [
        (made_at(-121), {}, "when the gesture can't have made it"),
        (made_at(130), {}, "when the gesture can't have made it"),
        (inv(), {}, "when it was made isn't known"),
        (made_at(1), {"window": None}, "when it was made isn't known"),
        (made_at(1), {"key_used_otherwise": True}, "another gesture of ours may have made it"),
    ],
)
def test_a_shared_key_outside_the_window_or_used_otherwise_is_for_a_person(
    match: Match, less: dict[str, Any], why: str
) -> None:
    verdict = weigh([seen(NOT_UNIQUE, match)], [empty()], [NOT_UNIQUE], ALONE.model_copy(update=less))
    assert verdict.outcome is Outcome.unknown
    assert why in verdict.reasons[0]


def test_a_shared_key_at_an_account_that_others_use_is_for_a_person() -> None:
    shared = Record(SHARED, "invoices", key=KEY, unique=False)
    verdict = weigh([seen(shared, made_at(1))], [empty()], [shared], ALONE)
    assert verdict.outcome is Outcome.unknown
    assert "somebody else's" in verdict.reasons[0]


def test_a_shared_key_without_a_baseline_is_for_a_person() -> None:
    for before in (None, blind()):
        assert weigh([seen(NOT_UNIQUE, made_at(1))], [before], [NOT_UNIQUE], ALONE).outcome is Outcome.unknown


def test_two_new_rows_of_a_shared_key_are_for_a_person() -> None:
    verdict = weigh([seen(NOT_UNIQUE, inv("1"), inv("2"))], [empty()], [NOT_UNIQUE], ALONE)
    assert verdict.outcome is Outcome.unknown
    assert len(verdict.matches) == 2


def test_a_mark_of_ours_makes_a_shared_key_unique() -> None:
    verdict = weigh([seen(NOT_UNIQUE, inv(ours=True))], [empty()], [NOT_UNIQUE], NOTHING_KNOWN)
    assert verdict.outcome is Outcome.happened


def test_a_row_of_a_shared_key_keeps_another_list_from_proving_absence() -> None:
    verdict = weigh([seen(NOT_UNIQUE, inv()), empty()], [empty(), empty()], [NOT_UNIQUE, RECORD], SURE)
    assert verdict.outcome is Outcome.unknown


# The schema


@pytest.mark.parametrize(
    "broken",
    [
        {"outcome": "happened"},
        {"outcome": "happened", "count": 1, "by": (0,)},
        {"outcome": "happened", "count": 1, "matches": (inv(),)},
        {"outcome": "not_happened", "missing": ("a look",)},
        {"outcome": "not_happened", "matches": (inv(),)},
        {"outcome": "happened", "count": 1, "matches": (inv(),), "by": (0,), "contradiction": True},
        {"outcome": "happened", "count": 1, "matches": (inv(),), "by": (0,), "more_than_once": True},
        {"outcome": "unknown", "count": 2, "more_than_once": True},
    ],
)
def test_a_verdict_that_stands_on_nothing_cannot_be_made(broken: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Verdict(**broken)


def test_a_verdict_comes_back_from_json_as_it_was() -> None:
    verdict = weigh([seen(RECORD, inv(box=(1, 2, 3, 4.5)))], [empty()], [RECORD], NOTHING_KNOWN)
    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict


def test_observations_that_dont_belong_to_the_proof_are_refused() -> None:
    with pytest.raises(ValueError, match="1 observations for 2 observers"):
        weigh([empty()], [], [RECORD, TEXT], SURE)


# Before the gesture, and between two looks


def test_a_unique_record_that_is_there_before_the_gesture_is_shown() -> None:
    assert already_there([seen(RECORD, inv()), None], [RECORD, TEXT]) == (inv(),)
    assert already_there([seen(NOT_UNIQUE, inv()), empty()], [NOT_UNIQUE, RECORD]) == ()


def test_two_looks_agree_if_they_say_the_same() -> None:
    assert looks_agree([empty()], [empty(at=AT + timedelta(minutes=1))])
    assert not looks_agree([empty()], [blind()])
    assert not looks_agree([seen(RECORD, inv("1"))], [seen(RECORD, inv("2"))])
    assert not looks_agree([], [empty()])


def test_an_observation_says_one_thing() -> None:
    with pytest.raises(ValidationError, match="exactly when"):
        Observation(kind="X", observer="x", sight=Sight.seen, at=AT)
    with pytest.raises(ValidationError, match="vouches for nothing"):
        Observation(kind="X", observer="x", sight=Sight.cannot_tell, complete=True, at=AT)


def test_what_may_have_been_there_before_the_gesture_is_not_new_and_stops_it() -> None:
    unclear = RECORD.cannot_tell("nobody has declared what it means", at=AT, candidates=[inv()])
    assert already_there([unclear], [RECORD]) == (inv(),)
    assert weigh([seen(RECORD, inv())], [unclear], [RECORD], NOTHING_KNOWN).matches == ()
    both = BOTH.together((unclear, empty(MAIL)))
    assert already_there([both], [BOTH]) == (inv(),)


# One effect of two parts

MAIL = SentMail(BOOKS, to="ann@example.org", subject="S-101", complete=True)
BOTH = Both(RECORD, MAIL)


def sent(*matches: Match, **more: Any) -> Observation:
    return seen(MAIL, *(matches or (Match(identity="ann | S-101"),)), **more)


NEITHER = BOTH.together((empty(), empty(MAIL)))


def test_both_parts_of_an_effect_are_proof_that_it_happened() -> None:
    verdict = weigh([BOTH.together((seen(RECORD, inv()), sent()))], [NEITHER], [BOTH], NOTHING_KNOWN)
    assert (verdict.outcome, verdict.count, verdict.values) == (Outcome.happened, 1, {"number": "INV-7"})
    assert verdict.reasons == (f"{RECORD} saw it; {MAIL} saw it",)


@pytest.mark.parametrize("other", [empty(MAIL), blind(MAIL)])
def test_one_part_of_an_effect_is_a_question(other: Observation) -> None:
    verdict = weigh([BOTH.together((seen(RECORD, inv()), other))], [NEITHER], [BOTH], SURE)
    assert verdict.outcome is Outcome.unknown
    assert verdict.reasons == (f"{RECORD} saw it, but nothing new is seen of {MAIL}",)


def test_a_part_that_was_there_before_the_gesture_stands_for_nothing() -> None:
    before = BOTH.together((seen(RECORD, inv()), empty(MAIL)))
    now = BOTH.together((seen(RECORD, inv()), sent()))
    verdict = weigh([now], [before], [BOTH], SURE)
    assert (verdict.outcome, verdict.by) == (Outcome.unknown, ())
    assert verdict.reasons == (f"{MAIL} saw it, but nothing new is seen of {RECORD}",)
    assert weigh([before], [before], [BOTH], NOTHING_KNOWN).matches == ()


def test_both_parts_absent_are_absent_and_one_that_cannot_be_told_is_not() -> None:
    gone = BOTH.together((empty(), empty(MAIL)))
    assert weigh([gone], [None], [BOTH], SURE).outcome is Outcome.not_happened
    dark = BOTH.together((empty(), blind(MAIL)))
    assert weigh([dark], [None], [BOTH], SURE).outcome is Outcome.unknown


def test_a_part_that_is_doubted_or_there_twice_is_the_doubt_of_the_whole() -> None:
    waits = BOTH.together((seen(RECORD, inv()), sent(pending=True)))
    assert weigh([waits], [NEITHER], [BOTH], NOTHING_KNOWN).outcome is Outcome.unknown
    twice = BOTH.together((seen(RECORD, inv()), sent(Match(identity="a"), Match(identity="b"))))
    verdict = weigh([twice], [NEITHER], [BOTH], NOTHING_KNOWN)
    assert (verdict.outcome, verdict.count, verdict.more_than_once) == (Outcome.happened, 2, True)


def test_a_refusal_that_stood_there_before_the_gesture_is_none_of_it() -> None:
    shown = RECORD.cannot_tell(at=AT).model_copy(update={"refusal": True})
    assert new_refusal([shown], [blind()]) and new_refusal([shown], [None]) and new_refusal([shown], [])
    assert not new_refusal([shown], [shown]) and not new_refusal([blind()], [None])


# what vanishes, and what comes in threes

GONE = Gone(RECORD)
BATCH = Record(BOOKS, "approvals", key=KEY, complete=True, times=3)


def gone(**more: Any) -> Observation:
    return seen(GONE, Match(identity="gone")).model_copy(
        update={"vanished": True, "rows": 2, "account": "acme", **more}
    )


def standing(**more: Any) -> Observation:
    return empty(GONE, rows=3, account="acme", **more)


def test_a_row_that_vanished_alone_proves() -> None:
    assert weigh([gone()], [standing()], [GONE], CLEAN).outcome is Outcome.happened


@pytest.mark.parametrize("now", [{"rows": 1}, {"rows": None}, {"account": "other"}, {"account": ""}])
def test_a_row_that_vanished_with_others_or_from_another_list_proves_nothing(now: dict[str, Any]) -> None:
    assert weigh([gone(**now)], [standing()], [GONE], CLEAN).outcome is Outcome.unknown


@pytest.mark.parametrize("before", [None, blind(GONE)])
def test_a_row_that_nobody_saw_before_has_not_vanished(before: Observation | None) -> None:
    assert weigh([gone()], [before], [GONE], CLEAN).outcome is Outcome.unknown


def test_a_row_that_stands_there_proves_an_absence_under_all_its_conditions() -> None:
    assert weigh([standing()], [standing()], [GONE], SURE).outcome is Outcome.not_happened
    assert weigh([standing()], [standing()], [GONE], CLEAN).outcome is Outcome.unknown


def test_gone_takes_a_record_of_a_whole_list_only() -> None:
    with pytest.raises(ValidationError, match="complete=True"):
        Gone(Record(BOOKS, "invoices", key=KEY))
    with pytest.raises(ValidationError, match="takes a Record"):
        Gone(TEXT)
    assert Observer.from_json(GONE.to_json(), {"books": BOOKS}) == GONE


@pytest.mark.parametrize(
    ("new", "outcome", "count"),
    [(1, Outcome.unknown, 0), (2, Outcome.unknown, 0), (3, Outcome.happened, 1), (5, Outcome.unknown, 0)],
)
def test_a_batch_is_there_with_all_its_records_or_in_part(new: int, outcome: Outcome, count: int) -> None:
    verdict = weigh([seen(BATCH, *[inv("B-1")] * new)], [empty(BATCH)], [BATCH], CLEAN)
    assert (verdict.outcome, verdict.count) == (outcome, count)


def test_twice_as_many_records_as_a_batch_has_happened_twice() -> None:
    verdict = weigh([seen(BATCH, *[inv("B-1")] * 6)], [empty(BATCH)], [BATCH], CLEAN)
    assert (verdict.outcome, verdict.count, verdict.more_than_once) == (Outcome.happened, 2, True)


def test_a_part_of_a_batch_is_not_covered_by_a_text() -> None:
    said = seen(TEXT, inv("B-1"))
    verdict = weigh([said, seen(BATCH, inv("B-1"))], [None, empty(BATCH)], [TEXT, BATCH], CLEAN)
    assert verdict.outcome is Outcome.unknown


# why


def test_a_verdict_lists_its_conditions_and_what_showed_them() -> None:
    verdict = weigh([empty(rows=4)], [empty(rows=3)], [RECORD], SURE)
    assert all(each.holds and each.of == "absence" for each in verdict.conditions)
    facts = {each.needs: each.seen for each in verdict.conditions}
    assert facts["it shows no fewer rows than before"] == "4 rows now, 3 before the gesture"
    assert facts["nothing can take effect late any more"] == "it has been dead for 30 s; late_commit is 30 s"
    observers = [each.observer for each in verdict.conditions]
    assert observers == sorted(observers, reverse=True), "those of no single observer stand last"


def test_what_is_missing_is_a_condition_that_does_not_hold() -> None:
    verdict = weigh([empty()], [empty()], [RECORD], NOTHING_KNOWN)
    unmet = [each.seen for each in verdict.conditions if not each.holds]
    assert tuple(unmet) == verdict.missing
    assert len(unmet) == 3


def test_what_happened_twice_does_not_hold_as_having_happened_once() -> None:
    verdict = weigh([seen(RECORD, inv("A"), inv("B"))], [empty()], [RECORD], CLEAN)
    assert [each.needs for each in verdict.conditions if not each.holds] == ["it happened once"]


def test_an_observer_that_was_not_needed_for_a_presence_is_not_in_the_list() -> None:
    text = TEXT.cannot_tell("not on the page", at=AT)
    verdict = weigh([text, seen(RECORD, inv())], [text, empty()], [TEXT, RECORD], CLEAN)
    assert {each.observer for each in verdict.conditions} == {str(RECORD), ""}
    assert all(each.holds for each in verdict.conditions)


def test_conditions_against_a_presence_name_the_contradiction() -> None:
    verdict = weigh([seen(RECORD, inv())], [empty()], [RECORD], Circumstances(nothing_left=True))
    assert [each.needs for each in verdict.conditions if not each.holds] == ["nothing contradicts it"]
