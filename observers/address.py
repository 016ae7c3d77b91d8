"""The address of the task's page after the gesture.

A number in an address is only a candidate, which `Opened` verifies. An address without our key never proves anything,
unless the declared request's own answer led there.
"""

import re
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from .evidence import Evidence, Match, Observation
from .key_in_text import Hit, Keyed, holds, refuse_empty, said_of
from .observer import Observer, RecordingKind
from .recording import DIED
from .site import Site
from .text import pattern_words

if TYPE_CHECKING:
    from .view import View


class Address(Keyed, Observer):
    """A regular expression that must match the whole path of the page's address after the gesture.

        Address(r"/orders/(?P<number>\\d+)/thanks", answer=True)

    Args:
        pattern: of the path; if it names a query (`\\?`), of path and query. Its named groups are the values.
        key: what only this gesture's address can contain.
        answer: the address also counts if the gesture's declared request (`sends`) led there: its own answer, or where
            that redirected to. Only the worker that makes the gesture sees this, and it is lost when the worker ends.
            Use it only at a site whose refusals, and whose existing records, have addresses that don't fit the pattern.
        site: the address must be on this site.

    An address from before the gesture is not new and proves nothing. With neither key nor answer it only supports.
    It proves "at least once".
    """

    pattern: str
    _: KW_ONLY
    key: str | None = None
    answer: bool = False
    site: Site | None = None

    def __post_init__(self) -> None:
        refuse_empty(self.pattern, key=self.key)

    @property
    def proves(self) -> bool:
        """Only with a key, or as the declared request's own answer."""
        return self.answer or self.key is not None

    @property
    def records(self) -> frozenset[RecordingKind]:
        """Answers, if they count."""
        return frozenset({"answers"}) if self.answer else frozenset()

    def look(self, view: "View") -> Observation:
        """Look at the address of the task's page."""
        page = view.current
        if page is None:
            return self.cannot_tell("the task's page is lost, or doesn't answer", at=view.now())
        text = self._text(page.address)
        found = re.fullmatch(self.pattern, text)
        if found is None or (self.site is not None and not self.site.holds(page.address)):
            return self.cannot_tell(
                "the page is at another address, and an address that isn't there proves nothing", at=view.now()
            )
        values = {name: value for name, value in found.groupdict().items() if value is not None}
        answered = self.answer and _bare(page.address) in (view.recorded.answers if view.recorded else ())
        words = "where the declared request led" if answered else "where the page stands"
        match, ours = Match(values=values, identity=text), answered or holds(text, self.key)
        blob = page.picture() if ours else None
        evidence = Evidence(kind="page", words=f"{words}: {text}", blob=blob, address=page.address, at=view.now())
        if self.answer and view.recorded is None and not ours:
            return self.cannot_tell(DIED, evidence=[evidence], at=view.now(), candidates=[match])
        return said_of(self, "the address", [Hit(match, evidence, ours)], view.now(), "")

    def _text(self, address: str) -> str:
        parts = urlsplit(address)
        query = f"?{parts.query}" if r"\?" in self.pattern else ""
        return unquote(parts.path) + unquote(query)

    def __str__(self) -> str:
        return f"the address “{pattern_words(self.pattern)}”"


def _bare(address: str) -> str:
    return address.partition("#")[0]
