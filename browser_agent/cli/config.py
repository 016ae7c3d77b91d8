"""`config`: shows every setting with its current value and source, or explains one of them."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from browser_agent import settings_sources
from browser_agent.cli.desk import resolved
from browser_agent.cli.exit_codes import Exit
from browser_agent.cli.parameters import AsJson, Set
from browser_agent.cli.plain_text import one_line
from browser_agent.cli.screen import Screen
from browser_agent.errors import UnknownName, nearest
from browser_agent.settings import AS_SHIPPED, Settings, shown
from browser_agent.store import address


def config(
    name: Annotated[
        str | None, typer.Argument(metavar="[SETTING]", help="The setting to explain; by default all are listed.")
    ] = None,
    given: Set = None,
    as_json: AsJson = False,
) -> Exit:
    """Show every setting, its value in this folder, and where it comes from; or explain one. Changes nothing.

    The command line wins over the environment (BROWSER_AGENT_LOCALE and so on), which wins over the file
    browser-agent.toml of the current folder.

    Example:  browser-agent config time_zone
    """
    found, screen = resolved(given), Screen(as_json)
    if name is not None:
        _check(name)
    rows = [row for row in found.rows() if name is None or row[0].partition(".")[0] == name]
    if name is None:
        screen.table(_table(rows))
        store = address.shown(settings_sources.store_meant(None, found.settings))
        screen.say(f"\nThe store: {store}\nTo see what a setting means: browser-agent config SETTING", "dim")
    else:
        _explain(screen, name, rows)
    screen.document(
        [{"setting": word, "value": value, "from": source, "means": _means(word)} for word, value, source in rows]
    )
    return Exit.FINISHED


def _table(rows: list[tuple[str, str, str]]) -> Table:
    table = Table("setting", "value", "from", box=None, header_style="bold", pad_edge=False)
    for word, value, source in rows:
        table.add_row(word, one_line(value) or "-", "" if source == settings_sources.DEFAULT else source)
    return table


def _explain(screen: Screen, name: str, rows: list[tuple[str, str, str]]) -> None:
    screen.say(f"{name}: {_means(name)}", "bold")
    for word, value, source in rows:
        screen.say(f"  {word} = {value or '-'}  ({source})")
    if name == "sites":
        screen.say("  In browser-agent.toml: [sites.NAME] with url and account; on the command line: --site, --account")
        return
    screen.say(f"  default: {shown(name, getattr(AS_SHIPPED, name)) or '-'}")
    screen.say(f"  In browser-agent.toml: {name} = ...")
    screen.say(f"  In the environment:    {settings_sources.PREFIX}{name.upper()}=...")
    screen.say(f"  For one command:       --set {name}=...")


def _check(name: str) -> None:
    if name not in Settings.model_fields:
        raise UnknownName(f"There is no setting {name!r}{nearest(name, Settings.model_fields)}.".replace("?.", "?"))


def _means(word: str) -> str:
    return Settings.model_fields[word.partition(".")[0]].description or ""
