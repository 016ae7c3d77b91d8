"""A mail in the folder of sent mails, and its state in the delivery log.

Sent is not delivered: a mail that bounced was sent, and sending it again makes a second mail. So the log's status word
never decides whether the mail was sent; it is reported and supplied as a value. The folder is read as a `Record` is.
"""

from dataclasses import KW_ONLY, field
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from .evidence import Observation, Sight
from .listing import Listing, ListReader
from .normal import normal
from .observer import Observer
from .record import Record
from .rows import doubts_of, evidence_of, fits
from .site import Site
from .tables import Row

if TYPE_CHECKING:
    from .view import View

DELIVERY = "delivery"
"""The name of the value that the delivery log supplies."""
UNKNOWN = "unknown"


class SentMail(Observer):
    """A mail to one address with one subject, in the list of sent mails.

    Args:
        site, path: where the list of sent mails is.
        to, subject: of the mail; `columns` are the headers of their columns, in this order.
        complete, reads, unique, staleness, count, empty, as_of: as in `Record`. A reference in the
            subject makes it unique.
        drafts, outbox: other lists that may hold the unsent mail; only in drafts = partial, in an outbox = pending.
        log: the list of deliveries, with the same `columns`, and the status word under the header `log_status`.
        delivery: each status word of the log -> its meaning. The value `delivery` is that meaning, or "unknown" if the
            word isn't declared, if rows differ, and while the log has no entry.
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
    empty: str = ""
    as_of: str = ""
    log: str | None = None
    log_status: str = "Status"
    delivery: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if bool(self.log) != bool(self.delivery):
            raise ValueError("a delivery log and what its words mean are declared together: log= and delivery=")
        if self.log and DELIVERY in self.reads:
            raise ValueError(f"the value {DELIVERY!r} comes from the log, so `reads` can't name it")
        if self.log:
            _ = self.site / self.log

    @property
    def supplies(self) -> frozenset[str]:
        """The names in `reads`, and `delivery` if there is a log."""
        return frozenset(self.reads) | (frozenset({DELIVERY}) if self.log else frozenset())

    def look(self, view: "View") -> Observation:
        """Read the list of sent mails to its end, then the log."""
        said = self._record().look(view)
        said = said.model_copy(update={"kind": type(self).__name__, "observer": str(self)})
        if self.log is None or said.sight is Sight.cannot_tell:
            return said
        log = ListReader(self.site, self.columns, (self.log_status,), control=False).read(view, self.log, self._fits)
        evidence = (*said.evidence, *([evidence_of(log, view.now())] if log.pages else []))
        said = said.model_copy(update={"evidence": evidence})
        return self._seen(said, log) if said.sight is Sight.seen else self._not_seen(said, log)

    def _seen(self, said: Observation, log: Listing) -> Observation:
        """The mail was sent; the log's word only adds a value and a reason."""
        words = list(dict.fromkeys(row.row[normal(self.log_status)] for row in log.rows))
        known = {normal(word).casefold(): meaning for word, meaning in self.delivery.items()}
        meanings = {known.get(word.casefold(), UNKNOWN) for word in words}
        meaning = meanings.pop() if len(meanings) == 1 else UNKNOWN
        told = f"the delivery log says “{'” and “'.join(words)}”" if words else "the delivery log doesn't mention it"
        reason = f"it was sent; its delivery: {meaning} ({told})"
        matches = tuple(
            match.model_copy(update={"values": {**match.values, DELIVERY: meaning}}) for match in said.matches
        )
        return said.model_copy(update={"matches": matches, "reasons": (*said.reasons, reason, *doubts_of([log]))})

    def _not_seen(self, said: Observation, log: Listing) -> Observation:
        """A mail in the log was sent, even if it has since been removed from the folder: then "cannot tell"."""
        if log.rows:
            words = "it isn't in the folder, but the delivery log mentions it"
            return self.cannot_tell(words, *said.reasons, evidence=said.evidence, at=said.at)
        reasons = (*said.reasons, *doubts_of([log]))
        return said.model_copy(update={"reasons": reasons, "complete": said.complete and not log.why_not_whole})

    def _fits(self, row: Row) -> bool | None:
        return fits(row, self._key, self.site.notation)

    @property
    def _key(self) -> dict[str, str]:
        return dict(zip(self.columns, (self.to, self.subject), strict=True))

    def _record(self) -> Record:
        return Record(
            self.site,
            self.path,
            key=self._key,
            complete=self.complete,
            reads=self.reads,
            unique=self.unique,
            staleness=self.staleness,
            more=self.drafts,
            outbox=self.outbox,
            count=self.count,
            empty=self.empty,
            as_of=self.as_of,
        )

    def __str__(self) -> str:
        return f"the sent mail to {self.to} with subject {self.subject!r} at {self.site}"
