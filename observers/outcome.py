"""The three things that may be known about a gesture in doubt.

This module must know nothing about browsers, pages or stores. A fourth word may never be added here to mean
"probably": what isn't proven is `unknown`.
"""

from enum import StrEnum


class Outcome(StrEnum):
    """What is known about the effect of one gesture in the world outside."""

    happened = "happened"
    """Proven: the effect was seen by an observer that may prove it."""

    not_happened = "not_happened"
    """Proven: the effect isn't there and can't come any more."""

    unknown = "unknown"
    """Neither is proven. Nobody may act on a guess; a person is asked."""
