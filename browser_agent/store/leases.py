"""Leases: a run is submitted, claimed by a compare-and-set, renewed by heartbeats, and ended or requeued.

The attempt number with its token is the fencing token: every write of an attempt first passes `fence`. Ages are
measured by the database's clock alone.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import CursorResult, update
from sqlmodel import Session, col, select

from browser_agent.clock import Clock, new_id
from browser_agent.errors import InOtherHands, NotAllowed, Superseded, UnknownName
from browser_agent.states import RUN_ARROWS, EndKind, RunState, check_arrow
from browser_agent.store import audit
from browser_agent.store.database import Database, scrubbed
from browser_agent.store.lease_times import Times, at, moment
from browser_agent.store.queue import look_due, may_be_taken
from browser_agent.store.records import AttemptRow, RunRow


@dataclass(frozen=True)
class Lease:
    """The right to change one run, until a later attempt claims it."""

    run: str
    attempt: int
    token: str


@dataclass(frozen=True)
class AttemptEnd:
    """How an attempt ended.

    Args:
        words: the same for a person.
        kind: what ended it.
        exit_code: its worker's, or the signal's number as a negative one; None = not known.
        late_step: the step whose time limit ended its worker.
    """

    words: str
    kind: EndKind = EndKind.RELEASED
    exit_code: int | None = None
    late_step: str | None = None

    def store_in(self, row: AttemptRow, now: datetime) -> None:
        """Set the row's columns."""
        row.ended, row.how, row.end_kind = now, self.words, self.kind
        row.exit_code, row.late_step = self.exit_code, self.late_step


def refuse_ended(row: RunRow) -> None:
    """Refuse to resume a run that has ended for good. Raises `NotAllowed` with what can be done instead."""
    if row.state is RunState.ABANDONED:
        raise NotAllowed(
            f"Run {row.id} was {str(row.ended_by).rstrip('.')}. That is final. To do its work again, use "
            f"`browser-agent run` or `submit`{', with another key' if row.key else ''}. Nothing was done."
        )
    if row.state is RunState.FINISHED:
        raise NotAllowed(f"Run {row.id} is finished already. Nothing was done.")


def fence(session: Session, lease: Lease, **changes: Any) -> None:
    """Update the run's row if the lease is still the current one: the first statement of every write of an attempt.

    Raises:
        Superseded: another attempt owns the run, or the run was requeued, ended or abandoned.
    """
    done = session.connection().execute(
        update(RunRow)
        .where(col(RunRow.id) == lease.run, col(RunRow.attempt) == lease.attempt, col(RunRow.token) == lease.token)
        .where(col(RunRow.state) == RunState.RUNNING)
        .values(**(scrubbed(session, RunRow, changes) or {"attempt": lease.attempt}))
    )
    assert isinstance(done, CursorResult)
    if done.rowcount != 1:
        now = session.exec(select(RunRow.attempt).where(RunRow.id == lease.run)).first()
        raise Superseded(lease.run, lease.attempt, now)


