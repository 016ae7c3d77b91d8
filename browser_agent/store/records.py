"""The tables: one SQLModel class a noun.

Rows hold facts and JSON text; they decide nothing. Only `store` writes them, and every write names its fencing token
(the attempt number and its secret). Text columns that hold JSON say so in a comment. What is `_said` is free text of
people, pages and libraries, scrubbed at the store's door; a `_value` is data, and loses known secrets only. Times are
UTC; `lease_until` is seconds since 1970 by the database's own clock.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import DateTime, Dialect, Index, LargeBinary, String, TypeDecorator, UniqueConstraint
from sqlmodel import Field, SQLModel

from browser_agent.states import Answer, GestureState, QuestionKind, QuestionState, RunState, StepState


class UtcTime(TypeDecorator[datetime]):
    """A moment in UTC. SQLite forgets the zone, so it is put back on reading; PostgreSQL hands out its session's."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment in UTC; a time that the database handed out without a zone is meant so."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Word(TypeDecorator[StrEnum]):
    """A member of a `StrEnum`, stored as its text."""

    impl = String
    cache_ok = True

    def __init__(self, enum: type[StrEnum]) -> None:
        super().__init__()
        self.enum = enum

    def process_bind_param(self, value: StrEnum | None, dialect: Dialect) -> str | None:
        """The text of the member; a text that is no member raises `ValueError`."""
        return None if value is None else str(self.enum(value))

    def process_result_value(self, value: str | None, dialect: Dialect) -> StrEnum | None:
        """The member of that text."""
        return None if value is None else self.enum(value)


def _time(**options: Any) -> Any:
    return Field(sa_type=UtcTime, **options)


def _word(enum: type[StrEnum], **options: Any) -> Any:
    return Field(sa_type=Word(enum), **options)


def _said(**options: Any) -> Any:
    return Field(sa_column_kwargs={"info": {_DOOR: "text"}}, **options)


def _value(**options: Any) -> Any:
    return Field(sa_column_kwargs={"info": {_DOOR: "value"}}, **options)


_DOOR = "scrubbed as"


def scrubbed_columns(table: type[SQLModel]) -> dict[str, str]:
    """The columns of a table that are scrubbed on their way in: name -> "text" or "value"."""
    columns = getattr(table, "__table__").columns  # noqa: B009  # mypy does not know it
    return {column.name: column.info[_DOOR] for column in columns if _DOOR in column.info}


class RunRow(SQLModel, table=True):
    """One execution of a task with its arguments; the lease on it is part of the row."""

    __tablename__ = "run"
    __table_args__ = (Index("ix_run_queue", "queued", "state"),)

    id: str = Field(primary_key=True)
    key: str | None = Field(default=None, unique=True)  # the caller's own name for the work
    task_file: str
    task_name: str
    arguments: str  # JSON: name -> value
    sites: str  # JSON: name -> {"url", "account"}
    state: RunState = _word(RunState, default=RunState.NEW)
    attempt: int = 0  # the fencing token, with `token`
    token: str = ""
    lease_until: float = 0.0
    result: str | None = _value(default=None)  # JSON of the task's return value
    submitted_by: str | None = None  # the person, or the account of this machine, on whose authority it runs
    ended_by: str | None = _said(default=None)  # in words: why the run stands where it stands
    created: datetime = _time()
    updated: datetime = _time()
    queued: bool = False  # any worker process may take it
    not_before: datetime | None = _time(default=None)  # by the database's clock; no worker takes it earlier
    budget: int | None = None  # so many attempts in a row may die; None = as its keeper's options say
    deaths: int = 0  # attempts in a row that died without anything finished in between
    looks: int = 0  # how often its open question was looked at since it waits
    look_after: datetime | None = _time(default=None)  # by the database's clock: the next look is due then


