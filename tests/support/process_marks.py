"""Which tests start processes or servers: marks `process`, `postgres`, `temporal`, `s3`. The others are kept from it.

A test gets its marks from its folder, its fixtures and its parameters. `process` is written by hand only where a test
of `unit` or `store` starts a process itself.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
MARKS = {
    "process": "it starts a process or a browser",
    "postgres": "it needs a PostgreSQL server",
    "temporal": "it needs a Temporal server",
    "s3": "it needs an S3-compatible server",
}
FOLDERS = ("acceptance", "browser", "docs", "process", "real", "store/conformance")
FIXTURES = {
    "container": "process",
    "playwright": "process",
    "pytester": "process",
    "start_chromium": "process",
    "shared_chromium": "process",
    "postgres_server": "postgres",
    "own_postgres_server": "postgres",
    "temporal_server": "temporal",
    "s3_server": "s3",
}
HOME = "home"
"""The parameter that says in which home a test's store lives; SQLite needs no mark."""
STARTS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.spawn", "os.system"})
"""Audit events. Source: docs.python.org/3/library/audit_events.html."""


def pytest_configure(config: pytest.Config) -> None:
    for name, words in MARKS.items():
        config.addinivalue_line("markers", f"{name}: {words}")
    config.pluginmanager.register(Guard(), "process-guard")


@pytest.hookimpl(tryfirst=True)  # before -m is applied
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name in sorted(_marks_of(item)):
            item.add_marker(name)


def _marks_of(item: pytest.Item) -> Iterator[str]:
    if item.path.is_relative_to(TESTS) and _folder_of(item.path):
        yield "process"
    for fixture in getattr(item, "fixturenames", ()):
        if fixture in FIXTURES:
            yield FIXTURES[fixture]
    callspec = getattr(item, "callspec", None)
    if callspec is not None and (home := callspec.params.get(HOME)) in MARKS:
        yield home


def _folder_of(path: Path) -> bool:
    return any(path.is_relative_to(TESTS / folder) for folder in FOLDERS)


class Guard:
    """Fails a test without a mark that starts a process, even if the code under test hides the error."""

    def __init__(self) -> None:
        self._guarded = False
        self._started: list[str] = []
        sys.addaudithook(self._audit)  # it can't be removed; it does nothing outside of a guarded test

    def _audit(self, event: str, arguments: tuple[object, ...]) -> None:
        if self._guarded and event in STARTS:
            self._started.append(f"{event} {arguments[0] if arguments else ''}")
            self._fail()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        self._started.clear()
        return (yield from self._watch(item))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        return (yield from self._watch(item))

    def _watch(self, item: pytest.Item) -> Iterator[None]:
        if any(item.get_closest_marker(name) for name in MARKS):
            return (yield)
        before, self._guarded = _waited_for(), True
        try:
            yield
        finally:
            self._guarded = False
        if _waited_for() != before:  # multiprocessing starts its processes without an audit event
            self._started.append("a process that was waited for")
        if self._started:
            self._fail()

    def _fail(self) -> None:
        pytest.fail(f"started without the mark `process`: {', '.join(self._started)}")


def _waited_for() -> int:
    """It grows with each child that has ended and was waited for: every process touches new pages."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
