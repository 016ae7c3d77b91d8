"""A text on the acting page that says that it was done.

This module must not know verdicts. It reads the page as it stands and opens none; a text that isn't there proves
nothing, so it never says "not seen". What may never happen: a text proves without our key in it, unless the page is the
declared request's own answer.
"""

import re
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING

from .evidence import Evidence, Observation
from .key_in_text import Hit, Keyed, holds, refuse_empty, said_of
from .observer import Observer, RecordingKind
from .recording import DIED
from .text import Found, pattern_words

if TYPE_CHECKING:
    from .reading import Reading
    from .view import View


class ConfirmationText(Keyed, Observer):
    """A regular expression that the acting page shows after the gesture; its named groups are the values.

        ConfirmationText(r"Invoice (?P<number>\\S+) posted for \\S+", key=order)

    Arguments:
        pattern: what the page must show.
        key: what only this very gesture's text can hold, such as a reference that was typed into the form: it must
            stand in the text that fits the pattern. None = the key by which the rest of the proof looks (`key=` of a
            `Record` with one column).
        answer: the text counts too if the page is the declared request's (`sends`) own answer, or where that redirected
            to. It is seen by the worker that makes the gesture, and gone with it. Use it only at a site that shows
            nothing of other people's there, and no such text when it refuses.
        within: a pattern that the same line must match too; the key may then stand anywhere in that line.

    A text that was there before the gesture is not new and proves nothing. With neither key nor answer it supports and
    proves nothing: "Order confirmed" is on many pages, and a number may be a neighbour's. It proves "at least once".
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
        """Only with a key, or on the declared request's answer."""
        return self.answer or self.key is not None

    @property
    def records(self) -> frozenset[RecordingKind]:
        """Answers, if they count."""
        return frozenset({"answers"}) if self.answer else frozenset()

    def look(self, view: "View") -> Observation:
        """Look for the text on the acting page."""
        page, at = view.current, view.now()
        if page is None:
            return self.cannot_tell("the acting page is lost, or doesn't answer", at=at)
        answered = (
            self.answer and view.recorded is not None and page.address.partition("#")[0] == view.recorded.document
        )
        hits = self._hits(page, view, answered=answered)
        if self.answer and view.recorded is None and hits and not any(hit.ours for hit in hits):
            shown, candidates = [hit.evidence for hit in hits], [hit.match for hit in hits]
            return self.cannot_tell(DIED, evidence=shown, at=at, candidates=candidates)
        missing = "the text isn't on the page, and a text that isn't there proves nothing"
        return said_of(self, "the confirmation", hits, at, missing)  # what it saw stands for its pattern

    def _hits(self, page: "Reading", view: "View", *, answered: bool) -> list[Hit]:
        """Each text once, from the top."""
        found: dict[tuple[str, bool], Found] = {}
        for hit in page.find(self.pattern):
            if units := self._units(hit, page.text):
                found.setdefault((hit.text, answered or any(holds(unit, self.key) for unit in units)), hit)
        blob = page.picture() if found else None
        return [Hit(hit.match(), _evidence(hit, page, blob, view), ours) for (_, ours), hit in found.items()]

    def _units(self, hit: Found, text: str) -> list[str]:
        """Where the key must stand: in the text itself, or in a line that fits `within`; empty if none does."""
        if self.within is None:
            return [hit.whole]
        return [line for line in text.splitlines() if hit.text in line and re.search(self.within, line)]

    def __str__(self) -> str:
        return f"the confirmation “{pattern_words(self.pattern)}”"


def _evidence(hit: Found, page: "Reading", blob: str | None, view: "View") -> Evidence:
    words = f"the page says: {hit.text}"
    return Evidence(
        kind="text", words=words, text=hit.text, blob=blob, box=hit.box, address=page.address, at=view.now()
    )
