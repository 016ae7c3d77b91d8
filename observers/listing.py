"""A list at a site, read to its end on fresh pages: its rows, and whether an observer may vouch for it.

A list that wasn't read to its end, a login page or a table that shows only some of its rows never passes as a whole
list: `why_not_whole` then gives the reason.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .normal import moment, normal
from .reading import LookFailed, Reading
from .request_pattern import SAFE_METHODS
from .site import Site
from .tables import Row, Table

if TYPE_CHECKING:
    from .view import View

PAGES_AT_MOST = 200
EMPTY_SECONDS = 3.0
"""An empty list is read again after so long: it may say that it is empty until a timer has loaded its rows."""
_LOGIN = "the page asks for a password: a login page is not an empty list"
_PAGE_OF = re.compile(r"\bpage (\d+) of (\d+)\b", re.IGNORECASE)
_ROWS_OF = re.compile(
    r"\b(\d+) ?(?:-|\u2013|to|bis|\u00e0|\u0434\u043e) ?(\d+) (?:of|von|de|sur|di|\u0438\u0437) (\d[\d., ]*)",
    re.IGNORECASE,
)


_NOTHING = re.compile(r"(?:0|no) ([\w-]+)(?: yet| found)?[.!]?", re.IGNORECASE)
_NOUNS = frozenset({"entries", "items", "records", "results", "rows"})
"""Nouns that a line such as "0 records" or "No results found" may use, besides the last word of the list's path. Others
don't count: "0 notifications" is shown beside many lists."""


@dataclass
class ListedRow:
    """A row, and the page of the list that it was read from."""

    row: Row
    page: int
    address: str
    picture: str | None = None


@dataclass
class Listing:
    """What was read of one list.

    `why_not_whole`: sentences; empty = every row of the list was read. `foreign`: a page wasn't our account's. `login`:
    such a page asked for a password, or lacked the declared sign of being signed in. `account`: the text of that sign.
    `headers`: of its table. `other_headers`: of the tables of a page where none has the declared columns; `lacking`:
    the declared columns that aren't among them.
    `rows`: the wanted rows. `misfit`: the page loaded, but has no table with the declared columns. `broken`: a page or
    a request of it failed, or was still loading. `rows_read`: the number of all rows. `rows_with_key`: the number of
    rows whose key columns aren't empty. `sockets`: WebSockets by which rows may come. `told_empty`: the page said that
    the list is empty. `told`: the numbers of rows that its pages state. `refused`: the requests of its pages that were
    refused since they may write. `picture`: of the last page with wanted rows, or of the list's end.
    """

    headers: tuple[str, ...] = ()
    other_headers: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    rows: list[ListedRow] = field(default_factory=list)
    rows_read: int = 0
    rows_with_key: int = 0
    sockets: tuple[str, ...] = ()
    told_empty: bool = False
    told: frozenset[int] = frozenset()
    account: str = ""
    as_of: datetime | None = None
    pages: int = 0
    address: str = ""
    foreign: bool = False
    login: bool = False
    misfit: bool = False
    broken: bool = False
    refused: tuple[str, ...] = ()
    picture: str | None = None
    why_not_whole: list[str] = field(default_factory=list)

    @property
    def readable(self) -> bool:
        """Whether it is a list of our account: a table with the declared columns, or the text of an empty list. A
        broken page can show that a row is there, but not that it is missing."""
        there = bool(self.headers or (self.told_empty and not self.misfit))
        return there and not self.foreign and (bool(self.rows) or not self.broken)

    def doubt(self, words: str) -> None:
        """Record, once, a reason why this may not be the whole list."""
        if words not in self.why_not_whole:
            self.why_not_whole.append(words)


