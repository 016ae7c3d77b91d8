"""A text that the page showed after the gesture, even if it has disappeared since.

A text that was there before the gesture's input never counts, and a text without our key never proves anything.
"""

import re
from dataclasses import KW_ONLY
from datetime import datetime
from typing import TYPE_CHECKING

from .evidence import Evidence, Match, Observation
from .key_in_text import Hit, Keyed, holds, refuse_empty
from .observer import Observer, RecordingKind
from .recording import Recording
from .text import pattern_words

if TYPE_CHECKING:
    from .view import View


class ToastLog(Keyed, Observer):
    """A regular expression in text that the task's page showed after the gesture, in any frame, however briefly.

        ToastLog(r"Order (?P<number>\\S+) placed", key=order)

    Args:
        pattern: what the text must contain; its named groups are the values.
        key: what only this gesture's text can contain. Without it the text only supports.

    It proves "at least once". A recorder in the worker that makes the gesture keeps the text; it is lost when the
    worker ends.
    """

    pattern: str
    _: KW_ONLY
    key: str | None = None

    def __post_init__(self) -> None:
        refuse_empty(self.pattern, key=self.key)

    @property
    def records(self) -> frozenset[RecordingKind]:
        """Toasts."""
        return frozenset({"toasts"})

    def look(self, view: "View") -> Observation:
        """Look through the texts that were recorded since the gesture's input."""
        return self.said_of_recording(view, "the toast", self._hits, _missing)

    def _hits(self, recorded: Recording) -> list[Hit]:
        return [
            Hit(_match(hit), _evidence(hit, toast.at), holds(toast.text, self.key))
            for toast in recorded.toasts
            for hit in re.finditer(self.pattern, toast.text)
            if hit[0].strip()
        ]

    def __str__(self) -> str:
        return f"the toast “{pattern_words(self.pattern)}”"


def _missing(recorded: Recording) -> str:
    missing = recorded.toast_failure or "no such text was shown after the gesture, and that proves nothing"
    return missing + ("; the page showed more than is recorded" if recorded.truncated else "")


def _match(hit: re.Match[str]) -> Match:
    values = {name: text for name, text in hit.groupdict().items() if text is not None}
    return Match(values=values, identity=hit[0])


def _evidence(hit: re.Match[str], at: datetime) -> Evidence:
    return Evidence(kind="text", words=f"shown at {at:%H:%M:%S} UTC, after the gesture", text=hit[0], at=at)
