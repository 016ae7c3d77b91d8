"""Real worker processes on one store: they share the runs, survive each other, give back, stop, wait, and go on."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from sqlmodel import Session

from browser_agent.browser.chromium import Chromium, processes_of
from browser_agent.errors import StoreUnusable
from browser_agent.states import Answer, QuestionKind, QuestionState, RunState
from browser_agent.store.sqlite import SqliteBackend
from tests.fix_matrix import chosen, one_in
from tests.fix_workers import DEADLINE_SECONDS, Workers
from tests.fix_world import World
from tests.store.building import by_raw_sql


@pytest.mark.matrix  # the soak's two workers share four too
def test_two_workers_make_six_invoices_of_six_runs(world: World, workers: Workers) -> None:
    runs = [workers.submit("post_one", reference=f"R-{number}") for number in range(6)]
    ended = [process.wait(DEADLINE_SECONDS) for process in [workers.start("--until-idle") for _ in range(2)]]
    assert ended == [0, 0]
    assert [world.store.leases.run(run).state for run in runs] == [RunState.FINISHED] * 6
    assert sorted(invoice.reference for invoice in world.books.invoices) == [f"R-{number}" for number in range(6)]
    assert [len(world.store.leases.attempts(run)) for run in runs] == [1] * 6


@pytest.mark.matrix  # the conformance tests kill one whose store is PostgreSQL
def test_after_kill_9_of_a_worker_process_another_goes_on_and_there_is_one_invoice(
    world: World, workers: Workers
) -> None:
    run = workers.submit("post_one", reference="R-1")
    first = workers.start()
    world.to_books.when("committed", first.kill)
    assert first.wait(DEADLINE_SECONDS) == -signal.SIGKILL
    second = workers.start()
    row = workers.until_state(run, RunState.FINISHED)
    assert (row.attempt, row.result) == (2, '"INV-1"')
    assert world.invoices("R-1") == ["INV-1"] and world.outcomes(run) == ["happened"]
    assert workers.drained(second) == 0
    assert all(attempt.attested for attempt in world.store.leases.attempts(run))


def test_a_drained_worker_finishes_the_gesture_in_hand_and_the_next_makes_the_rest(
    world: World, workers: Workers
) -> None:
    run = workers.submit("post_many", references=["R-1", "R-2"])
    first = workers.start("--concurrency", "2")
    world.to_books.when("committed", lambda: first.send_signal(signal.SIGTERM) if first.poll() is None else None)
    assert first.wait(DEADLINE_SECONDS) == 0
    row = world.store.leases.run(run)
    assert (row.state, row.attempt, row.deaths) == (RunState.READY, 1, 0)
    assert world.invoices("R-1") == ["INV-1"] and len(world.books.invoices) == 1
    assert world.outcomes(run) == ["happened"]
    world.to_books.clear()
    assert workers.start("--until-idle").wait(DEADLINE_SECONDS) == 0
    assert json.loads(world.store.leases.run(run).result or "") == ["INV-1", "INV-2"]
    assert len(world.books.invoices) == 2


def test_attempts_that_keep_dying_end_in_a_question_and_a_mended_run_goes_on_from_the_queue(
    world: World, workers: Workers, tmp_path: Path
) -> None:
    mended, told = tmp_path / "mended", tmp_path / "told"
    run = workers.submit("die_until_mended", "dying.py", attempts=2, reference="R-1", mended=mended)
    tell = ("--set", f"on_question=touch {told}")
    assert workers.start("--until-idle", *tell).wait(DEADLINE_SECONDS) == 0
    row = world.store.leases.run(run)
    assert (row.state, row.attempt) == (RunState.NEEDS_ATTENTION, 2)
    (question,) = world.store.inbox.questions(run, open_only=True)
    assert question.kind is QuestionKind.ATTEMPTS and f"browser-agent resume {run} --queue" in question.safe_step
    assert told.exists()
    mended.touch()
    assert workers.command("resume", run, "--queue").wait(DEADLINE_SECONDS) == 0
    assert world.store.leases.run(run).state is RunState.READY
    assert workers.start("--until-idle").wait(DEADLINE_SECONDS) == 0
    assert world.store.leases.run(run).result == '"INV-1"'
    assert world.invoices("R-1") == ["INV-1"]
    assert world.store.inbox.questions(run, open_only=True) == []


def test_a_worker_above_the_memory_limit_is_ended_like_a_death_and_told_as_such(world: World, workers: Workers) -> None:
    world.to_books.hold()
    run = workers.submit("post_one", attempts=1, reference="R-1")
    process = workers.start("--until-idle", "--memory-limit", "50")
    assert process.wait(DEADLINE_SECONDS) == 0
    row, (attempt,) = world.store.leases.run(run), world.store.leases.attempts(run)
    assert row.state is RunState.NEEDS_ATTENTION
    assert "above the limit of 50 MB" in (row.ended_by or "")
    assert "above the limit of 50 MB" in (attempt.how or "")


def test_a_waiting_run_has_no_browser_and_its_answer_is_taken_up_by_a_worker_alone(
    world: World, workers: Workers
) -> None:
    world.to_books.fault("drop_before_commit")
    run = workers.submit("post_one_slowly", reference="R-1")
    worker = workers.start()
    workers.until_state(run, RunState.WAITING)
    workers.until(run, lambda row: world.store.leases.attempts(run)[-1].attested is not None)
    browser = Chromium.found(world.store.leases.attempts(run)[0].browser or "")
    assert not processes_of(browser.profile)
    world.to_books.open()
    (question,) = world.store.inbox.questions(run, open_only=True)
    world.answer(question.id, Answer.NOT_HAPPENED)
    workers.until_state(run, RunState.FINISHED)
    assert workers.drained(worker) == 0
    assert world.outcomes(run) == ["not_happened", "happened"]
    assert world.invoices("R-1") == ["INV-1"]


@pytest.mark.matrix  # the conformance tests stop one whose store is PostgreSQL
def test_a_keeper_that_was_stopped_past_its_lease_changes_nothing_when_it_goes_on(
    world: World, workers: Workers
) -> None:
    run = workers.submit("post_one", reference="R-1")
    first = workers.short("here", until_idle=True)
    world.to_books.when("came", lambda: first.send_signal(signal.SIGSTOP) if first.poll() is None else None)
    workers.until(run, lambda row: any(entry.event == "came" for entry in world.to_books.log))
    second = workers.short("here")
    row = workers.until_state(run, RunState.FINISHED)
    assert (row.attempt, row.result) == (2, '"INV-1"')
    first.send_signal(signal.SIGCONT)
    assert first.wait(DEADLINE_SECONDS) == 0
    assert world.invoices("R-1") == ["INV-1"] and world.outcomes(run) == ["happened"]
    after = world.store.leases.run(run)
    assert (after.state, after.attempt, after.result) == (RunState.FINISHED, 2, '"INV-1"')
    browsers = [Chromium.found(row.browser or "") for row in world.store.leases.attempts(run)]
    assert workers.drained(second) == 0
    assert not any(processes_of(browser.profile) for browser in browsers)


@pytest.mark.parametrize("attested", chosen("while it is open", others=["before the question"]))
def test_another_host_proves_an_absence_only_after_an_attested_death(
    world: World, workers: Workers, attested: str
) -> None:
    world.to_books.fault("drop_before_commit")
    run = workers.submit("post_one", reference="R-1")
    first = workers.short("alpha")
    world.to_books.when("came", first.kill)
    assert first.wait(DEADLINE_SECONDS) == -signal.SIGKILL
    world.to_books.clear()
    world.to_books.open()
    if attested == "before the question":
        attest(world, workers, run)
        second = workers.short("beta")
    else:
        second = workers.short("beta")
        workers.until_state(run, RunState.WAITING)
        (question,) = world.store.inbox.questions(run, open_only=True)
        assert question.earliest_safe is None  # the sender may live there
        assert (world.outcomes(run), world.books.invoices) == (["asked"], [])
        attest(world, workers, run)
        assert workers.command("resume", run, "--set", "host=beta").wait(DEADLINE_SECONDS) == 0
        assert world.store.inbox.question(question.id).state is QuestionState.CLOSED
    workers.until_state(run, RunState.FINISHED)
    assert world.outcomes(run) == ["not_happened", "happened"]
    assert world.invoices("R-1") == ["INV-1"]
    assert workers.drained(second) == 0


@pytest.mark.matrix
def test_an_attested_death_dates_an_open_question_and_a_person_needs_no_override(
    world: World, workers: Workers
) -> None:
    """What is not on a list that is not declared complete proves nothing: the person decides, as soon as it is safe."""
    world.to_books.fault("drop_before_commit")
    run = workers.submit("post_one_unvouched", "unvouched.py", reference="R-1")
    first = workers.short("alpha")
    world.to_books.when("came", first.kill)
    assert first.wait(DEADLINE_SECONDS) == -signal.SIGKILL
    world.to_books.clear()
    world.to_books.open()
    second = workers.short("beta")
    workers.until_state(run, RunState.WAITING)
    assert workers.drained(second) == 0
    (question,) = world.store.inbox.questions(run, open_only=True)
    no = ("answer", question.id, "not-happened", "--by", "ann", "--reason", "not in the books", "--set", "host=beta")
    assert workers.command(*no).wait(DEADLINE_SECONDS) == 2
    attest(world, workers, run)
    assert workers.command("resume", run, "--keep-looking", "0", "--set", "host=beta").wait(DEADLINE_SECONDS) == 3
    dated = world.store.inbox.question(question.id)
    assert dated.state is QuestionState.OPEN and dated.earliest_safe is not None
    assert workers.command(*no).wait(DEADLINE_SECONDS) == 0
    assert workers.start("--until-idle").wait(DEADLINE_SECONDS) == 0
    assert world.outcomes(run) == ["not_happened", "happened"]
    assert world.invoices("R-1") == ["INV-1"]


def attest(world: World, workers: Workers, run: str) -> None:
    """Let the watcher of the host alpha see its dead, and say so."""
    assert world.store.leases.attempts(run)[0].attested is None
    assert workers.command("watch", "--once", "--set", "host=alpha").wait(DEADLINE_SECONDS) == 0
    assert world.store.leases.attempts(run)[0].attested is not None


def test_a_worker_that_is_asked_twice_ends_at_once_and_its_run_is_explained_and_looked_at(
    world: World, workers: Workers
) -> None:
    world.to_books.hold()
    run = workers.submit("post_one", reference="R-1")
    first = workers.start()
    world.to_books.wait_for("held", DEADLINE_SECONDS)
    first.send_signal(signal.SIGTERM)
    workers.until_said("Stopping after the gesture in hand")
    first.send_signal(signal.SIGTERM)
    assert first.wait(DEADLINE_SECONDS) == 0  # the site has not answered yet
    row, (attempt,) = world.store.leases.run(run), world.store.leases.attempts(run)
    assert (row.state, row.deaths) == (RunState.READY, 0)
    assert row.ended_by == "ended at once by a second request to stop; the next attempt looks first"
    assert attempt.ended is not None and attempt.attested is not None
    assert not processes_of(Chromium.found(attempt.browser or "").profile)
    assert world.outcomes(run) == ["dispatching"]
    world.to_books.release()
    assert workers.start("--until-idle").wait(DEADLINE_SECONDS) == 0
    assert (world.outcomes(run), world.invoices("R-1")) == (["happened"], ["INV-1"])


def test_a_worker_for_one_run_ends_where_there_is_none(workers: Workers) -> None:
    assert workers.start("--once").wait(DEADLINE_SECONDS) == 0


def test_a_keeper_that_was_stopped_before_the_release_lets_nothing_go_when_it_goes_on(
    world: World, workers: Workers
) -> None:
    run = workers.submit("post_one", reference="R-1")
    first = workers.short("here", until_idle=True, kill_at="paused:1@stopped-keeper")
    workers.until_stopped(first)
    assert world.books.invoices == []
    second = workers.short("here")
    row = workers.until_state(run, RunState.FINISHED)
    assert row.attempt == 2
    first.send_signal(signal.SIGCONT)
    assert first.wait(DEADLINE_SECONDS) in {0, -signal.SIGKILL}  # ended, if another thread of it was just writing
    assert world.outcomes(run) == ["not_happened", "happened"]  # the first was held at the wire to its end
    assert world.invoices("R-1") == ["INV-1"]
    assert workers.drained(second) == 0


def test_a_keeper_that_was_stopped_while_it_wrote_is_ended_after_its_lease_and_holds_nobody_up(
    world: World, workers: Workers
) -> None:
    run = workers.submit("post_one", reference="R-1")
    first = workers.stopped_in_a_write("here")
    workers.until_stopped(first)
    assert workers.store_is_held()
    second = workers.short("here")
    workers.until_state(run, RunState.FINISHED)
    assert first.wait(DEADLINE_SECONDS) == -signal.SIGKILL
    assert world.invoices("R-1") == ["INV-1"]
    assert workers.drained(second) == 0


def test_a_stopped_command_that_keeps_nothing_is_named_and_let_be(world: World, workers: Workers) -> None:
    command = workers.stopped_command()
    workers.until_stopped(command)
    assert workers.command("watch", "--once").wait(DEADLINE_SECONDS) == 0
    assert command.poll() is None
    home = SqliteBackend(Path(world.store.address), patience=0.1)
    with pytest.raises(StoreUnusable) as said, home.explained(), Session(home.engine) as session:
        home.begin_write(session)
    assert f"process {command.pid}, which is stopped: continue it (kill -CONT {command.pid})" in str(said.value)


@pytest.mark.parametrize("ended", one_in(2, ["ended", "NULL"]))
def test_a_worker_for_one_run_leaves_the_others_and_a_browser_that_outlives_it_is_ended_by_the_watcher(
    world: World, workers: Workers, ended: str
) -> None:
    run, other = [workers.submit("post_one", reference=reference) for reference in ("R-1", "R-2")]
    assert workers.start("--once").wait(DEADLINE_SECONDS) == 0
    assert [world.store.leases.run(each).state for each in (run, other)] == [RunState.FINISHED, RunState.NEW]
    assert [invoice.reference for invoice in world.books.invoices] == ["R-1"]
    (attempt,) = world.store.leases.attempts(run)
    profile = Chromium.found(attempt.browser or "").profile
    left = Chromium.start(profile)  # as if its keeper had been killed between the run's end and the browser's
    by_raw_sql(
        world.store,
        f"UPDATE attempt SET ended = {ended}, attested = NULL, attested_by = NULL, browser = '{left.stored}'",
    )
    assert workers.command("watch", "--once").wait(DEADLINE_SECONDS) == 0
    assert not left.alive() and not processes_of(profile) and not profile.exists()
    (attempt,) = world.store.leases.attempts(run)
    assert attempt.ended is not None and attempt.attested is not None
    assert world.store.leases.run(run).state is RunState.FINISHED
