"""A file that was downloaded completely after the gesture.

An incomplete file never counts, and no more than one line of the content is ever stored.
"""

import re
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING

from .evidence import Evidence, Match, Observation
from .key_in_text import Hit, Keyed, holds, refuse_empty
from .normal import normal
from .observer import Observer, RecordingKind
from .recording import Downloaded, Recording
from .text import pattern_words

if TYPE_CHECKING:
    from .view import View


class Download(Keyed, Observer):
    """A file that the task's page, or a page that it opened, downloaded after the gesture, to its last byte.

        Download(r"receipt-.*\\.csv", within=r"Order (?P<number>[^;]+)", key=order)

    Args:
        name: a regular expression that must fit the file's whole proposed name.
        within: a regular expression that must fit somewhere in a line of its content, which must be text. The named
            groups of both are the values.
        key: what only this gesture's file can contain, in its name or its content. Without it the file only supports.

    It proves "at least once". Name, size, SHA-256 and the line are kept; the content, which may be secret, never is.
    """

    name: str
    _: KW_ONLY
    within: str | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        refuse_empty(self.within, key=self.key)

    @property
    def patterns(self) -> tuple[str | None, ...]:
        """The pattern of the name, and the pattern of a line."""
        return (self.name, self.within)

    @property
    def records(self) -> frozenset[RecordingKind]:
        """Downloads."""
        return frozenset({"downloads"})

    def look(self, view: "View") -> Observation:
        """Look through the files that arrived since the gesture's input."""
        return self.said_of_recording(view, "the download", self._hits, self._missing)

    def _hits(self, recorded: Recording) -> list[Hit]:
        return [hit for file in recorded.downloads if file.sha256 for hit in self._hits_of(file)]

    def _hits_of(self, file: Downloaded) -> list[Hit]:
        named = re.fullmatch(self.name, file.name)
        lines = [normal(line) for line in (file.text or "").splitlines()]
        found = [(line, re.search(self.within, line)) for line in lines] if self.within else []
        fitting = [(line, hit) for line, hit in found if hit]
        if named is None or (self.within is not None and not fitting):
            return []
        line, hit = fitting[0] if fitting else (next((one for one in lines if holds(one, self.key)), None), None)
        values = {**named.groupdict(), **(hit.groupdict() if hit else {})}
        match = Match(
            values={name: text for name, text in values.items() if text is not None},
            identity=f"{file.name} ({file.size:,} bytes)",
        )
        return [Hit(match, _evidence(file, line), holds(file.name, self.key) or holds(file.text or "", self.key))]

    def _missing(self, recorded: Recording) -> str:
        named = [file for file in recorded.downloads if re.fullmatch(self.name, file.name)]
        if not named:
            return "no such file came after the gesture, and that proves nothing"
        if named[-1].failure:
            return f"the download of {named[-1].name} did not finish: {named[-1].failure}"
        if named[-1].sha256 is None:
            return f"the download of {named[-1].name} has begun and isn't complete"
        if named[-1].text is None:
            return f"{named[-1].name} came, and its content isn't text that can be looked through"
        return f"{named[-1].name} came, and no line of it holds what is looked for"

    def __str__(self) -> str:
        return f"the download “{pattern_words(self.name)}”"


def _evidence(file: Downloaded, line: str | None) -> Evidence:
    words = f"{file.name}, {file.size:,} bytes, SHA-256 {file.sha256}"
    return Evidence(kind="file", words=words, text=line, at=file.at)
