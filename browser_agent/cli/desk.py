"""What every command begins with: its settings, its store, and one clear sentence for a mistake of the caller."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import typer

from browser_agent import settings_sources
from browser_agent.cli.exit_codes import INTERRUPTED, Exit
from browser_agent.cli.question_text import store_option
from browser_agent.cli.screen import Screen
from browser_agent.errors import BrowserUnavailable, Misuse, UnknownName
from browser_agent.reporting.log import start_log
from browser_agent.secrets.scrubber import Scrubber
from browser_agent.secrets.seal import key_in_use, new_key
from browser_agent.store import Store
from browser_agent.store.records import RunRow

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Desk:
    """What a command works with: an open store, a screen, and how a printed command names the store."""

    store: Store
    screen: Screen
    settings: settings_sources.Settings
    more: str

    def run(self, name: str) -> RunRow:
        """The run of that id, or the newest one for "last". Raises UnknownName."""
        if name != "last":
            return self.store.leases.run(name)
        runs = self.store.leases.runs()
        if not runs:
            raise UnknownName(f"There is no run in {self.store.where} yet.")
        return runs[0]


def resolved(given: list[str] | None = None, **flags: Any) -> settings_sources.Resolved:
    """The settings of this command.

    Args:
        given: what `--set` said.
        flags: settings that have a flag of their own; None = it was not said. They win over `--set`.

    Raises:
        Misuse: see `settings_sources.resolve`.
    """
    said = {name: value for name, value in flags.items() if value is not None}
    return settings_sources.resolve(said=named_values(given or [], "a setting") | said)


def open_desk(
    store: str | None,
    as_json: bool,
    *,
    new: bool = False,
    keeps_sessions: bool = False,
    using: settings_sources.Settings | None = None,
) -> Desk:
    """Open the store, and start logging if the settings say so.

    Args:
        store: what `--store` said.
        as_json: whether the output is for a program.
        new: whether the store may be made if it is not there.
        keeps_sessions: whether the command keeps sessions, so that it makes a key if there is none yet.
        using: the settings of this command; those of file and environment by default.

    Raises:
        Misuse: there is no such store, it cannot be used, or the settings cannot.
    """
    found = using or settings_sources.load()
    where = settings_sources.store_meant(store, found)
    if not new and isinstance(where, Path) and not where.exists():
        raise UnknownName(f"There is no store at {where} yet; `browser-agent run` makes one.")
    more = store_option(where, settings_sources.store_meant(None, settings_sources.load()))
    start_log(found.log_level, found.log_file, as_json=found.log_format == "json")
    screen = Screen(as_json)
    if keeps_sessions:
        offer_key(screen, where)
    return Desk(Store(where, host=found.host, evidence=found.evidence), screen, found, more)


def offer_key(screen: Screen, where: Path | str) -> None:
    """Make this user's key if there is none yet, and say so in one line; if it can't be made, say that instead.

    Not for a database: machines that share a store must have the same key.

    Args:
        screen: where it is said.
        where: the store.

    Raises:
        Misuse: there is a key that can't be used.
    """
    if not isinstance(where, Path) or key_in_use() is not None:
        return
    try:
        screen.progress(f"A key was made: {new_key()}. From now on sessions are kept sealed with it.")
    except Misuse as error:
        if key_in_use() is None:  # else another process has just made it
            screen.progress(f"{error} Sessions are kept in memory only, and end with their keeper.")


def told(command: Callable[P, Exit]) -> Callable[P, None]:
    """End the command with its exit code; a mistake of the caller becomes one sentence, without a traceback."""

    @functools.wraps(command)
    def _told(*args: P.args, **kwargs: P.kwargs) -> None:
        screen = Screen(bool(kwargs.get("as_json")))
        try:
            code = command(*args, **kwargs)
        except KeyboardInterrupt:  # before a keeper was there to take it, or after it was gone
            raise typer.Exit(INTERRUPTED) from None
        except Misuse as error:
            code = _complain(screen, error, str(error))
        except BrowserUnavailable as error:
            from browser_agent.cli.browser_checks import start_failure

            code = _complain(screen, error, start_failure(error))
        raise typer.Exit(int(code))

    del _told.__annotations__["return"]
    return _told


def _complain(screen: Screen, error: Exception, message: str) -> Exit:
    words = Scrubber().text(message)
    if screen.as_json:
        screen.document({"error": words, "kind": type(error).__name__})
    else:
        screen.complain(words)
    return Exit.MISUSE


def named_values(pairs: list[str], what: str) -> dict[str, Any]:
    """Read `name=value` pairs. Raises Misuse for one that isn't, or a name given twice."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise Misuse(f"{pair!r} is not {what}: write name=value.")
        if name in found:
            raise Misuse(f"{name} is given twice: {found[name]!r} and {value!r}.")
        found[name] = value
    return found
