"""`config`: every setting, its value here and now, and who has said it."""

from __future__ import annotations

from rich.table import Table

from browser_agent import settings
from browser_agent.cli.exits import Exit
from browser_agent.cli.opening import AsJson, Set, resolved
from browser_agent.cli.plain import one_line
from browser_agent.cli.screen import Screen


def config(given: Set = None, as_json: AsJson = False) -> Exit:
    """Show every setting, its value in this folder, and where it comes from. Changes nothing.

    The command line wins over the environment (BROWSER_AGENT_LOCALE and so on), which wins over the file
    browser-agent.toml of the current folder.

    Example:  browser-agent config --set locale=de-DE
    """
    found, screen = resolved(given), Screen(as_json)
    table = Table("setting", "value", "from", box=None, header_style="bold", pad_edge=False)
    for name, value, source in found.rows():
        table.add_row(name, one_line(value), "" if source == settings.DEFAULT else source)
    screen.table(table)
    screen.say(f"\nStore: {settings.store_path(None, found.settings).expanduser().absolute()}", "dim")
    screen.document([{"setting": name, "value": value, "from": source} for name, value, source in found.rows()])
    return Exit.FINISHED
