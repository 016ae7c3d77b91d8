"""The view: an observer's only access to pages.

A view can't act: it reads the task's page as it is and opens fresh pages by GET. It has no click, fill, reload or way
back, and every write that a fresh page tries is refused (see `write_barrier`). Every look is recorded in `looks`, with
the requests that were refused.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, Self, cast
from urllib.parse import urlsplit

from .evidence import Evidence, Frozen, Moment, plain_address
from .page_load import Rest, come_to_rest
from .reading import FailedRequest, LookFailed, Reading, _playwright_error
from .recording import Recording
from .request_pattern import SAFE_METHODS
from .session import SESSION_STORAGE, giving_script, storage_state
from .site import Site
from .write_barrier import FreshPage, WriteBarrier

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Request, Response, StorageState

SavePicture = Callable[[bytes, str], str]
"""Stores the bytes of a picture of the given media type, and returns their SHA-256 in hex."""

_CARRIES_ROWS = {"document", "eventsource", "fetch", "websocket", "xhr"}
"""The types of requests that may fetch rows."""
_ROWS_GO = "rows disappeared while the page was scrolled: it shows only a part of the list at once"
_WINDOW = {"width": 1280, "height": 1600}  # tall enough for a picture to show a list's row
_FORM_VALUES = "input, textarea, select, [contenteditable]"


class Look(Frozen):
    """One page that was looked at: its address and status, when, and which of its requests were refused.

    `fresh`: the page was opened for this look. `login`: it is fresh, and turned out to be a login page.
    """

    address: str
    status: int | None
    at: Moment
    refused: tuple[str, ...] = ()
    note: str = ""
    fresh: bool = True
    login: bool = False


class View(Protocol):
    """What an observer may do. Tests may use fakes of it."""

    @property
    def current(self) -> Reading | None:
        """The task's page as it is, read at each call; None if it is lost or doesn't answer."""

    def open(self, address: str, *, scripts: bool = True) -> Reading:
        """Open a fresh page by GET, with the copied session. Raises LookFailed if it can't be read."""

    @property
    def recorded(self) -> Recording | None:
        """What was recorded since the gesture's input; None if the recorder died with its worker."""

    def now(self) -> datetime:
        """The time, by the injected clock."""

    @property
    def looks(self) -> Sequence[Look]:
        """Every look so far."""


class PageView:
    """A view of the task's page (or none) and of fresh pages in contexts of their own. Close it, or use `with`."""

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
        sites: Iterable[Site] = (),
    ) -> None:
        self._sites = tuple(sites)
        self._browser, self._page, self._state = browser, page, state
        self.recorded = recorded
        self._clock, self._deadline, self._glance, self._answer_of_post = clock, deadline, glance, answer_of_post
        self._options, self._shoot = options, shoot
        self._tabs: list[_Tab] = []
        self._barrier: WriteBarrier | None = None  # while there are tabs
        self._looks: list[Look] = []

    @property
    def current(self) -> Reading | None:
        """The task's page as it is, read at each call; None if it is lost or doesn't answer (see `looks`)."""
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
            self._note(self._page.url, None, note=str(error).splitlines()[0], fresh=False)
            return None
        self._note(reading.address, None, note="the page as it stands", fresh=False)
        return reading

    def open(self, address: str, *, scripts: bool = True) -> Reading:
        """Open a fresh page by GET in a new context with the copied session; it is closed with the view.

        Raises LookFailed if the address isn't http(s) or the page can't be read in time.
        """
        if urlsplit(address).scheme not in {"http", "https"}:
            raise LookFailed(f"only http and https pages can be looked at, not {plain_address(address)}")
        self._barrier = self._barrier or WriteBarrier(self._browser)
        page = self._barrier.open_page(self._context(scripts), self._only_reads)
        tab = _Tab(page, self._deadline, self._shoot, self._note, scripts=scripts)
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

    def _only_reads(self, method: str, address: str) -> bool:
        """Whether a fresh page may send a request."""
        return method in SAFE_METHODS or any(site.reads_by(method, address) for site in self._sites)

    def _is_login(self, reading: Reading) -> bool:
        """Whether a fresh page asks for a password and lacks its site's sign of being signed in."""
        sign = next((site.mark for site in self._sites if site.holds(reading.address)), "")
        return reading.asks_password and not (sign and reading.has(sign))

    def _note(
        self,
        address: str,
        status: int | None,
        refused: Sequence[str] = (),
        note: str = "",
        of: Reading | None = None,
        *,
        fresh: bool = True,
    ) -> None:
        look = Look(
            address=plain_address(address),
            status=status,
            at=self.now(),
            refused=tuple(refused),
            note=note,
            fresh=fresh,
            login=of is not None and self._is_login(of),
        )
        self._looks.append(look)

    def now(self) -> datetime:
        """The time, by the injected clock."""
        return self._clock()

    @property
    def looks(self) -> Sequence[Look]:
        """Every look so far, in order."""
        return tuple(self._looks)

    def last_opened(self) -> Evidence | None:
        """A picture of the fresh page that was opened last; None if there is none, or it can't be taken."""
        if not self._tabs:
            return None
        blob, address = self._tabs[-1].picture()
        if blob is None:
            return None
        return Evidence(kind="picture", words="the page that was opened", blob=blob, address=address, at=self.now())

    def close(self) -> None:
        """Close every fresh page. The task's page isn't touched."""
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
    """One fresh page in its own context; it reads the pages of a list one after the other."""

    def __init__(
        self,
        fresh: FreshPage,
        deadline: float,
        shoot: Callable[["Page"], str | None],
        note: Callable[..., None],
        *,
        scripts: bool,
    ) -> None:
        self._page, self._refused, self._sockets = fresh
        self._scripts = scripts
        self._deadline, self._shoot, self._note = deadline, shoot, note
        self._trouble: list[FailedRequest] = []
        self._reading: Reading | None = None
        self._page.context.on("dialog", _dismiss)
        self._page.on("requestfailed", self._failed)
        self._page.on("response", self._answered)

    def read(self, address: str) -> Reading:
        self._reading = None
        self._trouble.clear()
        self._sockets.clear()
        try:
            answer = self._page.goto(address, wait_until="load", timeout=self._deadline * 1000)
            reading = self._settled(answer.status if answer else None)
        except (LookFailed, _playwright_error()) as error:
            words = str(error).splitlines()[0]
            self._note(address, None, self._taken(), words)
            raise LookFailed(f"{plain_address(address)} couldn't be read: {words}") from error
        self._note(reading.address, reading.status, self._taken(), of=reading)
        self._reading = reading
        return reading

    def _settled(self, status: int | None) -> Reading:
        """Read the page once nothing is loading: until then, a page whose scripts load its rows looks empty."""
        reading = self._reads(status, Rest(settled=True))
        if not (self._scripts and reading.scripted):
            return reading
        return self._reads(status, come_to_rest(self._page, self._deadline, self._network_is_idle))

    def _later(self, status: int | None, seconds: float) -> Reading:
        """Read the page as it stands after some time."""
        self._page.wait_for_timeout(seconds * 1000)
        self._reading = self._settled(status)
        return self._reading

    def _network_is_idle(self) -> bool:
        try:
            self._page.wait_for_load_state("networkidle", timeout=self._deadline * 1000)
        except _playwright_error():
            return False
        return True

    def _reads(self, status: int | None, rest: Rest) -> Reading:
        reading = Reading(
            self._page,
            deadline=self._deadline,
            status=status,
            fresh=True,
            settled=rest.settled,
            failed=self._trouble,
            doubts=() if rest.all_rows_stay else (_ROWS_GO,),
            sockets=self._sockets,
            follow=self.read,
            wait=(lambda seconds: self._later(status, seconds)) if self._scripts else None,
            shoot=lambda page: self._shoot(page) if self._reading is reading else None,
        )
        return reading

    def picture(self) -> tuple[str | None, str]:
        """A picture of the page as it stands, if one can be taken and kept, and the page's address."""
        try:
            return self._shoot(self._page), self._page.url
        except Exception:  # no verdict depends on a picture
            return None, ""

    def _failed(self, request: "Request") -> None:
        self._add_trouble(request, request.failure or "failed")

    def _answered(self, response: "Response") -> None:
        if response.status >= 400:
            self._add_trouble(response.request, f"status {response.status}")

    def _add_trouble(self, request: "Request", why: str) -> None:
        if request.resource_type in _CARRIES_ROWS:
            self._trouble.append(FailedRequest(request.method, plain_address(request.url), why))

    def _taken(self) -> list[str]:
        taken = list(self._refused)
        self._refused.clear()
        return taken

    def close(self) -> None:
        """Close its context, whatever the page is doing."""
        with suppress(_playwright_error()):  # a browser that is gone has no page to close
            self._page.context.close()


