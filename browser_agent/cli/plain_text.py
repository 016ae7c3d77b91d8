"""Converts rows to JSON data without fencing tokens, and removes terminal escape sequences from pages' texts."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from typing import Any

from sqlmodel import SQLModel

_NEVER_SHOWN = {"token", "lease_until"}  # the fencing token, and a number of the database's own clock
_HARMLESS = "\n\t\u200c\u200d"  # some languages need joiners in their spelling


def plain(text: object) -> str:
    """The text without control characters and without marks that change its direction."""
    return "".join(
        sign if sign in _HARMLESS or unicodedata.category(sign) not in {"Cc", "Cf", "Co", "Cs"} else "\ufffd"
        for sign in str(text)
    )


def one_line(text: object, most: int = 200) -> str:
    """The text on one line, shortened."""
    line = " ".join(plain(text).split())
    return line if len(line) <= most else line[: most - 3] + "..."


def loaded(text: str | None) -> Any:
    """The data of a JSON column; a text that isn't JSON is returned as it is."""
    try:
        return None if text is None else json.loads(text)
    except ValueError:
        return text


def row(of: SQLModel, *json_columns: str) -> dict[str, Any]:
    """A row as JSON data in its table's column order, with the JSON columns parsed."""
    data = of.model_dump(mode="json", exclude=_NEVER_SHOWN)
    names = (name for name in type(of).model_fields if name in data)
    return {name: loaded(data[name]) if name in json_columns else data[name] for name in names}


RUN = ("arguments", "sites", "result")
ATTEMPT = ("keeper", "worker", "driver", "browser", "packages")
STEP = ("arguments", "value", "raised")
GESTURE = ("intent", "baseline", "target_box", "change", "wire", "values", "reasons", "proven_by")
QUESTION = ("reasons", "evidence", "details", "values")


def values_in_words(values: object) -> str:
    """What was proven, in a few words."""
    if isinstance(values, dict):
        return ", ".join(f"{name} {one_line(value, 60)}" for name, value in values.items())
    if isinstance(values, Iterable) and not isinstance(values, str):
        found = list(values)
        many = len(found) > 3 or (len(found) > 1 and isinstance(found[0], dict))
        return f"{len(found)} found" if many else "; ".join(values_in_words(value) for value in found)
    return "" if values is None else one_line(values, 60)
