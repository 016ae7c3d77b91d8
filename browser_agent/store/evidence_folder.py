"""Pictures as files in a folder, which several machines may share.

A shared folder holds a mark, so that no picture is written into another folder, such as an empty mount point.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from browser_agent.errors import StoreUnusable

MARK = ".browser-agent-store"
"""The file in a shared folder that names its store."""


class Folder:
    """An evidence location in a folder.

    Args:
        path: the folder; it may be a link to a shared one.
        mark: the name of the store that its mark must hold; "" = the mark is not checked.

    Attributes:
        shown: the location for a person.
    """

    def __init__(self, path: Path, mark: str = "") -> None:
        self.path, self.shown, self._mark = path, str(path), mark

    def put(self, digest: str, content: bytes) -> None:
        """Write the bytes, whole and synced to the disk."""
        self._check()
        path = self._path(digest)
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with part.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())  # a row must never name bytes that a power cut can take back
            part.replace(path)
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise StoreUnusable(f"A picture could not be stored in {self.shown}: {error.strerror}.") from error

    def get(self, digest: str) -> bytes | None:
        """The bytes; None if they are not there."""
        self._check()
        try:
            return self._path(digest).read_bytes()
        except OSError:
            return None

    def holds(self, digest: str) -> bool:
        """Whether the file is there."""
        self._check()
        return self._path(digest).exists()

    def claim(self) -> None:
        """Mark the folder as the store's, and create it if missing.

        Raises:
            StoreUnusable: it has the mark of another store, or cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not (self.path / MARK).exists():
                (self.path / MARK).write_text(self._mark, encoding="utf-8")
        except OSError as error:
            raise StoreUnusable(f"The folder of pictures {self.shown} cannot be used: {error.strerror}.") from error
        self._check()

    def is_marked(self) -> bool:
        """Whether it has the store's mark."""
        return self._found() == self._mark

    def _check(self) -> None:
        if not self._mark or self.is_marked():
            return
        whose = "is another store's" if self._found() else "is not here"
        raise StoreUnusable(
            f"The folder of this store's pictures, {self.shown}, {whose} (by its mark in {MARK}). Mount it "
            "there, or set evidence to where it is on this machine. Nothing was written."
        )

    def _found(self) -> str:
        try:
            return (self.path / MARK).read_text(encoding="utf-8")
        except OSError:
            return ""

    def _path(self, digest: str) -> Path:
        return self.path / digest[:2] / digest
