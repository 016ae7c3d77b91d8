"""A site: a named service with an account, and what its owner declares about it.

An address made by `site / "path"` never leaves the site's base, so data in a path can't lead a task to another host.
"""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import GetCoreSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from .answer_contract import Accepted
from .comparison import Notation
from .evidence import plain_address
from .request_pattern import SAFE_METHODS, matches_request

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_NOT_IN_A_PATH = re.compile(r"[\s\\\x00-\x1f\x7f]")


class Declared(NamedTuple):
    """The address and account that are written in the task's source."""

    url: str
    account: str


class Site:
    """A named service as the task declares it; `bind` gives it another address or account at run time.

    Args:
        name: letters, digits, `-` and `_`; the name that is stored and given on the command line.
        url: http or https address that every page's address begins with.
        account: the account that we use there; absence is only proven under the same account.
        late_commit: how long after its sender's death a request may still take effect; None = unknown, and then
            "not seen" never counts as "not happened".
        harmless: writes that may be repeated while a page is prepared, such as "POST /draft/*".
        reads: requests that only read although their method could write, such as "POST /search" or "POST /graphql". A
            look may send them, and a gesture's don't count as writes (unless it declares one as its commit request).
        rejects: statuses that the site documents as "refused before execution".
        accepts: its written contract of answers that mean "carried out", such as "POST /orders -> 201" or
            "POST /invoices -> 303 /invoices/*"; by default an answer proves nothing by itself.
        signed_in: a CSS selector or a text that is on every page while the session lives; "{account}" in it stands
            for the bound account, so that pages of another account are recognised as foreign.
        zone: the IANA time zone of the times that the site shows without an offset.
        clock_skew: how much the site's clock may differ from ours, plus the resolution of its times.
        decimal: the decimal mark of the amounts that it shows, "." or ",".
        date_order: the order of day, month and year in the dates that it shows: "dmy", "mdy" or "ymd". Without it only
            dates that can't be mistaken are read, such as 2026-11-30 and 30.11.2026.
        sole_user: nothing and nobody else makes records in this account, so a new record from the time of a gesture
            was made by the gesture.
        scripts: its lists need scripts to be read; False switches scripts off in every look (looks leak less).
        shows_fields: CSS selectors of fields whose content may be visible in pictures, such as "[name=amount]". All
            others are masked; passwords, cards and one-time codes always are.
        indexed_db: its session also uses IndexedDB, which is then saved and restored (about 3 ms per row and gesture).

    Raises:
        ValueError: a name, address or mark can't be used.
    """

    def __init__(
        self,
        name: str,
        *,
        url: str,
        account: str,
        late_commit: timedelta | None = None,
        harmless: Sequence[str] = (),
        reads: Sequence[str] = (),
        rejects: Sequence[int] = (),
        accepts: Sequence[str] = (),
        signed_in: str = "",
        zone: str = "UTC",
        clock_skew: timedelta = timedelta(minutes=2),
        decimal: str = ".",
        date_order: str = "",
        sole_user: bool = False,
        scripts: bool = True,
        shows_fields: Sequence[str] = (),
        indexed_db: bool = False,
    ) -> None:
        if not _NAME.fullmatch(name):
            raise ValueError(f"a site's name is letters, digits, '-' and '_', and begins with a letter: {name!r}")
        if decimal not in {".", ","}:
            raise ValueError(f"the decimal mark of site {name!r} is '.' or ',', not {decimal!r}")
        if date_order not in {"", "dmy", "mdy", "ymd"}:
            raise ValueError(f"the date order of site {name!r} is 'dmy', 'mdy' or 'ymd', not {date_order!r}")
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise ValueError(
                f"no time zone {zone!r} of site {name!r} is known here; write it as Europe/Berlin"
            ) from error
        if late_commit is not None and late_commit < timedelta(0):
            raise ValueError(f"late_commit of site {name!r} is negative")
        self.name = name
        self.declared = Declared(_base(name, url), account)
        self.url, self.account = self.declared
        self.late_commit = late_commit
        self.harmless = tuple(harmless)
        self.reads = tuple(reads)
        self.rejects = tuple(rejects)
        self.accepts = tuple(Accepted.read(text) for text in accepts)
        self.signed_in = signed_in
        self.zone = zone
        self.clock_skew = clock_skew
        self.decimal = decimal
        self.date_order = date_order
        self.sole_user = sole_user
        self.scripts = scripts
        self.shows_fields = tuple(shows_fields)
        self.indexed_db = indexed_db

    def bind(self, url: str | None = None, account: str | None = None) -> None:
        """Change the address or account from now on, wherever this object is used. None leaves it as it is."""
        if url is not None:
            self.url = _base(self.name, url)
        if account is not None:
            self.account = account

    @property
    def mark(self) -> str:
        """`signed_in` for the bound account; empty if none is declared."""
        return self.signed_in.replace("{account}", self.account)

    @property
    def notation(self) -> Notation:
        """How it writes amounts and times."""
        return Notation(self.decimal, self.zone, self.date_order)

    def __truediv__(self, path: str) -> str:
        """The absolute address of `path` below the site's base. Raises ValueError if it would lie elsewhere."""
        if _NOT_IN_A_PATH.search(path) or "\\" in unquote(path):
            raise ValueError(f"{path!r} isn't a path of site {self.name!r}: it holds a space, a backslash or a control")
        parts = urlsplit(path)
        if parts.scheme or path.startswith("//") or parts.netloc:
            raise ValueError(f"{path!r} leads away from site {self.name!r}: only a path below {self.url} may be given")
        if ".." in unquote(parts.path).split("/"):
            raise ValueError(f"{path!r} climbs out of site {self.name!r}: '..' isn't allowed in a path")
        return f"{self.url.rstrip('/')}/{path.removeprefix('/')}"

    def holds(self, address: str) -> bool:
        """Whether `address` is at or below the site's base."""
        root, path = urlsplit(self.url).path.rstrip("/"), urlsplit(address).path
        return self.is_of_origin(address) and (path == root or path.startswith(root + "/") or not root)

    def is_of_origin(self, address: str) -> bool:
        """Whether `address` has the origin (scheme, host and port) of the site."""
        return origin_of(address) == origin_of(self.url)

    @property
    def repeatable(self) -> tuple[str, ...]:
        """Patterns of the requests that may be repeated while a page is prepared: `harmless` and `reads`."""
        return (*self.harmless, *self.reads)

    def reads_by(self, method: str, address: str) -> bool:
        """Whether this request only reads: by its method (RFC 9110, 9.2.1), or as declared in `reads`."""
        if method in SAFE_METHODS:
            return True
        return self.is_of_origin(address) and any(matches_request(pattern, method, address) for pattern in self.reads)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Site) and (self.name, self.declared) == (other.name, other.declared)

    def __hash__(self) -> int:
        return hash((self.name, self.declared))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Site({self.name!r}, url={self.url!r}, account={self.account!r})"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A site is stored as its name, and read back through the validation context `{"sites": {name: site}}`."""
        return core_schema.with_info_plain_validator_function(
            cls._validated, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def _validated(cls, value: object, info: ValidationInfo) -> "Site":
        if isinstance(value, Site):
            return value
        known: dict[str, Site] = (info.context or {}).get("sites", {})
        if isinstance(value, str) and value in known:
            return known[value]
        raise ValueError(f"site {value!r} isn't declared here; known are: {', '.join(sorted(known)) or 'none'}")


def origin_of(address: str) -> str:
    """Scheme, host and port of an address, as in a page's `location.origin`."""
    parts = urlsplit(address)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    port = "" if parts.port in (None, default) else f":{parts.port}"
    return f"{parts.scheme}://{parts.hostname or ''}{port}"


def _base(name: str, url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(
            f"the address of site {name!r} must begin with http:// or https:// and a host: {plain_address(url)!r}"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(f"the address of site {name!r} must be without user name, password, query and fragment")
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"
