"""A row of a list whose status word says how far the effect has come: an observer that counts and interprets words.

The site's owner declares the meaning of each word. An undeclared word is never guessed: the observer then can't tell,
and names the word.
"""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, field
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Literal

from .evidence import Match, Observation
from .listing import ListedRow, ListReader
from .normal import normal
from .observer import Observer
from .rows import doubts_of, evidence_of, facts_of, fits, match_of, of_list
from .site import Site
from .tables import Row

if TYPE_CHECKING:
    from .view import View

Meaning = Literal["happened", "pending", "partial", "no_effect"]
"""What a status word says about the gesture.

happened: its effect is there, whatever became of it later: an order that somebody cancelled was placed.
pending: the site has accepted it but hasn't finished; nothing is concluded yet, least of all that it did not happen.
partial: only a part of it is there, such as a draft; a person is asked.
no_effect: it left a row and will never have another effect, such as a failed payment. The row is treated as if it
    weren't there. Declare this only for a final status; every condition of absence must still hold before the gesture
    is made again.
"""
_SAID: dict[Meaning, str] = {
    "happened": "happened",
    "pending": "accepted, and not done yet",
    "partial": "only a part of it",
    "no_effect": "no effect",
}


class OrderStatus(Observer):
    """Rows of a list whose key columns hold the given texts, judged by the word in their status column.

        OrderStatus(shop, "orders", key={"Reference": order}, complete=True, reads={"number": "Number"},
                    means={"Received": "happened", "Shipped": "happened", "Processing": "pending",
                           "Draft": "partial", "Payment failed": "no_effect"})

    Args:
        site, path, key, complete, reads, unique, staleness, count, empty, as_of: as in `Record`.
        column: header of the column that holds the status word.
        means: every status word of the site -> its `Meaning`, ignoring case. An undeclared word in a row with our key
            makes the whole look "cannot tell".

    For a gesture that moves a record from one status to another, declare the earlier status as "no_effect".
    """

    counts: ClassVar[bool] = True

    site: Site
    path: str
    _: KW_ONLY
    key: dict[str, str]
    means: dict[str, Meaning]
    column: str = "Status"
    complete: bool = False
    reads: dict[str, str] = field(default_factory=dict)
    unique: bool = True
    staleness: timedelta = timedelta(0)
    count: str | None = None
    empty: str = ""
    as_of: str = ""

    def __post_init__(self) -> None:
        if not self.key:
            raise ValueError("an order without a key fits every row: give at least one column and its text")
        if len({_folded(word) for word in self.means}) < len(self.means):
            raise ValueError("a status word is declared twice (upper and lower case are the same)")
        if "happened" not in self.means.values():
            raise ValueError("no status word is declared to mean 'happened', so nothing could ever be proven")
        _ = self.site / self.path

    @property
    def supplies(self) -> frozenset[str]:
        """The names in `reads`."""
        return frozenset(self.reads)

    def look(self, view: "View") -> Observation:
        """Read the list to its end."""
        columns = (*self.reads.values(), self.column)
        reader = ListReader(self.site, self.key, columns, self.count, self.empty, as_of=self.as_of)
        listing = reader.read(view, self.path, self._fits)
        at = view.now()
        evidence = [evidence_of(listing, at)] if listing.pages else []
        doubts = doubts_of([listing])
        undeclared = [word for word in self._words(listing.rows) if self._meaning(word) is None]
        if not listing.readable or undeclared:
            unknown = [f"nobody has declared what the status “{word}” means" for word in undeclared]
            candidates = [] if listing.foreign else self._matches(listing.rows)
            return self.cannot_tell(
                *unknown,
                *doubts,
                evidence=evidence,
                at=at,
                candidates=candidates,
                login=listing.login,
                misfit=listing.misfit,
                listing=facts_of(listing),
            )
        if not self.complete:
            doubts.append("the list isn't declared complete, so it proves presence only")
        reasons = [*self._said(listing.rows), *doubts]
        effects = [row for row in listing.rows if self._meaning_of(row) != "no_effect"]
        if not effects:
            said = self.not_seen(*reasons, evidence=evidence, complete=not doubts, at=at, **of_list(listing))
            return said.model_copy(update={"without_effect": tuple(self._matches(listing.rows))})
        told = {self._meaning_of(row) for row in effects}
        return self.seen(
            self._matches(effects),
            *evidence,
            reasons=reasons,
            at=at,
            fresh=True,
            complete=not doubts,
            pending="pending" in told,
            partial="partial" in told,
            **of_list(listing),
        )

    def _fits(self, row: Row) -> bool | None:
        return fits(row, self.key, self.site.notation)

    def _matches(self, rows: Iterable[ListedRow]) -> list[Match]:
        return [match_of(row, self.key, self.reads, self.site.decimal) for row in rows]

    def _words(self, rows: Iterable[ListedRow]) -> list[str]:
        return list(dict.fromkeys(listed.row[normal(self.column)] for listed in rows))

    def _meaning(self, word: str) -> Meaning | None:
        return {_folded(known): meaning for known, meaning in self.means.items()}.get(_folded(word))

    def _meaning_of(self, listed: ListedRow) -> Meaning | None:
        return self._meaning(listed.row[normal(self.column)])

    def _said(self, rows: Sequence[ListedRow]) -> list[str]:
        meanings = ((word, self._meaning(word)) for word in self._words(rows))
        return [f"its status is “{word}”: {_SAID[meaning]}" for word, meaning in meanings if meaning is not None]

    def __str__(self) -> str:
        key = ", ".join(f"{column} = {text}" for column, text in self.key.items())
        return f"the status of {self.site}/{self.path} with {key}"


def _folded(word: str) -> str:
    return normal(word).casefold()
