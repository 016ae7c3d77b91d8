"""The tables of the store, one class each. Only `store` writes them.

A column that holds JSON says so in its comment. Times are UTC, but `lease_until` is seconds since 1970 by the
database's own clock.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, LargeBinary, UniqueConstraint
from sqlmodel import Field, SQLModel

from browser_agent.states import Answer, EndKind, GestureState, QuestionKind, QuestionState, RunState, StepState
from browser_agent.store.column_types import data_field, enum_field, text_field, time_field


class RunRow(SQLModel, table=True):
    """One execution of a task with its arguments, and the lease on it."""

    __tablename__ = "run"
    __table_args__ = (Index("ix_run_queue", "queued", "state"),)

    id: str = Field(primary_key=True)
    key: str | None = Field(default=None, unique=True)  # the caller's own name for the run
    task_file: str
    task_name: str
    arguments: str  # JSON: name -> value
    sites: str  # JSON: name -> {"url", "account"}
    state: RunState = enum_field(RunState, default=RunState.NEW)
    attempt: int = 0  # the fencing token, with `token`
    token: str = ""
    lease_until: float = 0.0
    result: str | None = data_field(default=None)  # JSON of the task's return value
    submitted_by: str | None = None  # the person or the machine's account that is responsible for it
    ended_by: str | None = text_field(default=None)  # why the run is in its state, in words
    error_kind: str | None = None  # the class name of the error that its script raised
    created: datetime = time_field()
    updated: datetime = time_field()
    queued: bool = False  # any worker process may take it
    not_before: datetime | None = time_field(default=None)  # by the database's clock; workers take it no earlier
    budget: int | None = None  # how many attempts in a row may die; None = see its keeper's options
    deaths: int = 0  # attempts in a row that died; anything that is finished resets it
    looks: int = 0  # how often workers have looked at its open question
    look_after: datetime | None = time_field(default=None)  # by the database's clock: when the next look is due


class AttemptRow(SQLModel, table=True):
    """One attempt at a run, with its processes."""

    __tablename__ = "attempt"

    run_id: str = Field(primary_key=True, foreign_key="run.id")
    number: int = Field(primary_key=True)
    host: str
    keeper: str  # JSON of a process: pid and start time
    worker: str | None = None  # JSON of a process
    driver: str | None = None  # JSON of a process: the worker's Playwright driver
    browser: str | None = None  # JSON of the Chromium's identity
    page: str | None = None  # the id of the page (CDP target) that the task works on
    source: str | None = None  # sha256 of the task file
    packages: str | None = None  # JSON: package -> version
    present: str | None = None  # the person who watches it at a terminal; None = nobody
    began: datetime = time_field()
    ended: datetime | None = time_field(default=None)
    how: str | None = text_field(default=None)  # how it ended, in words
    end_kind: EndKind | None = enum_field(EndKind, default=None)  # what ended it
    exit_code: int | None = None  # its worker's, or the signal's number as a negative one; None = not known
    late_step: str | None = None  # the step whose time limit ended its worker
    beaten: datetime | None = time_field(
        default=None
    )  # the last heartbeat; this and what follows by the database's clock
    progress: str | None = text_field(default=None)  # the last progress mark of a heartbeat
    progressed: datetime | None = time_field(default=None)  # when that mark first came
    attested: datetime | None = time_field(default=None)  # when its worker, driver and browser were confirmed dead
    attested_by: str | None = None  # the host, and JSON of the process that saw it


class KeeperRow(SQLModel, table=True):
    """A worker process, which is the keeper of several runs at once. Its times are by the database's clock."""

    __tablename__ = "keeper"

    id: str = Field(primary_key=True)
    host: str = Field(index=True)
    process: str  # JSON of a process: pid and start time, as in the rows of its attempts
    concurrency: int
    began: datetime = time_field()
    beaten: datetime = time_field()
    ended: datetime | None = time_field(default=None)


class StepRow(SQLModel, table=True):
    """A named part of a run."""

    __tablename__ = "step"
    __table_args__ = (UniqueConstraint("run_id", "bookmark"), UniqueConstraint("run_id", "seq"))

    id: str = Field(primary_key=True)
    run_id: str = Field(foreign_key="run.id", index=True)
    seq: int  # its position in the journal, from 1
    bookmark: str  # finds it on a replay: name, version, canonical arguments and ordinal; or the caller's key
    name: str
    words: str = text_field()
    arguments: str  # canonical JSON, exact, since approvals are bound to it; it holds no known secret
    writes: bool
    state: StepState = enum_field(StepState, default=StepState.BEGUN)
    value: str | None = None  # JSON
    raised: str | None = text_field(default=None)  # JSON of the error that it raised
    marked: str | None = text_field(default=None)  # a write that was seen while the step was prepared
    files: str | None = None  # JSON: the files in its value, each with path, size and sha256
    attempt: int  # the attempt that began it
    began: datetime = time_field()
    ended: datetime | None = time_field(default=None)


