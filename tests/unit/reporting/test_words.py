"""The words of a report, made from rows alone."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from browser_agent.reporting.words import (
    TONES,
    commands,
    compact,
    counted,
    end_in_words,
    input_in_words,
    interruptions,
    last_confirmed,
    no_picture_after,
    proofs_in_words,
    state_in_words,
)
from browser_agent.states import TROUBLE_CODE, Answer, EndKind, GestureState, QuestionKind
from browser_agent.store import AttemptEnd
from browser_agent.store.answers import ALLOWED
from browser_agent.store.records import AttemptRow, GestureRow, ObservationRow, QuestionRow

NOON = datetime(2026, 11, 30, 12, 1, 3, tzinfo=UTC)


def gesture(state: GestureState, **more: Any) -> GestureRow:
    names = {"id": "g-1", "run_id": "r", "step_id": "s", "number": 1, "attempt": 1, "kind": "click", "words": "post"}
    return GestureRow(**{**names, "state": state, "intent": "{}", "intent_at": NOON, **more})


def attempt(number: int, end: AttemptEnd | None) -> AttemptRow:
    row = AttemptRow(run_id="r", number=number, host="here", keeper="{}", began=NOON)
    if end is not None:
        end.store_in(row, NOON)
    return row


def test_each_state_of_a_gesture_has_its_colour_and_words() -> None:
    assert set(TONES) == set(GestureState)
    unproven = {GestureState.DISPATCHING, GestureState.IN_DOUBT, GestureState.UNKNOWN, GestureState.ASKED}
    assert {state for state, (tone, _) in TONES.items() if tone == "red"} == unproven


def test_a_refused_gesture_was_not_refused_by_the_site() -> None:
    assert state_in_words(gesture(GestureState.REFUSED)) == "refused: never dispatched"
    assert state_in_words(gesture(GestureState.REFUSED, dispatched_at=NOON)) == "refused: nothing was sent"
    assert state_in_words(gesture(GestureState.NOT_HAPPENED), keeper_alive=False) == "not happened"


def test_outcomes_are_counted_by_their_names_and_a_doubt_comes_first() -> None:
    s = GestureState
    states = [s.HAPPENED, s.ASKED, s.HAPPENED, s.REJECTED, s.REFUSED, s.NOT_HAPPENED]
    assert counted(map(gesture, states)) == [
        ("red", "1 unknown, asked"),
        ("green", "2 happened"),
        ("grey", "1 not happened"),
        ("grey", "1 refused"),
        ("amber", "1 rejected"),
    ]
    assert sum(int(words.split()[0]) for _, words in counted(map(gesture, s))) == len(s)


def test_the_last_confirmed_change_is_the_last_one_that_is_known_to_have_happened() -> None:
    assert last_confirmed([]) == last_confirmed([gesture(GestureState.ASKED)]) == "none in this run"
    first = gesture(GestureState.HAPPENED, words="post R-1", values='{"number": "INV-1"}')
    second = gesture(GestureState.HAPPENED, words="post R-2")
    assert last_confirmed([first, gesture(GestureState.NOT_HAPPENED)]) == "post R-1 (number = INV-1)"
    assert last_confirmed([first, second, gesture(GestureState.IN_DOUBT)]) == "post R-2"


def test_interruptions_are_listed_with_their_cause_and_time() -> None:
    done = AttemptEnd("exit code 0", EndKind.WORKER_ENDED, 0)
    assert interruptions([]) == interruptions([attempt(1, done), attempt(2, None)]) == ""
    assert interruptions([attempt(1, AttemptEnd("ended by signal 9, but released before"))]) == ""
    killed = attempt(1, AttemptEnd("ended by signal 9", EndKind.WORKER_ENDED, -9))
    stuck = attempt(2, AttemptEnd("its keeper died", EndKind.KEEPER_DIED))
    unseen = attempt(3, AttemptEnd("its worker is gone", EndKind.WORKER_ENDED))
    assert interruptions([killed, stuck, unseen, attempt(4, done)]) == (
        "Resumed after 3 interruptions: its worker was ended by signal 9 at 12:01:03 UTC (attempt 1); "
        "its keeper died at 12:01:03 UTC (attempt 2); its worker is gone at 12:01:03 UTC (attempt 3)."
    )
    assert interruptions([killed]).startswith("Not resumed after 1 interruption:")


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (None, "has not ended"),
        (AttemptEnd("exit code 0", EndKind.WORKER_ENDED, 0), "its worker ended by itself"),
        (AttemptEnd("exit code 71", EndKind.WORKER_ENDED, TROUBLE_CODE),
         "its worker ended, since its browser, driver or machine had failed"),
        (AttemptEnd("exit code 2", EndKind.WORKER_ENDED, 2), "exit code 2"),
        (AttemptEnd("exit code 0, as somebody wrote"), "exit code 0, as somebody wrote"),
    ],
)  # fmt: skip
def test_an_end_is_read_from_its_values_and_never_from_its_words(end: AttemptEnd | None, words: str) -> None:
    assert end_in_words(attempt(1, end)) == words


def test_a_proof_is_named_by_what_was_seen_or_by_the_wire_or_by_a_person() -> None:
    said = {"observer": "the confirmation", "counts": False, "matches": [{"identity": "Invoice INV-1 posted"}]}
    row = {"observer": "the record", "counts": True, "matches": []}
    rows = [
        ObservationRow(id=name, gesture_id="g", attempt=1, look=look, position=0,
                       observation=json.dumps(one), at=NOON)
        for name, look, one in (("o-1", 1, said), ("o-2", 3, row))
    ]  # fmt: skip
    assert proofs_in_words(["o-1", "o-2", "wire", "answer to q-1 by ann: seen"], rows) == [
        "the confirmation “Invoice INV-1 posted” (look 1)",
        "the record (look 3)",
        "what the gate saw on the wire",
        "answer to q-1 by ann: seen",
    ]


@pytest.mark.parametrize(
    ("intent", "words"),
    [
        ({}, []),
        ({"key": "Enter"}, ["key Enter"]),
        ({"on": False}, ["set off"]),
        ({"option": "Paid", "by": "label"}, ["option “Paid”"]),
        ({"option": "p", "by": "value"}, ["option “p” (by its value)"]),
        ({"files": [{"name": "a.pdf", "size": 1234, "sha256": "ab"}]}, ["file a.pdf (1,234 bytes, SHA-256 ab)"]),
    ],
)
def test_what_a_kind_has_beside_its_target_is_named(intent: dict[str, Any], words: list[str]) -> None:
    assert input_in_words(intent) == words


def test_a_missing_picture_has_its_reason() -> None:
    assert no_picture_after(gesture(GestureState.REFUSED)) == "no picture: nothing was made"
    ended = gesture(GestureState.NOT_HAPPENED, sender_dead_at=NOON)
    assert "its browser was ended at 12:01:03 UTC" in no_picture_after(ended)
    assert no_picture_after(gesture(GestureState.HAPPENED)) == "no picture was taken"


@pytest.mark.parametrize("kind", QuestionKind)
def test_each_answer_that_a_question_takes_has_its_command(kind: QuestionKind) -> None:
    question = QuestionRow(id="q-1", run_id="run-1", kind=kind, words="Did this happen?", asked_at=NOON)
    lines = commands(question)
    spoken = {Answer.NOT_HAPPENED: "not-happened"}
    for answer in ALLOWED[kind]:
        assert any(f" {spoken.get(answer, answer)} " in f"{line} " for line in lines)
    assert all("q-1" in line or "run-1" in line for line in lines)


def test_data_is_one_readable_line() -> None:
    stored = {"invoice": {"number": "INV-1"}, "amount": {"$decimal": "1240.5"}, "tags": ["a", "b"], "none": None}
    assert compact(stored) == "invoice: (number: INV-1), amount: 1240.5, tags: a; b, none: "
