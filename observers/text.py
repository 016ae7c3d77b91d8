"""The visible text of a page, and the position of each piece.

It never contains the value of a form control: the snapshot leaves these out.
"""

import re
from collections.abc import Iterable

from pydantic import Field

from .evidence import Box, Frozen, Match
from .normal import normal_part


class Found(Frozen):
    """One hit of a pattern: its text, its named groups that matched, and its box in the window if it has one.

    `whole`: the text extended to whole words ("for S-7" may be a part of "for S-70").
    """

    text: str
    whole: str
    groups: dict[str, str] = Field(default_factory=dict)
    box: Box | None = None

    def match(self, note: str = "") -> Match:
        """The hit as a match: its groups are the values, its text is its identity."""
        return Match(values=self.groups, identity=self.text, box=self.box, note=note)


class VisibleText:
    """Pieces of text in reading order, joined in normal form, one line per block."""

    def __init__(self, pieces: Iterable[tuple[str, Box | None]]) -> None:
        text = ""
        self._places: list[tuple[int, int, Box]] = []
        for piece, box in pieces:
            if piece == "\n":
                text = text.rstrip(" ")
                text += "\n" if text and not text.endswith("\n") else ""
                continue
            plain = normal_part(piece)
            plain = plain.lstrip(" ") if not text or text[-1] in " \n" else plain
            if box is not None and plain:
                self._places.append((len(text), len(text) + len(plain), box))
            text += plain
        self.text = text.rstrip()

    def find(self, pattern: str | re.Pattern[str]) -> list[Found]:
        """Every hit of a regular expression (`.` stays within a line), in page order, except empty hits."""
        return [
            Found(text=hit[0], whole=self._whole(*hit.span()), groups=_taken(hit), box=self._box(*hit.span()))
            for hit in re.finditer(pattern, self.text)
            if hit[0].strip()
        ]

    def _whole(self, start: int, end: int) -> str:
        before, after = re.search(r"\S*$", self.text[:start]), re.match(r"\S*", self.text[end:])
        return (before[0] if before else "") + self.text[start:end] + (after[0] if after else "")

    def _box(self, start: int, end: int) -> Box | None:
        return around([box for first, last, box in self._places if first < end and start < last])


def pattern_words(pattern: str) -> str:
    """A regular expression in readable form: a named group becomes `<name>`, and escapes lose their backslash."""
    words = pattern
    while found := re.search(r"\(\?P<(\w+)>", words):
        words = words[: found.start()] + f"<{found[1]}>" + words[_end_of_group(words, found.end()) :]
    return re.sub(r"\\b", "", re.sub(r"\\([^\w\s]|\s)", r"\1", words))


def _end_of_group(pattern: str, start: int) -> int:
    """The end of the group whose content begins at `start`. Brackets that are escaped or in a set don't count."""
    depth, in_set = 1, False
    for mark in re.finditer(r"\\.|[][()]", pattern[start:]):
        in_set = mark[0] == "[" or (in_set and mark[0] != "]")
        if not in_set:
            depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0:
            return start + mark.end()
    return len(pattern)


def around(boxes: list[Box]) -> Box | None:
    """The smallest box around all `boxes`; None if there are none."""
    if not boxes:
        return None
    left, top = min(b[0] for b in boxes), min(b[1] for b in boxes)
    return left, top, max(b[0] + b[2] for b in boxes) - left, max(b[1] + b[3] for b in boxes) - top


def _taken(hit: re.Match[str]) -> dict[str, str]:
    return {name: text.strip() for name, text in hit.groupdict().items() if text is not None}
