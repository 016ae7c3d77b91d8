"""Where a store's pictures are: in the folder beside it, in another folder, or in a bucket.

The first choice is recorded in the store, so every process finds the pictures, and a process that names another
location is refused. Until the first picture is saved, the location can still be changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sqlmodel import Session, col, select

from browser_agent.clock import new_id
from browser_agent.errors import Misuse
from browser_agent.store.address import BUCKET, evidence_beside, evidence_located, shown
from browser_agent.store.database import Database
from browser_agent.store.evidence_bucket import Bucket
from browser_agent.store.evidence_folder import Folder
from browser_agent.store.records import BlobRow, EvidenceLocationRow

_ONLY = 1


class EvidenceLocation(Protocol):
    """Holds bytes under their hash. Every method raises `StoreUnusable` if the location fails or does not answer.

    Attributes:
        shown: the location for a person.
    """

    shown: str

    def put(self, digest: str, content: bytes) -> None:
        """Store the bytes durably."""

    def get(self, digest: str) -> bytes | None:
        """The bytes; None if they are not there."""

    def holds(self, digest: str) -> bool:
        """Whether bytes of that hash are there, without reading them."""


@dataclass(frozen=True)
class OpenedEvidence:
    """A location, and its recorded address. None = the folder beside the store."""

    location: EvidenceLocation
    address: str | None


def recorded_address(session: Session) -> str | None:
    """The recorded address of the store's pictures; None = beside it."""
    row = session.get(EvidenceLocationRow, _ONLY)
    return row.address if row else None


def open_evidence(database: Database, where: Path | str, wanted: Path | str | None) -> OpenedEvidence:
    """Open the location of the store's pictures; a new one is recorded.

    Args:
        database: the store's.
        where: the store's address.
        wanted: the location that the user asks for; None = the recorded one.

    Raises:
        Misuse: the pictures are elsewhere already, or `wanted` is malformed.
        StoreUnusable: a folder cannot be used.
    """
    address = None if wanted is None else evidence_located(wanted)
    if isinstance(address, Path):
        _check_link(where, address)
    row = _agreed(database, where, address)
    if isinstance(address, Path):
        _link(where, address)
    beside = evidence_beside(where)
    if row is None:
        return OpenedEvidence(Folder(beside), None)
    if row.address.startswith(BUCKET):
        return OpenedEvidence(Bucket(row.address, row.store), row.address)
    return OpenedEvidence(Folder(beside if beside.exists() else Path(row.address), row.store), row.address)


def _agreed(database: Database, where: Path | str, wanted: Path | str | None) -> EvidenceLocationRow | None:
    """The recorded location, after recording `wanted` if that is still possible; None = beside the store.

    The folder of a store in a file is not recorded: it is a link beside the file.
    """
    with database.read() as session:
        row = session.get(EvidenceLocationRow, _ONLY)
    by_link = isinstance(wanted, Path) and isinstance(where, Path)
    if wanted is None or (by_link and row is None) or (row is not None and _is_same(row, wanted)):
        return row
    with database.write() as session:
        row = session.get(EvidenceLocationRow, _ONLY)
        newest = session.exec(select(BlobRow.digest).order_by(col(BlobRow.at).desc())).first()
        if row is not None and _is_same(row, wanted):
            return row
        known = row is None and isinstance(wanted, Path) and newest is not None and Folder(wanted).holds(newest)
        if newest is not None and not known:
            raise _elsewhere(where, row.address if row else _beside_in_words(where), wanted)
        if by_link:
            if row is not None:
                session.delete(row)
            return None
        row = row or EvidenceLocationRow(id=_ONLY, store=new_id("store", 12), address="")
        row.address = str(wanted)
        if isinstance(wanted, Path):
            Folder(wanted, row.store).claim()
        session.add(row)
    return row


def _is_same(row: EvidenceLocationRow, wanted: Path | str) -> bool:
    """Whether `wanted` is the recorded location. A folder is compared by its mark: paths differ between machines."""
    if isinstance(wanted, str) or row.address.startswith(BUCKET):
        return row.address == str(wanted)
    return Folder(wanted, row.store).is_marked()


def _check_link(where: Path | str, wanted: Path) -> None:
    """Refuse a folder unless the link beside the store already leads to it, or nothing is there yet.

    Raises:
        Misuse: the store has pictures somewhere else already.
    """
    beside = evidence_beside(where)
    there = beside.exists() or beside.is_symlink()
    if there and not (beside.exists() and beside.resolve() == wanted.resolve()):
        raise Misuse(
            f"The pictures of {shown(where)} are in {beside.resolve()} already. Move that folder to {wanted} and put a "
            f"link to it at {beside}, or leave the setting evidence out. Nothing was changed."
        )


def _link(where: Path | str, wanted: Path) -> None:
    """Create the link beside the store, if it is missing.

    Raises:
        Misuse: the folder cannot be created.
    """
    beside = evidence_beside(where)
    if beside.exists():
        return
    try:
        wanted.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside.symlink_to(wanted, target_is_directory=True)
    except OSError as error:
        raise Misuse(f"The folder of pictures {wanted} cannot be used: {error.strerror}.") from error


def _elsewhere(where: Path | str, there: str, wanted: Path | str) -> Misuse:
    return Misuse(
        f"The pictures of {shown(where)} are in {there} already, and a store has only one location for them: {wanted} "
        "was refused. Leave the setting evidence out, or use a new store. Nothing was changed."
    )


def _beside_in_words(where: Path | str) -> str:
    return f"{evidence_beside(where)}{' of the machines that made them' if isinstance(where, str) else ''}"
