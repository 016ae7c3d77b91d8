"""The only door to a page: what an observer is given to look through.

This module must not know observers or verdicts. Nothing in it may act: a view reads the acting page as it stands
and opens fresh pages by GET. There is no click, fill, reload or way back here, and every write that a fresh page
tries is refused (see `write_barrier`). Every look is kept in `looks`, with what it refused.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, Self, cast
from urllib.parse import urlsplit

from .evidence import Frozen, Moment, plain_address
from .reading import LookFailed, Reading, _playwright_error
from .recording import Recording
from .session import SESSION_STORAGE, giving_script, storage_state
from .write_barrier import WriteBarrier

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Request, StorageState

Keep = Callable[[bytes, str], str]
"""Stores the bytes of a picture of the given media type, and returns their SHA-256 in hex."""

_WINDOW = {"width": 1280, "height": 1600}  # tall enough that a row of a list is on its picture
_FORM_VALUES = "input, textarea, select, [contenteditable]"


class Look(Frozen):
    """One page that was looked at: where, how it was answered, when, and which requests of it were refused."""

    address: str
    status: int | None
    at: Moment
    refused: tuple[str, ...] = ()
    note: str = ""


class View(Protocol):
    """What an observer may do. Fakes of it are welcome in tests."""

    @property
    def current(self) -> Reading | None:
        """The acting page as it stands, read at each call; None if it is lost or doesn't answer."""

    def open(self, address: str, *, scripts: bool = True) -> Reading:
        """A fresh page by GET, with the copied session. Raises LookFailed if it can't be read."""

    @property
    def recorded(self) -> Recording | None:
        """What was recorded since the gesture's input; None if the recorder died with its worker."""

    def now(self) -> datetime:
        """The time, by the injected clock."""

    @property
    def looks(self) -> Sequence[Look]:
        """Every look so far."""


class PageView:
    """A view of one acting page (or none) and of fresh pages in contexts of their own. Close it, or use `with`."""

    def __init__(
        self,
        browser: "Browser",
        page: "Page | None",
        *,
        state: "StorageState | None",
        clock: Callable[[], datetime],
        deadline: float,
        glance: float,
        answer_of_post: bool,
        options: Mapping[str, Any],
        shoot: Callable[["Page"], str | None],
        recorded: Recording | None = None,
    ) -> None:
        self._browser, self._page, self._state = browser, page, state
        self.recorded = recorded
        self._clock, self._deadline, self._glance, self._answer_of_post = clock, deadline, glance, answer_of_post
        self._options, self._shoot = options, shoot
        self._tabs: list[_Tab] = []
        self._barrier: WriteBarrier | None = None  # while there are tabs
        self._looks: list[Look] = []

    @property
    def current(self) -> Reading | None:
        """The acting page as it stands, read at each call; None if it is lost or doesn't answer (see `looks`)."""
        if self._page is None or self._page.is_closed():
            return None
        try:
            reading = Reading(
                self._page,
                deadline=self._glance,
                status=None,
                fresh=False,
                answer_of_post=self._answer_of_post,
                follow=self.open,
                shoot=self._shoot,
            )
        except (LookFailed, _playwright_error()) as error:
            self._note(self._page.url, None, note=str(error).splitlines()[0])
            return None
        self._note(reading.address, None, note="the page as it stands")
        return reading

    def open(self, address: str, *, scripts: bool = True) -> Reading:
        """A fresh page by GET in a new context with the copied session; it is closed with the view.

        Raises LookFailed if the address isn't http(s) or the page can't be read in time.
        """
        if urlsplit(address).scheme not in {"http", "https"}:
            raise LookFailed(f"only http and https pages can be looked at, not {plain_address(address)}")
        self._barrier = self._barrier or WriteBarrier(self._browser)
        tab = _Tab(self._barrier, self._context(scripts), self._deadline, self._shoot, self._note)
        self._tabs.append(tab)
        return tab.read(address)

    def _context(self, scripts: bool) -> "BrowserContext":
        context = self._browser.new_context(
            **{
                "viewport": _WINDOW,
                **self._options,
                "storage_state": storage_state(self._state),
                "service_workers": "block",
                "java_script_enabled": scripts,
                "accept_downloads": False,
            }
        )
        in_tab: Any = (self._state or {}).get(SESSION_STORAGE)
        if in_tab:
            context.add_init_script(giving_script(in_tab))
        return context

    def _note(self, address: str, status: int | None, refused: Sequence[str] = (), note: str = "") -> None:
        look = Look(address=plain_address(address), status=status, at=self.now(), refused=tuple(refused), note=note)
        self._looks.append(look)

    def now(self) -> datetime:
        """The time, by the injected clock."""
        return self._clock()

    @property
    def looks(self) -> Sequence[Look]:
        """Every look so far, in order."""
        return tuple(self._looks)

    def close(self) -> None:
        """Close every fresh page. The acting page stays as it is."""
        while self._tabs:
            self._tabs.pop().close()
        if self._barrier is not None:
            self._barrier.remove()
            self._barrier = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Tab:
    """One fresh page in its own context; the pages of a list are read in it one after the other."""

    def __init__(
        self,
        barrier: WriteBarrier,
        context: "BrowserContext",
        deadline: float,
        shoot: Callable[["Page"], str | None],
        note: Callable[..., None],
    ) -> None:
        self._context, self._deadline, self._shoot, self._note = context, deadline, shoot, note
        self._calls = 0
        self._reading: Reading | None = None
        context.on("dialog", _dismiss)
        self._page, self._refused = barrier.open_page(context)
        self._page.on("request", self._count)

    def read(self, address: str) -> Reading:
        self._reading, self._calls = None, 0
        try:
            answer = self._page.goto(address, wait_until="load", timeout=self._deadline * 1000)
            reading = self._settled(answer.status if answer else None)
        except (LookFailed, _playwright_error()) as error:
            words = str(error).splitlines()[0]
            self._note(address, None, self._taken(), words)
            raise LookFailed(f"{plain_address(address)} couldn't be read: {words}") from error
        self._note(reading.address, reading.status, self._taken())
        self._reading = reading
        return reading

    def _settled(self, status: int | None) -> Reading:
        """Read when nothing is loading any more. A page that loads its rows itself isn't empty before that."""
        reading = self._reads(status, settled=True)
        if not (reading.scripted or self._calls):
            return reading
        try:
            self._page.wait_for_load_state("networkidle", timeout=self._deadline * 1000)
        except _playwright_error():
            return self._reads(status, settled=False)
        return self._reads(status, settled=True)

    def _reads(self, status: int | None, *, settled: bool) -> Reading:
        reading = Reading(
            self._page,
            deadline=self._deadline,
            status=status,
            fresh=True,
            settled=settled,
            follow=self.read,
            shoot=lambda page: self._shoot(page) if self._reading is reading else None,
        )
        return reading

    def _count(self, request: "Request") -> None:
        self._calls += request.resource_type in {"xhr", "fetch"}

    def _taken(self) -> list[str]:
        taken = list(self._refused)
        self._refused.clear()
        return taken

    def close(self) -> None:
        """Close it as it stands."""
        with suppress(_playwright_error()):  # a browser that is gone has no page to close
            self._context.close()


