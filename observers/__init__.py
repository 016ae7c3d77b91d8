"""Reading: what is on a page, and what it proves. Nothing in here can act on a page.

Words: an observer looks through a view and says an observation, with its evidence; the observations are weighed
into a verdict, whose outcome is happened, not_happened or unknown.
"""

from .confirmation import ConfirmationText
from .contract import Accepted
from .evidence import Box, Evidence, Match, Observation, Sight, plain_address
from .mail import SentMail
from .observer import KindTaken, Observer, UnknownKind
from .outcome import Outcome
from .reading import LookFailed, Reading
from .record import Record
from .site import Site
from .tables import Row, Table
from .text import Found
from .verdict import Circumstances, Verdict, absence_missing, already_there, looks_agree, new_matches, weigh
from .view import Keep, Look, PageView, View, open_view

__all__ = [
    "Accepted",
    "Box",
    "Circumstances",
    "ConfirmationText",
    "Evidence",
    "Found",
    "Keep",
    "KindTaken",
    "Look",
    "LookFailed",
    "Match",
    "Observation",
    "Observer",
    "Outcome",
    "PageView",
    "Reading",
    "Record",
    "Row",
    "SentMail",
    "Sight",
    "Site",
    "Table",
    "UnknownKind",
    "Verdict",
    "View",
    "absence_missing",
    "already_there",
    "looks_agree",
    "new_matches",
    "open_view",
    "plain_address",
    "weigh",
]
