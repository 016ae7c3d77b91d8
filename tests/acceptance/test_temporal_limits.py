"""What ends or outlasts a workflow: its limits, a person who cancels it, a long history; and who may answer when."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Coroutine
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError, WorkflowHandle

from browser_agent.keeper.temporal.messages import Limits
from browser_agent.states import QuestionKind
from tests.fix_temporal import Engine, until

Handle = WorkflowHandle[Any, Any]


@pytest.mark.matrix  # the conformance tests have two hosts, one of which is killed
def test_two_hosts_with_their_runs_in_postgresql_make_one_invoice_though_one_is_killed(
    engine_on_postgres: Engine,
) -> None:
    engine = engine_on_postgres
    first = engine.browsers(**_host(engine, "alpha"))
    engine.world.to_books.when("committed", first.kill)
    row = engine.submit("post_one", "reference=S-1", key="two hosts")
    assert first.wait(180) == -signal.SIGKILL
    second = engine.browsers(**_host(engine, "beta"))
    assert engine.result("two hosts").state == "finished"
    attempts = engine.world.store.leases.attempts(row.id)
    assert [attempt.host for attempt in attempts] == ["alpha", "beta"]
    assert engine.world.invoices("S-1") == ["INV-1"]
    assert engine.world.outcomes(row.id) == ["happened"]  # the one gesture: looked for, not made again
    engine.end(second, signal.SIGTERM)
    assert second.returncode == 0


def test_a_cancelled_workflow_finishes_the_gesture_in_hand_and_makes_no_other(engine: Engine) -> None:
    engine.world.to_books.hold()
    engine.browsers()
    row = engine.submit("post_many", f"references={json.dumps(['S-1', 'S-2'])}", key="cancelled")
    engine.world.to_books.wait_for("held", 180)
    engine.ask("cancelled", _cancel)
    until(lambda: "ACTIVITY_TASK_CANCEL_REQUESTED" in engine.history("cancelled"), "its worker can know")
    engine.world.to_books.release()
    with pytest.raises(WorkflowFailureError) as ended:
        engine.ask("cancelled", _result)
    assert "cancelled" in str(ended.value.cause).lower()
    first, *never_made = engine.world.outcomes(row.id)
    assert (first, set(never_made) - {"intent", "refused"}) == ("happened", set())
    assert (engine.world.invoices("S-1"), engine.world.invoices("S-2")) == (["INV-1"], [])
    assert str(engine.world.keep(row.id).state) == "finished"  # without Temporal
    assert (engine.world.invoices("S-1"), engine.world.invoices("S-2")) == (["INV-1"], ["INV-2"])


def test_a_run_that_no_worker_takes_in_time_is_a_question_and_goes_on_when_one_is_there(engine: Engine) -> None:
    row = engine.start("post_one", "never taken", Limits(start_seconds=5.0), reference="S-1")
    engine.until_state("never taken", "needs_attention")
    (question,) = engine.world.store.inbox.questions(row.id, open_only=True)
    assert question.kind is QuestionKind.ATTEMPTS and "it was not started" in question.words
    engine.browsers()
    resumed = engine.cli("resume", row.id)
    assert resumed.returncode == 0, resumed.stderr
    assert engine.result("never taken").state == "finished"
    assert engine.world.invoices("S-1") == ["INV-1"]


def test_a_worker_that_keeps_a_run_too_long_loses_it_and_the_next_one_looks(engine: Engine) -> None:
    engine.browsers()
    limits = Limits(heartbeat_seconds=20.0, keep_seconds=45.0, attempts=50)  # it must outlast a look on a busy machine
    row = engine.start("hang_after", "too long", limits, "hanging.py", reference="S-1")
    until(lambda: "TIMEOUT_TYPE_START_TO_CLOSE" in engine.history("too long"), "its time is over")
    assert engine.result("too long").state == "finished"
    (gesture,) = engine.world.store.journal.gestures(row.id)
    looked = {seen.attempt for seen in engine.world.store.journal.observations(gesture.id)}
    assert looked and min(looked) > gesture.attempt
    assert engine.world.outcomes(row.id) == ["happened"]
    assert engine.world.invoices("S-1") == ["INV-1"]


@pytest.mark.matrix
def test_a_long_history_goes_on_as_a_new_workflow_which_takes_an_answer_and_refuses_a_stale_one(engine: Engine) -> None:
    engine.world.to_books.fault("hang_before", count=2)
    engine.browsers()
    limits = Limits(heartbeat_seconds=20.0, look_seconds=0.2, look_most_seconds=0.2)
    row = engine.start("post_one_slowly", "long", limits, reference="S-1")
    first = _known_question(engine, "long")
    until(lambda: engine.runs_of("long") > 1, "it goes on as a new one")
    assert _answer(engine, first, "not-happened", "--override").returncode == 0
    second = _known_question(engine, "long", besides=first)
    stale = _answer(engine, first, "not-happened", "--override")
    assert stale.returncode == 2
    assert f"Question {first} of run {row.id} isn't open here (open now: {second})" in " ".join(stale.stderr.split())
    assert _answer(engine, second, "not-happened", "--override").returncode == 0
    assert engine.result("long").state == "finished"
    assert engine.world.invoices("S-1") == ["INV-1"]


@pytest.mark.parametrize(
    ("words", "made"), [(["approve"], ["INV-1"]), pytest.param(["refuse"], [], marks=pytest.mark.matrix)]
)
def test_what_asks_first_is_made_after_a_yes_alone(engine: Engine, words: list[str], made: list[str]) -> None:
    engine.browsers()
    key = f"asks first, {words[0]}"
    engine.start("post_carefully", key, Limits(heartbeat_seconds=20.0), "approving.py", reference="S-1")
    said = _answer(engine, _known_question(engine, key), *words)
    assert said.returncode == 0, said.stderr
    assert engine.result(key).state == "finished"
    assert engine.world.invoices("S-1") == made


def _host(engine: Engine, name: str) -> dict[str, str]:
    """A host of that name, with a data folder of its own."""
    return {"BROWSER_AGENT_HOST": name, "XDG_DATA_HOME": str(engine.world.folder / name)}


def _known_question(engine: Engine, key: str, besides: str = "") -> str:
    """The run's open question, as soon as its workflow knows of it."""
    until(lambda: set(engine.open_in(key)) - {besides} != set(), "the workflow knows a question")
    return next(each for each in engine.open_in(key) if each != besides)


def _answer(engine: Engine, question: str, *words: str) -> subprocess.CompletedProcess[str]:
    return engine.cli("answer", question, *words, "--by", "ann", "--reason", "I have looked at the site")


def _cancel(handle: Handle) -> Coroutine[Any, Any, None]:
    return handle.cancel()


def _result(handle: Handle) -> Coroutine[Any, Any, Any]:
    return handle.result()
