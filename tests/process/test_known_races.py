"""A race in a real run: it fails among others, passes alone, and pytest's own cache says so."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support import known_races
from tests.support.known_races import Outcome

SUITE = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("way", ["x y"])
def test_race(way):
    first = not Path("ran").exists()
    Path("ran").touch()
    assert not first

def test_fine():
    pass
"""


@pytest.fixture
def root(pytester: pytest.Pytester) -> Path:
    pytester.makeini("[pytest]")
    pytester.makepyfile(test_suite=SUITE)
    (pytester.path / "known_races.txt").touch()
    return pytester.path


def run(pytester: pytest.Pytester, arguments: Sequence[str]) -> Outcome:
    result = pytester.runpytest_subprocess("-p", "no:browser-agent", *arguments)
    return Outcome(int(result.ret), known_races.last_failed(Path(".pytest_cache/v/cache/lastfailed")))


def test_a_race_is_shown_as_the_line_to_record_and_then_by_its_name(pytester: pytest.Pytester, root: Path) -> None:
    shown, file = list[str](), root / "known_races.txt"
    race = "test_suite.py::test_race[x y]"
    assert known_races.check(file, lambda arguments: run(pytester, arguments), shown.append) == 0
    assert shown[-1] == f"{race} # (the reason)"
    file.write_text(f"{race} # it fails in each new folder")
    os.unlink(root / "ran")
    assert known_races.check(file, lambda arguments: run(pytester, arguments), shown.append) == 0
    assert shown[-1] == f"A known race: {race}"
