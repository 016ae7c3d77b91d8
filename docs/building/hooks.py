"""What the site's builder calls for each page: what is made of the code, or stands in another file, is put in place.

    <!-- drawn: gesture -->         the diagram of that name
    <!-- made: commands -->         what the code says of itself
    <!-- from: CHANGELOG.md -->     a file of the project, without its title
    <!-- from: docs/support.md -->  likewise

A page that is read where it lies shows nothing there. Must not know what is drawn or made. What may never happen: a
mark that can't be read, or a file that isn't there, is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from docs.building import commands, diagrams

ROOT = Path(__file__).parents[2]
_MARK = re.compile(r"^<!-- (?P<what>drawn|made|from): (?P<name>\S+) -->$", re.MULTILINE)
_TITLE = re.compile(r"\A# .*\n")
_MADE: Mapping[str, Callable[[], str]] = {"commands": commands.commands, "exits": commands.exits}


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put in place what the page's marks name. Raises KeyError or OSError for what isn't there."""
    return _MARK.sub(_put, markdown)


def _put(mark: re.Match[str]) -> str:
    match mark["what"]:
        case "drawn":
            return f'<figure class="states">\n{diagrams.drawn(mark["name"])}\n</figure>'
        case "made":
            return _MADE[mark["name"]]()
        case _:
            return _TITLE.sub("", (ROOT / mark["name"]).read_text(encoding="utf-8"))
