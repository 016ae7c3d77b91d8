"""What a dry run saw: of each step, and of its task. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from browser_agent.run.commit_request import SendCheck
from browser_agent.run.proof_check import ObserverCheck, Obstacle


class StepEnd(StrEnum):
    """How far a dry run came with a step.

    looked: its page was prepared, and the observers of its proof looked. read: it only reads, and gave its value.
    nothing: it had no gesture to make. not_reached: it needs the value of a gesture that was not made.
    not_prepared: its page could not be prepared.
    """

    LOOKED = "looked"
    READ = "read"
    NOTHING = "nothing"
    NOT_REACHED = "not_reached"
    NOT_PREPARED = "not_prepared"


class TaskEnd(StrEnum):
    """How a dry run ended.

    finished: the task came to its end. unknown_value: the rest of the task needs a value that only a gesture gives.
    raised: the task raised. stopped: the browser, or its page, was lost.
    """

    FINISHED = "finished"
    UNKNOWN_VALUE = "unknown_value"
    RAISED = "raised"
    STOPPED = "stopped"


@dataclass(frozen=True)
class StepCheck:
    """What a dry run saw of one step.

    Args:
        name: the step's name.
        call: its call in words.
        end: see `StepEnd`.
        site, account: the name of its site, and our account there.
        calls: how often the task called it; a step that writes is looked at once.
        needs: the calls whose values it needs, and which were not made.
        intent: what its gesture means, in words.
        sends: its declared commit request, and what its control would send.
        observers: what the observers of its proof could see.
        there: what a unique key already finds: a run would ask before it makes another one.
        obstacles: why a run would not make its gesture.
        presence: what is missing to prove that it happened, in sentences; empty = it could be proven.
        absence: what is missing to prove that it did not happen; empty if nothing is.
        contradicted: declarations that the look contradicts, in sentences.
        on_your_word: what is declared and no look has shown: name -> in words.
        refused: requests of its pages that the dry run refused.
        approval: a person must approve it.
    """

    name: str
    call: str
    end: StepEnd
    site: str | None = None
    account: str | None = None
    calls: int = 1
    needs: tuple[str, ...] = ()
    intent: str | None = None
    sends: SendCheck | None = None
    observers: tuple[ObserverCheck, ...] = ()
    there: tuple[str, ...] = ()
    obstacles: tuple[tuple[Obstacle, str], ...] = ()
    presence: tuple[str, ...] = ()
    absence: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()
    on_your_word: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    approval: bool = False

    @property
    def well(self) -> bool:
        """Whether nothing was found that would hold it up, or leave its outcome unknown."""
        return not (self.obstacles or self.presence or self.absence)


@dataclass(frozen=True)
class DryRunResult:
    """What a dry run saw of a task.

    Args:
        task: the task's name.
        steps: its steps, in the order of their first calls.
        end: see `TaskEnd`.
        why: what was needed or raised; "" if it finished.
        where: the line of the task at which it ended, such as "invoices.py:31"; "" if it finished.
        never_called: names of steps in the task's file that the dry run has not met.
        approvals: questions that a run would ask a person; here every call counts as approved.
    """

    task: str
    steps: tuple[StepCheck, ...]
    end: TaskEnd = TaskEnd.FINISHED
    why: str = ""
    where: str = ""
    never_called: tuple[str, ...] = ()
    approvals: tuple[str, ...] = ()

    @property
    def well(self) -> bool:
        """Whether every proof that was looked at can work. A step that was not reached says nothing."""
        return self.end in {TaskEnd.FINISHED, TaskEnd.UNKNOWN_VALUE} and all(step.well for step in self.steps)
