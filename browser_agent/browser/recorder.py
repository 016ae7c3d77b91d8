"""The recorder: records the short-lived effects of a gesture, on the connection that makes the gesture.

It records texts that disappear (`toasts`), pages that open and may close themselves, downloads, and where the declared
request led. It is installed only if a proof asks for it, from before the input until the gesture is settled; observers
then get its recording as plain data. The recording is in memory only: it dies with its worker, and a later look says
so. The recorder makes no gesture, and neither closes nor changes a page.

An exception in here must never cost a gesture or its verdict.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Self

from playwright.sync_api import Download, Error, Page, Request, Response

from browser_agent.browser.guarded_browser import HELPER_ADDRESS
from browser_agent.browser.toasts import Toasts
from observers.observer import RecordingKind
from observers.reading import LookFailed, Reading
from observers.recording import NOT_BEGUN, Downloaded, OpenedPage, Recording
from observers.request_pattern import SAFE_METHODS, matches_request

READ_SECONDS = 1.5
MOST_PAGES = 10
MOST_FILES = 20
MOST_CHARACTERS = 20_000
MOST_BYTES = 2_000_000
"""A larger file is hashed, but its text isn't read."""


class Recorder:
    """Records one gesture's effects. Use it in a `with` statement, and call `mark` just before the input.

    Args:
        gesture: the gesture's id.
        page: the page that the gesture is made on.
        kinds: what to record.
        sends: the declared commit request.
        clock: returns the time, in UTC.
        shoot: takes and keeps a picture of a page, and returns its hash or None.
    """

    def __init__(  # noqa: PLR0917  # each is needed, and there is one caller
        self,
        gesture: str,
        page: Page,
        kinds: frozenset[RecordingKind],
        sends: str | None,
        clock: Callable[[], datetime],
        shoot: Callable[[Page], str | None],
    ) -> None:
        self.gesture = gesture
        self._page, self._kinds, self._sends, self._clock, self._shoot = page, kinds, sends, clock, shoot
        self._toasts = Toasts(page, clock)
        self._pages: list[_Opened] = []
        self._files: list[_File] = []
        self._answers: list[str] = []
        self._document = ""
        self._begun = self._truncated = False

    def __enter__(self) -> Self:
        with suppress(Error):  # a page that is gone has nothing to record; the gesture itself will fail
            if "toasts" in self._kinds:
                self._toasts.install()
            if "downloads" in self._kinds:
                for page in self._page.context.pages:
                    page.on("download", self._download_started)
            if self._kinds & {"pages", "downloads"}:
                self._page.context.on("page", self._opened)
            if "answers" in self._kinds:
                self._page.context.on("response", self._answered)
        return self

    def mark(self) -> None:
        """Count everything from now on: the input is about to be made."""
        if "toasts" in self._kinds:
            self._toasts.mark()
        self._begun = True

    def __exit__(self, *_: object) -> None:
        if not self._kinds:
            return
        for opened in self._pages:
            opened.read()
        self._toasts.close()
        with suppress(Error, KeyError, ValueError):  # the listener may never have been added
            self._page.context.remove_listener("page", self._opened)
        with suppress(Error, KeyError, ValueError):
            self._page.context.remove_listener("response", self._answered)
        for page in list(self._page.context.pages):
            with suppress(Error, KeyError, ValueError):
                page.remove_listener("download", self._download_started)

    def recorded(self) -> Recording:
        """The recording so far. Pages that are still open are read once more."""
        if not self._begun:
            return NOT_BEGUN
        for opened in self._pages:
            opened.read()
        return Recording(
            toasts=tuple(self._toasts.shown),
            pages=tuple(opened.result for opened in self._pages if opened.counts),
            downloads=tuple(file.result for file in self._files),
            answers=tuple(self._answers),
            document=self._document,
            toast_failure=self._toasts.failure,
            truncated=self._truncated or self._toasts.truncated,
        )

    def _opened(self, page: Page) -> None:
        if "downloads" in self._kinds:
            page.on("download", self._download_started)
        if "pages" not in self._kinds or not self._begun:
            return
        if len(self._pages) >= MOST_PAGES:
            self._truncated = True
            return
        opened = _Opened(page, self._clock(), self._shoot)
        self._pages.append(opened)
        page.on("domcontentloaded", lambda _: opened.read())
        page.on("load", lambda _: opened.read(picture=True))
        opened.read()

    def _download_started(self, download: Download) -> None:
        if not self._begun:
            return
        if len(self._files) >= MOST_FILES:
            self._truncated = True
            return
        file = _File(download, self._clock())
        self._files.append(file)
        file.wait()

    def _answered(self, response: Response) -> None:
        with suppress(Error):  # its page may be gone by now
            request = response.request
            if not self._begun or not request.is_navigation_request() or request.frame.parent_frame is not None:
                return
            answer = response.url.partition("#")[0]
            led = 200 <= response.status < 300 and self._is_declared(_first_hop(request))
            if led:
                self._answers.append(answer)
            if request.frame.page == self._page:
                self._document = answer if led else ""

    def _is_declared(self, request: Request) -> bool:
        if self._sends is None or request.method in SAFE_METHODS:
            return False
        return matches_request(self._sends, request.method, request.url)


class _Opened:
    """One page that opened. Its last reading is kept when it closes itself."""

    def __init__(self, page: Page, at: datetime, shoot: Callable[[Page], str | None]) -> None:
        self._page, self._shoot = page, shoot
        self._last = OpenedPage(address="", at=at, unread="it closed before it could be read")

    @property
    def counts(self) -> bool:
        """Whether it isn't the gate's own helper page."""
        return self._page.url != HELPER_ADDRESS

    @property
    def result(self) -> OpenedPage:
        """The page as last read."""
        return self._last.model_copy(update={"closed": self._page.is_closed()})

    def read(self, *, picture: bool = False) -> None:
        """Read the page if it is still open. Never raises."""
        if self._page.is_closed() or not self.counts:
            return
        try:
            read = Reading(
                self._page, deadline=READ_SECONDS, status=None, fresh=False, follow=_nowhere, shoot=self._shoot
            )
        except Exception:  # a page that closes itself can raise anything; its text must not cost a gesture
            return
        if read.text:
            last = {"address": read.address, "text": read.text[:MOST_CHARACTERS], "unread": ""}
            self._last = self._last.model_copy(update=last)
        if picture or (read.text and self._last.blob is None):
            self._last = self._last.model_copy(update={"blob": read.picture() or self._last.blob})


class _File:
    """One download."""

    def __init__(self, download: Download, at: datetime) -> None:
        self._download = download
        self.result = Downloaded(name=download.suggested_filename, at=at)

    def wait(self) -> None:
        """Wait for it to finish, without blocking anything else: this is called from an event. Never raises."""
        try:
            facts = _contents(Path(self._download.path()))
        except (Error, OSError) as error:
            facts = {"failure": (str(error).splitlines() or [""])[0]}
        self.result = self.result.model_copy(update=facts)


def _contents(path: Path) -> dict[str, object]:
    """The file's size, its hash and, if it is text, its text."""
    size, digest = path.stat().st_size, hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    text = None
    if size <= MOST_BYTES:
        content = path.read_bytes()
        with suppress(UnicodeDecodeError):
            text = content.decode("utf-8-sig") if b"\0" not in content else None
    return {"size": size, "sha256": digest.hexdigest(), "text": text}


def _first_hop(request: Request) -> Request:
    while request.redirected_from is not None:
        request = request.redirected_from
    return request


def _nowhere(address: str) -> Reading:
    raise LookFailed(f"a recorder opens nothing, not even {address}")
