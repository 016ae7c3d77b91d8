"""One reading of one page: its content as plain data, and a picture of it while it is open.

A reading can't act on its page: it has no click, fill, reload or way back. It opens the next page of a list by GET.

How a look is bounded in time: `page.evaluate` has no timeout of its own, so all reading goes through
`locator("html").evaluate(..., timeout=)`. The locator must first be found in the page, which a hung page or an
open dialog doesn't answer: the look then ends at its deadline (measured: 1.0 s of 1 s for both). The script
itself has no loop that a page could make endless.
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from .normal import normal
from .tables import Table
from .text import Found, VisibleText

if TYPE_CHECKING:
    from playwright.sync_api import Frame, Page

_FRAMES_AT_MOST = 20
_SIGN = """(root, selector) => {
  const shown = (element) => element.checkVisibility({visibilityProperty: true});
  try { return [...root.querySelectorAll(selector)].find(shown)?.innerText ?? null; }
  catch { return null; }  // it isn't a selector
}"""


class LookFailed(Exception):
    """A page couldn't be read; nothing is known from this look."""


class FailedRequest(NamedTuple):
    """A request of a page that may have fetched rows but got none: refused by us, failed, or answered 400 or above."""

    method: str
    address: str
    why: str

    @property
    def refused(self) -> bool:
        """Whether we refused it because it could write."""
        return self.why.startswith("net::ERR_BLOCKED_BY_CLIENT")

    def __str__(self) -> str:
        return f"{self.method} {self.address} ({self.why})"


class Reading:
    """What one page said when it was read.

    `address`: the page's address at that moment. `status`: the HTTP status of the GET that opened it (None for the
    acting page). `fresh`: it was opened for this look. `answer_of_post`: this document is the answer to a POST.
    `asks_password`: a password field is shown. `settled`: nothing was loading any more. `scripted`: it has
    script files, which may load more. `failed`: failed requests, each of which may have cost rows. `doubts`: why it may
    not show all of its rows, in sentences. `sockets`: addresses of its WebSockets, which a look forbids.
    """

    def __init__(
        self,
        page: "Page",
        *,
        deadline: float,
        status: int | None,
        fresh: bool,
        answer_of_post: bool = False,
        settled: bool = True,
        failed: Sequence["FailedRequest"] = (),
        doubts: Sequence[str] = (),
        sockets: Sequence[str] = (),
        follow: Callable[[str], "Reading"],
        wait: Callable[[float], "Reading"] | None = None,
        shoot: Callable[["Page"], str | None],
    ) -> None:
        self._page, self._deadline, self._follow, self._shoot = page, deadline, follow, shoot
        self._wait = wait
        raws = _snapshots(page, deadline)
        self.address = page.url
        self.status = status
        self.fresh = fresh
        self.answer_of_post = answer_of_post
        self.failed = tuple(failed)
        self.doubts = tuple(doubts)
        self.sockets = tuple(sockets)
        self.born = datetime.fromtimestamp(raws[0]["born"] / 1000, UTC) if raws[0]["born"] else None
        self.settled = settled and not any(raw["busy"] for raw in raws)
        self.scripted = any(raw["scripted"] for raw in raws)
        self.asks_password = any(raw["asks_password"] for raw in raws)
        self._text = VisibleText((text, tuple(box) if box else None) for raw in raws for text, box in raw["parts"])
        self._tables = [Table.read(raw) for one in raws for raw in one["tables"]]
        self._next: dict[str, str] = raws[0]["next"] or {}
        self._numbered: list[str] = raws[0]["pages"]

    @property
    def text(self) -> str:
        """The visible text in normal form, one line per block; never the value of a form control."""
        return self._text.text

    def find(self, pattern: str | re.Pattern[str]) -> list[Found]:
        """Every hit of a regular expression in `text`, with its named groups and its box."""
        return self._text.find(pattern)

    def tables(self) -> list[Table]:
        """The visible tables; each is a list of rows, and each row is a mapping from header to text."""
        return self._tables

    def has(self, mark: str) -> bool:
        """Whether `mark` is there: as a text in `text`, or as a CSS selector of something visible."""
        return self.sign(mark) is not None

    def sign(self, mark: str) -> str | None:
        """`mark` with the rest of its words, as `text` has it, or the text of the first visible element that it selects
        (CSS); None if it isn't there."""
        if hits := self._text.find(re.escape(mark)):
            return normal(hits[0].whole)
        try:
            shown: str | None = self._page.locator("html").evaluate(_SIGN, mark, timeout=self._deadline * 1000)
        except _playwright_error():
            return None
        return None if shown is None else normal(shown)

    def next_page(self) -> "Reading | None":
        """The next page of the list, opened by GET; None if no link leads there (see `more_behind`).

        Raises LookFailed if it can't be read.
        """
        href = self._next.get("href")
        return None if href is None else self._follow(href)

    def page_at(self, address: str) -> "Reading":
        """Another page of the list, opened by GET. Raises LookFailed if it can't be read."""
        return self._follow(address)

    def after(self, seconds: float) -> "Reading":
        """The same page, read again that much later; this reading where the page can't change by itself."""
        return self if self._wait is None else self._wait(seconds)

    @property
    def next_address(self) -> str | None:
        """The address of the next page."""
        return self._next.get("href")

    @property
    def page_addresses(self) -> list[str]:
        """Addresses of links that look like other pages of this list: the next page first, then the numbered ones."""
        return list(dict.fromkeys([*([self._next["href"]] if "href" in self._next else []), *self._numbered]))

    @property
    def more_behind(self) -> str | None:
        """The name of a control that shows more of the list but isn't a link: it would have to be clicked."""
        return self._next.get("blocked")

    def picture(self) -> str | None:
        """Take a picture of the window, store it, and return its hash. Never raises: a picture is optional."""
        try:
            return self._shoot(self._page)
        except Exception:  # no verdict depends on a picture
            return None


def _snapshots(page: "Page", deadline: float) -> list[dict[str, Any]]:
    """The page's own document first, then its frames; a frame that can't be read in time is left out."""
    raws = [_snapshot(page.main_frame, deadline)]
    for frame in page.frames[1 : _FRAMES_AT_MOST + 1]:
        try:
            raw = _snapshot(frame, deadline / 4)
        except LookFailed:
            continue
        raw["parts"] = [["\n", None], *([text, None] for text, _ in raw["parts"])]  # boxes are the frame's own
        for row in (row for table in raw["tables"] for row in table["rows"]):
            row["box"] = None
        raws.append(raw)
    return raws


def _snapshot(frame: "Frame", deadline: float) -> dict[str, Any]:
    try:
        raw: dict[str, Any] = frame.locator("html").evaluate(snapshot_script(), timeout=deadline * 1000)
    except _playwright_error() as error:
        raise LookFailed(f"the page didn't answer: {str(error).splitlines()[0]}") from error
    return raw


@cache
def snapshot_script() -> str:
    """The script that reads one document, as a function of its root element."""
    return files(__package__).joinpath("snapshot.js").read_text(encoding="utf-8")


def _playwright_error() -> type[Exception]:
    """Imported only when a page is read: this module is also used without a browser."""
    from playwright.sync_api import Error

    return Error
