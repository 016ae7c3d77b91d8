"""`reverse`: undoes what a run has made, by a new run that asks for approval first."""

from __future__ import annotations

from typing import Annotated

import typer

from browser_agent.cli.desk import open_desk, resolved
from browser_agent.cli.exit_codes import Exit
from browser_agent.cli.parameters import AsJson, Headed, RunId, Set, StorePath
from browser_agent.cli.run import display, keep_run


def reverse(
    name: RunId,
    what: Annotated[
        str | None,
        typer.Argument(metavar="STEP", help="The step's name or id, from `show`; not needed if there is only one."),
    ] = None,
    *,
    headed: Headed = None,
    given: Set = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Undo what a step of a run has MADE, by the step that its task names for it: a new run, which asks first.

    Nothing is made until a person has approved exactly this. The same command again means the same run.

    Example:  browser-agent reverse last post_invoice
    """
    from browser_agent.run.reversal import submit_reversal  # it loads tasks, and Playwright is slow to import

    using = resolved(given, headed=headed).settings
    options = display(using)
    desk = open_desk(store, as_json, keeps_sessions=True, using=using)
    row = submit_reversal(desk.store, desk.run(name), what)
    return keep_run(desk, row, options)
