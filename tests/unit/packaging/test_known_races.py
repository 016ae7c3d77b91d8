"""Races: tests that fail once and pass alone. Each is shown to be recorded; a fourth one fails the run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support import known_races
from tests.support.known_races import ALONE, Outcome

A, B = "tests/a.py::test_a[x y]", "tests/a.py::test_b"
PASSED = Outcome(0, frozenset())


class Runs:
    """Stands in the place of `make test`: each run ends as the next outcome says."""

    def __init__(self, *outcomes: Outcome) -> None:
        self._outcomes = list(outcomes)
        self.asked: list[Sequence[str]] = []

    def __call__(self, arguments: Sequence[str]) -> Outcome:
        self.asked.append(arguments)
        return self._outcomes.pop(0)


def failed(*tests: str, code: int = 2) -> Outcome:
    return Outcome(code, frozenset(tests))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "known_races.txt"
    file.write_text("# A heading.\n\n")
    return file


def record(file: Path, *tests: str, reason: str = "the download is slow") -> None:
    file.write_text("".join(f"{test} # {reason}\n" for test in tests))


def test_the_file_of_this_project_can_be_read() -> None:
    known_races.read(known_races.FILE)


def test_tests_that_pass_are_run_once(file: Path) -> None:
    runs, shown = Runs(PASSED), list[str]()
    assert known_races.check(file, runs, shown.append) == 0
    assert len(runs.asked) == 1 and shown == []


def test_a_test_that_fails_alone_too_fails_the_run_and_is_no_race(file: Path) -> None:
    record(file, A)
    runs, shown = Runs(failed(A), failed(A)), list[str]()
    assert known_races.check(file, runs, shown.append) == 1
    assert runs.asked[1] == ALONE and not any(A in line for line in shown)


def test_a_race_that_is_not_recorded_is_a_line_to_record(file: Path) -> None:
    runs, shown = Runs(failed(A), PASSED), list[str]()
    assert known_races.check(file, runs, shown.append) == 0
    assert f"{A} # (the reason)" in shown
    file.write_text(shown[-1])
    assert known_races.read(file) == {A}


def test_a_race_that_is_recorded_fails_nothing_and_is_shown(file: Path) -> None:
    record(file, A)
    shown = list[str]()
    assert known_races.check(file, Runs(failed(A), PASSED), shown.append) == 0
    assert f"A known race: {A}" in shown


def test_a_fourth_race_fails_the_run_whether_the_others_are_recorded_or_new(file: Path) -> None:
    record(file, A, "c")
    shown = list[str]()
    assert known_races.check(file, Runs(failed(A, B), PASSED), shown.append) == 0
    assert f"{B} # (the reason)" in shown and f"{A} # (the reason)" not in shown
    assert known_races.check(file, Runs(failed(A, B, "d"), PASSED), shown.append) == 1
    assert "There are more than 3 now" in " ".join(shown)


def test_a_race_excuses_no_test_that_fails_alone_too(file: Path) -> None:
    assert known_races.check(file, Runs(failed(A, B), failed(B)), list[str]().append) == 1


@pytest.mark.parametrize("outcomes", [(failed(),), (failed(A), failed())])
def test_a_run_that_fails_without_a_test_that_failed_fails(file: Path, outcomes: tuple[Outcome, ...]) -> None:
    record(file, A)
    assert known_races.check(file, Runs(*outcomes), list[str]().append) == 1


def test_a_fourth_entry_fails_before_anything_is_run(file: Path) -> None:
    record(file, A, B, "c", "d")
    runs, shown = Runs(), list[str]()
    assert known_races.check(file, runs, shown.append) == 1
    assert runs.asked == [] and shown == ["known_races.txt: 4 races are recorded, and 3 are allowed; mend one"]


@pytest.mark.parametrize("line", [A, f"{A} #", f"{A} #  "])
def test_an_entry_without_a_reason_fails(file: Path, line: str) -> None:
    file.write_text(line)
    with pytest.raises(known_races.BadFile, match="no reason"):
        known_races.read(file)
