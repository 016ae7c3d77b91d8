"""Reads the settings from `browser-agent.toml`, the environment and the command line, and records where each came from.

The command line wins over the environment, which wins over the file. All mistakes are reported together.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from browser_agent.errors import Misuse, nearest
from browser_agent.settings import Bound, Settings, shown
from browser_agent.store.address import located, meant_as_address

__all__ = ["Bound", "Resolved", "Settings", "default_store", "load", "resolve", "store_meant"]

FILE_NAME = "browser-agent.toml"
PREFIX = "BROWSER_AGENT_"
STORE_VARIABLE = f"{PREFIX}STORE"
DEFAULT = "default"
_NOT_FROM_ENVIRONMENT = frozenset({"sites"})
_NO_SETTINGS = ("KEY", "QUESTION_", "CLIENT_PASSPHRASE")
"""Variables with our prefix that are no settings: the key of sealed sessions, what the command that is notified of a
question is passed, and the passphrase of a client certificate."""
_ADDRESSES = ("store", "evidence")
"""Settings that are a path or an address."""
_LIKE = 0.75
"""From this similarity on, a variable counts as a misspelled setting, and not as another program's."""


@dataclass(frozen=True)
class Resolved:
    """The settings, and the source of each."""

    settings: Settings
    sources: Mapping[str, str]

    def rows(self) -> list[tuple[str, str, str]]:
        """Name, value and source of each setting. A site's address and account are separate rows."""
        plain = [
            (name, shown(name, getattr(self.settings, name)), self.sources.get(name, DEFAULT))
            for name in Settings.model_fields
            if name != "sites"
        ]
        source = self.sources.get("sites", DEFAULT)
        bound = [
            (f"sites.{name}.{word}", value, source)
            for name, site in self.settings.sites.items()
            for word, value in site.model_dump().items()
            if value is not None
        ]
        return plain + bound


def default_store() -> Path:
    """This user's store in the platform's data folder."""
    return platformdirs.user_data_path("browser-agent") / "runs.db"


def load(folder: Path | None = None) -> Settings:
    """Load the settings of a folder (by default the current one) and of the environment.

    Raises:
        Misuse: see `resolve`.
    """
    return resolve(folder).settings


def resolve(folder: Path | None = None, said: Mapping[str, Any] | None = None) -> Resolved:
    """Combine the settings of the file, the environment and the command line; the later override the earlier.

    Args:
        folder: where the file may be; by default the current folder.
        said: names and values from the command line.

    Raises:
        Misuse: the file cannot be read, or a name or value in any of the three is invalid; lists all of them.
    """
    file = (folder or Path.cwd()) / FILE_NAME
    wrong: list[str] = []
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    spoken: tuple[tuple[Mapping[str, Any], Callable[[str], str]], ...] = (
        (_from_file(file), lambda name: f"{file}: {name}"),
        (_from_environment(wrong), lambda name: f"{PREFIX}{name.upper()}"),
        (said or {}, lambda name: f"the command line: {name}"),
    )
    for found, name_of in spoken:
        good = _checked(found, name_of, wrong)
        values |= good
        sources |= {name: name_of(name).removesuffix(f": {name}") for name in good}
    if wrong:
        raise Misuse("The settings cannot be used.\n" + "\n".join(f"  {each}." for each in wrong).replace("?.", "?"))
    return Resolved(Settings.model_construct(**values), sources)


def _from_file(file: Path) -> dict[str, Any]:
    """The file's settings. A relative path in it starts at the file's folder."""
    if not file.is_file():
        return {}
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Misuse(f"{file} cannot be read: {error}.") from error
    for name in _paths():
        value = found.get(name)
        if isinstance(value, str) and not (name in _ADDRESSES and meant_as_address(value)):
            found[name] = file.parent / Path(value).expanduser()
    return found


def _from_environment(wrong: list[str]) -> dict[str, str]:
    """The environment's settings. A variable that resembles a setting is reported as wrong; all others are ignored."""
    found: dict[str, str] = {}
    for variable, value in os.environ.items():
        word = variable.removeprefix(PREFIX)
        if word == variable or not value or word.startswith(_NO_SETTINGS):
            continue
        known = [name for name in Settings.model_fields if name not in _NOT_FROM_ENVIRONMENT]
        if word.isupper() and word.lower() in known:
            found[word.lower()] = value
        elif near := difflib.get_close_matches(word.lower(), known, 1, _LIKE):
            wrong.append(f"{variable}: there is no such setting; did you mean {PREFIX}{near[0].upper()}?")
    return found


def _checked(found: Mapping[str, Any], name_of: Callable[[str], str], wrong: list[str]) -> dict[str, Any]:
    """The valid values, converted to their types; what is wrong with the others is added to `wrong`."""
    try:
        settings = Settings.model_validate(found)
    except ValidationError as error:
        wrong += [f"{name_of('.'.join(map(str, part['loc'])))}: {_why(part)}" for part in error.errors()]
        return {}
    return {name: getattr(settings, name) for name in settings.model_fields_set}


def _why(part: ErrorDetails) -> str:
    """What is wrong with one name or value."""
    if part["type"] != "extra_forbidden":
        return part["msg"].removeprefix("Value error, ")
    known = Settings.model_fields if len(part["loc"]) == 1 else Bound.model_fields
    return f"there is no such setting{nearest(str(part['loc'][-1]), known)}"


def _paths() -> list[str]:
    return [*_ADDRESSES, *(name for name, field in Settings.model_fields.items() if field.annotation == Path | None)]


def store_meant(said: Path | str | None, settings: Settings) -> Path | str:
    """The store to use, as a path or a database's address: the given one, else the setting, else this user's own."""
    return located(said or settings.store or default_store())
