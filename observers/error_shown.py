"""A text on the acting page that says that something went wrong. It never decides.

A page that says "failed" may have committed first, may speak of something else, or may have said so before: so what it
says is kept for whoever has to judge, and nothing more.
"""

import re
from typing import TYPE_CHECKING

from .evidence import Evidence, Observation
from .key_in_text import refuse_empty
from .observer import Observer
from .text import pattern_words

if TYPE_CHECKING:
    from .view import View


class ErrorShown(Observer):
    """A regular expression that the acting page shows when it complains; supporting evidence beside other observers."""

    pattern: str

    def __post_init__(self) -> None:
        refuse_empty(self.pattern)

    @property
    def offers(self) -> frozenset[str]:
        """The names of the pattern's groups."""
        return frozenset(re.compile(self.pattern).groupindex)

    @property
    def proves(self) -> bool:
        """Never: an error that is shown is neither "not happened" nor "happened"."""
        return False

    def look(self, view: "View") -> Observation:
        """Look for the text on the acting page."""
        page, at = view.current, view.now()
        if page is None:
            return self.cannot_tell("the acting page is lost, or doesn't answer", at=at)
        hits = page.find(self.pattern)
        if not hits:
            return self.cannot_tell("the page shows no such error, and that proves nothing", at=at)
        hit = hits[0]
        evidence = Evidence(
            kind="text",
            words=f"the page says: {hit.text}",
            text=hit.text,
            blob=page.picture(),
            box=hit.box,
            address=page.address,
            at=at,
        )
        return self.cannot_tell(f"the page says “{hit.text}”, which decides nothing", evidence=[evidence], at=at)

    def __str__(self) -> str:
        return f"the error “{pattern_words(self.pattern)}”"
