"""Reading: what is on a page, and what it proves. Nothing in here can act on a page."""

from .evidence import Box, Evidence, Match, Observation, Sight, plain_address
from .observer import KindTaken, Observer, UnknownKind
from .outcome import Outcome
from .site import Site

__all__ = [
    "Box",
    "Evidence",
    "KindTaken",
    "Match",
    "Observation",
    "Observer",
    "Outcome",
    "Sight",
    "Site",
    "UnknownKind",
    "plain_address",
]
