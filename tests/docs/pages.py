"""A page of the documentation as a program: its blocks in order, and what each of them is for.

A block of Python whose first line is a file's name (`# invoice.py`) is saved under it. A block `sh` is run in that
folder. A block `text` after it is what the commands have said, compared as `expected` tells. A comment in front of a
block says what is special about it:

    <!-- test: exits 3 -->                    the block's last command ends so, and not with 0
    <!-- test: not run, it needs a person --> why it can't be run; only read

Installing is not run either. Must not know how anything is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES: Mapping[str, Path] = {
    path.relative_to(ROOT).as_posix(): path for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
}
_BLOCK = re.compile(r"^(?:<!-- test: (?P<note>.*?) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S)
_FILE_NAME = re.compile(r"# (?P<name>\S+\.py)\n")
_VOLATILE = re.compile(r"(?P<id>\b(?:run|q)-[a-z0-9]{5,}\b)|\d\d:\d\d:\d\d|\b[0-9a-f]{64}\b|\.\.\.")
_PORT = re.compile(r"\b80\d\d\b")


class Block(NamedTuple):
    """One block of a page: its language, its text, and what stands in front of it."""

    language: str
    text: str
    note: str

    @property
    def saved_as(self) -> str:
        """The name of the file that it is; empty for a part of one."""
        named = _FILE_NAME.match(self.text) if self.language == "python" else None
        return named["name"] if named else ""

    @property
    def runs(self) -> bool:
        """Whether it is a block of commands that is run."""
        return self.language == "sh" and not self.note.startswith("not run,") and not self.installs

    @property
    def installs(self) -> bool:
        """Whether it installs."""
        return self.text.startswith("pip install")

    @property
    def exits(self) -> int:
        """The code that its last command ends with."""
        return int(self.note.removeprefix("exits ")) if self.note.startswith("exits ") else 0

    @property
    def stays(self) -> bool:
        """Whether all that it starts goes on in the background."""
        return all(line.endswith("&") for line in self.text.splitlines())


def blocks(page: str) -> list[Block]:
    """The blocks of a page, from its top."""
    found = _BLOCK.finditer(PAGES[page].read_text(encoding="utf-8"))
    return [Block(one["language"], one["text"], one["note"] or "") for one in found]


def in_pairs(found: list[Block]) -> Iterator[tuple[Block, Block | None]]:
    """Each block that is saved or run, with the one that shows what it said."""
    for position, block in enumerate(found):
        after = found[position + 1] if position + 1 < len(found) else None
        if block.saved_as or block.runs:
            yield block, after if block.runs and after is not None and after.language == "text" else None


def ports(found: list[Block]) -> list[str]:
    """The ports that a page names, each once."""
    return list(dict.fromkeys(port for block in found for port in _PORT.findall(block.text)))


def expected(text: str) -> re.Pattern[str]:
    """What commands say, as a pattern: `...` stands for anything, on a line of its own for any lines.

    Ids of runs and questions, times of the day and digests are other ones each time; an id that comes twice is the
    same both times.
    """
    pattern, names, end = "", list[str](), 0
    text = "".join("\0" if line.strip() == "..." else line + "\n" for line in text.splitlines())
    for found in _VOLATILE.finditer(text):
        pattern += re.escape(text[end : found.start()])
        end = found.end()
        if (name := found["id"]) is None:
            pattern += {"...": ".*"}.get(found[0], r"[0-9a-f:]+")
        elif name in names:
            pattern += f"(?P=id{names.index(name)})"
        else:
            pattern += f"(?P<id{len(names)}>{name.partition('-')[0]}-[a-z0-9]+)"
            names.append(name)
    pattern += re.escape(text[end:])
    return re.compile(pattern.replace(re.escape("\0"), "(?:.*\n)*?"))


def ids(text: str) -> list[str]:
    """The ids of runs and questions in a page's text, each once, in the order of the pattern's groups."""
    return list(dict.fromkeys(found["id"] for found in _VOLATILE.finditer(text) if found["id"]))
