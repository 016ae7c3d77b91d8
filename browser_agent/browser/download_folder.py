"""Files that pages have downloaded, kept in a folder: whole or not at all, under their own names, none overwritten.

A file is first written beside its final name and gets that by a hard link, which takes no name that is there already
and shows no half of a file. Knows nothing of browsers. What may never happen: a part of a file stands under a final
name; a file is overwritten; a name that a site has chosen leads out of the folder.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from browser_agent.errors import Misuse

LONGEST_NAME = 200
"""Bytes of a name; most file systems take 255."""
UNNAMED = "download"
_NOT_IN_A_NAME = re.compile(r'[<>:"|?*]')


def check_folder(folder: Path | None) -> None:
    """Make the folder, if there is to be one, and see that files can be kept in it as they must be.

    Raises:
        Misuse: it can't be made or written, or its file system knows no hard links.
    """
    if folder is None:
        return
    part = folder / f".{os.getpid()}-check.part"
    try:
        _make(folder)
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


def keep(source: Path, folder: Path, wanted: str, owner: str) -> Path:
    """Keep a copy of a whole file in a folder; returns when it is on the disk.

    Args:
        source: the file.
        folder: where it is kept.
        wanted: the name that its site suggests.
        owner: whose it is, so that `sweep` finds what a death has left; no other process may use it meanwhile.

    Returns:
        Its path: the safe form of that name, with a number if that was taken.

    Raises:
        OSError: it could not be kept; nothing of it is left under any name.
    """
    _make(folder)
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
    """Remove what dead processes have left half written, by the beginning of the owner's name."""
    for part in folder.glob(f".{owner}*.part"):
        part.unlink(missing_ok=True)


def safe_name(suggested: str) -> str:
    """The name as one that stands for a plain file in its folder, and looks like what it is."""
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
            _on_the_disk(folder)
            return folder / each
    raise AssertionError("there is always another number")


def _names(name: str) -> Iterator[str]:
    stem, kind = os.path.splitext(name)
    yield name
    yield from (f"{stem} ({number}){kind}" for number in itertools.count(2))


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def _on_the_disk(folder: Path) -> None:
    """A new name is on the disk when its folder is."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
