"""A list at a site, read to its end on fresh pages: its rows, and whether it may be vouched for.

This module must not know verdicts or what the rows are wanted for. A list that wasn't read to its end, a login
page or a table that shows only a part of itself may never pass as a whole list: `why_not_whole` says so.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .normal import normal
from .reading import LookFailed, Reading
from .site import Site
from .tables import Row, Table

if TYPE_CHECKING:
    from .view import View

PAGES_AT_MOST = 200
_LOGIN = "the page asks for a password: a login page is not an empty list"
_PAGE_OF = re.compile(r"\bpage (\d+) of (\d+)\b", re.IGNORECASE)


@dataclass
class ListedRow:
    """A row, and the page of the list on which it was read."""

    row: Row
    page: int
    address: str
    picture: str | None = None


@dataclass
class Listing:
    """What was read of one list.

    `why_not_whole`: sentences; empty = every row of the list was read. `foreign`: a page wasn't our
    account's; `login`: it asked for a password. `rows`: those that are wanted. `picture`: of the last page that was
    worth one.
    """

    headers: tuple[str, ...] = ()
    rows: list[ListedRow] = field(default_factory=list)
    rows_read: int = 0
    pages: int = 0
    address: str = ""
    foreign: bool = False
    login: bool = False
    picture: str | None = None
    why_not_whole: list[str] = field(default_factory=list)

    def doubt(self, words: str) -> None:
        """Note once why this isn't known to be the whole list."""
        if words not in self.why_not_whole:
            self.why_not_whole.append(words)


class ListReader:
    """Reads the pages of a list one after the other.

    Arguments:
        site: whose list it is.
        columns: headers that the list's table must have.
        count: a regular expression whose first group is the number of rows in the whole list, as the page tells it.
    """

    def __init__(self, site: Site, columns: Iterable[str], count: str | None = None) -> None:
        self._site, self._columns, self._count = site, [normal(column) for column in columns], count

    def read(self, view: "View", path: str, wanted: Callable[[Row], bool]) -> Listing:
        """Read every page of the list at `path` of the site and keep the rows that are wanted.

        Never raises for a page that can't be read: `why_not_whole` says so.
        """
        listing = Listing(address=self._site / path)
        told: set[int] = set()
        try:
            for reading in self._pages(view, listing):
                self._check(reading, listing)
                told |= self._told(reading)
                self._take(reading, listing, wanted)
        except LookFailed as error:
            listing.doubt(str(error))
        if self._count is not None and told != {listing.rows_read} and not listing.foreign:
            says = (
                f"says that it has {' and '.join(map(str, sorted(told)))} rows" if told else "tells no number of rows"
            )
            listing.doubt(f"the list {says}, and {listing.rows_read} were read")
        if not self._site.signed_in and not listing.rows_read and listing.headers and not listing.foreign:
            listing.doubt("an empty list shows no sign that the session lives: declare signed_in of the site")
        return listing

    def _pages(self, view: "View", listing: Listing) -> Iterator[Reading]:
        reading: Reading | None = view.open(listing.address, scripts=self._site.scripts)
        seen = {listing.address}
        while reading is not None:
            listing.pages += 1
            yield reading
            stop = self._why_stop(reading, listing, seen)
            if stop:
                listing.doubt(stop)
            reading = None if stop else reading.next_page()

    def _why_stop(self, reading: Reading, listing: Listing, seen: set[str]) -> str:
        following = reading.next_address
        if following is None:
            self._check_end(reading, listing)
            return ""
        if following in seen:
            return "the list's pages lead back to a page that was read before"
        seen.add(following)
        if not self._site.holds(following):
            return f"the list's next page leads away from site {self._site}"
        return f"the list has more than {PAGES_AT_MOST} pages" if listing.pages >= PAGES_AT_MOST else ""

    def _check_end(self, reading: Reading, listing: Listing) -> None:
        if reading.more_behind is not None:
            listing.doubt(f"{reading.more_behind!r} shows more of the list, and it isn't a link that could be opened")
        if (told := _PAGE_OF.search(reading.text)) and told[1] != told[2]:
            listing.doubt(f"the list ends with {told[0]!r}")

    def _check(self, reading: Reading, listing: Listing) -> None:
        """Is this a page of the list, of our account, and all there?"""
        if reading.status != 200:
            listing.doubt(f"the site answered with status {reading.status}")
        if not reading.settled:
            listing.doubt("the page was still loading")
        if foreign := self._why_foreign(reading):
            listing.foreign, listing.login = True, reading.asks_password
            listing.doubt(foreign)

    def _why_foreign(self, reading: Reading) -> str:
        if not self._site.holds(reading.address):
            return f"the site sent us away from {self._site.url}"
        if self._site.signed_in and not reading.has(self._site.mark):
            sign = f"the sign of being signed in ({self._site.mark!r}) isn't on the page"
            return f"{_LOGIN}; {sign}" if reading.asks_password else sign
        if not self._site.signed_in and reading.asks_password:
            return _LOGIN
        return ""

    def _take(self, reading: Reading, listing: Listing, wanted: Callable[[Row], bool]) -> None:
        tables = [table for table in reading.tables() if all(column in table.headers for column in self._columns)]
        if not tables:
            if not listing.foreign:  # what a page that isn't ours lacks tells nothing more
                listing.doubt(self._no_table(reading))
            return
        listing.headers = listing.headers or tables[0].headers
        for table in tables:
            self._check_table(table, listing)
        rows = [row for table in tables for row in table]
        taken = [row for row in rows if wanted(row)]
        if taken or reading.next_address is None:
            listing.picture = reading.picture()
        listing.rows_read += len(rows)
        listing.rows += [ListedRow(row, listing.pages, reading.address, listing.picture) for row in taken]

    def _check_table(self, table: Table, listing: Listing) -> None:
        if any(f"{column} (2)" in table.headers for column in self._columns):
            listing.doubt("the list has two columns of the same name")
        if table.virtual:
            listing.doubt("the list holds more rows than it shows at once")
        if not all(row.shown for row in table):
            listing.doubt("rows of the list are hidden")
        if any(column in row.opaque for row in table for column in self._columns):
            listing.doubt("cells of the list are form controls, whose values aren't read")
        if any(row[column].endswith("...") for row in table for column in self._columns):
            listing.doubt("cells of the list are cut off with '...'")

    def _no_table(self, reading: Reading) -> str:
        wanted = ", ".join(repr(column) for column in self._columns)
        there = "; ".join(", ".join(table.headers) for table in reading.tables() if table.headers)
        return f"there is no table with the columns {wanted}" + (f" (there is: {there})" if there else "")

    def _told(self, reading: Reading) -> set[int]:
        if self._count is None:
            return set()
        return {int(re.sub(r"\D", "", hit[1])) for hit in re.finditer(self._count, reading.text)}
