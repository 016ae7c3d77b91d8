"""The command line, `browser-agent`: each command opens a store, calls another package and prints the result.

No command decides a gesture's outcome.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import Annotated

import typer

from browser_agent.cli.command_list import AUDIT_COMMANDS, COMMANDS, TEMPORAL_COMMANDS
from browser_agent.cli.exit_codes import WORDS
from browser_agent.cli.lazy_command import add_commands

_EXITS = "  \n".join(f"{code.value}  {words}" for code, words in WORDS.items())

app = typer.Typer(
    name="browser-agent",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    epilog=f"**Exit codes**  \n{_EXITS}",
)
audit = typer.Typer(no_args_is_help=True, help="The append-only log: verify it, or read it. Changes nothing.")

on_temporal = typer.Typer(
    no_args_is_help=True,
    help="Many machines: Temporal detects that a worker has died, assigns its run to another, and waits for people. "
    "Needs the extra `temporal` and a Temporal server.",
)


@app.callback(invoke_without_command=True)
def _browser_agent(
    show_version: Annotated[bool, typer.Option("--version", metavar="", help="Print the version.")] = False,
) -> None:
    """Browser tasks that change something in the world, interrupted and resumed without doing it twice or losing it.

    Start with `browser-agent demo`, then `browser-agent run FILE`. `browser-agent inbox` lists what waits for
    you, and `browser-agent config` shows the settings.
    """
    if show_version:
        from importlib.metadata import version

        typer.echo(version("browser-agent"))
        raise typer.Exit


add_commands(app, COMMANDS)
add_commands(audit, AUDIT_COMMANDS)
add_commands(on_temporal, TEMPORAL_COMMANDS)
app.add_typer(audit, name="audit")
app.add_typer(on_temporal, name="temporal")


def main() -> None:
    """The entry point of the installed command."""
    try:
        app()
    except SystemExit as end:
        if "temporalio" in sys.modules:
            _leave(end.code)
        raise
    except Exception as error:  # unexpected: print the whole traceback, without secrets
        from browser_agent.secrets.scrubber import Scrubber

        sys.stderr.write(Scrubber().trace(error))
        sys.exit(1)


def _leave(code: object) -> None:
    """Exit at once: Python aborts if a thread of Temporal's client still runs at shutdown (measured)."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))
