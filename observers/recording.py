"""What was recorded while a gesture was made: texts that went away, pages that opened, files that came. Plain data.

This module must not know pages, observers or verdicts. It lives in the memory of the worker that made the gesture and
is never stored as a whole: what proves something goes into an observation as evidence. What may never happen: a
recording that is gone passes for one in which nothing was heard.
"""

from pydantic import Field

from .evidence import Frozen, Moment

DIED = "the recorder died with its worker"
NOT_BEGUN_WORDS = "nothing is recorded before the gesture"


class Toast(Frozen):
    """A text that a page began to show after the gesture's input: its lines, and when it was heard."""

    text: str
    at: Moment


class OpenedPage(Frozen):
    """A page that opened after the gesture's input, as it was when it was last read, perhaps closed by now.

    `blob`: its picture. `unread`: why there is no text, in words.
    """

    address: str
    at: Moment
    text: str = ""
    blob: str | None = None
    closed: bool = False
    unread: str = ""


class Downloaded(Frozen):
    """A file that came after the gesture's input. Without `sha256` it has begun and isn't complete.

    `text`: its content where it is text, for looking only. `failure`: why it will never be complete.
    """

    name: str
    at: Moment
    size: int | None = None
    sha256: str | None = None
    text: str | None = Field(default=None, repr=False)
    failure: str = ""


class Recording(Frozen):
    """All that was recorded of one gesture.

    `begun`: false before the gesture. `answers`: addresses of documents that came as the answer to the gesture's
    declared request, directly or behind its redirects. `document`: of the acting page's document, while that is such an
    answer. `deaf`: why toasts could not be heard. `cut`: there was more
    than is kept.
    """

    begun: bool = True
    toasts: tuple[Toast, ...] = ()
    pages: tuple[OpenedPage, ...] = ()
    downloads: tuple[Downloaded, ...] = ()
    answers: tuple[str, ...] = ()
    document: str = ""
    deaf: str = ""
    cut: bool = False


NOT_BEGUN = Recording(begun=False)


def why_nothing(recorded: Recording | None) -> str:
    """Why there is nothing to read in; empty if there is a recording."""
    if recorded is None:
        return DIED
    return "" if recorded.begun else NOT_BEGUN_WORDS
