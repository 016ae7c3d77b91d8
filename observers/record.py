"""A record in a list of the site: the observer that counts.

It never vouches for a list that it hasn't read to its end under our account: a login page, a missing column or a page
that can't be opened gives "cannot tell" or "not the whole list", with the reason.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar

from .evidence import Observation
from .listing import ListedRow, Listing, ListReader
from .normal import moment, normal
from .observer import Observer
from .rows import doubts_of, evidence_of, facts_of, fits, match_of, of_list
from .site import Site
from .tables import Row

if TYPE_CHECKING:
    from .view import View


class Record(Observer):
    """Rows of a list, read by GET on fresh pages, whose key columns hold the given texts.

    Args:
        site, path: address of the list.
        key: column header -> text that the row must have there; compared in normal form (amounts as amounts).
        complete: the list is declared to hold EVERY record of its kind and this account, without delay. Without it, a
            missing record proves nothing.
        reads: name of a value -> header of its column.
        unique: no other record can ever have this key. A key that isn't unique proves only at a site with `sole_user`,
            by the record's time (see `created`), and while no other gesture of ours can have made the record.
        created: header of the column that shows when a record was made: a day and a time, read in the site's `zone` if
            it shows no offset. Only a key that isn't unique needs it.
        staleness: how far the list may lag behind.
        more: other lists that may show a part of the effect (drafts, cancelled): seen only there = partial.
        outbox: other lists where the record may wait: seen only there = pending.
        pending: words in the column `status` that mean "accepted, not done".
        count: a regular expression whose first group is the number of rows that the list says it has.
        empty: what the page shows when the list is empty, such as "No invoices yet". Without it, an empty list proves
            absence only if its `count` is 0 or a line such as "0 invoices" says so: a list that failed to load is empty
            too.
        as_of: a regular expression whose first group is the time that the list states for its content, read in the
            site's `zone` if it shows no offset.
        times: how many such records the gesture makes at once, such as 3 for a batch of three. Fewer new ones are a
            part of the effect; twice as many mean that it happened twice. A value in `reads` must be the same in each.
    """

    counts: ClassVar[bool] = True

    site: Site
    path: str
    _: KW_ONLY
    key: dict[str, str]
    complete: bool = False
    reads: dict[str, str] = field(default_factory=dict)
    unique: bool = True
    staleness: timedelta = timedelta(0)
    more: tuple[str, ...] = ()
    outbox: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    status: str = "Status"
    count: str | None = None
    created: str = ""
    empty: str = ""
    as_of: str = ""
    times: int = 1

    def __post_init__(self) -> None:
        if not self.key:
            raise ValueError("a record without a key fits every row: give at least one column and its text")
        if self.times < 1:
            raise ValueError(f"times={self.times}: a gesture makes at least one record")
        for path in (self.path, *self.more, *self.outbox):
            _ = self.site / path

    @property
    def supplies(self) -> frozenset[str]:
        """The names in `reads`."""
        return frozenset(self.reads)

    def look(self, view: "View") -> Observation:
        """Read the list, and the other lists, to their ends."""
        more = (*([self.status] if self.pending else ()), *([self.created] if self.created else ()))
        columns = (*self.reads.values(), *more)
        reader = ListReader(self.site, self.key, columns, self.count, self.empty, as_of=self.as_of)
        main = reader.read(view, self.path, self._fits)
        beside = ListReader(self.site, self.key, control=False)
        drafts = [beside.read(view, path, self._fits) for path in self.more]
        queued = [beside.read(view, path, self._fits) for path in self.outbox]
        return self._concluded(main, drafts, queued, view.now())

    def _concluded(self, main: Listing, drafts: list[Listing], queued: list[Listing], at: datetime) -> Observation:
        lists = [main, *drafts, *queued]
        reasons = doubts_of(lists)
        evidence = [evidence_of(one, at) for one in lists if one.pages]
        if not main.readable:
            facts = facts_of(main)
            return self.cannot_tell(
                *reasons, evidence=evidence, at=at, login=main.login, misfit=main.misfit, listing=facts
            )
        if not self.complete:
            reasons.append("the list isn't declared complete, so it proves presence only")
        waiting, begun = _rows(queued), _rows(drafts)
        rows = main.rows or [*waiting, *begun]
        matches = [match_of(row, self.key, self.reads, self.site.decimal, self._made(row.row)) for row in rows]
        if not matches:
            return self.not_seen(*reasons, evidence=evidence, complete=not reasons, at=at, **of_list(main))
        return self.seen(
            matches,
            *evidence,
            reasons=reasons,
            at=at,
            fresh=True,
            complete=not reasons,
            pending=bool(waiting) or any(self._unfinished(listed.row) for listed in main.rows),
            partial=not main.rows and not waiting,
            **of_list(main),
        )

    def _fits(self, row: Row) -> bool | None:
        return fits(row, self.key, self.site.notation)

    def _made(self, row: Row) -> datetime | None:
        return moment(row.get(normal(self.created), ""), self.site.zone, self.site.date_order) if self.created else None

    def _unfinished(self, row: Row) -> bool:
        told = row.get(normal(self.status), "").casefold()
        return any(told == normal(word).casefold() for word in self.pending)

    def __str__(self) -> str:
        key = ", ".join(f"{column} = {text}" for column, text in self.key.items())
        return f"the record at {self.site}/{self.path} with {key}"


def _rows(lists: Sequence[Listing]) -> list[ListedRow]:
    return [row for listing in lists for row in listing.rows]
