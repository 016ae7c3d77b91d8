"""A command whose module is imported when it is called, so that `--help` and the other commands don't pay for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand


class LazyCommand(TyperCommand):
    """One line in the list of commands. Its callback imports and returns the function that is the command."""

    @cached_property
    def loaded(self) -> TyperCommand:
        """The command itself, with its arguments, options and help."""
        from browser_agent.cli.desk import with_exit_code

        assert self.callback is not None
        alone = typer.Typer(add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False)
        alone.command(self.name)(with_exit_code(self.callback()))
        command = typer.main.get_command(alone)
        assert isinstance(command, TyperCommand)
        return command

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Begin the command itself: the group invokes the command of this context."""
        return self.loaded.make_context(*args, **kwargs)


def add_commands(group: typer.Typer, commands: Mapping[str, tuple[str, str]]) -> None:
    """Add commands to a group, in this order.

    Args:
        group: the group.
        commands: the name of each, with its module and function ("run.resume") and its line in the list of commands.
    """
    for name, (home, words) in commands.items():
        group.command(name, help=words, cls=LazyCommand)(_importer(*home.split(".")))


def _importer(module: str, function: str) -> Callable[[], Callable[..., Any]]:
    def _import() -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(f"browser_agent.cli.{module}"), function)
        return found

    return _import
