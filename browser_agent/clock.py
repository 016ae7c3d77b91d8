"""Time and ids, injected so that no test sleeps and no decision reads a hidden wall clock.

`SystemClock` is the real one; a test passes a small class with the methods of `Clock`. Monotonic time measures ages;
wall time (always UTC) is for people and for rows.
"""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime
from typing import Protocol

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # no letter or digit that looks like another


class Clock(Protocol):
    """The clock interface."""

    def now(self) -> datetime:
        """Wall time in UTC."""

    def monotonic(self) -> float:
        """Seconds that never go back. Only differences are meaningful."""

    def sleep(self, seconds: float) -> None:
        """Wait that many seconds."""


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Wall time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since some fixed point."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait that many seconds."""
        time.sleep(seconds)


def new_id(prefix: str, length: int = 8) -> str:
    """A short id that a person can read out, such as `run-7k2m9qxa`."""
    return f"{prefix}-" + "".join(secrets.choice(_ALPHABET) for _ in range(length))
