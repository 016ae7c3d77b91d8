"""Observers read pages and decide what they prove. Nothing in this package can act on a page.

Terms: an observer looks through a view and returns an observation with its evidence. The observations are weighed
into a verdict, whose outcome is happened, not_happened or unknown.
"""

from .absence import absence_missing, refusal_conditions
from .address import Address
from .answer_contract import Accepted
from .baselines import already_there, looks_agree, new_matches, new_refusal
from .both import Both
from .circumstances import Circumstances
from .condition import Condition, unmet
from .confirmation import ConfirmationText
from .download import Download
from .error_shown import ErrorShown
from .evidence import Box, Evidence, ListFacts, Match, Observation, Sight, plain_address
from .gone import Gone
from .mail import SentMail
from .new_page import NewPage
from .observer import KindTaken, Observer, RecordingKind, UnknownKind
from .opened_record import Opened
from .order_status import Meaning, OrderStatus
from .outcome import Outcome
from .reading import LookFailed, Reading
from .record import Record
from .recording import NOT_BEGUN, Downloaded, OpenedPage, Recording, Toast
from .site import Site
from .tables import Row, Table
from .text import Found
from .toast import ToastLog
from .verdict import Verdict, weigh
from .view import Look, PageView, SavePicture, View, open_view

__all__ = [
    "NOT_BEGUN",
    "Accepted",
    "Address",
    "Both",
    "Box",
    "Circumstances",
    "Condition",
    "ConfirmationText",
    "Download",
    "Downloaded",
    "ErrorShown",
    "Evidence",
    "Found",
    "Gone",
    "KindTaken",
    "ListFacts",
    "Look",
    "LookFailed",
    "Match",
    "Meaning",
    "NewPage",
    "Observation",
    "Observer",
    "Opened",
    "OpenedPage",
    "OrderStatus",
    "Outcome",
    "PageView",
    "Reading",
    "Record",
    "Recording",
    "RecordingKind",
    "Row",
    "SavePicture",
    "SentMail",
    "Sight",
    "Site",
    "Table",
    "Toast",
    "ToastLog",
    "UnknownKind",
    "Verdict",
    "View",
    "absence_missing",
    "already_there",
    "looks_agree",
    "new_matches",
    "new_refusal",
    "open_view",
    "plain_address",
    "refusal_conditions",
    "unmet",
    "weigh",
]
