"""Downloads that stay: each file that comes to the pages of a worker's connection is kept in a folder.

Besides what a proof's recorder reads of it, and whether or not the step itself waits for it. A file that is under way
when its worker dies is not kept: Playwright's own copy ends with the worker's driver. Knows nothing of runs; makes no
gesture, closes and changes no page. What may never happen: an exception out of here costs a gesture.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic

from playwright.sync_api import BrowserContext, Download, Error, Page

from browser_agent.browser import download_folder as kept_files

PATIENCE_SECONDS = 600.0
"""How long the end of a download is waited for, so that a step isn't over before its files are kept."""
_GLANCE_SECONDS = 0.1

Tell = Callable[[str, str], None]
"""Says something to the person who watches, by kind and words."""


class Downloads:
    """Keeps what is downloaded from when it was made.

    Args:
        context: whose pages are listened to, those to come as well.
        folder: where the files are kept.
        owner: no other process has that name; see `kept_files.keep`.
        tell: see `Tell`.
    """

    def __init__(self, context: BrowserContext, folder: Path, owner: str, tell: Tell) -> None:
        self._context, self._folder, self._owner, self._tell = context, folder, owner, tell
        self._pending: dict[Download, str] = {}
        self._count = 0
        for page in context.pages:
            page.on("download", self._came)
        context.on("page", self._opened)

    def wait(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until what has begun is kept, or can't be; what takes longer than those seconds is told. Never raises.

        A download that has not begun yet isn't waited for.
        """
        until = monotonic() + seconds
        while self._pending and monotonic() < until and self._let_events_go_on():
            pass
        for name in self._pending.values():
            self._tell("download_lost", f"The download {name} did not come to its end. It is not kept.")
        self._pending.clear()

    def _let_events_go_on(self) -> bool:
        """For a moment; False if no page is left that can: so is the browser, or all of it has crashed."""
        for page in self._context.pages:
            with suppress(Error):
                page.wait_for_timeout(_GLANCE_SECONDS * 1000)
                return True
        return False

    def _opened(self, page: Page) -> None:
        page.on("download", self._came)

    def _came(self, download: Download) -> None:
        """Wait for its end, while everything else goes on: this is called from an event."""
        name = kept_files.safe_name(download.suggested_filename)
        self._pending[download] = name
        self._count += 1
        owner = f"{self._owner}-{self._count}"
        try:
            kept = kept_files.keep(Path(download.path()), self._folder, name, owner)
        except (Error, OSError) as error:
            if self._pending.pop(download, None):
                why = (str(error).splitlines() or [""])[0]
                self._tell("download_lost", f"The download {name} is not kept: {why}")
        else:
            self._pending.pop(download, None)
            self._tell("download", f"The download {name} is kept as {kept}.")
