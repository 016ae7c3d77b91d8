"""The pages of the documentation that are made of the code: the command line, and the codes that it ends with.

Rendered from the very objects that `--help` is rendered from. Must not know the site's builder. What may never happen:
a command, an argument or an option of the command line is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer

from browser_agent.cli import app
from browser_agent.cli.exit_codes import WORDS

PROGRAM = "browser-agent"

Command = Any
"""A command of Click's; Typer may bring a Click of its own, so it is known by its shape."""
Parameter = Any


def commands() -> str:
    """Every command as a section: how it is called, what it does, its arguments and options."""
    return "\n\n".join(_section(name, command) for name, command in all_commands())


def exits() -> str:
    """The exit codes as a table."""
    return "\n".join(
        ["| exit code | |", "|---|---|", *(f"| {code.value} | {words} |" for code, words in WORDS.items())]
    )


def all_commands() -> Iterator[tuple[str, Command]]:
    """Every command with its full name, in the order of `--help`; a group's commands in its place."""
    yield from _of_group(PROGRAM, typer.main.get_command(app))


def _of_group(name: str, group: Command) -> Iterator[tuple[str, Command]]:
    for word, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _of_group(f"{name} {word}", command)
        else:
            yield f"{name} {word}", command.loaded


def _section(name: str, command: Command) -> str:
    usage = " ".join([name, *(_called(each) for each in command.params if _is_argument(each)), "[OPTIONS]"])
    rows = [f"| {_named(each)} | {_cell(_help(each))} |" for each in command.params]
    table = "\n".join(["| | |", "|---|---|", *rows])
    return f"## {name}\n\n```text\n{usage}\n```\n\n{_words(command.help or '')}\n\n{table}"


def _is_argument(parameter: Parameter) -> bool:
    return bool(parameter.param_type_name == "argument")


def _called(parameter: Parameter) -> str:
    name: str = parameter.metavar or (parameter.name or "").upper()
    return name if parameter.required or name.startswith("[") else f"[{name}]"


def _named(parameter: Parameter) -> str:
    if _is_argument(parameter):
        return f"`{_called(parameter)}`"
    takes = "" if parameter.is_flag else f" {parameter.metavar or parameter.name.upper()}"
    names = [*parameter.opts, *parameter.secondary_opts]
    return ", ".join(f"`{name}{takes}`" for name in names)


def _help(parameter: Parameter) -> str:
    return getattr(parameter, "help", None) or ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _words(text: str) -> str:
    """A docstring for a page: its example, which stands on a line of its own, as a block of code."""
    plain = "\n".join(line.strip() for line in text.splitlines())
    return re.sub(r"^Example: +(.+)$", r"```text\n\1\n```", plain, flags=re.MULTILINE)
