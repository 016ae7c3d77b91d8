"""The tables of a page as rows of named cells.

This module must not know browsers. A cell that couldn't be read may never pass as an empty one: it is named in
`Row.opaque`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from .evidence import Box
from .normal import normal


class Row(Mapping[str, str]):
    """One row: header -> text of the cell, in normal form.

    `opaque`: headers of cells that hold a form control, whose value isn't read. `link`: where the row's first link
    leads. `shown`: the row can be seen.
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
    """The rows of one table. `headers` are there for an empty table too; `virtual`: it shows only a part of itself."""

    def __init__(self, headers: tuple[str, ...], rows: list[Row], *, virtual: bool = False) -> None:
        super().__init__(rows)
        self.headers = headers
        self.virtual = virtual

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> "Table":
        """The table as the snapshot tells it. A second header of the same name becomes "Name (2)"."""
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
    """The cells by header; a row that is too short has "" in what is missing, for `opaque` to keep its places."""
    padded = [normal(cell) for cell in cells] + [""] * len(headers)
    return dict(zip(headers, padded, strict=False))
