"""A secret value, which can be used but is never stored, printed or pickled.

The journal stores a secret's name and, if there is a key (see `seal`), a keyed HMAC-SHA256 of name and value. Without a
key it stores nothing of the value, since an unkeyed digest of a short secret is easily guessed; two secrets of one name
then look equal. Scrubbers mask every secret of this process until it ends, since it may appear in any later text.
"""

from __future__ import annotations

import getpass
import hmac
import os
import re
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, NoReturn

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from browser_agent.errors import Misuse
from browser_agent.secrets.seal import load_seal

SECRET_TAG = "$secret"
MARK_TAG = "hmac"
HOW = "write env:NAME, @FILE or prompt; from Python, Secret(value, name=...)"

_NOT_IN_A_NAME = re.compile(r"[\\\[\]\"'<>\s]")
_values: dict[str, str] = {}  # value -> name, of every secret of this process
_taken: dict[str, str] = {}  # name -> value, of variables that were removed from the environment


class SecretMissing(Misuse):
    """A secret of a run can't be read from its source here. Nothing was done."""


class Secret:
    """A value that is never stored or shown. It is made from a value in Python, or from a source on the command line.

    Args:
        value: the secret.
        name: the name that is stored and shown instead of the value.

    Raises:
        ValueError: an empty value or name.
    """

    __slots__ = ("_keyed", "_name", "_value")

    def __init__(self, value: str, name: str = "secret") -> None:
        if not value or not name:
            raise ValueError("a secret needs a value and a name")
        self._value, self._name = value, _NOT_IN_A_NAME.sub("_", name)
        self._keyed: str | None = None
        _values.setdefault(value, self._name)

    @classmethod
    def read(cls, source: str) -> Secret:
        """Read it from its source: `env:NAME`, `@FILE` (without the last line end), or `prompt` at a terminal.

        The variable is removed from this process's environment, so that no child process inherits it.

        Raises:
            SecretMissing: the source does not exist or is empty. The message never quotes its content.
        """
        return cls(_read(source), name=source)

    def reveal(self) -> str:
        """The value, to type it into a page or send it. Don't store it in a variable that outlives the call."""
        return self._value

    @property
    def name(self) -> str:
        """The name that stands for the value."""
        return self._name

    @property
    def mark(self) -> str:
        """What stands for it in a step's arguments: its name, and its HMAC if there is a key."""
        return f"{self._name}:{self.keyed}" if self.keyed else self._name

    @property
    def keyed(self) -> str:
        """A keyed HMAC of name and value; "" without a key."""
        if self._keyed is None:
            seal = load_seal()
            self._keyed = seal.mark("\0".join((self._name, self._value))) if seal is not None else ""
        return self._keyed

    def __repr__(self) -> str:
        return f"Secret({self._name})"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled or copied: pass the object itself")

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: Any) -> Secret:
        return self

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Stored by its name, with the value in the context's vault, from which it is read back; a text is a source."""
        return core_schema.with_info_plain_validator_function(
            lambda value, info: _validated(value, info.context or {}),
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value, info: _stored(value, info.context or {}), info_arg=True
            ),
        )


def known_secrets() -> Mapping[str, str]:
    """Every secret of this process: value -> name."""
    return _values


def stored_secrets(facts: object) -> Iterator[tuple[str, str | None]]:
    """The names of all secrets in stored JSON data, each with its HMAC if one was stored."""
    if isinstance(facts, Mapping):
        if isinstance(facts.get(SECRET_TAG), str):
            yield facts[SECRET_TAG], facts.get(MARK_TAG)
        for inner in facts.values():
            yield from stored_secrets(inner)
    elif isinstance(facts, list):
        for inner in facts:
            yield from stored_secrets(inner)


def _validated(value: object, context: Mapping[str, Any]) -> Secret:
    if isinstance(value, Secret):
        return value
    vault: Mapping[str, str] = context.get("vault", {})
    if isinstance(value, Mapping) and value.get(SECRET_TAG) in vault:
        return Secret(vault[value[SECRET_TAG]], name=value[SECRET_TAG])
    if not isinstance(value, str) or not _is_source(value):
        raise ValueError(f"a secret can't be given in clear text: {HOW}")
    try:
        return Secret.read(value)
    except SecretMissing as missing:
        raise ValueError(str(missing)) from None


def _stored(value: Secret, context: Mapping[str, Any]) -> dict[str, str]:
    vault: MutableMapping[str, str] | None = context.get("vault")
    if vault is None:
        raise ValueError("a secret can be stored only as an argument of a task")
    name, number = value.name, 1
    while vault.setdefault(name, value.reveal()) != value.reveal():
        number += 1
        name = f"{value.name}#{number}"
    keyed = Secret(value.reveal(), name).keyed
    return {SECRET_TAG: name, **({MARK_TAG: keyed} if keyed else {})}


def _is_source(text: str) -> bool:
    return text == "prompt" or (text[:4] == "env:" and len(text) > 4) or (text[:1] == "@" and len(text) > 1)


def _read(source: str) -> str:
    kind, _, rest = source.partition(":")
    if kind == "env" and rest:
        found = _from_environment(rest)
    elif source.startswith("@"):
        found = _from_file(Path(source[1:]))
    elif source == "prompt" and sys.stdin is not None and sys.stdin.isatty():
        found = getpass.getpass("Secret (it is not shown): ")
    else:
        found = ""
    if not found:
        raise SecretMissing(f"The secret {source} can't be read here ({HOW}).")
    return found


def _from_environment(name: str) -> str:
    if (found := os.environ.pop(name, "")) != "":
        _taken[name] = found
    return _taken.get(name, "")


def _from_file(path: Path) -> str:
    try:
        return path.expanduser().read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except (OSError, ValueError):
        return ""
