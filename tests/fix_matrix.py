"""The long crossings: only on demand, and resumable. What has passed stands in a file, and isn't run again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest


def crossed(*axes: Sequence[Any], every: int = 2) -> list[Any]:
    """The crossing of some axes as parameters: one cell in `every` is taken each time, the others on demand.

    The cells that are taken lie on the diagonals, so that each value of an axis meets the values of each other one.
    """
    cells = product(*(list(enumerate(axis)) for axis in axes))
    return [
        pytest.param(
            *(value for _, value in cell), marks=[pytest.mark.matrix] if sum(at for at, _ in cell) % every else []
        )
        for cell in cells
    ]


def one_in(every: int, values: Sequence[Any]) -> list[Any]:
    """Parameters of which one in `every` is taken each time, the others on demand."""
    return crossed(values, every=every)


def chosen(*always: Any, others: Sequence[Any]) -> list[Any]:
    """Parameters of which some are taken each time, since each behaves in its own way; the others on demand.

    A cell of several parameters is a tuple.
    """
    marked = [*((cell, []) for cell in always), *((cell, [pytest.mark.matrix]) for cell in others)]
    return [pytest.param(*(cell if isinstance(cell, tuple) else (cell,)), marks=marks) for cell, marks in marked]


def paired(cells: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Cells of which so many are taken each time that any two values meet that meet in any cell; the others on demand.

    Where some cells can't be, which a product with `every` would not know.
    """
    meets = {cell: set(combinations(enumerate(cell), 2)) for cell in cells}
    left, always = set().union(*meets.values()), list[tuple[Any, ...]]()
    while left:
        always.append(max(cells, key=lambda cell: len(left & meets[cell])))
        left -= meets[always[-1]]
    return [pytest.param(cell, marks=[] if cell in always else [pytest.mark.matrix]) for cell in cells]


VARIABLE = "BROWSER_AGENT_MATRIX"
"""The file with the cells that have passed; without it the crossings are left out."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "matrix: a cell of a long crossing, or a long story whose kind a shorter one shows; run by `make matrix`",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    passed = _passed()
    left = [item for item in items if item.get_closest_marker("matrix")]
    left = [item for item in left if passed is None or item.nodeid in passed]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write a passed cell down; one line is written whole, whichever worker writes it."""
    if VARIABLE in os.environ and report.when == "call" and report.passed and "matrix" in report.keywords:
        with Path(os.environ[VARIABLE]).open("a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\n")


def _passed() -> frozenset[str] | None:
    if VARIABLE not in os.environ:
        return None
    file = Path(os.environ[VARIABLE])
    return frozenset(file.read_text(encoding="utf-8").splitlines()) if file.exists() else frozenset()
