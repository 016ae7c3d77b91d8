"""`doctor`, `key` and `demo`: the commands about this machine."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from browser_agent import settings_sources
from browser_agent.cli.doctor_task import doctor_task
from browser_agent.cli.exit_codes import Exit
from browser_agent.cli.parameters import Account, Arguments, AsJson, Headed, Set, SiteUrl, StorePath
from browser_agent.cli.screen import Screen
from browser_agent.errors import Misuse
from browser_agent.secrets.seal import key_in_use, new_key

FAULTS = (
    *("killed_after_commit", "never_committed", "killed_before_release"),
    *("answer_lost", "chromium_killed", "question"),
)
"""The demo's interruptions, repeated here for its help because importing the demo is slow."""


def doctor(
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE[:TASK]]", help="A task's file: check this task instead, by a dry run."),
    ] = None,
    arguments: Arguments = None,
    *,
    site: SiteUrl = None,
    account: Account = None,
    headed: Headed = None,
    given: Set = None,
    install: Annotated[
        bool,
        typer.Option(
            "--install",
            metavar="",
            help="First install what is missing: Chromium, and, as root on Debian or Ubuntu, libraries and fonts.",
        ),
    ] = False,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Check whether this machine can run browser tasks, and what to do if not. Installs only with --install.

    With a task's FILE, check that task at its sites, before its first real run: each step's page is prepared, the
    observers of its proof look, and NO gesture is made. Every write of its pages is refused, beacons included; only a
    `@login` routine may sign in. It prints what each observer could see, what is missing to prove that a gesture
    happened or did not happen, and what it must take on your word. A step that needs the value of an earlier gesture
    can't be reached; the table names it. Exit code 0: every proof that was looked at can work. 1: one can't, or a page
    could not be prepared.

    Example:  browser-agent doctor

    Example:  browser-agent doctor invoices.py day=2026-11-30 --site books=http://127.0.0.1:8001
    """
    if file is not None:
        if install:
            raise Misuse("--install is about this machine: use it without a task.")
        return doctor_task(file, arguments, site, account, headed, given, store, as_json)
    from browser_agent.cli import check
    from browser_agent.cli.doctor import examine
    from browser_agent.cli.installation import install as install_missing

    using = settings_sources.load()
    where = settings_sources.store_meant(store, using)
    if install:
        install_missing()
    checks = examine(where.parent if isinstance(where, Path) else where, using)
    typer.echo(check.as_json(checks) if as_json else check.as_lines(checks))
    return Exit.FINISHED if all(each.well for each in checks) else Exit.RAISED


def key(
    new: Annotated[bool, typer.Option("--new", metavar="", help="Create a key, if there is none yet.")] = False,
    keyring: Annotated[
        bool, typer.Option("--keyring", metavar="", help="With --new: keep it in the system's keyring, not in a file.")
    ] = False,
    as_json: AsJson = False,
) -> Exit:
    """Show whether sessions are stored encrypted, and with which key. With --new it CREATES a key if there is none.

    With a key, a run can be resumed with its session after its keeper has died.

    Example:  browser-agent key --new
    """
    if new:
        new_key(in_keyring=keyring)
    screen, found = Screen(as_json), key_in_use()
    if found is None:
        screen.say("No key: sessions are kept in memory only, and end with their keeper.")
        screen.say("Create one with: browser-agent key --new", "cyan")
    else:
        screen.say(f"Sessions are stored encrypted, with the key from {found}.")
    screen.document({"sealed": found is not None, "key": found})
    return Exit.FINISHED


def demo(
    fault: Annotated[
        str | None, typer.Option("--fault", metavar="NAME", help=f"The interruption to show: {', '.join(FAULTS)}.")
    ] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Where to write the run's report.")] = None,
    headed: Headed = None,
    as_json: AsJson = False,
) -> Exit:
    """Start practice sites on this machine, interrupt a run of invoices and emails, and show how it is resumed.

    Changes only the practice sites, which end with the demo.

    Example:  browser-agent demo --fault killed-after-commit --report run.html
    """
    try:
        shown = import_module("browser_agent.cli.demo")
    except ModuleNotFoundError as error:
        raise Misuse(f"The demo can't be started: {error}.") from error
    return Exit(shown.main(fault=fault, report=report, headed=bool(headed), as_json=as_json))