class GestureRow(SQLModel, table=True):
    """One input that may change the outside world; the row is written before the input is made."""

    __tablename__ = "gesture"
    __table_args__ = (UniqueConstraint("step_id", "number"),)

    id: str = Field(primary_key=True)
    run_id: str = Field(foreign_key="run.id", index=True)
    step_id: str = Field(foreign_key="step.id", index=True)
    number: int  # within its step, from 1
    attempt: int
    state: GestureState = enum_field(GestureState, default=GestureState.INTENT)
    kind: str
    words: str = text_field()
    site: str | None = None
    sends: str | None = text_field(default=None)
    intent: str  # JSON: target, proof, known facts, dialogs
    baseline: str | None = text_field(default=None)  # JSON: a list with one observation by each observer
    before: str | None = None  # digest of the picture
    after: str | None = None  # digest of the picture
    target_box: str | None = None  # JSON: x, y, width, height in the before picture
    change: str | None = text_field(default=None)  # JSON: what changed between the two pictures
    guarded: bool = False  # the gate at the wire was armed before the input
    wire: str | None = text_field(default=None)  # JSON: its requests, as the gate saw them
    sender_dead_at: datetime | None = time_field(default=None)  # when its browser and worker were confirmed dead
    values: str | None = data_field(default=None)  # JSON: what was proven
    count: int | None = None  # how many effects the counting observers saw
    reasons: str | None = text_field(default=None)  # JSON: list of sentences
    proven_by: str | None = text_field(default=None)  # JSON: ids of observations, or a person's answer in words
    approval: str | None = None  # id of the approval that it used
    reverse: str | None = None  # name of the step that can reverse it
    intent_at: datetime = time_field()
    dispatched_at: datetime | None = time_field(default=None)
    settled_at: datetime | None = time_field(default=None)


class ReleaseRow(SQLModel, table=True):
    """One request of a gesture that the keeper released; the row is written before the request leaves."""

    __tablename__ = "release"

    id: int | None = Field(default=None, primary_key=True)
    gesture_id: str = Field(foreign_key="gesture.id", index=True)
    method: str
    address: str = text_field()  # scheme, host and path only
    at: datetime = time_field()


class ObservationRow(SQLModel, table=True):
    """The observation of one observer in one look."""

    __tablename__ = "observation"

    id: str = Field(primary_key=True)
    gesture_id: str = Field(foreign_key="gesture.id", index=True)
    attempt: int
    look: int  # the number of the look at this gesture, from 1
    position: int  # of the observer in the proof
    observation: str = text_field()  # JSON
    at: datetime = time_field()


class QuestionRow(SQLModel, table=True):
    """A question to a person: about a doubt, with its evidence, or for consent beforehand."""

    __tablename__ = "question"

    id: str = Field(primary_key=True)
    run_id: str = Field(foreign_key="run.id", index=True)
    step_id: str | None = Field(default=None, foreign_key="step.id")
    gesture_id: str | None = Field(default=None, foreign_key="gesture.id", index=True)
    kind: QuestionKind = enum_field(QuestionKind)
    state: QuestionState = enum_field(QuestionState, default=QuestionState.OPEN)
    words: str = text_field()
    reasons: str = text_field(default="[]")  # JSON: list of sentences
    evidence: str = text_field(default="[]")  # JSON: list of evidence
    details: str = data_field(default="{}")  # JSON: data of this kind of question, such as the calls to approve
    last_confirmed: str = text_field(default="")  # the last change that is known to have happened, in words
    safe_step: str = text_field(default="")  # what a person can do without risk
    earliest_safe: datetime | None = time_field(default=None)  # "not found" proves nothing before this time
    asked_at: datetime = time_field()
    answer: Answer | None = enum_field(Answer, default=None)
    by: str | None = text_field(default=None)
    reason: str | None = text_field(default=None)
    values: str | None = data_field(default=None)  # JSON
    override: bool = False
    ended_at: datetime | None = time_field(default=None)


class ApprovalRow(SQLModel, table=True):
    """A person's yes or no to one step call. A yes covers one gesture, or all of that call until it is done."""

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
    expires: datetime | None = time_field(default=None)  # by the database's clock; None = never
    by: str = text_field()
    at: datetime = time_field()


class CheckpointRow(SQLModel, table=True):
    """The last state of a run's session or page, sealed; deleted when the run ends."""

    __tablename__ = "checkpoint"

    run_id: str = Field(primary_key=True, foreign_key="run.id")
    purpose: str = Field(primary_key=True)
    attempt: int
    sealed: bytes = Field(sa_type=LargeBinary)
    at: datetime = time_field()
    shown: str = text_field(default="{}")  # JSON: what may be shown without the key, such as a page's title


class LoginRow(SQLModel, table=True):
    """The browser state after a person's login at a site, sealed, for all later runs with that account."""

    __tablename__ = "login"

    site: str = Field(primary_key=True)
    account: str = Field(primary_key=True)
    sealed: bytes = Field(sa_type=LargeBinary)
    at: datetime = time_field()


class AuditRow(SQLModel, table=True):
    """One line of the append-only log."""

    __tablename__ = "audit"

    seq: int | None = Field(default=None, primary_key=True)
    run_id: str | None = Field(default=None, index=True)
    kind: str
    prev: str = Field(unique=True)
    hash: str = Field(unique=True)
    body: bytes = Field(sa_type=LargeBinary)  # the exact bytes that were hashed


class EvidenceLocationRow(SQLModel, table=True):
    """Where the store's pictures are, if not in the folder beside it. At most one row."""

    __tablename__ = "place"

    id: int = Field(primary_key=True)
    store: str  # the store's own name, in the mark of a folder or the prefix in a bucket
    address: str  # s3://bucket/prefix, or the folder's path as it was first given


class BlobRow(SQLModel, table=True):
    """A stored picture or page copy, named by the hash of its bytes."""

    __tablename__ = "blob"

    digest: str = Field(primary_key=True)
    media_type: str
    at: datetime = time_field()
