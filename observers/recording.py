"""What was recorded during a gesture: texts that disappeared, pages that opened, files that arrived. Plain data.

A recording lives in the memory of the worker that made the gesture and is never stored as a whole; what proves
something goes into an observation as evidence. A lost recording never passes for one in which nothing happened.
"""

from pydantic import Field

from .evidence import Frozen, Moment

DIED = "the recorder died with its worker"
NOT_BEGUN_WORDS = "nothing is recorded before the gesture"


class Toast(Frozen):
    """A text that a page began to show after the gesture's input: its lines, and when it was recorded."""

    text: str
    at: Moment


class OpenedPage(Frozen):
    """A page that opened after the gesture's input, as last read; it may have closed since.

    `blob`: its picture. `unread`: why there is no text, in words.
    """

    address: str
    at: Moment
    text: str = ""
    blob: str | None = None
    closed: bool = False
    unread: str = ""


class Downloaded(Frozen):
    """A file that was downloaded after the gesture's input. Without `sha256` it is incomplete.

    `text`: its content if that is text, for looking only. `failure`: why it will never be complete.
    """

    name: str
    at: Moment
    size: int | None = None
    sha256: str | None = None
    text: str | None = Field(default=None, repr=False)
    failure: str = ""


class Recording(Frozen):
    """All that was recorded of one gesture.

    `begun`: false before the gesture. `answers`: addresses of documents that answered the gesture's declared request,
    directly or after redirects. `document`: address of the document of the task's page, while that is such an answer.
    `toast_failure`: why toasts could not be recorded. `truncated`: there was more than is recorded.
    """

    begun: bool = True
    toasts: tuple[Toast, ...] = ()
    pages: tuple[OpenedPage, ...] = ()
    downloads: tuple[Downloaded, ...] = ()
    answers: tuple[str, ...] = ()
    document: str = ""
    toast_failure: str = ""
    truncated: bool = False


NOT_BEGUN = Recording(begun=False)


def why_nothing(recorded: Recording | None) -> str:
    """Why there is no recording to read; empty if there is one."""
    if recorded is None:
        return DIED
    return "" if recorded.begun else NOT_BEGUN_WORDS
