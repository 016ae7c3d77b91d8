"""What an observer saw and what it says about it: plain frozen data, stored as JSON and read back unchanged.

This module must not know pages, verdicts or stores. It may never hold the values of an address's query or the
name and password in front of its host: `Evidence` drops them itself, whoever fills it.
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

    Source: audit rules, "Redaction". An address that can't be read is dropped to its scheme.
    """
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
        names = "&".join(dict.fromkeys(name for name, _ in parse_qsl(parts.query, keep_blank_values=True)))
    except ValueError:
        return address.partition(":")[0] + ":"
    if parts.scheme in {"data", "blob", "javascript"}:  # the content itself stands in such an address
        return f"{parts.scheme}:"
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    path = re.sub(r";[^/]*", "", parts.path)
    return urlunsplit((parts.scheme, host + port, path, names, ""))


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


Moment = Annotated[AwareDatetime, AfterValidator(_utc)]


class Frozen(BaseModel):
    """Data that nobody changes after it was made."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Sight(StrEnum):
    """What an observer says. `cannot_tell` is the honest default: it never changes a verdict."""

    seen = "seen"
    not_seen = "not_seen"
    cannot_tell = "cannot_tell"


class Evidence(Frozen):
    """One thing that was seen: text, rows of a list, a picture, a page, a fact from the wire, a file that came."""

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

    `identity` is the normalised fingerprint by which a match of the baseline is known again. `ours` says that it
    carries a mark that only this gesture can have left. `at`: when the thing was made, as the site shows it. `since`:
    since when it can have stood on the page: when the answer that brought its document began to come.
    """

    values: dict[str, str] = Field(default_factory=dict)
    identity: str
    box: Box | None = None
    note: str = ""
    ours: bool = False
    at: datetime | None = None
    since: datetime | None = None


class Observation(Frozen):
    """What one observer says after one look.

    `complete`: the observer vouches for the whole list (session alive, same account, every page read, count
    agrees, declared complete). `fresh`: read on a page opened for this look. `counts`: it counts effects, as
    against proving "at least once". `partial`: only a part of the effect is there (a header without lines, a
    draft). `pending`: the site has accepted it and isn't done. `staleness`: how far the list may lag behind.
    `login`: a login page came instead of what was to be read, so the session has ended.
    `candidates`: what may be it and proves nothing by itself, such as a number without our key. `parts`: what each
    part said, of an effect that has two. `rows`: how many rows of the list were read with all key columns; None = it
    isn't a list. `account`: the text of the sign of being signed in, as the page showed it; "" = no such sign.
    `without_effect`: rows with our key that are declared to have none. `as_of`: the moment that the list itself says it
    shows. `refusal`: the page says that it was refused. `misfit`: the page came, and isn't what the observer was told
    to read: a table lacks its columns.
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

    @property
    def kinds_that_saw(self) -> frozenset[str]:
        """The kind of this observation and those of its parts, as far as they saw what they looked for."""
        parts = frozenset[str]().union(*(part.kinds_that_saw for part in self.parts))
        return parts | {self.kind} if self.sight is Sight.seen else parts

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.sight is Sight.seen) != bool(self.matches):
            raise ValueError("an observation has matches exactly when its sight is 'seen'")
        if self.sight is Sight.cannot_tell and (self.complete or self.partial or self.pending):
            raise ValueError("an observer that cannot tell vouches for nothing: not complete, partial or pending")
        return self
