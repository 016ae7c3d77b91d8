"""Runs all tests, and those that failed once more alone. A test that fails once and passes alone is a race.

`known_races.txt` holds three at most, each with its reason. A new race is shown as a line to record; together with the
recorded ones there may be three, and a fourth fails the run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests" / "known_races.txt"
LAST_FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
MOST = 3
SEPARATOR = " # "
FORGET = ("--cache-clear",)
"""What failed in an earlier run is no failure of this one."""
ALONE = ("-n", "0", "--last-failed", "--last-failed-no-failures", "none")

Tests = frozenset[str]
"""Test ids."""


class BadFile(Exception):
    """A line of the file of known races has no reason, or there are too many lines."""


@dataclass(frozen=True)
class Outcome:
    """How one run of tests ended: pytest's (or make's) exit code, and which tests failed."""

    code: int
    failed: Tests


@dataclass(frozen=True)
class Judgement:
    """What two runs say together.

    Attributes:
        broken: failed alone, too.
        unrecorded: races that are not in the file.
        recorded: races that are.
        too_many: with these races there are more than three.
        unnamed: the run failed, and no test says why (an interrupt, a broken conftest).
    """

    broken: Tests = frozenset()
    unrecorded: Tests = frozenset()
    recorded: Tests = frozenset()
    too_many: bool = False
    unnamed: bool = False

    @property
    def passed(self) -> bool:
        return not (self.broken or self.too_many or self.unnamed)


def read(file: Path) -> Tests:
    """The tests that the file records.

    Raises:
        BadFile: a reason is missing, or there are more than three.
    """
    lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    entries = [line.partition(SEPARATOR) for line in lines if line and not line.startswith("#")]
    if bare := [test for test, _, reason in entries if not reason.strip()]:
        raise BadFile(f"{file.name}: no reason stands after {', '.join(bare)}")
    if len(entries) > MOST:
        raise BadFile(f"{file.name}: {len(entries)} races are recorded, and {MOST} are allowed; mend one")
    return frozenset(test.strip() for test, _, _ in entries)


def judge(together: Outcome, alone: Outcome | None, known: Tests) -> Judgement:
    """Tell races from broken tests. `alone` = how those that failed together ended alone; None = none had failed."""
    if alone is None:
        return Judgement(unnamed=together.code != 0)
    races = together.failed - alone.failed
    return Judgement(
        broken=alone.failed,
        unrecorded=races - known,
        recorded=races & known,
        too_many=len(races | known) > MOST,
        unnamed=alone.code != 0 and not alone.failed,
    )


def check(file: Path, run: Callable[[Sequence[str]], Outcome], show: Callable[[str], None]) -> int:
    """Run the tests, and say what has to be recorded; the exit code. `run` takes pytest's arguments."""
    try:
        known = read(file)
    except BadFile as error:
        show(str(error))
        return 1
    together, alone = run(FORGET), None
    if together.failed:
        show(f"=== {len(together.failed)} failed, and run once more alone")
        alone = run(ALONE)
    judgement = judge(together, alone, known)
    for test in sorted(judgement.recorded):
        show(f"A known race: {test}")
    if judgement.unrecorded:
        fails = f" There are more than {MOST} now, so the run fails." if judgement.too_many else ""
        show(f"Failed once and passed alone. Mend each, or record it in {file.name} with its reason.{fails}")
    for test in sorted(judgement.unrecorded):
        show(f"{test}{SEPARATOR}(the reason)")
    if judgement.unnamed:
        show("The run failed, and no test says why; see above.")
    return 0 if judgement.passed else 1


def make_test(arguments: Sequence[str]) -> Outcome:
    """`make test` with more arguments."""
    command = ["make", "--no-print-directory", "test", f"ARGS={' '.join(arguments)}"]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    return Outcome(code, last_failed(LAST_FAILED))


def last_failed(file: Path) -> Tests:
    """What pytest's cache says has failed and has not passed since; no file if all passed."""
    return frozenset(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else frozenset()


if __name__ == "__main__":
    sys.exit(check(FILE, make_test, lambda line: print(line, flush=True)))
