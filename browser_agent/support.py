"""The versions that browser-agent needs and was tested with, and what it does not support.

`doctor` warns about other versions, and `docs/support.md` has the table. A version was tried if all tests passed with
it. This module imports nothing that another system may lack.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Support:
    """A requirement that the machine provides.

    Args:
        what: its name.
        oldest: the oldest version that can work; "" = no such limit.
        tried: versions that were tried, with as many parts as matter.
        otherwise: what to expect of other versions.
    """

    what: str
    oldest: str
    tried: tuple[str, ...]
    otherwise: str

    def warning(self, found: str) -> str:
        """A warning about the found version; "" if it was tried."""
        if any(_begins(found, one) for one in self.tried):
            return ""
        return f"tried with {self.what} {', '.join(self.tried)} only; {self.otherwise}"


PYTHON = Support("Python", "3.11", ("3.11",), "a later one should do")
PLAYWRIGHT = Support("Playwright", "1.55", ("1.65",), "run the tests: the text of its call log is relied on")
CHROMIUM = Support("Chromium", "", ("156",), "run the tests: what a lost connection makes it do was measured there")
SQLITE = Support("SQLite", "3.35.0", ("3.40",), "a later one should do")
SYSTEM = Support("system", "", ("linux",), "macOS is meant to work and was not tried; please report how it went")
ROWS: Sequence[Support] = (PYTHON, PLAYWRIGHT, CHROMIUM, SQLITE, SYSTEM)

MEANT = ("linux", "darwin")
"""Systems for which browser-agent is made, by Python's names."""

NOT_SUPPORTED = {
    "Windows": "no fork, no SIGKILL, no process groups: a browser's sure end can't be seen there; use WSL 2 or Docker",
    "Firefox, WebKit": "a page can neither be guarded nor carried on after an interruption; `open_run` refuses it",
    "A store on a network disk": "SQLite's locks don't hold there; it is refused",
}
"""What is not supported, and why."""


def table() -> str:
    """The table of `docs/support.md`."""
    lines = ["| | at least | tried | another one |", "|---|---|---|---|"]
    lines += [f"| {row.what} | {row.oldest or '-'} | {', '.join(row.tried)} | {row.otherwise} |" for row in ROWS]
    lines += ["", "| not supported | why |", "|---|---|"]
    return "\n".join(lines + [f"| {what} | {why} |" for what, why in NOT_SUPPORTED.items()])


def refusal(system: str = sys.platform) -> str:
    """Why browser-agent can't run on this system, in one sentence; "" if the system is supported."""
    if system in MEANT:
        return ""
    name = "Windows" if system == "win32" else system
    why = NOT_SUPPORTED["Windows"] if system == "win32" else "it is made for Linux and macOS"
    return f"browser-agent does not run on {name}: {why}."


def _begins(version: str, tried: str) -> bool:
    """Whether a version belongs to the one that was tried: 3.11.7 belongs to 3.11, but 3.1 doesn't."""
    return version.split(".")[: tried.count(".") + 1] == tried.split(".")