class Leases:
    """Runs and their attempts.

    Args:
        database, clock: the store's.
        times: how long a lease lasts.
        host: this machine's name. A pid says something about a process only on the host of that name.
    """

    def __init__(self, database: Database, clock: Clock, times: Times, host: str) -> None:
        self._database, self._clock, self._times, self._host = database, clock, times, host

    def submit(
        self,
        *,
        task_file: str,
        task_name: str,
        arguments: str,
        sites: str,
        key: str | None = None,
        by: str = "",
        queued: bool = False,
        not_before: datetime | timedelta | None = None,
        budget: int | None = None,
    ) -> RunRow:
        """Record a new run, or return the run that has the `key` already.

        Args:
            task_file, task_name, arguments, sites: the work. See `RunRow`.
            key: the caller's own name for the run.
            by: who is responsible for it.
            queued: any worker process may take it.
            not_before: when a worker process may take it at the earliest: a time, or a delay from now by the
                database's clock.
            budget: how many attempts in a row may die.

        Raises:
            InOtherHands: that run has another task, other arguments or other sites.
        """
        now = self._clock.now()
        run = RunRow(
            id=new_id("run"),
            key=key,
            task_file=task_file,
            task_name=task_name,
            arguments=arguments,
            sites=sites,
            submitted_by=by or None,
            created=now,
            updated=now,
            queued=queued,
            budget=budget,
        )
        with self._database.write() as session:
            if isinstance(not_before, timedelta):
                not_before = moment(self._database, session) + not_before
            run.not_before = not_before
            known = session.exec(select(RunRow).where(RunRow.key == key)).first() if key else None
            if known is not None:
                return _same_work(known, run)
            session.add(run)
            facts = {"file": task_file, "key": key, "by": by or None, "queued": queued or None}
            audit.append(session, self._clock, "run_submitted", run.id, tool=task_name, **facts)
        return run

    def claim(
        self,
        run: str,
        *,
        keeper: str,
        keeper_dead: bool,
        after: int | None = None,
        present: str | None = None,
        of_queue: bool = False,
        only_look: bool = False,
        reset_deaths: bool = False,
    ) -> Lease:
        """Claim the run for a new attempt, with a new token and a new lease.

        Args:
            run: the run's id.
            keeper: JSON of the keeper's process.
            keeper_dead: the last keeper was confirmed dead (by host, pid and start time), so its lease is ignored.
            after: the last attempt that the caller knows; the claim is a compare-and-set on it.
            present: the person who watches the run; None = nobody.
            of_queue: claim it only if the queue offers it to worker processes now.
            only_look: claim it only to look at its open question.
            reset_deaths: a person resumes the run, so its count of consecutive deaths starts from 0.

        Raises:
            UnknownName: no such run.
            InOtherHands: its lease has not expired and its keeper isn't confirmed dead, or another process was faster.
            NotAllowed: the run has ended for good.
        """
        with self._database.write() as session:
            row = _run(session, run)
            refuse_ended(row)
            check_arrow(RUN_ARROWS, row.state, RunState.RUNNING)
            now = self._database.now(session)
            if after is not None and row.attempt != after:
                raise InOtherHands(f"Run {run} was taken over meanwhile (attempt {row.attempt}). Nothing was done.")
            if row.state is RunState.RUNNING and row.lease_until > now and not keeper_dead:
                raise InOtherHands(f"Run {run} is being worked on (attempt {row.attempt}). Nothing was done.")
            if of_queue and not may_be_taken(session, row, at(now)):
                raise InOtherHands(f"Run {run} can't be taken by a worker now. Nothing was done.")
            lease = Lease(run, row.attempt + 1, secrets.token_hex(16))
            row.deaths = 0 if reset_deaths else deaths_after(row)
            row.looks = row.looks if only_look else 0
            row.attempt, row.token, row.state = lease.attempt, lease.token, RunState.RUNNING
            row.ended_by = row.error_kind = None
            row.lease_until, row.updated = now + self._times.lease, self._clock.now()
            session.add(row)
            attempt = AttemptRow(run_id=run, number=lease.attempt, host=self._host, keeper=keeper, present=present)
            attempt.began, attempt.beaten = self._clock.now(), at(now)
            session.add(attempt)
            facts = {"keeper": keeper, "tool": row.task_name, "present": present or "nobody"}
            audit.append(session, self._clock, "taken_over", run, attempt=lease.attempt, **facts)
        return lease

    def beat(self, lease: Lease, mark: str | None = None) -> None:
        """Renew the lease; `mark` is the attempt's progress in words. Raises `Superseded` if the lease is lost."""
        with self._database.write() as session:
            now = self._database.now(session)
            fence(session, lease, lease_until=now + self._times.lease)
            attempt = session.get_one(AttemptRow, (lease.run, lease.attempt))
            attempt.beaten = at(now)
            progress = scrubbed(session, AttemptRow, {"progress": mark})["progress"]
            if progress is not None and progress != attempt.progress:
                attempt.progress, attempt.progressed = progress, at(now)
            session.add(attempt)

    def lease_left(self, run: str) -> float:
        """The seconds that are left of the run's lease, by the database's clock; negative if it has run out."""
        with self._database.read() as session:
            return _run(session, run).lease_until - self._database.now(session)

    def record(self, lease: Lease, **facts: Any) -> None:
        """Record columns of the attempt's row, such as its processes, browser, source or packages."""
        with self._database.write() as session:
            fence(session, lease)
            attempt = session.get_one(AttemptRow, (lease.run, lease.attempt))
            for name, fact in facts.items():
                setattr(attempt, name, fact)
            session.add(attempt)

    def end_attempt(self, lease: Lease, end: AttemptEnd) -> None:
        """Record how the attempt ended, once. A superseded attempt may do so too, since it changes nothing else."""
        with self._database.write() as session:
            attempt = session.get_one(AttemptRow, (lease.run, lease.attempt))
            if attempt.ended is not None:
                return
            end.store_in(attempt, self._clock.now())
            session.add(attempt)
            audit.append(session, self._clock, "attempt_ended", lease.run, attempt=lease.attempt, how=end.words)

    def end(
        self,
        lease: Lease,
        state: RunState,
        *,
        ended_by: str,
        result: str | None = None,
        queued: bool | None = None,
        error_kind: str | None = None,
    ) -> None:
        """Release the lease and leave the run in that state.

        Args:
            lease: the lease.
            state: the run's new state.
            ended_by: why, in words.
            result: JSON of what its task returned.
            queued: whether it is for worker processes from now on; None = as before.
            error_kind: the class name of the error that its script raised.

        Raises:
            Superseded: another attempt owns the run.
            NotAllowed: no such arrow.
        """
        with self._database.write() as session:
            row = _run(session, lease.run)
            if row.attempt == lease.attempt:
                check_arrow(RUN_ARROWS, row.state, state)
            waits = state is RunState.WAITING
            look_after = look_due(row, moment(self._database, session)) if waits else None
            fence(
                session,
                lease,
                look_after=look_after,
                looks=row.looks + 1 if waits else 0,
                queued=row.queued if queued is None else queued,
                state=state,
                lease_until=0.0,
                ended_by=ended_by,
                error_kind=error_kind,
                result=result,
                updated=self._clock.now(),
            )
            audit.append(
                session, self._clock, "run_ended", lease.run, attempt=lease.attempt, state=str(state), how=ended_by
            )

    def requeue(self, lease: Lease, ended_by: str) -> None:
        """Release the lease and put the run into the queue, where any worker process may take it at once.

        Raises:
            Superseded: another attempt owns the run.
        """
        self.end(lease, RunState.READY, ended_by=ended_by, queued=True)

    def run(self, run: str) -> RunRow:
        """The run's row. Raises `UnknownName` if there is none."""
        with self._database.read() as session:
            return _run(session, run)

    def keyed(self, key: str) -> RunRow | None:
        """The run with that key, if there is one."""
        with self._database.read() as session:
            return session.exec(select(RunRow).where(RunRow.key == key)).first()

    def runs(self) -> list[RunRow]:
        """All runs, newest first."""
        with self._database.read() as session:
            return list(session.exec(select(RunRow).order_by(col(RunRow.created).desc())))

    def attempts(self, run: str) -> list[AttemptRow]:
        """The attempts of a run, the first one first."""
        with self._database.read() as session:
            asked = select(AttemptRow).where(AttemptRow.run_id == run).order_by(col(AttemptRow.number))
            return list(session.exec(asked))


def deaths_after(row: RunRow) -> int:
    """How many attempts in a row have died by the time the run is claimed; one that still runs counts as dead."""
    return row.deaths + 1 if row.state is RunState.RUNNING else row.deaths if row.state is RunState.READY else 0


def _run(session: Session, run: str) -> RunRow:
    row = session.get(RunRow, run)
    if row is None:
        raise UnknownName(f"No run {run!r} in this store. `browser-agent runs` lists them.")
    return row


def _same_work(known: RunRow, asked: RunRow) -> RunRow:
    facts: tuple[Mapping[str, Any], Mapping[str, Any]] = (known.model_dump(), asked.model_dump())
    names = {"task_name": "task", "arguments": "arguments", "sites": "sites"}
    differ = [f"{word} {facts[0][n]}, not {facts[1][n]}" for n, word in names.items() if facts[0][n] != facts[1][n]]
    if differ:
        raise InOtherHands(
            f"Run {known.id} has the key {known.key!r} already, with {'; '.join(differ)}. Use another key, or ask for "
            "the same work. Nothing was done."
        )
    return known
