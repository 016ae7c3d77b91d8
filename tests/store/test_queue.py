"""The queue: what is offered to worker processes, in which order, and that each run is taken once."""

from __future__ import annotations

import multiprocessing
from datetime import timedelta

import pytest
from sqlmodel import select

from browser_agent.errors import InOtherHands, NotAllowed
from browser_agent.options import Options
from browser_agent.ownership.takeover import own_process, take_over
from browser_agent.ownership.watchdog import Watchdog
from browser_agent.processes import HOST_VARIABLE, own_host
from browser_agent.states import Answer, EndKind, GestureState, QuestionKind, RunState, StepState
from browser_agent.store import AttemptEnd, Lease, PersonAnswer, Store, Times, Work
from browser_agent.store.records import RunRow
from tests.store.building import asked, brought, by_raw_sql, called, everything

SITES = '{"books": {"url": "http://127.0.0.1:8001"}}'
DEAD = '{"pid": 1, "started": 1.0}'


def queued(store: Store, **more: object) -> str:
    """A new run for workers."""
    given = {"task_file": "t.py", "task_name": "t", "arguments": "{}", "sites": SITES, "queued": True}
    return store.leases.submit(**(given | more)).id  # type: ignore[arg-type]


def taken(store: Store, run: str, keeper: str = DEAD, *, only_look: bool = False) -> Lease:
    """The run, taken from the queue; its last keeper being dead."""
    return store.leases.claim(run, keeper=keeper, keeper_dead=True, of_queue=True, only_look=only_look)


def offers(store: Store) -> list[tuple[str, Work]]:
    return [(offer.run, offer.work) for offer in store.queue.offers()]


def minutes_pass(store: Store, minutes: int = 60) -> None:
    """Move what is due nearer, since nobody can move the database's clock."""
    with store.database.write() as session:
        for row in session.exec(select(RunRow)):
            row.look_after = row.look_after and row.look_after - timedelta(minutes=minutes)
            row.not_before = row.not_before and row.not_before - timedelta(minutes=minutes)
            session.add(row)


def test_a_run_that_was_not_submitted_for_workers_is_never_offered(store: Store) -> None:
    run = queued(store, queued=False)
    assert offers(store) == []
    with pytest.raises(InOtherHands, match="can't be taken by a worker now"):
        taken(store, run)
    assert store.leases.run(run).attempt == 0


def test_the_interrupted_come_first_then_what_goes_on_then_the_new_and_looks_last(store: Store) -> None:
    new, ready, interrupted, answered, looked = (queued(store) for _ in range(5))
    store.leases.end(taken(store, ready), RunState.READY, ended_by="drained")
    taken(store, interrupted)
    store.leases.end(taken(store, answered), RunState.WAITING, ended_by="asked")
    lease = taken(store, looked)
    asked(store, lease, QuestionKind.OUTCOME)
    store.leases.end(lease, RunState.WAITING, ended_by="asked")
    minutes_pass(store)
    assert offers(store) == [
        (interrupted, Work.INTERRUPTED),
        (ready, Work.READY),
        (answered, Work.ANSWERED),
        (new, Work.NEW),
        (looked, Work.LOOK),
    ]


def test_a_run_is_not_offered_before_its_time(store: Store) -> None:
    run = queued(store, not_before=timedelta(minutes=30))
    assert offers(store) == []
    with pytest.raises(InOtherHands):
        taken(store, run)
    minutes_pass(store)
    assert offers(store) == [(run, Work.NEW)]
    assert taken(store, run).attempt == 1


@pytest.mark.parametrize("kind", sorted(set(QuestionKind) - {QuestionKind.OUTCOME}))
def test_an_open_question_for_a_person_keeps_the_run_from_workers(store: Store, kind: QuestionKind) -> None:
    run = queued(store)
    lease = taken(store, run)
    question = asked(store, lease, kind)
    store.leases.end(lease, RunState.WAITING, ended_by="asked")
    minutes_pass(store)
    assert offers(store) == []
    store.inbox.answer(question.id, PersonAnswer(Answer.ABANDON, "ann", "stop this"))
    assert offers(store) == []
    with pytest.raises(NotAllowed):
        taken(store, run)


