"""A text on the acting page that says that it was done.

This module must not know verdicts. It reads the page as it stands and opens none; a text that isn't there proves
nothing, so it never says "not seen".
"""

import re
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING

from .evidence import Evidence, Observation, plain_address
from .keyed import refuse_empty
from .observer import Observer
from .text import Found, pattern_words

if TYPE_CHECKING:
    from .view import View

_SEEN_BY = "the confirmation"


class ConfirmationText(Observer):
    """A regular expression that the acting page shows after the gesture; its named groups are the values.

    It proves "at least once". Put the key of this very gesture into the pattern (a reference that was typed into
    the form): "Order confirmed" alone is on many pages. `within`: a pattern that the same line must match too.
    """

    pattern: str
    _: KW_ONLY
    within: str | None = None

    def __post_init__(self) -> None:
        refuse_empty(self.pattern, self.within)

    @property
    def supplies(self) -> frozenset[str]:
        """The names of the pattern's groups."""
        return frozenset(re.compile(self.pattern).groupindex)

    def look(self, view: "View") -> Observation:
        """Look for the text on the acting page."""
        page = view.current
        if page is None:
            return self.cannot_tell("the acting page is lost, or doesn't answer", at=view.now())
        hits = {hit.text: hit for hit in reversed(page.find(self.pattern)) if self._fits(hit, page.text)}
        if not hits:
            return self.cannot_tell(
                "the text isn't on the page, and a text that isn't there proves nothing", at=view.now()
            )
        blob = page.picture()
        address = plain_address(page.address)
        evidence = [
            Evidence(
                kind="text",
                words=f"the page says: {hit.text}",
                text=hit.text,
                blob=blob,
                box=hit.box,
                address=address,
                at=view.now(),
            )
            for hit in hits.values()
        ]
        said = self.seen([hit.match() for hit in hits.values()], *evidence, at=view.now())
        return said.model_copy(update={"observer": _SEEN_BY})  # what it saw is said in its own words, without a pattern

    def _fits(self, hit: Found, text: str) -> bool:
        if self.within is None:
            return True
        return any(hit.text in line and re.search(self.within, line) for line in text.splitlines())

    def __str__(self) -> str:
        return f"the confirmation “{pattern_words(self.pattern)}”"
