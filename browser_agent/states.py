"""The states of a run, a step, a gesture and a question, and every arrow between them.

Theory. A gesture is stored before it is made, so that after any interruption the journal says how far it may have come.
From `intent` it can still be refused by write order alone. From `dispatching` on it may have reached the world, and
only a verdict (observers that looked) or a named person moves it on:

    intent -> dispatching -> in_doubt -> happened | not_happened | unknown -> asked
       |           |-> refused | happened | rejected
       |-> refused (nothing was dispatched) | asked (it was there before) | happened (an earlier one settled late)
    asked -> happened | not_happened | abandoned

Final states are final: a later fact is a new row. `raised` is not final: a person may fix the task and resume the run.
A run is `ready` when it was given back to the queue: by a worker process that was drained (nobody stopped the run
itself, so it isn't `stopped`, and it isn't `new` any more), or by a person. An arrow that is not in a table raises
`NotAllowed` and changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from browser_agent.errors import NotAllowed


class RunState(StrEnum):
    """Where a run stands."""

    NEW = "new"
    RUNNING = "running"
    READY = "ready"  # begun, kept by nobody, and any worker process may resume it at once
    WAITING = "waiting"  # a question must be answered
    STOPPED = "stopped"  # a person stopped it between two steps
    RAISED = "raised"  # the script raised; it may be fixed and resumed
    NEEDS_ATTENTION = "needs_attention"  # its attempts were used up without an end
    FINISHED = "finished"
    ABANDONED = "abandoned"


class EndKind(StrEnum):
    """What ended an attempt."""

    WORKER_ENDED = "worker_ended"  # by itself or by a signal: see the exit code
    KEEPER_DIED = "keeper_died"
    RELEASED = "released"  # its keeper released the run, or another attempt had taken it: nothing was cut off


TROUBLE_CODE = 71
"""A worker's exit code when the browser, the driver or the machine failed, not the task."""


class StepState(StrEnum):
    """Where a step stands. A replay returns the stored result only of `finished` and `raised` steps."""

    BEGUN = "begun"
    FINISHED = "finished"
    RAISED = "raised"


class GestureState(StrEnum):
    """How far a gesture has come."""

    INTENT = "intent"
    DISPATCHING = "dispatching"
    IN_DOUBT = "in_doubt"
    UNKNOWN = "unknown"
    ASKED = "asked"
    HAPPENED = "happened"
    NOT_HAPPENED = "not_happened"
    REFUSED = "refused"
    REJECTED = "rejected"
    ABANDONED = "abandoned"


class QuestionState(StrEnum):
    """Where a question stands. `closed` = a look or a new attempt answered it, and no person had to."""

    OPEN = "open"
    ANSWERED = "answered"
    CLOSED = "closed"


class QuestionKind(StrEnum):
    """Why a person is asked."""

    OUTCOME = "outcome"  # did it happen?
    ALREADY_THERE = "already_there"  # the baseline holds a match: use it, or make another?
    VALUES = "values"  # it happened; what is the value?
    TASK_CHANGED = "task_changed"
    MARKED_STEP = "marked_step"  # a write was seen while the step was prepared
    ATTEMPTS = "attempts"  # attempts used up
    APPROVAL = "approval"
    BASELINE = "baseline"  # what is there before a gesture can't be read
    SIGNED_OUT = "signed_out"  # the session of a site has ended, and no routine of the task signs in


class Answer(StrEnum):
    """What a person may answer to a question."""

    HAPPENED = "happened"
    NOT_HAPPENED = "not_happened"
    ABANDON = "abandon"
    APPROVE = "approve"
    REFUSE = "refuse"
    MAP = "map"  # the changed call is the stored one
    MAKE = "make"  # drop the stored call, and make the changed one


class Point(StrEnum):
    """The durable points of a gesture, in order; a test may kill or stop a process at each."""

    BEFORE_INTENT = "before_intent"
    INTENT = "intent"
    DISPATCHING = "dispatching"
    INPUT = "input"  # the input call has returned or raised
    PAUSED = "paused"  # keeper: the write is held at the gate
    RELEASED = "released"  # keeper: the write has been released
    ANSWERED = "answered"  # keeper: the site's answer was seen
    SETTLED = "settled"


