"""A page that opened after the gesture: a receipt in a new tab or window, even if it has closed since.

A page without our key never proves anything.
"""

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING

from .evidence import Evidence, Match, Observation
from .key_in_text import Hit, Keyed, holds, refuse_empty
from .observer import Observer, RecordingKind
from .recording import OpenedPage, Recording
from .text import VisibleText, pattern_words

if TYPE_CHECKING:
    from .view import View


class NewPage(Keyed, Observer):
    """A regular expression in the text of a page that opened after the gesture, in the same browser context.

        NewPage(r"Receipt (?P<number>\\S+)", key=order)

    Args:
        pattern: what the page's text must contain; its named groups are the values.
        key: what only the text of this gesture's receipt can contain. Without it the page only supports.

    It proves "at least once". A recorder in the worker that makes the gesture keeps address, text and picture; they are
    lost when the worker ends.
    """

    pattern: str
    _: KW_ONLY
    key: str | None = None

    def __post_init__(self) -> None:
        refuse_empty(self.pattern, key=self.key)

    @property
    def records(self) -> frozenset[RecordingKind]:
        """Pages."""
        return frozenset({"pages"})

    def look(self, view: "View") -> Observation:
        """Look through the pages that opened since the gesture's input."""
        return self.said_of_recording(view, "the new page", self._hits, _missing)

    def _hits(self, recorded: Recording) -> list[Hit]:
        return [hit for page in recorded.pages for hit in self._hits_on(page)]

    def _hits_on(self, page: OpenedPage) -> list[Hit]:
        ours = holds(page.text, self.key)
        return [
            Hit(Match(values=hit.groups, identity=hit.text), _evidence(page, hit.text), ours)
            for hit in VisibleText([(line, None) for line in page.text.splitlines(keepends=True)]).find(self.pattern)
        ]

    def __str__(self) -> str:
        return f"the new page “{pattern_words(self.pattern)}”"


def _evidence(page: OpenedPage, text: str) -> Evidence:
    how = "that has closed since" if page.closed else "that opened"
    words = f"a page {how} says: {text}"
    return Evidence(kind="page", words=words, text=text, blob=page.blob, address=page.address, at=page.at)


def _missing(recorded: Recording) -> str:
    unread = [page.unread for page in recorded.pages if page.unread]
    if unread:
        return f"a page opened, and {unread[0]}"
    if recorded.pages:
        return "a page opened, and the text isn't on it"
    return "no page opened after the gesture, and that proves nothing"
