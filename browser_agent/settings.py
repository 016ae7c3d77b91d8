"""What a folder or a person has set once, so that it need not be said with every command.

`browser-agent.toml` in the current folder holds the store and the addresses and accounts of sites. What is said on
the command line wins over the environment (`BROWSER_AGENT_STORE`), which wins over the file. Knows nothing of tasks and
runs. A word in the file that is not known here is an error, never ignored.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

import platformdirs
from pydantic import BaseModel, ConfigDict, ValidationError

from browser_agent.errors import Misuse

FILE_NAME = "browser-agent.toml"
STORE_VARIABLE = "BROWSER_AGENT_STORE"


class Bound(BaseModel):
    """Where a site is in this place, and who we are there; what is not set stays as the task declares it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str | None = None
    account: str | None = None


class Settings(BaseModel):
    """The content of a settings file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    store: Path | None = None
    sites: Mapping[str, Bound] = {}


def default_store() -> Path:
    """The store of this user, in the platform's data folder."""
    return platformdirs.user_data_path("browser-agent") / "runs.db"


def load(folder: Path | None = None) -> Settings:
    """The settings of a folder (the current one by default); without a file, nothing is set.

    Raises:
        Misuse: the file cannot be read, or says something that is not known here.
    """
    file = (folder or Path.cwd()) / FILE_NAME
    if not file.is_file():
        return Settings()
    try:
        found = Settings.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, part['loc']))}: {part['msg']}" for part in error.errors())
        raise Misuse(f"{file} cannot be used: {wrong}.") from error
    except (OSError, ValueError) as error:
        raise Misuse(f"{file} cannot be read: {error}.") from error
    return found if found.store is None else found.model_copy(update={"store": file.parent / found.store.expanduser()})


def store_path(said: Path | None, settings: Settings) -> Path:
    """The store to use: what was said, else the environment, else the file, else this user's own."""
    named = os.environ.get(STORE_VARIABLE)
    return said or (Path(named) if named else settings.store or default_store())