def _dismiss(dialog: "Dialog") -> None:
    with suppress(_playwright_error()):
        if dialog.type == "beforeunload":  # "leave": the page is only ours, and to stay would hang the look
            dialog.accept()
        else:
            dialog.dismiss()


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _screenshot(keep: Keep | None, deadline: float) -> Callable[["Page"], str | None]:
    """A picture by Playwright, with every form control covered, for a view that is given no better way."""

    def shoot(page: "Page") -> str | None:
        if keep is None:
            return None
        covered = [page.locator(_FORM_VALUES)]
        return keep(page.screenshot(type="png", mask=covered, timeout=deadline * 1000), "image/png")

    return shoot


def open_view(
    browser: "Browser",
    page: "Page | None" = None,
    *,
    state: "StorageState | None" = None,
    keep: Keep | None = None,
    clock: Callable[[], datetime] = _utc_now,
    deadline: float = 10.0,
    glance: float | None = None,
    answer_of_post: bool = False,
    options: Mapping[str, Any] | None = None,
    shoot: Callable[["Page"], str | None] | None = None,
    recorded: Recording | None = None,
) -> PageView:
    """A view for observers; use it with `with`.

    Arguments:
        browser: where fresh pages are opened: the living browser (a connection over CDP will do) or a new one.
        page: the acting page, to be read as it stands; None if it is lost.
        state: the session to copy, perhaps with what its tabs held (see `session`). None takes the cookies of the
            acting page's context. (Not its whole storage state: asking for it hangs for ever while a page there hangs
            or shows a dialog: measured.)
        keep: stores a picture and returns its SHA-256; without it no pictures are taken.
        clock: the time, in UTC.
        deadline: seconds that one look at one page may take, for each of its parts.
        glance: the same for the acting page, which may wait for an answer that never comes; like `deadline` if None.
        answer_of_post: the acting page's document is the answer to a POST.
        options: further options of `browser.new_context`, such as locale, timezone_id or client_certificates.
        shoot: takes and keeps a picture in another way, and returns its hash or None.
        recorded: what was recorded since the gesture's input, by whoever made it.
    """
    if state is None and page is not None:
        with suppress(_playwright_error()):  # a lost page has no cookies to give; the look then finds a login page
            state = cast("StorageState", {"cookies": page.context.cookies(), "origins": []})
    return PageView(
        browser,
        page,
        state=state,
        clock=clock,
        deadline=deadline,
        glance=deadline if glance is None else glance,
        answer_of_post=answer_of_post,
        options=options or {},
        shoot=shoot or _screenshot(keep, deadline),
        recorded=recorded,
    )
