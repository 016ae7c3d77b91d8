"""What travels between the workflow, its workers and whoever asks: ids and words, never evidence or values of a page.

An answer's values are the one thing that a person may add. Knows nothing of stores, browsers or Temporal itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

WORKFLOW = "browser-agent run"
KEEP, SUBMIT = "keep", "submit"  # at a browser worker
STATUS, ANSWER, GIVE_UP = "stand", "answer", "give_up"  # at a workflow worker


def workflow_queue(queue: str) -> str:
    """The queue of the workflow workers that belongs to a queue of browser workers."""
    return f"{queue}-workflows"


@dataclass(frozen=True)
class Limits:
    """How long a workflow waits for what, and how often it goes on by itself.

    Args:
        heartbeat_seconds: a browser worker that is silent for so long has lost its run.
        attempts: how often a worker may go silent in a row before a person is asked.
        start_seconds: how long a run may wait for a browser worker before a person is asked.
        keep_seconds: the longest that one worker may keep a run without a break.
        look_seconds: how soon it is looked whether a question was answered elsewhere; each time twice as late.
        look_most_seconds: and not later than that.
    """

    heartbeat_seconds: float = 10.0
    attempts: int = 5
    start_seconds: float = 24 * 3600.0
    keep_seconds: float = 24 * 3600.0
    look_seconds: float = 5.0
    look_most_seconds: float = 600.0


@dataclass(frozen=True)
class ScheduledRun:
    """A run that is to be submitted by a worker, as a schedule wants it; `{day}` is the day that it was due."""

    task: str
    key: str
    arguments: dict[str, str] = field(default_factory=dict)
    sites: dict[str, str] = field(default_factory=dict)
    accounts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class WorkflowInput:
    """What a workflow is started with: a run that is submitted, or one that is wanted."""

    queue: str
    run: str = ""
    wanted: ScheduledRun | None = None
    limits: Limits = field(default_factory=Limits)
    resumed: bool = False


@dataclass(frozen=True)
class KeepRequest:
    """What a browser worker is asked for."""

    run: str
    only_look: bool = False


@dataclass(frozen=True)
class OpenQuestion:
    """An open question, as far as a workflow must know it."""

    id: str
    answers: list[str]
    look: bool  # it is looked once more before an answer is taken


@dataclass(frozen=True)
class RunStatus:
    """Where a run stands; `why` = the kind of what its script raised."""

    run: str
    state: str
    attempt: int
    questions: list[OpenQuestion] = field(default_factory=list)
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
