"""The audit log: one line for each fact, in the same transaction, and a chain that shows what was done to it."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from browser_agent.errors import UnknownName
from browser_agent.states import Answer, GestureState, RunState, StepState
from browser_agent.store import Lease, PersonAnswer, Store, audit
from tests.store.building import (
    PROOF,
    REFUSED,
    asked,
    audit_line,
    blob,
    brought,
    by_raw_sql,
    called,
    everything,
    intended,
    intent,
    without_triggers,
)


@pytest.fixture
def told(store: Store, lease: Lease) -> Store:
    """A store in which something has happened."""
    gesture = brought(store, lease, GestureState.HAPPENED)
    store.journal.end_step(lease, gesture.step_id, StepState.FINISHED, '{"number": "INV-2301"}')
    store.leases.end(lease, RunState.FINISHED, ended_by="the task completed")
    return store


def broken_at(store: Store) -> list[tuple[int, str]]:
    return [(place.seq, place.because) for place in store.verify().broken]


def test_the_log_tells_a_run_from_its_submission_to_its_end(told: Store) -> None:
    lines = told.audit_lines()
    kinds = ["run_submitted", "taken_over", "step_began", "intent", "dispatch", "verdict", "step_finished", "run_ended"]
    assert [line["kind"] for line in lines] == kinds
    verdict = lines[kinds.index("verdict")]
    assert (verdict["ended"], verdict["values"], verdict["proven_by"]) == ("happened", {"number": "INV-2301"}, ["o-1"])
    assert [line["seq"] for line in lines] == list(range(1, len(kinds) + 1))


def test_an_untouched_log_holds(told: Store) -> None:
    chain = told.verify()
    assert (chain.size, chain.broken) == (8, ())
    assert len(chain.head) == 64


def test_an_empty_log_holds(store: Store) -> None:
    assert store.verify() == audit.Chain(0, audit.START, ())


def test_lines_of_one_run_are_told_apart(told: Store) -> None:
    assert told.audit_lines("run-of-somebody-else") == []
    run = told.leases.runs()[0].id
    assert told.audit_lines(run) == told.audit_lines()


@pytest.mark.parametrize(
    "statement",
    ["UPDATE audit SET body = '{}' WHERE seq = 4", "DELETE FROM audit WHERE seq = 4", "DELETE FROM audit"],
)
def test_a_line_is_neither_changed_nor_removed(told: Store, statement: str) -> None:
    before = everything(told)
    with pytest.raises(REFUSED, match="an audit line is never"):
        by_raw_sql(told, statement)
    assert everything(told) == before


def test_a_changed_line_is_found(told: Store) -> None:
    without_triggers(told)
    _, body = audit_line(told, 4)
    by_raw_sql(told, f"UPDATE audit SET body = {blob(told, body.replace(b'Nordwind', b'Suedwind'))} WHERE seq = 4")
    assert broken_at(told) == [(4, "its text was changed")]


def test_a_changed_line_with_its_hash_made_anew_is_found_by_the_next_one(told: Store) -> None:
    without_triggers(told)
    prev, body = audit_line(told, 4)
    forged = body.replace(b"Nordwind", b"Suedwind")
    anew = hashlib.sha256(b"browser-agent audit 1\n" + prev.encode() + b"\n" + forged).hexdigest()
    by_raw_sql(told, f"UPDATE audit SET body = {blob(told, forged)}, hash = '{anew}' WHERE seq = 4")
    assert broken_at(told) == [(5, "it does not follow the line before it")]


def test_a_removed_line_is_found(told: Store) -> None:
    without_triggers(told)
    by_raw_sql(told, "DELETE FROM audit WHERE seq = 4")
    assert broken_at(told)[0] == (5, "line 4 is missing")


def test_a_removed_line_with_the_rest_moved_up_is_found(told: Store) -> None:
    without_triggers(told)
    by_raw_sql(
        told,
        "DELETE FROM audit WHERE seq = 4",
        *(f"UPDATE audit SET seq = {seq - 1} WHERE seq = {seq}" for seq in range(5, 9)),
    )
    assert broken_at(told) == [(4, "it does not follow the line before it")]


def test_an_inserted_line_is_found(told: Store) -> None:
    body, prev = b'{"kind":"verdict","run":null}', told.verify().head
    row = f"9, 'verdict', '{prev}', '{'f' * 64}', {blob(told, body)}"
    by_raw_sql(told, f"INSERT INTO audit (seq, kind, prev, hash, body) VALUES ({row})")
    assert broken_at(told) == [(9, "its text was changed")]


def test_a_line_whose_columns_were_changed_is_found(told: Store) -> None:
    without_triggers(told)
    by_raw_sql(told, "UPDATE audit SET kind = 'note' WHERE seq = 4", "UPDATE audit SET run_id = 'x' WHERE seq = 5")
    assert broken_at(told) == [(n, "its columns contradict its text") for n in (4, 5)]


def test_a_transaction_that_was_rolled_back_has_told_nothing(store: Store, lease: Lease) -> None:
    before = everything(store)
    with pytest.raises(RuntimeError), store.database.write() as session:
        audit.append(session, store.clock, "verdict", lease.run, ended="happened")
        raise RuntimeError("the power went")
    assert everything(store) == before


def test_times_and_paths_are_told_as_text_and_nothing_as_nothing(store: Store) -> None:
    with store.database.write() as session:
        audit.append(
            session, store.clock, "note", None, when=datetime(2026, 11, 30, tzinfo=UTC), where=Path("a"), no=None
        )
    line = store.audit_lines()[0]
    assert (line["when"], line["where"], "no" in line) == ("2026-11-30T00:00:00+00:00", "a", False)


def test_a_note_and_a_look_name_their_evidence(store: Store, lease: Lease) -> None:
    _, gesture = intended(store, lease)
    seen = {"observer": "Record", "sight": "seen", "evidence": [{"blob": "a" * 64}, {"text": "INV-2301"}]}
    look, ids = store.journal.observe(lease, gesture.id, [json.dumps(seen), json.dumps({**seen, "evidence": []})])
    again, _ = store.journal.observe(lease, gesture.id, [json.dumps(seen)])
    assert (look, again, len(set(ids))) == (1, 2, 2)
    assert [(row.look, row.position) for row in store.journal.observations(gesture.id)] == [(1, 0), (1, 1), (2, 0)]
    store.journal.record(lease, gesture.id, wire='[{"status": 201}]', after="b" * 64)
    *_, first, second, noted = store.audit_lines()
    assert [said["evidence"] for said in first["observations"]] == [["a" * 64], []]
    assert (second["look"], noted["wire"], noted["after"]) == (2, [{"status": 201}], "b" * 64)


def test_the_pictures_of_a_gesture_are_named_in_the_log(store: Store, lease: Lease) -> None:
    step = store.journal.begin_step(lease, called())
    gesture = store.journal.intend(lease, step, 1, intent(before="c" * 64))
    store.journal.dispatch(lease, gesture.id, guarded=False)
    store.journal.move(lease, gesture.id, GestureState.HAPPENED, after="d" * 64, **PROOF)
    told = {line["kind"]: line.get("evidence") for line in store.audit_lines()}
    assert (told["intent"], told["verdict"]) == (["c" * 64], ["d" * 64])


def test_an_answer_is_a_line_that_names_the_person(store: Store, lease: Lease) -> None:
    question = asked(store, lease)
    store.inbox.answer(question.id, PersonAnswer(Answer.HAPPENED, "ann", "it is on the list", {"number": "INV-7"}))
    answer, verdict = store.audit_lines()[-2:]
    assert (answer["kind"], answer["by"], answer["reason"]) == ("answer", "ann", "it is on the list")
    assert (answer["values"], "override" in answer) == ({"number": "INV-7"}, False)
    assert (verdict["by"], verdict["ended"]) == ("ann", "happened")


@pytest.mark.parametrize("digest", ["../../etc/passwd", "A" * 64, "", "a" * 64])
def test_only_a_stored_digest_is_read(store: Store, digest: str) -> None:
    with pytest.raises(UnknownName, match="No stored picture"):
        store.artifacts.read(digest)
