"""The page that a number leads to: it verifies a candidate of another observer.

Source: the rules of what an observer may prove: "a number alone is a candidate, proven when the record opened by it
holds our key". A candidate never proves anything without our key on the page, or on a page that isn't our account's.
"""

import re
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote

from .both import Nested
from .evidence import Evidence, Match, Observation, plain_address
from .key_in_text import holds, refuse_empty
from .observer import Observer, RecordingKind
from .reading import LookFailed, Reading
from .site import Site

if TYPE_CHECKING:
    from .view import View

_PLACE = re.compile(r"\{(\w+)\}")
_CANDIDATES_AT_MOST = 5


class Opened(Observer):
    """A page of the site that a candidate's values lead to and that contains our key.

        Opened(shop, "orders/{number}", by=ToastLog(r"Order (?P<number>\\S+) placed"), key=order)

    Args:
        site, path: address of the page; each `{name}` in the path is a value that `by` offers.
        by: the observer that finds the candidate; it need not be able to prove anything itself.
        key: what only the page of this gesture's effect can contain; it must be in a visible line.
        reads: a regular expression that the page's text must also match; its named groups are further values.

    It proves "at least once". The page is a fresh one, read by GET. A candidate that only a recorder has seen is lost
    with the recorder.
    """

    opens: ClassVar[bool] = True

    site: Site
    path: str
    _: KW_ONLY
    by: Nested
    key: str
    reads: str | None = None

    def __post_init__(self) -> None:
        refuse_empty(self.reads, key=self.key)
        _ = self.site / _PLACE.sub("0", self.path)
        names = _PLACE.findall(self.path)
        if not names or not self.by.offers.issuperset(names):
            offered = ", ".join(sorted(self.by.offers)) or "nothing"
            raise ValueError(f"the path {self.path!r} must name what leads there; {self.by} offers {offered}")

    @property
    def supplies(self) -> frozenset[str]:
        """The names that `by` offers, and the named groups of `reads`."""
        return self.by.offers | frozenset(re.compile(self.reads or "").groupindex)

    @property
    def records(self) -> frozenset[RecordingKind]:
        """What `by` needs."""
        return self.by.records

    def look(self, view: "View") -> Observation:
        """Ask `by`, and open the pages that its candidates lead to."""
        said = self.by.observe(view)
        candidates = {self._path(match): match for match in (*said.matches, *said.candidates)}
        candidates.pop(None, None)
        if not candidates:
            return self.cannot_tell(*said.reasons, evidence=said.evidence, at=view.now())
        found: list[tuple[Match, Evidence]] = []
        reasons = ["there are more candidates than are looked at"] if len(candidates) > _CANDIDATES_AT_MOST else []
        for path, match in list(candidates.items())[:_CANDIDATES_AT_MOST]:
            try:
                page = view.open(self.site / str(path), scripts=self.site.scripts)
            except LookFailed as error:
                reasons.append(str(error))
                continue
            if why := self._why_not(page):
                reasons.append(f"{plain_address(page.address)} {why}")
            else:
                found.append((self._match(match, page, str(path)), self._evidence(page, view)))
        shown = [*said.evidence, *(evidence for _, evidence in found)]
        if not found:
            return self.cannot_tell(*reasons, evidence=shown, at=view.now())
        return self.seen([match for match, _ in found], *shown, reasons=reasons, fresh=True, at=view.now())

    def _path(self, match: Match) -> str | None:
        """The path that a candidate leads to; None if it lacks a value."""
        if not all(match.values.get(name) for name in _PLACE.findall(self.path)):
            return None
        return _PLACE.sub(lambda place: quote(match.values[place[1]], safe=""), self.path)

    def _why_not(self, page: Reading) -> str:
        """Why the page proves nothing; empty if it does."""
        if page.status != 200:
            return f"was answered with status {page.status}"
        if not self.site.holds(page.address) or (self.site.mark and not page.has(self.site.mark)) or page.asks_password:
            return "is not a page of our account"
        if not holds(page.text, self.key):
            return f"doesn't hold our key {self.key}"
        return f"doesn't hold {self.reads!r}" if self.reads and not page.find(self.reads) else ""

    def _match(self, candidate: Match, page: Reading, path: str) -> Match:
        read = page.find(self.reads)[0].groups if self.reads else {}
        return Match(values={**candidate.values, **read}, identity=f"{path} with {self.key}")

    def _evidence(self, page: Reading, view: "View") -> Evidence:
        line = next((one for one in page.text.splitlines() if holds(one, self.key)), self.key)
        return Evidence(
            kind="page",
            words=f"the page that it leads to holds our key: {line}",
            text=line,
            blob=page.picture(),
            address=page.address,
            at=view.now(),
        )

    def __str__(self) -> str:
        return f"{self.site}/{self.path} with {self.key}, opened by {self.by}"
