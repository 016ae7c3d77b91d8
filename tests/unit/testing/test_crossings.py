"""Which cells of a crossing are taken each time: all values, in all pairs that there are, and no cell is lost."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

from tests.fix_matrix import chosen, crossed, paired

CELLS = [cell for cell in product("abc", (1, 2, 3), (True, False)) if cell[:2] != ("c", 3)]


def taken(cells: list[Any]) -> list[tuple[Any, ...]]:
    return [cell.values for cell in cells if not cell.marks]


def test_any_two_values_that_meet_meet_in_a_cell_that_is_taken() -> None:
    cells = paired(CELLS)
    assert [values for (values,) in (cell.values for cell in cells)] == CELLS
    few = [values for (values,) in taken(cells)]
    assert len(few) < len(CELLS) / 1.5

    def meets(of: list[Any]) -> set[Any]:
        return {pair for cell in of for pair in combinations(enumerate(cell), 2)}

    assert meets(few) == meets(CELLS)


def test_what_is_chosen_is_taken_and_the_others_are_there() -> None:
    cells = chosen(("form", 1), others=[("fetch", 1), ("fetch", 2)])
    assert taken(cells) == [("form", 1)]
    assert [cell.values for cell in cells] == [("form", 1), ("fetch", 1), ("fetch", 2)]
    assert taken(chosen("form", [1], others=["fetch"])) == [("form",), ([1],)]


def test_one_cell_in_so_many_is_taken_and_each_value_is_in_one() -> None:
    few = taken(crossed("ab", (1, 2)))
    assert few == [("a", 1), ("b", 2)]
