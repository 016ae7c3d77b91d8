"""The files in a step's value: stored by path, size and hash, and compared when a replay returns the value.

A path that is no file is a value like any other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AnySet
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from browser_agent.errors import FileChanged


def files_of(value: object) -> str | None:
    """The files in a step's value as JSON; None if there are none."""
    found = {path: _facts(path) for path in _paths(value) if path.is_file()}
    return json.dumps([*found.values()]) if found else None


def check_files(stored: str | None, step: str) -> None:
    """Check that each file is still the one that the step made.

    Args:
        stored: what `files_of` returned.
        step: the step in words.

    Raises:
        FileChanged: some are gone or were altered; the message names all of them.
    """
    wrong = [words for made in json.loads(stored or "[]") if (words := _changed(made))]
    if wrong:
        raise FileChanged(f"{'; '.join(wrong)}. It was made by {step}, which isn't run again: put it back, and resume.")


def _changed(made: Mapping[str, Any]) -> str:
    path = Path(made["path"])
    if not path.is_file():
        return f"The file {path} ({made['size']:,} bytes) is gone"
    now = _facts(path)
    if (now["size"], now["sha256"]) == (made["size"], made["sha256"]):
        return ""
    return f"The file {path} was altered (SHA-256 {now['sha256'][:12]}..., it was {made['sha256'][:12]}...)"


def _facts(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"path": str(path.absolute()), "size": path.stat().st_size, "sha256": digest}


def _paths(value: object) -> Iterator[Path]:
    if isinstance(value, Path):
        yield value
        return
    inner: Any = ()
    if isinstance(value, BaseModel):
        inner = (getattr(value, name) for name in type(value).model_fields)
    elif is_dataclass(value):
        inner = (getattr(value, one.name) for one in fields(value))
    elif isinstance(value, Mapping):
        inner = value.values()
    elif isinstance(value, list | tuple | AnySet):
        inner = value
    for each in inner:
        yield from _paths(each)
