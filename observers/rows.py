"""Makes matches and evidence from the rows of a list, for every observer that reads one.

An empty cell supplies no value: a number that isn't there yet is not the number "".
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from .comparison import Notation, compared
from .evidence import Evidence, ListFacts, Match, plain_address
from .listing import ListedRow, Listing
from .normal import normal, value
from .tables import Row


def fits(row: Row, key: Mapping[str, str], notation: Notation) -> bool | None:
    """Whether the row's key columns hold the key; None if none differs but one can't be compared (see `compared`)."""
    answers = {_holds(row, normal(column), text, notation) for column, text in key.items()}
    return False if False in answers else None if None in answers else True


def _holds(row: Row, column: str, text: str, notation: Notation) -> bool | None:
    return None if column in row.opaque else compared(row[column], text, notation)


def match_of(
    listed: ListedRow, key: Iterable[str], reads: Mapping[str, str], decimal: str, at: datetime | None = None
) -> Match:
    """The row as a match; `reads`: name of a value -> header of its column; `at`: when the record was made."""
    read = {name: value(listed.row.get(normal(column), ""), decimal) for name, column in reads.items()}
    link = urlsplit(listed.row.link or "")
    known_by = [*(listed.row[normal(column)] for column in key), *read.values(), link.path, link.query]
    return Match(
        values={name: text for name, text in read.items() if text},
        identity=" | ".join(known_by),
        box=listed.row.box,
        note=f"page {listed.page} of {plain_address(listed.address)}",
        at=at,
    )


def evidence_of(listing: Listing, at: datetime) -> Evidence:
    """The wanted rows, with the picture of their page."""
    return Evidence(
        kind="rows",
        words=_how_many(listing),
        rows=tuple(dict(listed.row) for listed in listing.rows),
        blob=listing.rows[0].picture if listing.rows else listing.picture,
        box=listing.rows[0].row.box if listing.rows else None,
        address=listing.address,
        at=at,
    )


def of_list(listing: Listing) -> dict[str, Any]:
    """An observation's fields about the list as a whole."""
    facts = facts_of(listing)
    return {"rows": facts.rows, "account": facts.account, "as_of": facts.as_of, "listing": facts}


def facts_of(listing: Listing) -> ListFacts:
    """How the list was read."""
    return ListFacts(
        columns=listing.headers or listing.other_headers,
        lacking=listing.lacking,
        rows=listing.rows_with_key,
        pages=listing.pages,
        told=tuple(sorted(listing.told)),
        told_empty=listing.told_empty,
        account=listing.account,
        as_of=listing.as_of,
        refused=listing.refused,
    )


def doubts_of(lists: Sequence[Listing]) -> list[str]:
    """Why an observer can't vouch for the lists; each reason names its list."""
    return [f"{urlsplit(one.address).path}: {words}" for one in lists for words in one.why_not_whole]


def _how_many(listing: Listing) -> str:
    """How many wanted rows were found in the list, in words."""
    if not listing.readable:
        return "a login page came instead of the list" if listing.login else "the page that came does not hold the list"
    if not listing.rows_read:
        return "the list is empty"
    found, of = len(listing.rows), f"{listing.rows_read} row{'s' if listing.rows_read > 1 else ''}"
    pages = f"{listing.pages} page{'s' if listing.pages > 1 else ''}"
    return f"{found or 'none'} of the {of} on {pages} {'are' if found > 1 else 'is'} it"