class ListReader:
    """Reads the pages of a list one after the other.

    Args:
        site: the site of the list.
        key: headers of the columns that identify a row.
        columns: headers of further columns that the list's table must have.
        count: a regular expression whose first group is the number of rows in the whole list, as the page states it.
        empty: a text that the page shows when the list is empty.
        as_of: a regular expression whose first group is the time that the list states for its content.
        control: an empty list must show that it is empty (see `_check_control`); False for lists that are read in
            addition to another.
    """

    def __init__(
        self,
        site: Site,
        key: Iterable[str],
        columns: Iterable[str] = (),
        count: str | None = None,
        empty: str = "",
        *,
        as_of: str = "",
        control: bool = True,
    ) -> None:
        self._site, self._count, self._as_of = site, count, as_of
        self._empty = empty
        self._control = control
        self._key = [normal(column) for column in key]
        self._columns = [*self._key, *(normal(column) for column in columns)]

    def read(self, view: "View", path: str, wanted: Callable[[Row], bool | None]) -> Listing:
        """Read every page of the list at `path` of the site and keep the wanted rows (True). A row that may be a wanted
        one (None) is recorded as a doubt.

        A page that can't be read doesn't raise: it is recorded in `why_not_whole`.
        """
        listing = Listing(address=self._site / path)
        told: set[int] = set()
        doors: set[str] = set()
        last: Reading | None = None
        pages_seen: list[list[dict[str, str]]] = []
        try:
            for reading in self._pages(view, listing):
                rows = [dict(row) for table in self._tables(reading) for row in table]
                if rows and rows in pages_seen:  # the first page again, by a link with its number
                    continue
                pages_seen.append(rows)
                last = reading
                self._check(reading, listing)
                told |= self._told(reading)
                doors |= {reading.more_behind} if reading.more_behind is not None else set()
                self._take(reading, listing, wanted)
        except LookFailed as error:
            listing.doubt(str(error))
            listing.broken = True
        listing.told = frozenset(told)
        self._check_count(listing, told)
        if not (told == {listing.rows_read} and told):
            for door in sorted(doors):
                listing.doubt(f"{door!r} shows more of the list, and it isn't a link that could be opened")
        if last is not None and (of := _PAGE_OF.search(last.text)) and of[1] != of[2]:
            listing.doubt(f"the list ends with {of[0]!r}")
        self._check_control(listing, told)
        return listing

    def _check_count(self, listing: Listing, told: set[int]) -> None:
        if listing.foreign or told == {listing.rows_read} or not (told or self._count is not None):
            return
        says = f"says that it has {' and '.join(map(str, sorted(told)))} rows" if told else "states no number of rows"
        listing.doubt(f"the list {says}, and {listing.rows_read} were read")

    def _check_control(self, listing: Listing, told: set[int]) -> None:
        """A list without our row must prove that it loaded: by another row, its count, or its text when empty."""
        if not listing.readable or not self._control:
            return
        if not self._site.signed_in and not listing.rows_read:
            listing.doubt("an empty list shows no sign that the session lives: declare signed_in of the site")
        if not listing.rows_with_key and not listing.told_empty and told != {0}:
            declare = f"{self._empty!r} isn't on the page" if self._empty else "declare what it shows then: empty="
            listing.doubt(f"no row was read, and nothing shows that the list is empty ({declare})")
        if not listing.rows_with_key and listing.sockets:
            through = ", ".join(listing.sockets)
            listing.doubt(f"no row was read, and rows may come through a WebSocket, which a look forbids ({through})")

    def _pages(self, view: "View", listing: Listing) -> Iterator[Reading]:
        """Each page once, in the order in which links to them are found."""
        waiting, met, read = deque([listing.address]), {listing.address}, set[str]()
        reading: Reading | None = None
        while waiting:
            address = waiting.popleft()
            read.add(address)
            first = reading is None
            reading = view.open(address, scripts=self._site.scripts) if reading is None else reading.page_at(address)
            reading = self._in_its_time(reading)
            listing.pages += 1
            yield reading
            if reading.next_address is not None and reading.next_address in read and not first:
                listing.doubt("the list's pages lead back to a page that was read before")
            for following in reading.page_addresses:
                if following in met:
                    continue
                met.add(following)
                if not self._site.holds(following):
                    listing.doubt(f"a page of the list leads away from site {self._site}")
                elif len(met) > PAGES_AT_MOST:
                    listing.doubt(f"the list has more than {PAGES_AT_MOST} pages")
                    break
                else:
                    waiting.append(following)

    def _in_its_time(self, reading: Reading) -> Reading:
        """The page, read again after a while if it shows no row and its scripts may still load some."""
        answered = reading.status == 200 and not reading.asks_password
        has_rows = any(row[column] for table in self._tables(reading) for row in table for column in self._key)
        return (
            reading.after(EMPTY_SECONDS)
            if self._control and reading.scripted and answered and not has_rows
            else reading
        )

    def _check(self, reading: Reading, listing: Listing) -> None:
        """Record every doubt whether this is a page of the list, of our account, and complete."""
        if reading.status != 200:
            listing.doubt(f"the site answered with status {reading.status}")
        if not reading.settled:
            listing.doubt("the page was still loading")
        answers_failed = any(not failed.refused for failed in reading.failed)
        listing.broken |= reading.status != 200 or not reading.settled or answers_failed
        listing.account = listing.account or self._sign(reading) or ""
        listing.told_empty = listing.told_empty or self._tells_empty(reading)
        self._check_age(reading, listing)
        for failed in reading.failed:
            only_reads = "" if failed.method in SAFE_METHODS else " (if it only reads, declare it as reads of the site)"
            listing.doubt(f"the page didn't get all that it asked for: {failed}{only_reads}")
        refused = (f"{one.method} {urlsplit(one.address).path or '/'}" for one in reading.failed if one.refused)
        listing.refused = tuple(dict.fromkeys([*listing.refused, *refused]))
        for doubt in reading.doubts:
            listing.doubt(doubt)
        listing.sockets = tuple(dict.fromkeys([*listing.sockets, *reading.sockets]))
        if foreign := self._why_foreign(reading):
            signed_out = self._site.holds(reading.address) and reading.status == 200 and bool(self._site.signed_in)
            listing.foreign, listing.login = True, reading.asks_password or signed_out
            listing.doubt(foreign)

    def _tells_empty(self, reading: Reading) -> bool:
        """Whether the page says that the list is empty: by the declared text, or else by a line like "0 invoices"."""
        if self._empty:
            return re.search(rf"(?<!\w){re.escape(normal(self._empty))}(?!\w)", reading.text) is not None
        noun = urlsplit(reading.address).path.rstrip("/").rpartition("/")[2].casefold()
        said = (
            found[1].casefold() for line in reading.text.splitlines() if (found := _NOTHING.fullmatch(line.strip()))
        )
        return any(word == noun or word in _NOUNS for word in said)

    def _check_age(self, reading: Reading, listing: Listing) -> None:
        """Keep the oldest time stated on any page. If it is declared, and missing or unreadable, that is a doubt."""
        if not self._as_of:
            return
        said = re.search(self._as_of, reading.text)
        at = moment(said[1], self._site.zone, self._site.date_order) if said else None
        if at is None:
            listing.doubt(f"the page doesn't show the time of the list's data ({self._as_of!r})")
        elif listing.as_of is None or at < listing.as_of:
            listing.as_of = at

    def _why_foreign(self, reading: Reading) -> str:
        if not self._site.holds(reading.address):
            return f"the site sent us away from {self._site.url}"
        if self._site.signed_in and self._sign(reading) is None:
            sign = f"the sign of being signed in ({self._site.mark!r}) isn't on the page"
            return f"{_LOGIN}; {sign}" if reading.asks_password else sign
        if not self._site.signed_in and reading.asks_password:
            return _LOGIN
        return ""

    def _sign(self, reading: Reading) -> str | None:
        return reading.sign(self._site.mark) if self._site.signed_in else None

    def _tables(self, reading: Reading) -> list[Table]:
        return [table for table in reading.tables() if all(column in table.headers for column in self._columns)]

    def _take(self, reading: Reading, listing: Listing, wanted: Callable[[Row], bool | None]) -> None:
        tables = self._tables(reading)
        if not tables:
            empty = listing.told_empty and not reading.tables()
            if not listing.foreign and not empty:  # a foreign page is a doubt already
                listing.doubt(self._no_table(reading))
                there = (header for table in reading.tables() for header in table.headers)
                listing.other_headers = tuple(dict.fromkeys(there))
                listing.lacking = tuple(each for each in self._columns if each not in listing.other_headers)
                listing.misfit = reading.status == 200 and reading.settled and not reading.failed
            return
        listing.headers = listing.headers or tables[0].headers
        for table in tables:
            self._check_table(table, listing)
        rows = [row for table in tables for row in table]
        answers = [(row, wanted(row)) for row in rows]
        taken = [row for row, is_it in answers if is_it]
        for row in (row for row, is_it in answers if is_it is None):
            listing.doubt(f"a row may match, but can't be compared: {', '.join(row[name] for name in self._key)}")
        if taken or reading.next_address is None:
            listing.picture = reading.picture()
        listing.rows_read += len(rows)
        listing.rows_with_key += sum(all(row[column] for column in self._key) for row in rows)
        listing.rows += [ListedRow(row, listing.pages, reading.address, listing.picture) for row in taken]

    def _check_table(self, table: Table, listing: Listing) -> None:
        if any(f"{column} (2)" in table.headers for column in self._columns):
            listing.doubt("the list has two columns of the same name")
        if table.virtual:
            listing.doubt("the list holds more rows than it shows at once")
        if not all(row.shown for row in table):
            listing.doubt("rows of the list are hidden")

    def _no_table(self, reading: Reading) -> str:
        wanted = ", ".join(repr(column) for column in self._columns)
        there = "; ".join(", ".join(table.headers) for table in reading.tables() if table.headers)
        return f"there is no table with the columns {wanted}" + (f" (there is: {there})" if there else "")

    def _told(self, reading: Reading) -> set[int]:
        """How many rows the page says that the whole list has: by `count`, or else by a plain "1 to 5 of 7"."""
        if self._count is not None:
            return {_number(hit[1]) for hit in re.finditer(self._count, reading.text)}
        ranges = ((int(hit[1]), int(hit[2]), _number(hit[3])) for hit in _ROWS_OF.finditer(reading.text))
        return {of for first, last, of in ranges if first <= last <= of}


def _number(text: str) -> int:
    return int(re.sub(r"\D", "", text))
