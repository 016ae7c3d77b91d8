"""Detects step calls and gestures that were created and dropped without being run, like a coroutine never awaited.

A dropped one is an intended change that was never made. Python can't raise from a finaliser, so the finaliser records
it and warns, and the run calls `raise_if_dropped` between steps.
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
    """A line of a source file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}"


def calling_line() -> SourceLine:
    """The nearest line on the stack outside of this package."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE and frame.f_back is not None:
        frame = frame.f_back
    return SourceLine(frame.f_code.co_filename, frame.f_lineno)


class MustRun:
    """An object that a run must take; dropped before that, it is recorded with its source line."""

    _taken = True  # until its constructor has succeeded: one that raised has dropped nothing
    _made: SourceLine

    def _made_here(self) -> None:
        """Record where it was created; the constructor's last call."""
        object.__setattr__(self, "_made", calling_line())
        object.__setattr__(self, "_taken", False)

    @property
    def made_at(self) -> str:
        """File and line that created it, such as `invoices.py:31`."""
        return str(self._made)

    def take(self) -> None:
        """Mark it as taken; it may be taken twice."""
        object.__setattr__(self, "_taken", True)

    def __del__(self) -> None:
        if self._taken or sys.is_finalizing():
            return
        words = f"{self} was made at {self._made} and never run."
        _dropped.append(words)
        warnings.warn_explicit(words, RuntimeWarning, self._made.file, self._made.line)


def raise_if_dropped() -> None:
    """Raise `NeverRun` with a list of what was dropped since the last call, if anything was."""
    dropped = _dropped.copy()
    del _dropped[: len(dropped)]
    if dropped:
        raise NeverRun(" ".join(dropped))
