"""A mail in the folder of sent mails. Sent is not delivered: nothing here says that anybody has received it.

This module must not know verdicts; it reads as a `Record` reads.
"""

from dataclasses import KW_ONLY, field
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from .evidence import Observation
from .observer import Observer
from .record import Record
from .site import Site

if TYPE_CHECKING:
    from .view import View


class SentMail(Observer):
    """A mail to one address with one subject, in the list of sent mails.

    Arguments:
        site, path: where the list of sent mails is.
        to, subject: what the mail must have; `columns` are the headers that they stand under, in this order.
        complete, reads, unique, staleness, count: as in `Record`. A reference in the subject makes it unique.
        drafts, outbox: other lists where the mail may stand unsent; only in drafts = partial, in an outbox = pending.
    """

    counts: ClassVar[bool] = True

    site: Site
    _: KW_ONLY
    to: str
    subject: str
    path: str = "sent"
    columns: tuple[str, str] = ("To", "Subject")
    complete: bool = False
    reads: dict[str, str] = field(default_factory=dict)
    unique: bool = True
    staleness: timedelta = timedelta(0)
    drafts: tuple[str, ...] = ()
    outbox: tuple[str, ...] = ()
    count: str | None = None

    @property
    def supplies(self) -> frozenset[str]:
        """The names in `reads`."""
        return frozenset(self.reads)

    def look(self, view: "View") -> Observation:
        """Read the list of sent mails to its end."""
        seen = self._record().look(view)
        return seen.model_copy(update={"kind": type(self).__name__, "observer": str(self)})

    def _record(self) -> Record:
        return Record(
            self.site,
            self.path,
            key=dict(zip(self.columns, (self.to, self.subject), strict=True)),
            complete=self.complete,
            reads=self.reads,
            unique=self.unique,
            staleness=self.staleness,
            more=self.drafts,
            outbox=self.outbox,
            count=self.count,
        )

    def __str__(self) -> str:
        return f"the sent mail to {self.to} with subject {self.subject!r} at {self.site}"
