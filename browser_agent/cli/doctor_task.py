"""`doctor FILE`: checks a task at its sites by a dry run, before its first real run."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from browser_agent.cli.desk import named_values, resolved
from browser_agent.cli.dry_run_text import dry_run_document, print_dry_run
from browser_agent.cli.exit_codes import Exit
from browser_agent.cli.run import bind
from browser_agent.cli.screen import Screen
from browser_agent.keeper.preflight import check_attended
from browser_agent.reporting.log import start_log
from browser_agent.script.arguments import parse_arguments
from browser_agent.script.task_file import load_task
from browser_agent.secrets.scrubber import Scrubber
from browser_agent.settings_sources import Settings, store_meant
from browser_agent.store import Store


def doctor_task(  # noqa: PLR0917  # the command's options
    file: str,
    arguments: list[str] | None,
    site: list[str] | None,
    account: list[str] | None,
    headed: bool | None,
    given: list[str] | None,
    store: str | None,
    as_json: bool,
) -> Exit:
    """Check a task, print what was seen, and return 0 if every proof can work; see `machine.doctor`.

    Raises:
        Misuse: the task, its arguments, a site or a setting can't be used.
        BrowserUnavailable: Chromium or Playwright's driver doesn't start.
    """
    from browser_agent.keeper.task_check import check_task  # Playwright is slow to import

    using = resolved(given, **({} if headed is None else {"headed": headed})).settings
    options = using.options()
    check_attended(options)
    task = load_task(file)
    values = parse_arguments(task, named_values(arguments or [], "an argument of the task"))
    bind(task, named_values(site or [], "a site"), named_values(account or [], "an account"), using)
    start_log(using.log_level, using.log_file, as_json=using.log_format == "json")
    screen, where = Screen(as_json), store_meant(store, using)
    with _existing(where, using) as opened:
        result = check_task(task, values, options, opened, lambda kind, words: screen.progress(words))
    shown = Scrubber().facts(result)
    print_dry_run(screen, shown)
    screen.document(dry_run_document(shown))
    return Exit.FINISHED if result.well else Exit.RAISED


def _existing(where: Path | str, using: Settings) -> nullcontext[None] | Store:
    """The user's own store, if there is one: it may hold logins, and tells which observers have proven something."""
    if isinstance(where, Path) and not where.exists():
        return nullcontext()
    return Store(where, host=using.host, evidence=using.evidence)
