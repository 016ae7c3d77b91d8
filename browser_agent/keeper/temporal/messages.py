"""The messages between a workflow, its workers and the command line: ids and words, never evidence or a page's values.

A person's answer is the one exception: it may contain values. Running workflows hold these fields under their names.
"""

from __future__ import annotations

from dataclasses import dataclass, field

WORKFLOW = "browser-agent run"
KEEP, SUBMIT = "keep", "submit"  # activities of a browser worker
STATUS, ANSWER, GIVE_UP = "stand", "answer", "give_up"  # activities of a workflow worker


def workflow_queue(queue: str) -> str:
    """The workflow workers' queue that belongs to a queue of browser workers."""
    return f"{queue}-workflows"


@dataclass(frozen=True)
class Limits:
    """How long a workflow waits for what, and how often it continues by itself.

    Args:
        heartbeat_seconds: a browser worker that is silent for longer has lost its run.
        attempts: how often a worker may go silent in a row before a person is asked.
        start_seconds: how long a run may wait for a browser worker before a person is asked.
        keep_seconds: how long one worker may keep a run without a break.
        look_seconds: how soon the store is asked whether a question was answered there; each further wait is twice as
            long.
        look_most_seconds: the longest of these waits.
    """

    heartbeat_seconds: float = 10.0
    attempts: int = 5
    start_seconds: float = 24 * 3600.0
    keep_seconds: float = 24 * 3600.0
    look_seconds: float = 5.0
    look_most_seconds: float = 600.0


@dataclass(frozen=True)
class ScheduledRun:
    """A run that a schedule has a worker submit; `{day}` stands for the day on which it was due."""

    task: str
    key: str
    arguments: dict[str, str] = field(default_factory=dict)
    sites: dict[str, str] = field(default_factory=dict)
    accounts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class WorkflowInput:
    """What a workflow is started with: a submitted run, or a scheduled one."""

    queue: str
    run: str = ""
    wanted: ScheduledRun | None = None
    limits: Limits = field(default_factory=Limits)
    resumed: bool = False


@dataclass(frozen=True)
class KeepRequest:
    """What a browser worker is asked to do: keep the run, or only look at its open question."""

    run: str
    only_look: bool = False


@dataclass(frozen=True)
class AnswerableQuestion:
    """What a workflow must know about an open question."""

    id: str
    answers: list[str]
    look: bool  # look once more before an answer is taken


@dataclass(frozen=True)
class RunStatus:
    """The status of a run; `why` = the kind of error that its script raised."""

    run: str
    state: str
    attempt: int
    questions: list[AnswerableQuestion] = field(default_factory=list)
    why: str = ""


@dataclass(frozen=True)
class Reply:
    """A person's answer."""

    question: str
    answer: str
    by: str
    reason: str
    values: dict[str, str] = field(default_factory=dict)
    override: bool = False
    only: list[int] = field(default_factory=list)
    until_done: bool = False
    hours: float | None = None
