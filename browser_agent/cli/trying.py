"""`doctor` and `demo`: is this machine able to, and what does it look like."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from browser_agent import settings
from browser_agent.cli.exits import Exit
from browser_agent.cli.opening import AsJson, StorePath
from browser_agent.cli.running import Headed
from browser_agent.errors import Misuse


def doctor(
    install: Annotated[bool, typer.Option("--install", help="First get a Chromium, if none starts.")] = False,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Look whether this machine can run browser tasks, and say what to do if not. Installs only with --install.

    Example:  browser-agent doctor
    """
    from browser_agent.doctor import as_json as json_of
    from browser_agent.doctor import as_lines, examine, install_chromium

    path = settings.store_path(store, settings.load())
    if install:
        install_chromium()
    checks = examine(path.expanduser().absolute().parent)
    typer.echo(json_of(checks) if as_json else as_lines(checks))
    return Exit.FINISHED if all(check.well for check in checks) else Exit.RAISED


def demo(
    fault: Annotated[str | None, typer.Option("--fault", metavar="NAME", help="The interruption to show.")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Where to write the run's report.")] = None,
    headed: Headed = False,
    as_json: AsJson = False,
) -> Exit:
    """Start fixture sites on this machine, interrupt a run of invoices and emails, and go on with it before your eyes.

    Changes only the fixture sites, which end with the demo.

    Example:  browser-agent demo --fault killed-after-commit --report run.html
    """
    try:
        shown = import_module("browser_agent.demo")
    except ModuleNotFoundError as error:
        raise Misuse(f"This installation has no demo ({error}).") from error
    return Exit(shown.main(fault=fault, report=report, headed=headed, as_json=as_json))
