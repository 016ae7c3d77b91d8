"""A row that must vanish: the proof of a deletion, a cancellation, or of work that leaves a queue.

It never takes a list for emptied that hasn't shown that it can see: the record's whole list must have been read, with
all the other rows that stood there before the gesture.
"""

from dataclasses import KW_ONLY
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import ValidationInfo, field_validator

from .both import Nested
from .evidence import Match, Observation, Sight
from .observer import Observer
from .record import Record
from .site import Site

if TYPE_CHECKING:
    from .view import View


class Gone(Observer):
    """The record that was in a list before the gesture, and is in it no longer.

        proof=[Gone(Record(docs, "documents", key={"Number": "D-2"}, complete=True))]

    As long as the row stands there, the gesture didn't happen; so a late list of a deletion waits as a list of a new
    record does.

    Args:
        record: the record that must vanish. It must be declared `complete`: a row that is missing from a part of a list
            proves nothing.
    """

    counts: ClassVar[bool] = True
    opens: ClassVar[bool] = True

    record: Nested
    _: KW_ONLY

    @field_validator("record")
    @classmethod
    def _is_a_whole_list(cls, record: Observer, info: ValidationInfo) -> Observer:
        if not isinstance(record, Record):
            raise ValueError("Gone takes a Record: the row that must vanish")
        if not record.complete:
            raise ValueError("Gone needs a record that is declared complete=True: only a whole list shows what is gone")
        return record

    @property
    def site(self) -> Site | None:
        """The record's site."""
        return self.record.site

    @property
    def staleness(self) -> timedelta:
        """The record's staleness."""
        return self.record.staleness

    @property
    def complete(self) -> bool:
        """True, since the record must be."""
        return True

    def look(self, view: "View") -> Observation:
        """Read the record's list to its end."""
        said = self.record.look(view)
        of_list: dict[str, Any] = {
            "rows": said.rows,
            "account": said.account,
            "as_of": said.as_of,
            "listing": said.listing,
        }
        if said.sight is Sight.seen:
            there = f"it is still there: {said.matches[0].identity}"
            return self.not_seen(there, evidence=said.evidence, at=said.at, complete=True, **of_list)
        if said.sight is Sight.cannot_tell or not said.complete:
            return self.cannot_tell(
                *said.reasons,
                evidence=said.evidence,
                at=said.at,
                login=said.login,
                misfit=said.misfit,
                listing=said.listing,
            )
        gone = Match(identity=f"{self.record} is gone")
        return self.seen([gone], *said.evidence, at=said.at, fresh=True, complete=True, vanished=True, **of_list)

    def __str__(self) -> str:
        return f"the end of {self.record}"
