"""What an observer saw and what it says about it: plain frozen data, stored as JSON and read back unchanged.

It never contains the values of an address's query, or a user name and password in front of the host: `Evidence` itself
drops them.
"""

import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Literal, Self
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, model_validator

Box = tuple[float, float, float, float]
"""Left, top, width and height in CSS pixels of the page."""


def plain_address(address: str) -> str:
    """`address` without user name, password, fragment, path parameters (`;jsessionid=...`) and the values of its query
    (their names are kept).

    Source: audit rules, "Redaction". Of an address that can't be parsed, only the scheme is kept.
    """
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
        names = "&".join(dict.fromkeys(name for name, _ in parse_qsl(parts.query, keep_blank_values=True)))
    except ValueError:
        return address.partition(":")[0] + ":"
    if parts.scheme in {"data", "blob", "javascript"}:  # such an address contains the content itself
        return f"{parts.scheme}:"
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    path = re.sub(r";[^/]*", "", parts.path)
    return urlunsplit((parts.scheme, host + port, path, names, ""))


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


Moment = Annotated[AwareDatetime, AfterValidator(_utc)]


class Frozen(BaseModel):
    """Immutable data."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Sight(StrEnum):
    """What an observer says. `cannot_tell` is the safe default: it never changes a verdict."""

    seen = "seen"
    not_seen = "not_seen"
    cannot_tell = "cannot_tell"


class Evidence(Frozen):
    """One thing that was seen: text, rows of a list, a picture, a page, a fact from the wire, a downloaded file."""

    kind: Literal["text", "rows", "picture", "page", "wire", "file"]
    words: str
    text: str | None = None
    rows: tuple[dict[str, str], ...] = ()
    blob: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    box: Box | None = None
    address: Annotated[str, AfterValidator(plain_address)] | None = None
    at: Moment


class Match(Frozen):
    """One thing on a page that fits what the observer looks for.

    `identity`: the normalised fingerprint by which a match of the baseline is recognised. `ours`: it carries a mark
    that only this gesture can have left. `at`: when the thing was made, as the site shows it. `since`: the earliest
    time at which it can have been on the page: when the response with its document began to arrive.
    """

    values: dict[str, str] = Field(default_factory=dict)
    identity: str
    box: Box | None = None
    note: str = ""
    ours: bool = False
    at: datetime | None = None
    since: datetime | None = None


class ListFacts(Frozen):
    """How a list was read, for a person who checks a proof before it is needed.

    `columns`: the headers of its table, or of all tables if none has the declared columns. `lacking`: the declared
    columns that aren't among them. `rows`: how many rows were read with all key columns. `pages`: how many pages were
    read. `told`: the numbers of rows that they state. `told_empty`: a page said that the list is empty. `account`: the
    text of the signed-in sign. `as_of`: the time that the list states for its content. `refused`: the requests of the
    page that a look doesn't send since they may write, such as "POST /graphql".
    """

    columns: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    rows: int = 0
    pages: int = 0
    told: tuple[int, ...] = ()
    told_empty: bool = False
    account: str = ""
    as_of: Moment | None = None
    refused: tuple[str, ...] = ()


class Observation(Frozen):
    """What one observer says after one look.

    `complete`: the observer vouches for the whole list (session alive, same account, every page read, count
    agrees, declared complete). `fresh`: read on a page opened for this look. `counts`: it counts effects, where
    others only prove "at least once". `partial`: only a part of the effect is there (a header without lines, a
    draft). `pending`: the site has accepted it but hasn't finished. `staleness`: how far the list may lag behind.
    `login`: a login page came instead of the page to read, so the session has ended.
    `candidates`: possible matches that prove nothing by themselves, such as a number without our key. `parts`: what
    each part said, for an effect that has two. `rows`: how many rows of the list were read with all key columns;
    None = it isn't a list. `account`: the text of the signed-in sign, as the page showed it; "" = no such sign.
    `without_effect`: rows with our key that are declared to have no effect. `as_of`: the time that the list itself
    states for its content. `refusal`: the page says that it was refused. `misfit`: the page loaded, but isn't what the
    observer was told to read: a table lacks its columns. `vanished`: what was seen is that a row is there no longer.
    `listing`: how the list was read; it is never stored.
    """

    kind: str
    observer: str
    sight: Sight
    matches: tuple[Match, ...] = ()
    candidates: tuple[Match, ...] = ()
    complete: bool = False
    fresh: bool = False
    counts: bool = False
    partial: bool = False
    pending: bool = False
    reasons: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    at: Moment
    staleness: timedelta = timedelta(0)
    login: bool = False
    parts: "tuple[Observation, ...]" = ()
    rows: int | None = None
    account: str = ""
    without_effect: tuple[Match, ...] = ()
    as_of: Moment | None = None
    refusal: bool = False
    misfit: bool = False
    vanished: bool = False
    listing: ListFacts | None = Field(default=None, exclude=True, repr=False)

    @property
    def kinds_that_saw(self) -> frozenset[str]:
        """The kinds of this observation and its parts, if they saw what they looked for."""
        parts = frozenset[str]().union(*(part.kinds_that_saw for part in self.parts))
        return parts | {self.kind} if self.sight is Sight.seen else parts

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.sight is Sight.seen) != bool(self.matches):
            raise ValueError("an observation has matches exactly when its sight is 'seen'")
        if self.sight is Sight.cannot_tell and (self.complete or self.partial or self.pending):
            raise ValueError("an observer that cannot tell vouches for nothing: not complete, partial or pending")
        return self
