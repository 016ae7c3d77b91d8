"""Pictures and page copies: files in a folder, named by the hash of their bytes, written before their rows.

A blob is stored once however often it is seen. Knows nothing of what a picture shows.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path

from sqlmodel import select

from browser_agent.clock import Clock
from browser_agent.errors import StoreUnusable, UnknownName
from browser_agent.records import BlobRow
from browser_agent.store.database import Database

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Artifacts:
    """The blobs of one store.

    Args:
        database: holds a row for each.
        clock: time of the rows.
        folder: where the bytes are; it may be a link to a folder that other machines see too.
    """

    def __init__(self, database: Database, clock: Clock, folder: Path) -> None:
        self._database, self._clock, self.folder = database, clock, folder

    def keep(self, content: bytes, media_type: str) -> str:
        """Store the bytes and return their sha256 in hex; the same bytes are stored once.

        Raises:
            StoreUnusable: the bytes could not be written; no row was made.
        """
        digest = hashlib.sha256(content).hexdigest()
        path = self._path(digest)
        if not path.exists():
            self._write(path, content)
        with self._database.write() as session:
            if session.get(BlobRow, digest) is None:
                session.add(BlobRow(digest=digest, media_type=media_type, size=len(content), at=self._clock.now()))
        return digest

    def read(self, digest: str) -> tuple[bytes, str]:
        """The bytes and their media type.

        Raises:
            UnknownName: no blob of that digest, or its file is missing or altered.
        """
        with self._database.read() as session:
            row = session.get(BlobRow, digest) if _DIGEST.fullmatch(digest) else None
        if row is None:
            raise UnknownName(f"No stored picture or page copy {digest}.")
        try:
            content = self._path(digest).read_bytes()
        except OSError as error:
            raise UnknownName(f"The file of blob {digest} is missing.") from error
        if hashlib.sha256(content).hexdigest() != digest:
            raise UnknownName(f"The file of blob {digest} is not what was stored.")
        return content, row.media_type

    def missing(self) -> list[str]:
        """Digests whose file is missing or altered."""
        with self._database.read() as session:
            known = list(session.exec(select(BlobRow.digest)))
        return [digest for digest in known if not self._holds(digest)]

    def _holds(self, digest: str) -> bool:
        path = self._path(digest)
        return path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == digest

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / digest

    def _write(self, path: Path, content: bytes) -> None:
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
            raise StoreUnusable(f"A picture could not be stored in {self.folder}: {error.strerror}.") from error
