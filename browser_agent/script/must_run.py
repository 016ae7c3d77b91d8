"""Step calls and gestures that were made and then dropped without being run, like a coroutine that nobody awaited.

A dropped one is a change that somebody meant and that was never made. Python cannot raise from a finaliser, so it
is noted here (and warned of at once), and whoever runs the task asks with `raise_if_dropped` between two steps.

Knows nothing of steps, gestures or browsers. Nothing is ever run from here.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import NamedTuple

from browser_agent.errors import NeverRun

_PACKAGE = __name__.partition(".")[0]
_dropped: list[str] = []


class SourceLine(NamedTuple):
    """A line of somebody's file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}"


def calling_line() -> SourceLine:
    """The nearest line on the stack that isn't the toolkit's own."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE and frame.f_back is not None:
        frame = frame.f_back
    return SourceLine(frame.f_code.co_filename, frame.f_lineno)


class MustRun:
    """Something that is taken by whoever runs it; dropped before that, it is noted with the line that made it."""

    _taken = True  # until its making has come to its end: a refused making is no dropped one
    _made: SourceLine

    def _made_here(self) -> None:
        """Called last while it is made."""
        object.__setattr__(self, "_made", calling_line())
        object.__setattr__(self, "_taken", False)

    @property
    def made_at(self) -> str:
        """File and line of its making, such as `invoices.py:31`."""
        return str(self._made)

    def take(self) -> None:
        """It is in somebody's hands now. Taking it twice means nothing."""
        object.__setattr__(self, "_taken", True)

    def __del__(self) -> None:
        if self._taken or sys.is_finalizing():
            return
        words = f"{self} was made at {self._made} and never run."
        _dropped.append(words)
        warnings.warn_explicit(words, RuntimeWarning, self._made.file, self._made.line)


def raise_if_dropped() -> None:
    """Raise `NeverRun` that lists what was dropped since the last time somebody asked."""
    dropped = _dropped.copy()
    del _dropped[: len(dropped)]
    if dropped:
        raise NeverRun(" ".join(dropped))
