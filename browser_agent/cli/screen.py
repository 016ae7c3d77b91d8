"""The output of a command: live lines for people, or one JSON document on stdout for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from browser_agent.cli.plain_text import one_line, plain, values_in_words
from browser_agent.options import Event

_MARKS = {
    "happened": ("✔", "green"),
    "not_happened": ("○", "cyan"),
    "refused": ("○", "cyan"),
    "rejected": ("✘", "red"),
    "abandoned": ("○", "yellow"),
    "step": ("✔", "green"),
    "question": ("?", "yellow"),
    "pause": ("?", "bold yellow"),
    "in_doubt": ("…", "yellow"),
    "declaration": ("!", "yellow"),
    "worker_died": ("!", "red"),
    "notification": ("!", "red"),
    "raised": ("✘", "red"),
}
_WAITED_FOR = {"dispatching", "waiting"}
_SAID_OTHERWISE = {"question", "stopped", "raised"}  # printed in full at the end of the run


class Screen:
    """The two streams of one command."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self._out = Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self._err = Console(file=sys.stderr, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self._lines = self._err if as_json else self._out
        self._waiting: Status | None = None
        self._settled = False

    def document(self, data: Any) -> None:
        """Print the one JSON document, if the output is for a program."""
        if self.as_json:
            sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False, default=str) + "\n")

    def say(self, words: object = "", style: str = "") -> None:
        """Print a line for people."""
        if not self.as_json:
            self._out.print(Text(plain(words), style))

    def table(self, table: Table) -> None:
        """Print a table for people."""
        if not self.as_json:
            self._out.print(table, soft_wrap=False)

    def progress(self, words: object) -> None:
        """Print a progress line, on stderr if stdout is for a program."""
        self._lines.print(Text(plain(words)))

    def complain(self, words: object) -> None:
        """Print a line on stderr."""
        self._err.print(Text(plain(words), "red"))

    def tell(self, event: Event) -> None:
        """Print a live line for an event of a run."""
        self._end_waiting()
        if event.kind in _WAITED_FOR:
            self._wait(event.words)
        elif event.kind == "settled":
            self._settled = True
            self._line(str(event.details.get("outcome", "")), event.words, _proof(event.details))
        elif event.kind == "step":
            if not (event.details.get("writes") and self._settled):  # the line of its settled gesture says it already
                self._line("step", event.words, values_in_words(event.details.get("value")))
            self._settled = False
        elif event.kind not in _SAID_OTHERWISE:
            self._line(event.kind, event.words, "")

    def ended(self) -> None:
        """End the live lines."""
        self._end_waiting()

    def _line(self, kind: str, words: str, more: str) -> None:
        mark, style = _MARKS.get(kind, ("·", "dim"))
        line = Text(f"{mark} ", style)
        line.append(one_line(words), "default")
        if more:
            line.append(f"  {one_line(more, 300)}", "dim")
        self._lines.print(line)

    def _wait(self, words: str) -> None:
        if self._lines.is_terminal:
            self._waiting = self._lines.status(Text(one_line(words)))
            self._waiting.start()

    def _end_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None


def _proof(details: Mapping[str, Any]) -> str:
    values, reasons = values_in_words(details.get("values")), details.get("reasons") or []
    known = f"known by: {reasons[0]}" if reasons else ""
    return " · ".join(part for part in (values, known) if part)
