"""What every command needs first: settings, a store, a screen, and usage errors as one sentence."""

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
    """A command's open store and screen, and the option with which a printed command names that store."""

    store: Store
    screen: Screen
    settings: settings_sources.Settings
    more: str

    def run(self, name: str) -> RunRow:
        """Look up a run by its id; "last" is the newest one.

        Raises:
            UnknownName: there is no such run.
        """
        if name != "last":
            return self.store.leases.run(name)
        runs = self.store.leases.runs()
        if not runs:
            raise UnknownName(f"There is no run in {self.store.where} yet.")
        return runs[0]


def resolved(given: list[str] | None = None, **flags: Any) -> settings_sources.Resolved:
    """Resolve the settings of this command.

    Args:
        given: the values of `--set`.
        flags: settings with their own flag; None = the flag was not given. They override `--set`.

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
    """Open the store, and start logging if the settings ask for it.

    Args:
        store: the value of `--store`.
        as_json: whether the output is for a program.
        new: create the store if it does not exist.
        keeps_sessions: the command stores sessions, so it makes a key if there is none.
        using: the settings of this command; by default those of the file and the environment.

    Raises:
        Misuse: there is no such store, or the store or the settings cannot be used.
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
    """Make this user's key if there is none, and print one line that says so, or why it can't be made.

    Makes no key for a database: machines that share a store must have the same key.

    Args:
        screen: where the line is printed.
        where: the store.

    Raises:
        Misuse: there is a key that can't be used.
    """
    if not isinstance(where, Path) or key_in_use() is not None:
        return
    try:
        screen.progress(f"A key was created: {new_key()}. From now on, sessions are stored encrypted with it.")
    except Misuse as error:
        if key_in_use() is None:  # otherwise another process has just made one
            screen.progress(f"{error} Sessions are kept in memory only, and end with their keeper.")


def with_exit_code(command: Callable[P, Exit]) -> Callable[P, None]:
    """Make a command exit with its code, and print a usage error as one sentence without a traceback."""

    @functools.wraps(command)
    def _exiting(*args: P.args, **kwargs: P.kwargs) -> None:
        screen = Screen(bool(kwargs.get("as_json")))
        try:
            code = command(*args, **kwargs)
        except KeyboardInterrupt:  # before the keeper handled Ctrl-C, or after it had ended
            raise typer.Exit(INTERRUPTED) from None
        except Misuse as error:
            code = _print_error(screen, error, str(error))
        except BrowserUnavailable as error:
            from browser_agent.cli.browser_checks import start_failure

            code = _print_error(screen, error, start_failure(error))
        raise typer.Exit(int(code))

    _exiting.__annotations__ = {name: kind for name, kind in command.__annotations__.items() if name != "return"}
    return _exiting


def _print_error(screen: Screen, error: Exception, message: str) -> Exit:
    words = Scrubber().text(message)
    if screen.as_json:
        screen.document({"error": words, "kind": type(error).__name__})
    else:
        screen.print_error(words)
    return Exit.MISUSE


def named_values(pairs: list[str], what: str) -> dict[str, Any]:
    """Parse `name=value` pairs.

    Raises:
        Misuse: one has another form, or a name is given twice.
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise Misuse(f"{pair!r} is not {what}: write name=value.")
        if name in found:
            raise Misuse(f"{name} is given twice: {found[name]!r} and {value!r}.")
        found[name] = value
    return found
