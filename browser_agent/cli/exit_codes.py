"""The exit codes of the commands."""

from __future__ import annotations

from enum import IntEnum
from typing import assert_never

from browser_agent.states import RunState


class Exit(IntEnum):
    """How a command ended."""

    FINISHED = 0
    RAISED = 1
    MISUSE = 2
    WAITS = 3
    STOPPED = 4
    NEEDS_ATTENTION = 5


INTERRUPTED = 130
"""Ctrl-C before there was anything to stop: 128 + SIGINT, as shells report it."""

WORDS = {
    Exit.FINISHED: "it is finished",
    Exit.RAISED: "the task's script raised an error (for `audit verify` and `doctor`: a check failed)",
    Exit.MISUSE: "the command could not be carried out as given; nothing was changed",
    Exit.WAITS: "it waits for a person; it can be resumed once the question is answered",
    Exit.STOPPED: "a person stopped it; `browser-agent resume` resumes it, unless it was abandoned",
    Exit.NEEDS_ATTENTION: "it needs attention: it could not end by itself",
}


def exit_of(state: RunState) -> Exit:
    """The exit code of a command that leaves its run in that state."""
    match state:
        case RunState.FINISHED:
            return Exit.FINISHED
        case RunState.RAISED:
            return Exit.RAISED
        case RunState.WAITING:
            return Exit.WAITS
        case RunState.STOPPED | RunState.READY | RunState.ABANDONED:
            return Exit.STOPPED
        case RunState.NEEDS_ATTENTION | RunState.NEW | RunState.RUNNING:
            return Exit.NEEDS_ATTENTION
        case _:
            assert_never(state)
