"""The store scrubs all free text that is written to it; data that a resume needs unchanged is refused instead."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import String
from sqlmodel import SQLModel
from sqlmodel.sql.sqltypes import AutoString

from browser_agent.errors import WrongTask
from browser_agent.secrets.secret import Secret
from browser_agent.states import Answer, GestureState, QuestionKind, RunState, StepState
from browser_agent.store import AttemptEnd, Intent, NewQuestion, NewStep, PersonAnswer, Store
from browser_agent.store.column_types import scrubbed_columns
from tests.store.building import stored_bytes

PLANTED = "xyzzy-planted-7"
CARD = "4012 8888 8888 1881"
SAID = f"{PLANTED} and {CARD} at https://h.example/a?k=v"


@pytest.fixture(autouse=True)
def planted():
    Secret(PLANTED, "env:DOOR")


def everything(store: Store) -> str:
    return stored_bytes(store).decode(errors="replace")


def test_what_is_said_about_a_run_a_step_a_gesture_and_a_question_is_scrubbed(store: Store):
    run = store.leases.submit(task_file="t.py", task_name="t", arguments="{}", sites="{}").id
    lease = store.leases.claim(run, keeper="{}", keeper_dead=False)
    step = store.journal.begin_step(lease, NewStep("post#0", "post", SAID, "{}", True))
    intent = {"words": SAID, "target": {"selector": SAID}, "proof": [], "known": {}}
    row = store.journal.intend(lease, step, 1, Intent("click", SAID, json.dumps(intent), sends=f"POST /{PLANTED}"))
    store.journal.dispatch(lease, row.id, guarded=True)
    store.journal.release(lease, row.id, "POST", f"https://ann:{PLANTED}@h.example/a?b={PLANTED}")
    said = {
        "observer": SAID,
        "sight": "seen",
        "reasons": [SAID],
        "evidence": [{"text": SAID, "rows": [{"Card": CARD}]}],
    }
    store.journal.observe(lease, row.id, [json.dumps(said)])
    store.journal.move(lease, row.id, GestureState.IN_DOUBT)
    store.journal.move(lease, row.id, GestureState.UNKNOWN, reasons=json.dumps([SAID]))
    asked = NewQuestion(
        QuestionKind.OUTCOME, SAID, (SAID,), ({"text": SAID},), {"asked": PLANTED}, SAID, SAID, gesture=row.id
    )
    question = store.inbox.ask(lease, asked)
    assert store.inbox.ask(lease, asked).id == question.id  # it is known again as it stands there
    store.inbox.answer(question.id, PersonAnswer(Answer.HAPPENED, "Ann", SAID, {"number": f"1 {PLANTED}"}))
    store.journal.end_step(lease, step.id, StepState.RAISED, json.dumps({"fact": "Refused", "words": SAID}))
    store.leases.end_attempt(lease, AttemptEnd(SAID))
    store.leases.end(lease, RunState.RAISED, ended_by=SAID, result=json.dumps(SAID))
    kept = everything(store)
    assert PLANTED not in kept and "[secret env:DOOR]" in kept and "h.example/a?k" in kept
    assert kept.count(CARD) == kept.count('"[secret env:DOOR] and 4012')  # a result is data: it loses the secret alone
    assert store.verify().broken == ()


@pytest.mark.parametrize("part", ["proof", "known"])
def test_a_proof_that_holds_a_secret_is_refused_before_anything_is_written(store: Store, part: str):
    run = store.leases.submit(task_file="t.py", task_name="t", arguments="{}", sites="{}").id
    lease = store.leases.claim(run, keeper="{}", keeper_dead=False)
    step = store.journal.begin_step(lease, NewStep("post#0", "post", "post()", "{}", True))
    intent = {"words": "post", "proof": [], "known": {}, part: [{"pattern": f"for {PLANTED}"}]}
    with pytest.raises(WrongTask, match="the secret env:DOOR"):
        store.journal.intend(lease, step, 1, Intent("click", "post", json.dumps(intent)))
    assert store.journal.gestures(run) == []


def test_a_step_may_neither_return_a_secret_nor_take_it_in_the_clear(store: Store):
    run = store.leases.submit(task_file="t.py", task_name="t", arguments="{}", sites="{}").id
    lease = store.leases.claim(run, keeper="{}", keeper_dead=False)
    step = store.journal.begin_step(lease, NewStep("read#0", "read", "read()", "{}", False))
    with pytest.raises(WrongTask, match="holds the secret env:DOOR"):
        store.journal.end_step(lease, step.id, StepState.FINISHED, json.dumps({"token": PLANTED}))
    for bookmark, arguments in ((f"read:key:{PLANTED}#0", "{}"), ("read#1", json.dumps({"token": PLANTED}))):
        with pytest.raises(WrongTask, match="holds the secret env:DOOR in clear text"):
            store.journal.begin_step(lease, NewStep(bookmark, "read", "read()", arguments, False))


def test_what_consent_is_bound_to_stays_exact(store: Store):
    run = store.leases.submit(task_file="t.py", task_name="t", arguments="{}", sites="{}").id
    lease = store.leases.claim(run, keeper="{}", keeper_dead=False)
    call = {"step": "pay@1", "arguments": json.dumps({"order": CARD, "password": "x"}), "words": "pay()"}
    details = {"calls": [call], "valid_seconds": 60.0}
    question = store.inbox.ask(lease, NewQuestion(QuestionKind.APPROVAL, f"Pay {CARD}?", details=details))
    assert "[card ..1881]" in question.words
    assert json.loads(store.inbox.question(question.id).details)["calls"] == [call]


STRUCTURED = {
    "run": {"key", "task_file", "task_name", "arguments", "sites", "token", "submitted_by", "error_kind"},
    "attempt": {"host", "keeper", "worker", "driver", "browser", "page", "source", "packages", "present", "late_step"}
    | {"attested_by"},
    "keeper": {"host", "process"},
    "step": {"bookmark", "name", "arguments", "value", "files"},
    "gesture": {"kind", "site", "intent", "before", "after", "target_box", "approval", "reverse"},
    "release": {"method"},
    "approval": {"step", "arguments"},
    "audit": {"run_id", "kind", "prev", "hash"},
    "place": {"store", "address"},
    "blob": {"media_type"},
}
"""The columns of text that are stored unchanged: names, ids, digests, processes, and JSON that must stay exact."""


def text_columns(table: type[SQLModel]) -> set[str]:
    """The columns that hold text which the model doesn't restrict; keys only refer to rows."""
    columns = SQLModel.metadata.tables[str(table.__tablename__)].columns
    return {
        column.name
        for column in columns
        if isinstance(column.type, String | AutoString) and not column.primary_key and not column.foreign_keys
    }


def test_every_column_of_text_is_either_scrubbed_or_named_as_structured():
    tables = {mapper.class_.__tablename__: mapper.class_ for mapper in SQLModel._sa_registry.mappers}
    unruled = {name: text_columns(table) - scrubbed_columns(table).keys() for name, table in tables.items()}
    assert {name: columns for name, columns in unruled.items() if columns} == STRUCTURED