def test_each_look_at_an_open_question_is_due_later_than_the_one_before(store: Store) -> None:
    run = queued(store)
    lease = taken(store, run)
    asked(store, lease, QuestionKind.OUTCOME)
    waits = []
    for number in range(3):
        store.leases.end(lease, RunState.WAITING, ended_by="asked")
        assert offers(store) == []
        row = store.leases.run(run)
        assert row.look_after is not None and row.looks == number + 1
        with store.database.read() as session:
            waits.append(row.look_after.timestamp() - store.database.now(session))
        minutes_pass(store)
        assert offers(store) == [(run, Work.LOOK)]
        lease = taken(store, run, only_look=True)
    assert waits[0] < waits[1] < waits[2]


def test_the_same_key_is_the_same_run_and_other_arguments_are_refused(store: Store) -> None:
    run = queued(store, key="nov-30")
    assert queued(store, key="nov-30") == run
    before = everything(store)
    with pytest.raises(InOtherHands, match="has the key 'nov-30' already, with arguments"):
        queued(store, key="nov-30", arguments='{"day": 2}')
    assert everything(store) == before


def _take_all(path: str, number: int) -> list[str]:
    """Take over all that is interrupted, as one of several processes that were offered the same."""
    won = []
    with Store(path) as store:
        for offer in store.queue.offers():
            try:
                store.leases.claim(offer.run, keeper=str(number), keeper_dead=True, after=1, of_queue=True)
            except InOtherHands:
                continue
            won.append(offer.run)
    return won


@pytest.mark.process
def test_of_two_processes_that_see_two_hundred_runs_interrupted_one_takes_each(store: Store) -> None:
    runs = [queued(store) for _ in range(200)]
    for run in runs:
        taken(store, run)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        first, second = pool.starmap(_take_all, [(store.address, number) for number in range(2)])
    assert sorted([*first, *second]) == sorted(runs)
    assert {len(store.leases.attempts(run)) for run in runs} == {2}


# the budget


def died(store: Store, run: str) -> Lease:
    """One more attempt at the run, which then dies."""
    return taken(store, run)


def test_deaths_are_counted_across_keepers_until_something_is_finished(store: Store) -> None:
    run = queued(store)
    for deaths in range(4):
        lease = died(store, run)
        assert store.leases.run(run).deaths == deaths
    step = store.journal.begin_step(lease, called())
    assert store.leases.run(run).deaths == 3
    store.journal.end_step(lease, step.id, StepState.FINISHED, "1")
    assert store.leases.run(run).deaths == 0


@pytest.mark.parametrize("state", [GestureState.REFUSED, GestureState.NOT_HAPPENED])
def test_a_refusal_or_a_proven_absence_is_no_progress(store: Store, state: GestureState) -> None:
    run = queued(store)
    died(store, run)
    lease = died(store, run)
    brought(store, lease, state)
    assert store.leases.run(run).deaths == 1


def test_a_gesture_that_happened_is_progress(store: Store) -> None:
    run = queued(store)
    died(store, run)
    brought(store, died(store, run), GestureState.HAPPENED)
    assert store.leases.run(run).deaths == 0


def test_a_drain_is_no_death_and_a_person_forgets_them_all(store: Store) -> None:
    run = queued(store)
    died(store, run)
    store.leases.end(died(store, run), RunState.READY, ended_by="drained")
    assert (store.leases.run(run).deaths, taken(store, run).attempt, store.leases.run(run).deaths) == (1, 3, 1)
    store.leases.claim(run, keeper=DEAD, keeper_dead=True, reset_deaths=True)
    assert store.leases.run(run).deaths == 0


# the watcher


def glance(store: Store, attempts: int = 5) -> list[str]:
    """One look of the watcher; the kinds of events that it told."""
    told: list[str] = []
    Watchdog(store, Options(attempts=attempts), lambda event: told.append(event.kind)).check(takeover_seconds=0.0)
    return told


def test_a_dead_keepers_attempt_is_buried_and_attested_by_its_own_host(store: Store) -> None:
    run = queued(store)
    taken(store, run)
    assert glance(store) == ["attested"]
    (attempt,) = store.leases.attempts(run)
    assert (attempt.how, attempt.end_kind) == ("its keeper died; seen by the watchdog", EndKind.KEEPER_DIED)
    assert attempt.attested is not None and (attempt.attested_by or "").startswith(store.host)
    assert (store.leases.run(run).state, glance(store)) == (RunState.RUNNING, [])


def test_the_attempt_of_a_living_keeper_is_left_alone(store: Store) -> None:
    run = queued(store)
    taken(store, run, own_process())
    assert glance(store) == []
    assert [(row.ended, row.attested) for row in store.leases.attempts(run)] == [(None, None)]


