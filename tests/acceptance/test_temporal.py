"""Runs that Temporal hands out: real dev server, real workers, and the fixture site's own ledger as the judge."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import WorkflowHandle

from browser_agent import processes
from browser_agent.ownership.takeover import process_alive
from browser_agent.processes import ProcessId
from browser_agent.states import Answer
from browser_agent.store import PersonAnswer
from browser_agent.store.records import QuestionRow
from tests.fix_temporal import Engine, kind_of, until

Handle = WorkflowHandle[Any, Any]


def test_an_undisturbed_run_makes_one_invoice_however_often_it_is_submitted(engine: Engine) -> None:
    row = engine.submit("post_one", "reference=S-1", key="undisturbed")
    assert engine.submit("post_one", "reference=S-1", key="undisturbed").id == row.id  # while it waits for a worker
    engine.browsers()
    ended = engine.result("undisturbed")
    assert (ended.run, ended.state) == (row.id, "finished")
    where = ["--site", f"books={engine.world.to_books.url}"]
    again = engine.cli("submit", f"{row.task_file}:post_one", "reference=S-1", "--key", "undisturbed", *where)
    assert engine.world.invoices("S-1") == ["INV-1"]
    assert engine.world.outcomes(row.id) == ["happened"]
    assert "exists already; nothing was started" in again.stdout, again.stderr


@pytest.mark.matrix  # the conformance tests kill one and restart everything
@pytest.mark.parametrize("point", ["released", "paused", "dispatching"])
def test_a_browser_worker_that_is_killed_is_followed_by_another_that_looks_first(engine: Engine, point: str) -> None:
    struck = engine.browsers("--kill-at", f"{point}:1@keeper")
    row = engine.submit("post_one", "reference=S-1", key=f"killed at {point}")
    struck.wait(180)
    engine.browsers()
    assert engine.result(row.key or "").state == "finished"
    assert engine.world.invoices("S-1") == ["INV-1"]
    assert len(engine.world.store.leases.attempts(row.id)) == 2


def test_a_browser_worker_that_was_stopped_before_the_gate_lets_nothing_go_when_it_wakes(engine: Engine) -> None:
    stopped = _stopped(engine, "paused", "stopped")
    other = engine.browsers()
    assert engine.result("stopped").state == "finished"
    assert engine.world.invoices("S-1") == ["INV-1"]
    engine.end(other, signal.SIGTERM)
    stopped.send_signal(signal.SIGCONT)
    engine.submit("post_one", "reference=S-2", key="after it")  # it is in good order, and goes on with other work
    assert engine.result("after it").state == "finished"
    assert (engine.world.invoices("S-1"), engine.world.invoices("S-2")) == (["INV-1"], ["INV-2"])


def test_a_browser_worker_that_is_asked_to_leave_hands_its_run_on_between_two_gestures(engine: Engine) -> None:
    leaving = engine.browsers()
    references = ["S-1", "S-2", "S-3", "S-4"]
    row = engine.submit("post_many", f"references={json.dumps(references)}", key="handed on")
    until(lambda: len(engine.world.books.invoices) > 0, "the first invoice is posted")
    engine.end(leaving, signal.SIGTERM)
    assert leaving.returncode == 0
    left = len(engine.world.books.invoices)
    engine.browsers()
    assert engine.result("handed on").state == "finished"
    assert [len(engine.world.invoices(reference)) for reference in references] == [1, 1, 1, 1]
    assert left < len(references)
    assert engine.world.outcomes(row.id) == ["happened"] * len(references)  # none was in doubt


def test_a_run_whose_workflow_was_terminated_makes_nothing_more(engine: Engine) -> None:
    stopped = _stopped(engine, "paused", "terminated")
    engine.ask("terminated", lambda handle: handle.terminate())
    stopped.send_signal(signal.SIGCONT)
    run = engine.row("terminated").id
    until(lambda: engine.world.store.leases.attempts(run)[-1].ended is not None, "its attempt has ended")
    assert engine.world.invoices("S-1") == []
    assert str(engine.world.keep(run).state) == "finished"  # without Temporal
    assert engine.world.invoices("S-1") == ["INV-1"]


def test_a_reset_workflow_looks_before_it_makes_anything(engine: Engine) -> None:
    stopped = _stopped(engine, "released", "reset")
    until(lambda: engine.world.invoices("S-1") == ["INV-1"], "the invoice is posted")
    engine.browsers()
    engine.ask("reset", _reset(engine))
    stopped.send_signal(signal.SIGCONT)  # two workers have the run now
    assert engine.result("reset").state == "finished"
    engine.ask("reset", _reset(engine))
    assert engine.result("reset").state == "finished"
    assert engine.world.invoices("S-1") == ["INV-1"]


def test_a_run_that_came_to_its_end_elsewhere_before_its_activity_began_is_told_as_ended(engine: Engine) -> None:
    row = engine.submit("post_one", "reference=S-1", key="ended elsewhere")
    until(lambda: engine.ask(row.key or "", lambda handle: handle.query("stand")), "its activity waits for a worker")
    assert str(engine.world.keep(row.id).state) == "finished"  # without Temporal
    engine.browsers()
    assert engine.result("ended elsewhere").state == "finished"
    assert engine.world.invoices("S-1") == ["INV-1"]


@pytest.mark.matrix  # the next one has another host too, whose worker is killed
def test_a_worker_on_another_host_goes_on_at_once_and_can_prove_no_absence(engine: Engine) -> None:
    if subprocess.run(["unshare", "--uts", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no other host name can be had here")
    stopped = _stopped(engine, "paused", "another host", host="elsewhere")
    engine.browsers()
    engine.until_state("another host", "waiting")
    assert not _browsers_dead(engine, "another host")  # that host's own, in which the request is still held
    stopped.send_signal(signal.SIGCONT)
    until(lambda: _browsers_dead(engine, "another host"), "it has ended its browser")
    assert engine.world.invoices("S-1") == []
    _answered(engine, "another host", "not-happened", "--override")
    assert engine.result("another host").state == "finished"
    assert engine.world.invoices("S-1") == ["INV-1"]


@pytest.mark.matrix
def test_a_death_is_attested_when_a_worker_of_its_host_is_back_though_another_host_has_gone_on(engine: Engine) -> None:
    if subprocess.run(["unshare", "--uts", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no other host name can be had here")
    struck = engine.browsers("--kill-at", "dispatching:1@keeper", host="elsewhere")
    run = engine.submit("post_one", "reference=S-1", key="attested").id
    struck.wait(180)
    engine.browsers()
    engine.until_state("attested", "waiting")
    assert engine.world.invoices("S-1") == []
    engine.browsers(host="elsewhere")
    until(lambda: engine.world.store.leases.attempts(run)[0].attested is not None, "its death is attested")
    assert engine.world.invoices("S-1") == []
    _answered(engine, "attested", "not-happened", "--override")
    assert engine.result("attested").state == "finished"
    assert engine.world.invoices("S-1") == ["INV-1"]


def test_a_question_is_answered_through_the_workflow_and_costs_no_browser_meanwhile(engine: Engine) -> None:
    question = _asked(engine, "asked")
    until(lambda: _browsers_dead(engine, "asked"), "its browser was ended")
    wrong = engine.cli("answer", question.id, "approve", "--by", "ann", "--reason", "looked")
    assert "can be answered with: abandon, happened, not_happened" in wrong.stderr
    assert _answered(engine, "asked", "not-happened", "--override") == question.id
    assert engine.result("asked").state == "finished"
    assert engine.world.invoices("S-1") == ["INV-1"]
    stale = engine.cli("answer", question.id, "not-happened", "--by", "bob", "--reason", "late", "--override")
    assert stale.returncode == 2, stale.stdout
    assert engine.world.store.inbox.question(question.id).by == "ann"
    assert engine.world.invoices("S-1") == ["INV-1"]


@pytest.mark.matrix
def test_an_answer_that_is_given_at_the_store_is_noticed(engine: Engine) -> None:
    question = _asked(engine, "asked at the store")
    said = PersonAnswer(Answer.NOT_HAPPENED, by="ann", reason="looked at the site", override=True)
    engine.world.store.inbox.answer(question.id, said)
    assert engine.result("asked at the store").state == "finished"
    assert engine.world.invoices("S-1") == ["INV-1"]


def test_workers_that_die_too_often_are_a_question_and_no_silence(engine: Engine) -> None:
    engine.environment["BROWSER_AGENT_ATTEMPTS"] = "1"
    struck = engine.browsers("--kill-at", "released:1@keeper")
    engine.submit("post_one", "reference=S-1", key="given up")
    struck.wait(180)
    row = engine.until_state("given up", "needs_attention")
    (question,) = engine.world.store.inbox.questions(row.id, open_only=True)
    assert "have died or gone silent 1 times in a row" in question.words
    engine.browsers()
    resumed = engine.cli("resume", row.id)
    assert resumed.returncode == 0, resumed.stderr
    assert engine.result("given up").state == "finished"
    assert engine.world.invoices("S-1") == ["INV-1"]


def test_a_site_that_says_no_fails_the_workflow_by_that_name_and_without_its_words(engine: Engine) -> None:
    engine.world.to_books.fault("status", "POST /invoices", code=422)
    engine.browsers()
    row = engine.submit("post_one", "reference=S-1", key="rejected")
    with pytest.raises(Exception, match=f"Run {row.id} has raised") as failed:
        engine.result("rejected")
    assert kind_of(failed.value) == "Rejected"
    engine.cli("resume", row.id)
    assert engine.result("rejected").state == "finished"
    assert engine.world.invoices("S-1") == ["INV-1"]


@pytest.mark.matrix  # the conformance tests restart everything
def test_a_server_that_is_started_anew_goes_on_where_it_was(engine: Engine) -> None:
    stopped = _stopped(engine, "paused", "server")
    engine.server.end()
    stopped.send_signal(signal.SIGCONT)
    engine.server.start()
    assert engine.result("server").state == "finished"
    assert engine.world.invoices("S-1") == ["INV-1"]


def test_a_schedule_that_fires_twice_a_day_makes_one_run(engine: Engine) -> None:
    where = ["--site", f"books={engine.world.to_books.url}"]
    task = f"{engine.tasks / 'posting.py'}:post_one"
    name = f"schedule of {engine.queue}"
    made = engine.cli("schedule", name, task, "reference={day}", "--key", "due {day}", "--cron", "0 0 1 1 *", *where)
    assert made.returncode == 0, made.stderr
    engine.browsers()

    async def fire() -> None:
        client = await engine.server.client()
        await client.get_schedule_handle(name).trigger()

    for times in (1, 2):
        engine.run(fire())
        until(lambda times=times: len(engine.ended_of(name)) == times, "it has come to its end")  # type: ignore[misc]
    assert len(engine.world.store.leases.runs()) == 1
    assert len(engine.world.books.invoices) == 1


def _stopped(engine: Engine, point: str, key: str, host: str = "") -> subprocess.Popen[bytes]:
    """A browser worker that was stopped (SIGSTOP) at that point of the run's first gesture."""
    process = engine.browsers("--kill-at", f"{point}:1@stopped-keeper", host=host)
    engine.submit("post_one", "reference=S-1", key=key)
    until(lambda: _is_stopped(process), "it is stopped")
    return process


