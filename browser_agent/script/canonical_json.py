"""Canonical JSON: equal values give equal text and different values different text, in every process.

RFC 8785 (package rfc8785) after a pass over the types, since JSON can't tell `10` from `Decimal("10.00")` in a way that
survives a round trip. A type that JSON lacks becomes an object with one tagged key (`$decimal`); a text key that begins
with `$` gets a second `$`, so that no value can imitate a tag. An unlisted type is refused, since its `repr` may differ
between processes.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import rfc8785
from pydantic import BaseModel

from browser_agent.errors import WrongArguments
from browser_agent.script.unknown_value import UnknownValue, canonical_unknown
from browser_agent.secrets.secret import SECRET_TAG, Secret

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

EXACT = 2**53 - 1
"""The largest integer that every JSON reader holds exactly (RFC 8785, section 3.2.2.3 / I-JSON)."""


def canonical(value: object) -> str:
    """The canonical JSON text of a value.

    Decimals are written by their amount (`10.0` and `10.00` are equal), datetimes as UTC, sets sorted, text in NFC,
    models and dataclasses by their fields, enums by their value, bytes and files by the SHA-256 of their content,
    secrets by their name and keyed HMAC (without a key by their name alone).

    Raises:
        WrongArguments: the value holds a type that isn't listed, a datetime without a zone, NaN, or a file that can't
            be read; the message says where, such as `shipment.lines[2].amount`.
    """
    try:
        return rfc8785.dumps(_plain(value, "")).decode()
    except RecursionError as error:
        raise WrongArguments("The value contains itself, so it has no canonical form.") from error


def digest(text: str) -> str:
    """SHA-256 of a text, as 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object, at: str) -> Json:  # noqa: PLR0911, PLR0912 (a table of types, one line each)
    match value:
        case None | bool():
            return value
        case Enum():
            return _plain(value.value, at)
        case Secret():
            return {SECRET_TAG: value.mark}
        case UnknownValue():
            return canonical_unknown(value)
        case str():
            return _text(value, at)
        case int():
            return int(value) if abs(value) <= EXACT else {"$int": str(int(value))}
        case float():
            return _float(value, at)
        case BaseModel():
            return _members(
                {**{n: getattr(value, n) for n in type(value).model_fields}, **(value.model_extra or {})}, at
            )
        case Mapping():
            return _members(value, at)
        case AbstractSet():
            return {"$set": sorted((_plain(item, f"{at}{{}}") for item in value), key=rfc8785.dumps)}
        case bytes() | bytearray() | memoryview():
            return {"$bytes": hashlib.sha256(value).hexdigest()}
        case Sequence():
            return [_plain(item, f"{at}[{position}]") for position, item in enumerate(value)]
    if is_dataclass(value) and not isinstance(value, type):
        return _members({f.name: getattr(value, f.name) for f in fields(value)}, at)
    for kind, tag, written in _TAGGED:
        if isinstance(value, kind):
            return {f"${tag}": written(value, at)}
    raise WrongArguments(f"{_where(at)} is a {type(value).__qualname__}, which has no canonical form.")


def _where(at: str) -> str:
    return at.lstrip(".") or "The value"


def _text(value: str, at: str) -> str:
    text = unicodedata.normalize("NFC", value)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise WrongArguments(f"{_where(at)} contains half a character (a lone surrogate).") from error
    return text


def _float(value: float, at: str) -> float:
    if not math.isfinite(value):
        raise WrongArguments(f"{_where(at)} is {value}, which JSON can't express.")
    return float(value)


def _members(mapping: Mapping[Any, Any], at: str) -> Json:
    plain: dict[str, Json] = {}
    for key, item in mapping.items():
        if not isinstance(key, str):
            raise WrongArguments(f"{_where(at)} has the key {key!r}; keys must be text.")
        name = _text(str(key.value) if isinstance(key, Enum) else key, at)
        name = f"${name}" if name.startswith("$") else name
        if name in plain:
            raise WrongArguments(f"{_where(at)} has the key {name!r} twice, written in two ways.")
        plain[name] = _plain(item, f"{at}.{key}")
    return plain


def _decimal(value: Decimal, at: str) -> str:
    if not value.is_finite():
        raise WrongArguments(f"{_where(at)} is {value}, which JSON can't express.")
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def _datetime(value: datetime, at: str) -> str:
    if value.tzinfo is None:
        raise WrongArguments(f"{_where(at)} is a datetime without a zone: say which, such as datetime.now(UTC).")
    return value.astimezone(UTC).isoformat()


def _file(value: Path, at: str) -> str:
    try:
        with value.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise WrongArguments(f"{_where(at)}: the file {value} can't be read ({error.strerror}).") from error


_TAGGED: tuple[tuple[type, str, Callable[[Any, str], str]], ...] = (
    (Decimal, "decimal", _decimal),
    (datetime, "datetime", _datetime),  # before date, which it is a kind of
    (date, "date", lambda value, at: value.isoformat()),
    (time, "time", lambda value, at: value.isoformat()),
    (timedelta, "duration", lambda value, at: str(value // timedelta(microseconds=1))),
    (UUID, "uuid", lambda value, at: str(value)),
    (Path, "file", _file),
)
