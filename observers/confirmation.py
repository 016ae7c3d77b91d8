"""A text on the task's page that confirms the gesture.

The observer reads the page as it is and opens none. A missing text proves nothing, so it never says "not seen". A text
without our key never proves anything, unless the page is the declared request's own answer.
"""

import re
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING

from .evidence import Evidence, Match, Observation
from .key_in_text import Hit, Keyed, holds, refuse_empty, said_of
from .observer import Observer, RecordingKind
from .recording import DIED
from .text import Found, pattern_words

if TYPE_CHECKING:
    from .reading import Reading
    from .view import View


class ConfirmationText(Keyed, Observer):
    """A regular expression that the task's page shows after the gesture; its named groups are the values.

        ConfirmationText(r"Invoice (?P<number>\\S+) posted for \\S+", key=order)

    Args:
        pattern: what the page must show.
        key: what only this gesture's text can contain, such as a reference typed into the form. The text that fits the
            pattern must contain it. None = the key of the rest of the proof (`key=` of a `Record` with one column).
        answer: the text also counts if the page is the declared request's (`sends`) own answer, or where that
            redirected to. Only the worker that makes the gesture sees this, and it is lost when the worker ends. Use it
            only at a site where such a page shows nothing of other people's, and no such text when the site refuses.
        within: a pattern that the same line must match too; the key may then be anywhere in that line.

    A text from before the gesture is not new and proves nothing. With neither key nor answer it only supports: "Order
    confirmed" is on many pages, and a number may belong to somebody else. It proves "at least once".
    """

    pattern: str
    _: KW_ONLY
    key: str | None = None
    answer: bool = False
    within: str | None = None

    def __post_init__(self) -> None:
        refuse_empty(self.pattern, self.within, key=self.key)

    @property
    def proves(self) -> bool:
        """Only with a key, or on the declared request's own answer."""
        return self.answer or self.key is not None

    @property
    def records(self) -> frozenset[RecordingKind]:
        """Answers, if they count."""
        return frozenset({"answers"}) if self.answer else frozenset()

    def look(self, view: "View") -> Observation:
        """Look for the text on the task's page."""
        page, at = view.current, view.now()
        if page is None:
            return self.cannot_tell("the task's page is lost, or doesn't answer", at=at)
        answered = (
            self.answer and view.recorded is not None and page.address.partition("#")[0] == view.recorded.document
        )
        hits = self._hits(page, view, answered=answered)
        if self.answer and view.recorded is None and hits and not any(hit.ours for hit in hits):
            shown, candidates = [hit.evidence for hit in hits], [hit.match for hit in hits]
            return self.cannot_tell(DIED, evidence=shown, at=at, candidates=candidates)
        missing = "the text isn't on the page, and a text that isn't there proves nothing"
        return said_of(self, "the confirmation", hits, at, missing)  # what it saw replaces its pattern

    def _hits(self, page: "Reading", view: "View", *, answered: bool) -> list[Hit]:
        """Each text once, in page order."""
        found: dict[tuple[str, bool], Found] = {}
        for hit in page.find(self.pattern):
            if units := self._units(hit, page.text):
                found.setdefault((hit.text, answered or any(holds(unit, self.key) for unit in units)), hit)
        blob = page.picture() if found else None
        return [Hit(_match(hit, page), _evidence(hit, page, blob, view), ours) for (_, ours), hit in found.items()]

    def _units(self, hit: Found, text: str) -> list[str]:
        """Where the key must be: in the text itself, or in a line that fits `within`; empty if none does."""
        if self.within is None:
            return [hit.whole]
        return [line for line in text.splitlines() if hit.text in line and re.search(self.within, line)]

    def __str__(self) -> str:
        return f"the confirmation “{pattern_words(self.pattern)}”"


def _match(hit: Found, page: "Reading") -> Match:
    return hit.match().model_copy(update={"since": page.born})


def _evidence(hit: Found, page: "Reading", blob: str | None, view: "View") -> Evidence:
    words = f"the page says: {hit.text}"
    return Evidence(
        kind="text", words=words, text=hit.text, blob=blob, box=hit.box, address=page.address, at=view.now()
    )
