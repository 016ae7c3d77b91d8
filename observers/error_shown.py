"""A text on the task's page that says that something went wrong. It never decides.

A page that says "failed" may have committed first, may refer to something else, or may have said so before. So its text
is only kept for the person who has to judge.
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
    """A regular expression of an error on the task's page; it only supports other observers."""

    pattern: str

    def __post_init__(self) -> None:
        refuse_empty(self.pattern)

    @property
    def offers(self) -> frozenset[str]:
        """The names of the pattern's named groups."""
        return frozenset(re.compile(self.pattern).groupindex)

    @property
    def proves(self) -> bool:
        """Never: a displayed error means neither "not happened" nor "happened"."""
        return False

    def look(self, view: "View") -> Observation:
        """Look for the text on the task's page."""
        page, at = view.current, view.now()
        if page is None:
            return self.cannot_tell("the task's page is lost, or doesn't answer", at=at)
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
        said = self.cannot_tell(f"the page says “{hit.text}”, which decides nothing", evidence=[evidence], at=at)
        return said.model_copy(update={"refusal": True})

    def __str__(self) -> str:
        return f"the error “{pattern_words(self.pattern)}”"
