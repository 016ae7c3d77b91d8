"""The tables of a page as rows of named cells.

A cell that couldn't be read never passes for an empty one: `Row.opaque` names it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from .evidence import Box
from .normal import normal


class Row(Mapping[str, str]):
    """One row: header -> text of the cell, in normal form.

    `opaque`: headers of cells with a form control, whose value isn't read. `link`: the target of the row's first link.
    `shown`: the row is visible.
    """

    def __init__(self, cells: dict[str, str], raw: Mapping[str, Any] | None = None) -> None:
        raw = raw or {}
        headers = tuple(cells)
        self._cells = cells
        self.box: Box | None = tuple(raw["box"]) if raw.get("box") else None
        self.link: str | None = raw.get("link")
        self.shown: bool = raw.get("shown", True)
        self.opaque = frozenset(headers[i] for i in raw.get("opaque", ()) if i < len(headers))

    def __getitem__(self, header: str) -> str:
        return self._cells[header]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def __repr__(self) -> str:
        return f"Row({self._cells!r})"


class Table(list[Row]):
    """The rows of one table. `headers`: also set for an empty table. `virtual`: it shows only some of its rows."""

    def __init__(self, headers: tuple[str, ...], rows: list[Row], *, virtual: bool = False) -> None:
        super().__init__(rows)
        self.headers = headers
        self.virtual = virtual

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> "Table":
        """The table from the snapshot's data. A second header of the same name becomes "Name (2)"."""
        headers = _distinct([normal(header) for header in raw["headers"]])
        rows = [Row(_named(headers, row["cells"]), row) for row in raw["rows"]]
        return cls(headers, rows, virtual=raw["virtual"])


def _distinct(headers: list[str]) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    names = []
    for header in headers:
        seen[header] = seen.get(header, 0) + 1
        names.append(header if seen[header] == 1 else f"{header} ({seen[header]})")
    return tuple(names)


def _named(headers: tuple[str, ...], cells: list[str]) -> dict[str, str]:
    """The cells by header. Missing cells of a short row become "", so the positions in `opaque` stay right."""
    padded = [normal(cell) for cell in cells] + [""] * len(headers)
    return dict(zip(headers, padded, strict=False))