def _dismiss(dialog: "Dialog") -> None:
    with suppress(_playwright_error()):
        if dialog.type == "beforeunload":  # leave: only we use the page, and staying would hang the look
            dialog.accept()
        else:
            dialog.dismiss()


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _screenshot(save: SavePicture | None, deadline: float) -> Callable[["Page"], str | None]:
    """The default way to take a picture: Playwright's, with every form control masked."""

    def shoot(page: "Page") -> str | None:
        if save is None:
            return None
        covered = [page.locator(_FORM_VALUES)]
        return save(page.screenshot(type="png", mask=covered, timeout=deadline * 1000), "image/png")

    return shoot


def open_view(
    browser: "Browser",
    page: "Page | None" = None,
    *,
    state: "StorageState | None" = None,
    save: SavePicture | None = None,
    clock: Callable[[], datetime] = _utc_now,
    deadline: float = 10.0,
    glance: float | None = None,
    answer_of_post: bool = False,
    options: Mapping[str, Any] | None = None,
    shoot: Callable[["Page"], str | None] | None = None,
    recorded: Recording | None = None,
    sites: Iterable[Site] = (),
) -> PageView:
    """Open a view for observers; use it with `with`.

    Args:
        browser: where fresh pages are opened: the running browser (a CDP connection is enough) or a new one.
        page: the task's page, to be read as it is; None if it is lost.
        state: the session to copy, perhaps with the sessionStorage of its tabs (see `session`). None takes the cookies
            of the context of the task's page. (Not its whole storage state: that call hangs for ever while a page there
            hangs or shows a dialog: measured.)
        save: stores a picture and returns its SHA-256; without it, no pictures are taken by default.
        clock: the time, in UTC.
        deadline: seconds for each part of a look at one page.
        glance: the same for the task's page, which may wait for an answer that never comes; None = `deadline`.
        answer_of_post: the document of the task's page is the answer to a POST.
        options: further options of `browser.new_context`, such as locale, timezone_id or client_certificates.
        shoot: takes and stores a picture in another way, and returns its hash or None.
        recorded: what the gesture's worker recorded since the input.
        sites: the declared sites: their signs of being signed in identify login pages, and requests that they declare
            as reads may be sent.
    """
    if state is None and page is not None:
        with suppress(_playwright_error()):  # a lost page gives no cookies; the look then finds a login page
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
        shoot=shoot or _screenshot(save, deadline),
        recorded=recorded,
        sites=sites,
    )