class AttemptRow(SQLModel, table=True):
    """One worker's go at a run, with the processes that took part in it."""

    __tablename__ = "attempt"

    run_id: str = Field(primary_key=True, foreign_key="run.id")
    number: int = Field(primary_key=True)
    host: str
    keeper: str  # JSON of a process: pid and start time
    worker: str | None = None  # JSON of a process
    driver: str | None = None  # JSON of a process: the Playwright driver of the worker
    browser: str | None = None  # JSON of the Chromium's identity
    page: str | None = None  # the id of the page (CDP target) that the task works on
    source: str | None = None  # sha256 of the task file
    packages: str | None = None  # JSON: package -> version
    present: str | None = None  # the person who watches it at a terminal; None = nobody does
    began: datetime = _time()
    ended: datetime | None = _time(default=None)
    how: str | None = _said(default=None)  # how it ended, in words
    beaten: datetime | None = _time(default=None)  # by the database's clock, as are the next two: the last heartbeat
    progress: str | None = _said(default=None)  # the last progress mark that came with one
    progressed: datetime | None = _time(default=None)  # when that mark came first
    attested: datetime | None = _time(default=None)  # its worker, driver and browser were seen dead by then
    attested_by: str | None = None  # JSON: the host and the process that saw it


class KeeperRow(SQLModel, table=True):
    """A worker process: the keeper of several runs at once. Its times are the database's."""

    __tablename__ = "keeper"

    id: str = Field(primary_key=True)
    host: str = Field(index=True)
    process: str  # JSON of a process: pid and start time, as in the rows of its attempts
    concurrency: int
    began: datetime = _time()
    beaten: datetime = _time()
    ended: datetime | None = _time(default=None)


class StepRow(SQLModel, table=True):
    """A named part of a run. Its place in the journal is `seq`; its bookmark finds it again on a replay."""

    __tablename__ = "step"
    __table_args__ = (UniqueConstraint("run_id", "bookmark"), UniqueConstraint("run_id", "seq"))

    id: str = Field(primary_key=True)
    run_id: str = Field(foreign_key="run.id", index=True)
    seq: int
    bookmark: str  # name, version, canonical arguments and ordinal, or the caller's key
    name: str
    words: str = _said()
    arguments: str  # canonical JSON, exact: approvals are bound to it; it holds no known secret
    writes: bool
    state: StepState = _word(StepState, default=StepState.BEGUN)
    value: str | None = None  # JSON
    raised: str | None = _said(default=None)  # JSON of the fact that it raised
    marked: str | None = _said(default=None)  # the write that was seen while it was prepared
    files: str | None = None  # JSON: the files in its value, each with path, size and sha256
    attempt: int  # the attempt that began it
    began: datetime = _time()
    ended: datetime | None = _time(default=None)


class GestureRow(SQLModel, table=True):
    """One input that may change the outside world, written before it is made."""

    __tablename__ = "gesture"
    __table_args__ = (UniqueConstraint("step_id", "number"),)

    id: str = Field(primary_key=True)
    run_id: str = Field(foreign_key="run.id", index=True)
    step_id: str = Field(foreign_key="step.id", index=True)
    number: int  # within its step, from 1
    attempt: int
    state: GestureState = _word(GestureState, default=GestureState.INTENT)
    kind: str
    words: str = _said()
    site: str | None = None
    sends: str | None = _said(default=None)
    intent: str  # JSON: target, proof, known facts, dialogs
    baseline: str | None = _said(default=None)  # JSON: a list of observations, one an observer
    before: str | None = None  # digest of the picture
    after: str | None = None  # digest of the picture
    target_box: str | None = None  # JSON: x, y, width, height in the before picture
    change: str | None = _said(default=None)  # JSON: what changed between the two pictures
    guarded: bool = False  # the keeper's gate was armed before the input
    wire: str | None = _said(default=None)  # JSON: what the gate saw of its requests
    sender_dead_at: datetime | None = _time(default=None)  # its browser and worker were seen dead
    values: str | None = _value(default=None)  # JSON: what was proven
    count: int | None = None  # effects that the counting observers saw
    reasons: str | None = _said(default=None)  # JSON: list of sentences
    proven_by: str | None = _said(default=None)  # JSON: ids of observations, or a person's answer
    approval: str | None = None  # id of the approval that covers it
    reverse: str | None = None  # name of the step that can reverse it
    intent_at: datetime = _time()
    dispatched_at: datetime | None = _time(default=None)
    settled_at: datetime | None = _time(default=None)


class ReleaseRow(SQLModel, table=True):
    """One request of a gesture that the keeper let go, written before it left."""

    __tablename__ = "release"

    id: int | None = Field(default=None, primary_key=True)
    gesture_id: str = Field(foreign_key="gesture.id", index=True)
    method: str
    address: str = _said()  # scheme, host and path only
    at: datetime = _time()


