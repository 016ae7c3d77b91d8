"""Addresses: of a store (a file or a PostgreSQL database), and of its pictures (a folder or a bucket).

An address may hold a password, so it is always shown without it. A mistyped address is refused, never taken for a file
name. What belongs to this machine (browser profiles, and pictures without a location of their own) goes beside the
store's file; for a database, into a folder in the user's data folder named by a hash of the address.
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
"""Query parameters that determine which database an address names."""
_HEAD = re.compile(r"[a-z][a-z0-9+.-]*:/{1,2}|(postgre[a-z]*(\+[a-z0-9]+)?|s3)(:|//)", re.IGNORECASE)
"""The start of an address, well or badly typed: `postgresql:/`, `postgres//`."""


def located(said: Path | str) -> Path | str:
    """Normalize a store's address: an absolute path, or `postgresql://...`.

    Raises:
        Misuse: the address of something else.
    """
    if isinstance(said, Path) or not meant_as_address(said):
        return Path(said).expanduser().absolute()
    scheme, is_address, rest = said.partition("://")
    if not is_address or scheme.partition("+")[0] not in SCHEMES:
        raise Misuse(
            f"A store is a file, or a database as postgresql://user@host/name: {_head(said)} is neither. If it is a "
            "file whose name begins like that, write ./ before it."
        )
    return f"postgresql://{rest}"


def meant_as_address(said: str) -> bool:
    """Whether the text is an address, or looks like a mistyped one, and so isn't a path."""
    return "://" in said or _HEAD.match(said) is not None


def is_database(said: Path | str) -> bool:
    """Whether the address names a database."""
    return isinstance(located(said), str)


def shown(where: Path | str) -> str:
    """The store for a person: the path, or the address without its password."""
    if isinstance(where, Path):
        return str(where)
    user_info, location, query = _parts(where)
    kept = "&".join(pair for pair in query.split("&") if pair.partition("=")[0] not in _SECRET)
    user = user_info.partition(":")[0]
    return f"postgresql://{f'{user}@' if user else ''}{location}{f'?{kept}' if kept else ''}"


def evidence_located(said: Path | str) -> Path | str:
    """Normalize the address of pictures: an absolute path, or `s3://bucket/prefix`.

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
            "Pictures go into a folder, or into a bucket as s3://bucket/prefix; set its endpoint and key in the "
            f"environment (AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and so on): {_head(said)}... is neither."
        )
    return BUCKET + "/".join([bucket, *prefix])


def evidence_beside(where: Path | str) -> Path:
    """The default folder of the store's pictures; it may be a link to another folder."""
    return where.with_suffix(".evidence") if isinstance(where, Path) else _folder(where) / "evidence"


def profiles_beside(where: Path | str) -> Path:
    """The folder of the profiles of browsers that this machine started for the store."""
    return where.with_suffix(".browsers") if isinstance(where, Path) else _folder(where) / "browsers"


def _head(said: str) -> str:
    """The start of an address and no more of it: the rest may hold a password."""
    found = _HEAD.match(said)
    return found[0] if found else f"{said.partition('://')[0]}://"


def _folder(address: str) -> Path:
    """This machine's folder for a database, the same for every database user."""
    _, location, query = _parts(address)
    naming = sorted(pair for pair in query.split("&") if pair.partition("=")[0] in _NAMING)
    name = hashlib.sha256("\n".join([location, *naming]).encode()).hexdigest()[:16]
    return platformdirs.user_data_path("browser-agent") / "stores" / name


def _parts(address: str) -> tuple[str, str, str]:
    """User and password, host and name, query. An unescaped @ or ? in a password stays with the password."""
    rest = address.partition("://")[2]
    head, _, query = rest.partition("?")
    if "@" in query and "@" not in head:
        user_info, _, rest = rest.rpartition("@")
        return user_info, *rest.partition("?")[::2]
    user_info, _, location = head.rpartition("@")
    return user_info, location, query