def _is_stopped(process: subprocess.Popen[bytes]) -> bool:
    found = processes.identify(process.pid)
    return found is not None and processes.stopped(ProcessId(found.pid, found.started))


def _asked(engine: Engine, key: str) -> QuestionRow:
    """A run that waits for a person, since nothing can prove its gesture's absence."""
    engine.world.to_books.fault("hang_before")
    engine.browsers()
    engine.submit("post_one_slowly", "reference=S-1", key=key, site="slow")
    row = engine.until_state(key, "waiting")
    (question,) = engine.world.store.inbox.questions(row.id, open_only=True)
    return question


def _answered(engine: Engine, key: str, *words: str) -> str:
    """Answer the one open question of the run through its workflow, as soon as that knows of it."""
    (question,) = engine.world.store.inbox.questions(engine.row(key).id, open_only=True)
    until(lambda: question.id in engine.open_in(key), "the workflow knows the question")
    said = engine.cli("answer", question.id, *words, "--by", "ann", "--reason", "looked at the site")
    assert said.returncode == 0, said.stderr
    return question.id


def _browsers_dead(engine: Engine, key: str) -> bool:
    """Whether no browser lives that a run has ever had."""
    attempts = engine.world.store.leases.attempts(engine.row(key).id)
    return not any(process_alive(attempt.worker) or engine.browser_alive(attempt) for attempt in attempts)


def _reset(engine: Engine) -> Callable[[Handle], Coroutine[Any, Any, None]]:
    async def reset(handle: Handle) -> None:
        client = await engine.server.client()
        execution = WorkflowExecution(workflow_id=handle.id)
        asked = ResetWorkflowExecutionRequest(
            namespace="default",
            workflow_execution=execution,
            reason="a person pressed Reset",
            workflow_task_finish_event_id=4,
            request_id=f"{handle.id} {len(engine.world.store.audit_lines())}",
        )
        await client.workflow_service.reset_workflow_execution(asked)

    return reset
