"""How many processor seconds each test took, with those of every process that it started: `--processor-time`.

Wall time depends on what else the machine does. A test's Chromiums, drivers and servers are counted even if their
parents are dead: this process adopts them (Linux only).
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from collections import defaultdict
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

OPTION = "--processor-time"
_SPENT = "processor_time"
_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER. Source: prctl(2)."""
_TICKS = os.sysconf("SC_CLK_TCK")
_LOOKS = 9
"""After so many, which are three tests, a zombie is no longer left to whoever may still wait for it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        OPTION,
        type=int,
        default=0,
        metavar="N",
        help="show the processor seconds of each folder and of the N tests that took most",
    )
    parser.addoption(f"{OPTION}-table", type=Path, metavar="FILE", help="write them into a file (Markdown)")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption(OPTION) and sys.platform == "linux":
        config.pluginmanager.register(Clock(), "processor-clock")
        config.pluginmanager.register(Table(config), "processor-table")


@dataclass(frozen=True)
class Spent:
    """What one test took, in processor seconds: `setup` includes servers and browsers that later tests share."""

    test: str
    setup: float
    rest: float


class Clock:
    """Reads the processor time of this process and its descendants around each test."""

    def __init__(self) -> None:
        if ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "this process can't adopt orphans")
        self._zombies: dict[int, int] = {}
        self._began = self._set_up = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        self._began = self._now()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "setup":
            self._set_up = self._now()
        if call.when == "teardown":
            now = self._now()
            spent = (round(self._set_up - self._began, 3), round(now - self._set_up, 3))
            report.__dict__[_SPENT] = spent  # a value of a report that xdist carries to the terminal
        return report

    def _now(self) -> float:
        """Of all processes so far; what has ended and was waited for stands in its parent's account."""
        usages = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        own = sum(each.ru_utime + each.ru_stime for each in usages)
        return own + (self._of_descendants() if _has_children() else 0.0)

    def _of_descendants(self) -> float:
        children = defaultdict[int, list[_Process]](list)
        for each in _processes():
            children[each.parent].append(each)
        seconds, left = 0.0, [*children[os.getpid()]]
        self._reap([each.pid for each in left if each.state == "Z"])
        while left:
            each = left.pop()
            seconds += each.seconds
            left += children[each.pid]
        return seconds

    def _reap(self, zombies: list[int]) -> None:
        """Wait for adopted processes that are dead: nobody else does. What they took then stands in our account."""
        self._zombies = {pid: self._zombies.get(pid, 0) + 1 for pid in zombies}
        for pid in [pid for pid, seen in self._zombies.items() if seen > _LOOKS]:
            os.waitpid(pid, os.WNOHANG)
            del self._zombies[pid]


@dataclass(frozen=True)
class _Process:
    pid: int
    parent: int
    state: str
    seconds: float


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _processes() -> Iterator[_Process]:
    """Source: proc_pid_stat(5), fields 3, 4 and 14 to 17 (its own ticks and those of children it has waited for)."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            yield _Process(int(name), int(fields[1]), fields[0], sum(map(int, fields[11:15])) / _TICKS)


class Table:
    """Shows what was spent, a folder and a test."""

    def __init__(self, config: pytest.Config) -> None:
        self._shown: int = config.getoption(OPTION)
        self._file: Path | None = config.getoption(f"{OPTION}-table")
        self._spent: list[Spent] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if (spent := getattr(report, _SPENT, None)) is not None:
            self._spent.append(Spent(report.nodeid, *spent))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._spent:
            return
        terminalreporter.section("processor seconds")
        for line in self._lines(self._shown):
            terminalreporter.write_line(line)
        if self._file is not None:
            self._file.write_text("\n".join(self._lines(len(self._spent))) + "\n", encoding="utf-8")

    def _lines(self, shown: int) -> Iterator[str]:
        folders = defaultdict[str, list[Spent]](list)
        for each in self._spent:
            folders[each.test.partition("::")[0].rpartition("/")[0]].append(each)
        yield "| folder | tests | setup | rest | all |"
        yield "|---|--:|--:|--:|--:|"
        for folder, spent in [*sorted(folders.items()), ("all", self._spent)]:
            setup, rest = sum(each.setup for each in spent), sum(each.rest for each in spent)
            yield f"| {folder} | {len(spent)} | {setup:.0f} | {rest:.0f} | {setup + rest:.0f} |"
        yield ""
        yield "| test | setup | rest |"
        yield "|---|--:|--:|"
        for each in sorted(self._spent, key=lambda each: each.setup + each.rest, reverse=True)[:shown]:
            yield f"| {each.test} | {each.setup:.2f} | {each.rest:.2f} |"
