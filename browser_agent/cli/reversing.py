"""`reverse`: take back what a run has made, by a new run that asks first."""

from __future__ import annotations

from typing import Annotated

import typer

from browser_agent.attending import check_attended
from browser_agent.cli.exits import Exit
from browser_agent.cli.opening import AsJson, RunId, StorePath, open_desk
from browser_agent.cli.running import Headed, go_on
from browser_agent.keeping import Options


def reverse(
    name: RunId,
    what: Annotated[
        str | None,
        typer.Argument(metavar="STEP", help="The step's name or id, from `show`; not needed if there is only one."),
    ] = None,
    *,
    headed: Headed = False,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Take back what a step of a run has MADE, by the step that its task names for it: a new run, which asks first.

    Nothing is made before a person has approved exactly this. Asked for twice, it is the same run.

    Example:  browser-agent reverse last post_invoice
    """
    from browser_agent.reversing import submit_reversal  # it reads tasks, and Playwright is slow to import

    options = Options(headed=headed)
    check_attended(options)
    desk = open_desk(store, as_json)
    row = submit_reversal(desk.store, desk.run(name), what)
    return go_on(desk, row, options)
