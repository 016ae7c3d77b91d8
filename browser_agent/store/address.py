"""Where a store is: a file of this machine, or a PostgreSQL database; what of it may be shown; what lies beside it; and
where its pictures may lie instead: in another folder, or in a bucket.

An address may hold a password: it is shown without it, everywhere. What belongs to a machine and not to the store (the
profiles of its browsers), and pictures that have no place of their own, lie beside the file, or, for a database, in
this user's data folder under a name that is made of the address. Knows no database. What may never happen: a mistyped
address is taken for the name of a file.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import platformdirs

from browser_agent.errors import Misuse

SCHEMES = ("postgresql", "postgres")
BUCKET = "s3://"
_SECRET = frozenset({"password", "sslpassword"})
_NAMING = frozenset({"host", "port", "dbname", "options", "service"})
"""What may stand behind the ? of an address and says which database it is."""
_HEAD = re.compile(r"[a-z][a-z0-9+.-]*:/{1,2}|(postgre[a-z]*(\+[a-z0-9]+)?|s3)(:|//)", re.IGNORECASE)
"""How a text begins that is an address, or was meant for one: `postgresql:/`, `postgres//`."""


def located(said: Path | str) -> Path | str:
    """A store as it was said: an absolute path, or the address of a database in its one spelling.

    Raises:
        Misuse: the address of something else.
    """
    if isinstance(said, Path) or not meant_as_address(said):
        return Path(said).expanduser().absolute()
    scheme, is_address, rest = said.partition("://")
    if not is_address or scheme.partition("+")[0] not in SCHEMES:
        raise Misuse(
            f"A store is a file, or a database as postgresql://user@host/name: {_head(said)} is neither. For a file "
            "whose name begins like that write ./ before it."
        )
    return f"postgresql://{rest}"


def meant_as_address(said: str) -> bool:
    """Whether a text is an address, or is so much like one that it was meant for one; not a path."""
    return "://" in said or _HEAD.match(said) is not None


def is_database(said: Path | str) -> bool:
    """Whether a store as it was said is a database."""
    return isinstance(located(said), str)


def shown(where: Path | str) -> str:
    """The store in words for a person: the path, or the address without its password."""
    if isinstance(where, Path):
        return str(where)
    who, place, query = _parts(where)
    kept = "&".join(pair for pair in query.split("&") if pair.partition("=")[0] not in _SECRET)
    user = who.partition(":")[0]
    return f"postgresql://{f'{user}@' if user else ''}{place}{f'?{kept}' if kept else ''}"


def evidence_located(said: Path | str) -> Path | str:
    """Where pictures are to lie, as it was said: an absolute path, or the address of a bucket in its one spelling.

    Raises:
        Misuse: the address of something else, or one that holds more than a bucket and a prefix.
    """
    if isinstance(said, Path) or not meant_as_address(said):
        return Path(said).expanduser().absolute()
    scheme, _, rest = said.partition("://")
    bucket, *below = rest.split("/")
    prefix = [part for part in below if part]
    plain = not any(sign in rest for sign in "@?#:") and not {".", ".."} & set(prefix)
    if f"{scheme}://" != BUCKET or not bucket or not plain:
        raise Misuse(
            "Pictures lie in a folder, or in a bucket as s3://bucket/prefix; its endpoint and its key stand in the "
            f"environment (AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and so on): {_head(said)}... is neither."
        )
    return BUCKET + "/".join([bucket, *prefix])


def evidence_beside(where: Path | str) -> Path:
    """The folder of the store's pictures; it may be a link to another one."""
    return where.with_suffix(".evidence") if isinstance(where, Path) else _folder(where) / "evidence"


def profiles_beside(where: Path | str) -> Path:
    """The folder of the profiles of browsers that this machine has started for the store."""
    return where.with_suffix(".browsers") if isinstance(where, Path) else _folder(where) / "browsers"


def _head(said: str) -> str:
    """How an address begins, and no more of it: the rest may hold a password."""
    found = _HEAD.match(said)
    return found[0] if found else f"{said.partition('://')[0]}://"


def _folder(address: str) -> Path:
    """Where this machine keeps what lies beside a database, whoever the user is that it is reached as."""
    _, place, query = _parts(address)
    naming = sorted(pair for pair in query.split("&") if pair.partition("=")[0] in _NAMING)
    name = hashlib.sha256("\n".join([place, *naming]).encode()).hexdigest()[:16]
    return platformdirs.user_data_path("browser-agent") / "stores" / name


def _parts(address: str) -> tuple[str, str, str]:
    """Who, where, and what stands behind the ?; of a password that holds such a sign itself nothing gets past "who"."""
    rest = address.partition("://")[2]
    head, _, query = rest.partition("?")
    if "@" in query and "@" not in head:
        who, _, rest = rest.rpartition("@")
        return who, *rest.partition("?")[::2]
    who, _, place = head.rpartition("@")
    return who, place, query
