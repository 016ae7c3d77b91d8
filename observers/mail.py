"""A mail in the folder of sent mails, and what the delivery log says of it.

Sent is not delivered: a mail that bounced was sent, and sending it again is another mail. So the log's word never
decides whether it was sent; it is said, and handed on as a value. This module must not know verdicts; it reads as a
`Record` reads.
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
"""The name of the value that the delivery log gives."""
UNKNOWN = "unknown"


class SentMail(Observer):
    """A mail to one address with one subject, in the list of sent mails.

    Arguments:
        site, path: where the list of sent mails is.
        to, subject: what the mail must have; `columns` are the headers that they stand under, in this order.
        complete, reads, unique, staleness, count, empty, as_of: as in `Record`. A reference in the
            subject makes it unique.
        drafts, outbox: other lists where the mail may stand unsent; only in drafts = partial, in an outbox = pending.
        log: the list of deliveries, with the same `columns`, and the word under the header `log_status`.
        delivery: each word of the log -> what it means. The value `delivery` holds what it means; "unknown" for a word
            that isn't declared, for words that differ, and while the log doesn't tell.
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
        """The names in `reads`, and `delivery` where there is a log."""
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
        """It was sent; the log's word is a value and a sentence, and changes nothing of that."""
        words = list(dict.fromkeys(row.row[normal(self.log_status)] for row in log.rows))
        known = {normal(word).casefold(): meaning for word, meaning in self.delivery.items()}
        meanings = {known.get(word.casefold(), UNKNOWN) for word in words}
        meaning = meanings.pop() if len(meanings) == 1 else UNKNOWN
        told = f"the delivery log says “{'” and “'.join(words)}”" if words else "the delivery log doesn't tell of it"
        reason = f"it was sent; its delivery: {meaning} ({told})"
        matches = tuple(
            match.model_copy(update={"values": {**match.values, DELIVERY: meaning}}) for match in said.matches
        )
        return said.model_copy(update={"matches": matches, "reasons": (*said.reasons, reason, *doubts_of([log]))})

    def _not_seen(self, said: Observation, log: Listing) -> Observation:
        """What the log knows of was sent, whoever has taken it out of the folder since."""
        if log.rows:
            words = "it isn't in the folder, and the delivery log tells of it"
            return self.cannot_tell(words, *said.reasons, evidence=said.evidence, at=said.at)
        reasons = (*said.reasons, *doubts_of([log]))
        return said.model_copy(update={"reasons": reasons, "complete": said.complete and not log.why_not_whole})

    def _fits(self, row: Row) -> bool | None:
        return fits(row, self._key, self.site.decimal)

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