class ObservationRow(SQLModel, table=True):
    """What one observer said in one look."""

    __tablename__ = "observation"

    id: str = Field(primary_key=True)
    gesture_id: str = Field(foreign_key="gesture.id", index=True)
    attempt: int
    look: int  # looks at one gesture are numbered from 1
    position: int  # of the observer in the proof
    observation: str = _said()  # JSON
    at: datetime = _time()


class QuestionRow(SQLModel, table=True):
    """Doubt put before a person, with its evidence; or consent asked beforehand."""

    __tablename__ = "question"

    id: str = Field(primary_key=True)
    run_id: str = Field(foreign_key="run.id", index=True)
    step_id: str | None = Field(default=None, foreign_key="step.id")
    gesture_id: str | None = Field(default=None, foreign_key="gesture.id", index=True)
    kind: QuestionKind = _word(QuestionKind)
    state: QuestionState = _word(QuestionState, default=QuestionState.OPEN)
    words: str = _said()
    reasons: str = _said(default="[]")  # JSON: list of sentences
    evidence: str = _said(default="[]")  # JSON: list of evidence
    details: str = _value(default="{}")  # JSON: what this kind of question needs (both calls, the calls to approve ...)
    last_confirmed: str = _said(default="")  # the last change that is known to have happened, in words
    safe_step: str = _said(default="")  # what a person can do without risk
    earliest_safe: datetime | None = _time(default=None)  # before this an absence proves nothing
    asked_at: datetime = _time()
    answer: Answer | None = _word(Answer, default=None)
    by: str | None = _said(default=None)
    reason: str | None = _said(default=None)
    values: str | None = _value(default=None)  # JSON
    override: bool = False
    ended_at: datetime | None = _time(default=None)


class ApprovalRow(SQLModel, table=True):
    """A person's word on one step call: yes or no. A yes covers one gesture, or all of that call until it is done."""

    __tablename__ = "approval"
    __table_args__ = (UniqueConstraint("question_id", "position"),)

    id: str = Field(primary_key=True)
    run_id: str = Field(foreign_key="run.id", index=True)
    question_id: str = Field(foreign_key="question.id", index=True)
    position: int  # of the call in its question, from 0
    step: str  # the step's name and version
    arguments: str  # canonical JSON
    approved: bool
    until_done: bool = False
    expires: datetime | None = _time(default=None)  # by the database's clock; None = never
    by: str
    at: datetime = _time()


class CheckpointRow(SQLModel, table=True):
    """The last state of a run's session or page, sealed; gone when the run has ended."""

    __tablename__ = "checkpoint"

    run_id: str = Field(primary_key=True, foreign_key="run.id")
    purpose: str = Field(primary_key=True)
    attempt: int
    sealed: bytes = Field(sa_type=LargeBinary)
    at: datetime = _time()
    shown: str = _said(default="{}")  # JSON: what may be shown without the key: a page's plain address, its title


class LoginRow(SQLModel, table=True):
    """What a person's login at a site has left in the browser, sealed, for every later run of that account."""

    __tablename__ = "login"

    site: str = Field(primary_key=True)
    account: str = Field(primary_key=True)
    sealed: bytes = Field(sa_type=LargeBinary)
    at: datetime = _time()


class AuditRow(SQLModel, table=True):
    """One line of the append-only log. `body` holds the exact bytes that were hashed."""

    __tablename__ = "audit"

    seq: int | None = Field(default=None, primary_key=True)
    run_id: str | None = Field(default=None, index=True)
    kind: str
    prev: str = Field(unique=True)
    hash: str = Field(unique=True)
    body: bytes = Field(sa_type=LargeBinary)


class PlaceRow(SQLModel, table=True):
    """Where the store's pictures lie, if not in the folder beside it: one row at most."""

    __tablename__ = "place"

    id: int = Field(primary_key=True)
    store: str  # the store's own name: of its part of a bucket, or in the mark of a folder
    address: str  # s3://bucket/prefix, or a folder as it was first said


class BlobRow(SQLModel, table=True):
    """A stored picture or page copy, named by the hash of its bytes."""

    __tablename__ = "blob"

    digest: str = Field(primary_key=True)
    media_type: str
    at: datetime = _time()
