"""Time and ids, injected, so that no test sleeps and no decision reads a wall clock behind somebody's back.

`Clock` is the real one; a test passes a small class with the same four calls. Monotonic time measures ages; wall time
(always UTC) is for people and for rows.
"""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime
from typing import Protocol

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # no letter or digit that reads like another


class Clock(Protocol):
    """What the toolkit needs of time."""

    def now(self) -> datetime:
        """Wall time in UTC."""

    def monotonic(self) -> float:
        """Seconds that never go back; only differences mean anything."""

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
