"""The three possible outcomes of a gesture in doubt.

Never add a fourth that means "probably": what isn't proven is `unknown`.
"""

from enum import StrEnum


class Outcome(StrEnum):
    """What is known about the effect of one gesture in the outside world."""

    happened = "happened"
    """Proven: an observer that may prove the effect saw it."""

    not_happened = "not_happened"
    """Proven: the effect isn't there and can no longer appear."""

    unknown = "unknown"
    """Neither is proven. Nothing acts on a guess; a person is asked."""