def test_a_process_of_another_host_is_not_judged(store: Store) -> None:
    run = queued(store)
    with Store(store.address, store.clock, host="elsewhere") as there:
        taken(there, run)
    assert glance(store) == []
    (attempt,) = store.leases.attempts(run)
    assert (attempt.host, attempt.ended, attempt.attested) == ("elsewhere", None, None)
    with pytest.raises(InOtherHands, match="is being worked on"):
        take_over(store, run, attempt, of_queue=True)


def test_a_run_whose_attempts_are_used_up_ends_in_one_question(store: Store) -> None:
    run = queued(store)
    died(store, run)
    assert glance(store, attempts=2) == ["attested"]
    died(store, run)
    assert glance(store, attempts=2) == ["attested", "question"]
    row = store.leases.run(run)
    assert row.state is RunState.NEEDS_ATTENTION
    assert "was interrupted 2 times in a row" in (row.ended_by or "")
    (question,) = store.inbox.questions(run, open_only=True)
    assert question.kind is QuestionKind.ATTEMPTS and f"resume {run} --queue" in question.safe_step
    assert (glance(store, attempts=2), offers(store)) == ([], [])


def test_a_run_that_is_not_for_workers_and_whose_keeper_died_asks_for_a_person(store: Store) -> None:
    run = queued(store, queued=False)
    store.leases.claim(run, keeper=DEAD, keeper_dead=True)
    assert glance(store) == ["attested", "question"]
    assert "and no process resumes it" in (store.leases.run(run).ended_by or "")
    assert store.leases.claim(run, keeper=DEAD, keeper_dead=False).attempt == 2


def test_the_watcher_leaves_an_attempt_that_was_followed_by_another(store: Store) -> None:
    run = queued(store)
    taken(store, run)
    taken(store, run, own_process())
    assert not store.deaths.record_death(run, 1, AttemptEnd("too late"))
    assert (glance(store), store.leases.attempts(run)[0].ended) == ([], None)


def test_a_death_here_is_attested_although_another_host_has_gone_on(store: Store) -> None:
    run = queued(store)
    taken(store, run)
    with Store(store.address, store.clock, host="elsewhere") as there:
        taken(there, run)
    assert glance(store) == ["attested"]
    first, second = store.leases.attempts(run)
    assert first.attested is not None and second.attested is None
    assert store.leases.run(run).state is RunState.RUNNING


# a lease that has run out


def test_a_living_keeper_of_this_host_keeps_its_run_until_its_lease_has_run_out(store: Store) -> None:
    run = queued(store)
    lease = taken(store, run, own_process())
    (attempt,) = store.leases.attempts(run)
    with pytest.raises(InOtherHands, match="is kept by process"):
        take_over(store, run, attempt, of_queue=True)
    by_raw_sql(store, "UPDATE run SET lease_until = 1.0")
    assert take_over(store, run, attempt, of_queue=True).attempt == lease.attempt + 1


def test_times_that_contradict_each_other_are_no_times() -> None:
    with pytest.raises(ValueError, match="contradict"):
        Times(lease=10, margin=12)
    assert Times.shortened(2) == Times(15, 6, 3, 2.5)
    assert Times().input == 10


# beats, and worker processes


def test_a_beat_carries_the_mark_and_the_marks_age_is_its_own(store: Store) -> None:
    lease = taken(store, queued(store))
    store.leases.beat(lease, "step 12: post invoice 7")
    (first,) = store.leases.attempts(lease.run)
    store.leases.beat(lease, "step 12: post invoice 7")
    (second,) = store.leases.attempts(lease.run)
    assert (second.progress, second.progressed) == ("step 12: post invoice 7", first.progressed)
    assert first.beaten is not None and second.beaten is not None and second.beaten > first.beaten
    store.leases.beat(lease, "step 13: post invoice 8")
    (third,) = store.leases.attempts(lease.run)
    assert third.progressed == third.beaten


def test_worker_processes_are_told_of_with_what_they_keep(store: Store) -> None:
    keeper = store.keepers.begin(own_process(), 3)
    lease = taken(store, queued(store), own_process())
    store.keepers.beat(keeper)
    _, (found,) = store.keepers.recent()
    assert (found.row.host, found.row.concurrency, found.row.ended) == (store.host, 3, None)
    assert [attempt.run_id for attempt in found.attempts] == [lease.run]
    store.leases.end(lease, RunState.FINISHED, ended_by="so")
    store.keepers.end(keeper)
    _, (found,) = store.keepers.recent()
    assert found.row.ended is not None and found.attempts == ()


def test_a_host_is_called_as_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOST_VARIABLE, "alpha")
    assert own_host() == "alpha"
