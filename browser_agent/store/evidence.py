"""Pictures and page copies, named by the hash of their bytes.

The bytes are stored before the row: a crash may leave bytes without a row, never a row without its bytes.
"""

from __future__ import annotations

import hashlib
import re
from concurrent.futures import ThreadPoolExecutor

from sqlmodel import select

from browser_agent.clock import Clock
from browser_agent.errors import StoreUnusable, UnknownName
from browser_agent.store.database import Database
from browser_agent.store.evidence_location import EvidenceLocation, OpenedEvidence, recorded_address
from browser_agent.store.records import BlobRow

_DIGEST = re.compile(r"[0-9a-f]{64}")
_AT_ONCE = 8


class Artifacts:
    """The blobs of one store.

    Args:
        database: holds a row for each.
        clock: time of the rows.
        opened: where the bytes are.

    Attributes:
        location: holds the bytes.
    """

    def __init__(self, database: Database, clock: Clock, opened: OpenedEvidence) -> None:
        self._database, self._clock, self._address = database, clock, opened.address
        self.location: EvidenceLocation = opened.location

    def save(self, content: bytes, media_type: str) -> str:
        """Save the bytes and return their sha256 in hex; the same bytes are stored once.

        Raises:
            StoreUnusable: the bytes could not be written; there is no row.
        """
        digest = hashlib.sha256(content).hexdigest()
        if not self.location.holds(digest):
            self.location.put(digest, content)
        with self._database.write() as session:
            if recorded_address(session) != self._address:
                raise StoreUnusable(
                    f"The store's pictures have been moved away from {self.location.shown} since it was opened. The "
                    "picture was not recorded. Open the store again."
                )
            if session.get(BlobRow, digest) is None:
                session.add(BlobRow(digest=digest, media_type=media_type, at=self._clock.now()))
        return digest

    def read(self, digest: str) -> tuple[bytes, str]:
        """The bytes and their media type.

        Raises:
            UnknownName: no blob of that digest, or its bytes are missing or altered.
            StoreUnusable: the location does not answer, so it is unknown whether they are there.
        """
        row = self._row(digest) if _DIGEST.fullmatch(digest) else None
        if row is None:
            raise UnknownName(f"No stored picture or page copy {digest}.")
        content = self.location.get(digest)
        if content is None:
            raise UnknownName(f"The file of blob {digest} is missing.")
        if hashlib.sha256(content).hexdigest() != digest:
            raise UnknownName(f"The file of blob {digest} is not what was stored.")
        return content, row.media_type

    def missing(self) -> list[str]:
        """Digests whose bytes are missing or altered.

        Raises:
            StoreUnusable: the location does not answer.
        """
        with self._database.read() as session:
            known = list(session.exec(select(BlobRow.digest)))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return [digest for digest, held in zip(known, pool.map(self._holds, known), strict=True) if not held]

    def _row(self, digest: str) -> BlobRow | None:
        with self._database.read() as session:
            return session.get(BlobRow, digest)

    def _holds(self, digest: str) -> bool:
        content = self.location.get(digest)
        return content is not None and hashlib.sha256(content).hexdigest() == digest
