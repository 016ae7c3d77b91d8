"""Where the pictures of a store lie: in the folder beside it, in another one, or in a bucket; and that it stays so.

What was said when the store was first given a place stands in the store: whoever opens it later finds them, whatever
the settings say there, and whoever names another place is refused. Before the first picture the last word counts. What
may never happen: pictures of one store in two places; those of two stores in one (a bucket's part bears the name of its
store, a folder that machines share bears its mark).
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
from browser_agent.store.records import BlobRow, PlaceRow

_ONLY = 1


class Place(Protocol):
    """Holds bytes by their hash. Whatever can't be done, or can't be known, is a `StoreUnusable`.

    Attributes:
        shown: the place for a person.
    """

    shown: str

    def put(self, digest: str, content: bytes) -> None:
        """Store the bytes, durably; those that are there are the same."""

    def get(self, digest: str) -> bytes | None:
        """The bytes; None if there are none."""

    def holds(self, digest: str) -> bool:
        """Whether there are bytes of that hash, without reading them."""


@dataclass(frozen=True)
class Placed:
    """A place, and how the store names it; None = the folder beside it."""

    place: Place
    address: str | None


def address_of(session: Session) -> str | None:
    """What the store says of where its pictures lie; None = beside it."""
    row = session.get(PlaceRow, _ONLY)
    return row.address if row else None


def placed(database: Database, where: Path | str, said: Path | str | None) -> Placed:
    """The place of the pictures, written down if it is new.

    Args:
        database: the store's.
        where: where the store is.
        said: where they are to lie; None = where they lie.

    Raises:
        Misuse: they lie elsewhere already; what was said is no place.
        StoreUnusable: a folder can't be used.
    """
    wanted = None if said is None else evidence_located(said)
    if isinstance(wanted, Path):
        _check_link(where, wanted)
    row = _agreed(database, where, wanted)
    if isinstance(wanted, Path):
        _link(where, wanted)
    beside = evidence_beside(where)
    if row is None:
        return Placed(Folder(beside), None)
    if row.address.startswith(BUCKET):
        return Placed(Bucket(row.address, row.store), row.address)
    return Placed(Folder(beside if beside.exists() else Path(row.address), row.store), row.address)


def _agreed(database: Database, where: Path | str, wanted: Path | str | None) -> PlaceRow | None:
    """What stands in the store of it; None = beside it. A file's folder is a link beside it, and stands nowhere."""
    with database.read() as session:
        row = session.get(PlaceRow, _ONLY)
    by_link = isinstance(wanted, Path) and isinstance(where, Path)
    if wanted is None or (by_link and row is None) or (row is not None and _is_same(row, wanted)):
        return row
    with database.write() as session:
        row = session.get(PlaceRow, _ONLY)
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
        row = row or PlaceRow(id=_ONLY, store=new_id("store", 12), address="")
        row.address = str(wanted)
        if isinstance(wanted, Path):
            Folder(wanted, row.store).take()
        session.add(row)
    return row


def _is_same(row: PlaceRow, wanted: Path | str) -> bool:
    """Whether that is the store's place; a folder may be found by another path on another machine: its mark tells."""
    if isinstance(wanted, str) or row.address.startswith(BUCKET):
        return row.address == str(wanted)
    return Folder(wanted, row.store).is_marked()


def _check_link(where: Path | str, wanted: Path) -> None:
    """See that what stands beside the store is a link to the folder, or nothing.

    Raises:
        Misuse: the store has pictures somewhere else already.
    """
    beside = evidence_beside(where)
    there = beside.exists() or beside.is_symlink()
    if there and not (beside.exists() and beside.resolve() == wanted.resolve()):
        raise Misuse(
            f"The pictures of {shown(where)} lie in {beside.resolve()} already. Move that folder to {wanted} and put a "
            f"link to it at {beside}, or leave the setting evidence out. Nothing was changed."
        )


def _link(where: Path | str, wanted: Path) -> None:
    """See to it that such a link is there.

    Raises:
        Misuse: the folder cannot be made.
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
        f"The pictures of {shown(where)} lie in {there} already, and one store has one place: {wanted} was not taken. "
        "Leave the setting evidence out, or begin a new store. Nothing was changed."
    )


def _beside_in_words(where: Path | str) -> str:
    return f"{evidence_beside(where)}{' of the machines that have made them' if isinstance(where, str) else ''}"
