"""Stores each file that a worker's pages download in a folder, whether or not the step waits for it.

A download in progress when its worker dies is lost: Playwright's own copy ends with the worker's driver. No error here
is raised into a gesture.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic

from playwright.sync_api import BrowserContext, Download, Error, Page

from browser_agent.errors import Misuse

PATIENCE_SECONDS = 600.0
"""How long to wait for downloads to finish, so that a step doesn't end before its files are kept."""
_POLL_SECONDS = 0.1

Report = Callable[[str, str], None]
"""Reports an event to the person watching: its kind, and a sentence."""


class Downloads:
    """Keeps everything that is downloaded after it was created.

    Args:
        context: the browser context whose pages are listened to, including later ones.
        folder: where the files are kept.
        owner: a name that no other process uses; see `keep`.
        report: see `Report`.
    """

    def __init__(self, context: BrowserContext, folder: Path, owner: str, report: Report) -> None:
        self._context, self._folder, self._owner, self._report = context, folder, owner, report
        self._pending: dict[Download, str] = {}
        self._count = 0
        for page in context.pages:
            page.on("download", self._download_started)
        context.on("page", self._opened)

    def wait(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until each download that has begun is kept or has failed; report those that take longer. Never raises.

        A download that has not begun yet isn't waited for.
        """
        until = monotonic() + seconds
        while self._pending and monotonic() < until and self._process_events():
            pass
        for name in self._pending.values():
            self._report("download_lost", f"The download {name} did not finish. It is not kept.")
        self._pending.clear()

    def _process_events(self) -> bool:
        """Process events for a moment; False if no page can: the browser is gone, or all pages have crashed."""
        for page in self._context.pages:
            with suppress(Error):
                page.wait_for_timeout(_POLL_SECONDS * 1000)
                return True
        return False

    def _opened(self, page: Page) -> None:
        page.on("download", self._download_started)

    def _download_started(self, download: Download) -> None:
        """Wait for it to finish, without blocking anything else: this is called from an event."""
        name = safe_name(download.suggested_filename)
        self._pending[download] = name
        self._count += 1
        owner = f"{self._owner}-{self._count}"
        try:
            kept = save(Path(download.path()), self._folder, name, owner)
        except (Error, OSError) as error:
            if self._pending.pop(download, None):
                why = (str(error).splitlines() or [""])[0]
                self._report("download_lost", f"The download {name} is not kept: {why}")
        else:
            self._pending.pop(download, None)
            self._report("download", f"The download {name} is kept as {kept}.")


LONGEST_NAME = 200
"""The longest file name, in bytes; most file systems allow 255."""
UNNAMED = "download"
_NOT_IN_A_NAME = re.compile(r'[<>:"|?*]')


def check_folder(folder: Path | None) -> None:
    """Create the folder, if one is given, and check that files can be kept in it as `keep` does.

    Raises:
        Misuse: it can't be created or written, or its file system has no hard links.
    """
    if folder is None:
        return
    part = folder / f".{os.getpid()}-check.part"
    try:
        _make_folder(folder)
        part.touch(mode=0o600)
        try:
            os.link(part, other := part.with_suffix(".link"))
            other.unlink()
        finally:
            part.unlink()
    except OSError as error:
        raise Misuse(
            f"Downloads can't be kept in {folder}: {error.strerror}. It must be a folder that can be written, on a "
            "file system with hard links. Nothing was started."
        ) from error


def save(source: Path, folder: Path, wanted: str, owner: str) -> Path:
    """Keep a copy of a complete file in a folder; return when it is on the disk.

    Args:
        source: the file.
        folder: where it is kept.
        wanted: the name that its site suggests.
        owner: names the unfinished copy, so that `sweep` can remove what a dead process left. No other process may use
            it meanwhile.

    Returns:
        Its path: the safe form of that name, with a number if it was taken.

    Raises:
        OSError: it could not be kept; no part of it is left under any name.
    """
    _make_folder(folder)
    part = folder / f".{owner}.part"
    part.unlink(missing_ok=True)
    try:
        with (
            source.open("rb") as read,
            os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as to,
        ):
            shutil.copyfileobj(read, to)
            to.flush()
            os.fsync(to.fileno())
        return _named(part, folder, safe_name(wanted))
    finally:
        part.unlink(missing_ok=True)


def sweep(folder: Path, owner: str) -> None:
    """Remove the unfinished copies that dead processes left; `owner` is the beginning of their owners' names."""
    for part in folder.glob(f".{owner}*.part"):
        part.unlink(missing_ok=True)


def safe_name(suggested: str) -> str:
    """The name made safe: it names a plain file in its folder, and no invisible character disguises its type."""
    last = re.split(r"[/\\]", suggested)[-1]
    shown = "".join(each for each in unicodedata.normalize("NFC", last) if unicodedata.category(each)[0] != "C")
    stem, kind = os.path.splitext(_NOT_IN_A_NAME.sub("_", shown).strip(" ."))
    return (
        f"{_cut(stem, LONGEST_NAME - len(kind.encode()))}{kind}"
        if len(kind) < 20 and stem
        else _cut(stem + kind, LONGEST_NAME)
    )


def _cut(text: str, size: int) -> str:
    return text.encode()[:size].decode(errors="ignore") or UNNAMED


def _named(part: Path, folder: Path, name: str) -> Path:
    for each in _names(name):
        with suppress(FileExistsError):
            os.link(part, folder / each)
            _sync_folder(folder)
            return folder / each
    raise AssertionError("there is always another number")


def _names(name: str) -> Iterator[str]:
    stem, kind = os.path.splitext(name)
    yield name
    yield from (f"{stem} ({number}){kind}" for number in itertools.count(2))


def _make_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def _sync_folder(folder: Path) -> None:
    """Sync the folder: a new name is on the disk only then."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
