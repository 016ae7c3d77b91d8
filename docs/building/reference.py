"""Tells the reference's reader what it can't see by itself: what an observer takes, and how our docstrings are built.

A subclass of `Observer` is made a dataclass by its base, without a decorator. And a docstring's sections are turned
into plain lists: types and defaults stand in the signature, and nothing is said twice (or wrong, where one line of
ours tells of two arguments). Reads source as data; nothing is run.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_SECTION = re.compile(r"^(Args|Arguments|Attributes|Raises|Returns):\n((?:[ ]{4}.*\n?|\n)+)", re.MULTILINE)
_ITEM = re.compile(r"^`?([\w, /]+?)`?: (.*)$", re.DOTALL)
_FIELDS = re.compile(r"(?<=\n\n)(?:`?[\w, ]+`?: .*\n(?:    .*\n)*)+(?=\n|\Z)")
_TITLES = {"Args": "Arguments"}


class Ours(griffe.Extension):
    """An extension of the reference's reader."""

    def on_class_instance(self, *, cls: griffe.Class, **_: Any) -> None:
        """Give each direct subclass of `Observer` the decorator that its base stands for."""
        if any(str(base).rpartition(".")[2] == "Observer" for base in cls.bases):
            made = griffe.ExprName("dataclasses.dataclass")
            cls.decorators.append(griffe.Decorator(made, lineno=cls.lineno, endlineno=cls.lineno))

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Turn its docstring into Markdown."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(docstring: str) -> str:
    """A docstring with its sections as lists under their titles, and a paragraph of `name: what it is` as a list."""
    listed = _SECTION.sub(_section, f"{docstring}\n")
    return _FIELDS.sub(lambda found: _list(_items(found[0])) or found[0], listed).strip()


def _section(found: re.Match[str]) -> str:
    items = _items("".join(line[4:] for line in found[2].splitlines(keepends=True)))
    title = _TITLES.get(found[1], found[1])
    told = "" if found[1] == "Returns" else _list(items)
    return f"**{title}:**\n\n{told}\n" if told else f"**{title}:** {' '.join(items)}\n\n"


def _items(text: str) -> list[str]:
    """Lines with what is indented below them."""
    items: list[str] = []
    for line in filter(str.strip, text.splitlines()):
        if line.startswith(" ") and items:
            items[-1] += f" {line.strip()}"
        else:
            items.append(line)
    return items


def _list(items: list[str]) -> str:
    """The items as a list in Markdown; empty if one of them doesn't name what it is about."""
    named = [found for item in items if (found := _ITEM.match(item))]
    if len(named) < len(items):
        return ""
    names = [", ".join(f"`{name.strip()}`" for name in found[1].split(",")) for found in named]
    return "".join(f"- {name}: {found[2]}\n" for name, found in zip(names, named, strict=True))
