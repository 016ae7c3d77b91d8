"""Pictures as files in a folder, which other machines may see too.

Knows no rows. What may never happen: a file whose name does not stand for its bytes, after a crash too; a picture is
put into a shared folder that is not the store's, such as the empty one below a disk that isn't mounted.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from browser_agent.errors import StoreUnusable

MARK = ".browser-agent-store"
"""The file in a shared folder that says whose it is."""


class Folder:
    """A place of pictures.

    Args:
        path: the folder; it may be a link to one that other machines see too.
        mark: the name of the store that must stand in it; without one it isn't looked for.

    Attributes:
        shown: the place for a person.
    """

    def __init__(self, path: Path, mark: str = "") -> None:
        self.path, self.shown, self._mark = path, str(path), mark

    def put(self, digest: str, content: bytes) -> None:
        """Write the bytes, so that a power cut can't take them back."""
        self._check()
        path = self._path(digest)
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with part.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())  # a row never names bytes that a power cut can take back
            part.replace(path)
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise StoreUnusable(f"A picture could not be stored in {self.shown}: {error.strerror}.") from error

    def get(self, digest: str) -> bytes | None:
        """The bytes; None if there are none."""
        self._check()
        try:
            return self._path(digest).read_bytes()
        except OSError:
            return None

    def holds(self, digest: str) -> bool:
        """Whether there is a file of that name."""
        self._check()
        return self._path(digest).exists()

    def take(self) -> None:
        """Mark the folder as the store's; it is made if it is not there.

        Raises:
            StoreUnusable: it bears the mark of another store, or can't be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not (self.path / MARK).exists():
                (self.path / MARK).write_text(self._mark, encoding="utf-8")
        except OSError as error:
            raise StoreUnusable(f"The folder of pictures {self.shown} cannot be used: {error.strerror}.") from error
        self._check()

    def is_marked(self) -> bool:
        """Whether the store's mark stands in it."""
        return self._found() == self._mark

    def _check(self) -> None:
        if not self._mark or self.is_marked():
            return
        whose = "is another store's" if self._found() else "is not here"
        raise StoreUnusable(
            f"The folder of this store's pictures, {self.shown}, {whose} (its mark in {MARK} is looked for). Mount it "
            "there, or set evidence to where it is on this machine. Nothing was written."
        )

    def _found(self) -> str:
        try:
            return (self.path / MARK).read_text(encoding="utf-8")
        except OSError:
            return ""

    def _path(self, digest: str) -> Path:
        return self.path / digest[:2] / digest