class Victim(StrEnum):
    """What a test kills or stops at a point of a gesture; all but the stopped ones by SIGKILL."""

    WORKER = "worker"
    STOPPED_WORKER = "stopped-worker"  # SIGSTOP: it is alive but does nothing
    DRIVER = "driver"  # the worker's Playwright driver
    BROWSER = "browser"
    TABS = "tabs"  # every renderer of the browser: all pages crash
    KEEPER = "keeper"
    STOPPED_KEEPER = "stopped-keeper"  # SIGSTOP, until somebody sends SIGCONT


S = TypeVar("S", bound=StrEnum)
Arrows = Mapping[S, frozenset[S]]

_R, _G, _Q, _S = RunState, GestureState, QuestionState, StepState

RUN_ARROWS: Arrows[RunState] = {
    _R.NEW: frozenset({_R.RUNNING, _R.ABANDONED}),
    _R.RUNNING: frozenset(
        {_R.RUNNING, _R.READY, _R.WAITING, _R.STOPPED, _R.RAISED, _R.NEEDS_ATTENTION, _R.FINISHED, _R.ABANDONED}
    ),
    _R.READY: frozenset({_R.RUNNING, _R.ABANDONED}),
    _R.WAITING: frozenset({_R.RUNNING, _R.ABANDONED}),
    _R.STOPPED: frozenset({_R.RUNNING, _R.ABANDONED}),
    _R.RAISED: frozenset({_R.RUNNING, _R.ABANDONED}),
    _R.NEEDS_ATTENTION: frozenset({_R.RUNNING, _R.ABANDONED}),
    _R.FINISHED: frozenset(),
    _R.ABANDONED: frozenset(),
}

STEP_ARROWS: Arrows[StepState] = {
    _S.BEGUN: frozenset({_S.FINISHED, _S.RAISED}),
    _S.RAISED: frozenset({_S.BEGUN}),  # reopened when the raise ended the run and a person resumes it
    _S.FINISHED: frozenset(),
}

_DOUBTFUL = frozenset({_G.HAPPENED, _G.NOT_HAPPENED, _G.UNKNOWN})

GESTURE_ARROWS: Arrows[GestureState] = {
    _G.INTENT: frozenset({_G.DISPATCHING, _G.REFUSED, _G.ASKED, _G.HAPPENED}),
    _G.DISPATCHING: frozenset({_G.IN_DOUBT, _G.REFUSED, _G.REJECTED, _G.HAPPENED}),
    _G.IN_DOUBT: _DOUBTFUL | {_G.REJECTED},
    _G.UNKNOWN: _DOUBTFUL | {_G.ASKED},
    _G.ASKED: frozenset({_G.HAPPENED, _G.NOT_HAPPENED, _G.ABANDONED}),
    _G.HAPPENED: frozenset(),
    _G.NOT_HAPPENED: frozenset(),
    _G.REFUSED: frozenset(),
    _G.REJECTED: frozenset(),
    _G.ABANDONED: frozenset(),
}

QUESTION_ARROWS: Arrows[QuestionState] = {
    _Q.OPEN: frozenset({_Q.ANSWERED, _Q.CLOSED}),
    _Q.ANSWERED: frozenset(),
    _Q.CLOSED: frozenset(),
}

OPEN_GESTURE_STATES = frozenset({_G.INTENT, _G.DISPATCHING, _G.IN_DOUBT, _G.UNKNOWN, _G.ASKED})
"""A gesture in one of these states must be settled before its run makes anything else."""

MADE_GESTURE_STATES = frozenset({_G.DISPATCHING, _G.IN_DOUBT, _G.UNKNOWN, _G.ASKED, _G.HAPPENED})
"""A gesture in one of these states may have changed the world: a replay must call its step before a new one is made."""

NO_EFFECT_STATES = frozenset({_G.INTENT, _G.NOT_HAPPENED, _G.REFUSED, _G.REJECTED})
"""A gesture in one of these states has changed nothing. An abandoned one may have."""


def check_arrow(arrows: Arrows[S], old: S, new: S) -> None:
    """Check that the table has an arrow from `old` to `new`.

    Raises:
        NotAllowed: it has none.
    """
    if new not in arrows[old]:
        raise NotAllowed(f"{type(old).__name__}: there is no arrow from {old} to {new}. Nothing was changed.")
