"""One Trac for all tests, and one way to file a ticket in it through the keeper, as the command line would.

These tests need PyPI, so they run only where they are named (`make real`); a run of everything else says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from browser_agent.keeper.keeper import Ended, KillAt, Options, keep
from browser_agent.script.arguments import dump_arguments, parse_arguments
from browser_agent.script.task_file import load_task
from browser_agent.states import Point
from browser_agent.store import Store
from browser_agent.store.records import AttemptRow, GestureRow
from browser_agent.testing.proxy.fault_proxy import FaultProxy
from tests.real.trac_site import PASSWORD, Trac, TracUnavailable

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[1] / "examples" / "trac_ticket.py"


@dataclass(frozen=True)
class Filed:
    """How a run that files a ticket ended, and what its journal holds."""

    ended: Ended
    gestures: tuple[GestureRow, ...]
    attempts: tuple[AttemptRow, ...]

    @property
    def number(self) -> int:
        """What the task handed back."""
        assert self.ended.result is not None, self.ended
        number: int = json.loads(self.ended.result)
        return number

    @property
    def states(self) -> list[str]:
        """What was concluded of each gesture, in order."""
        return [str(gesture.state) for gesture in self.gestures]


FileTicket = Callable[..., Filed]


def _named(config: pytest.Config) -> bool:
    named = [Path(argument.partition("::")[0]).absolute() for argument in config.args]
    return any(path == HERE or HERE in path.parents for path in named)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return None if _named(config) else True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not _named(config):
        terminalreporter.write_line("The tests against real services were not asked for: make real")


@pytest.fixture(scope="session")
def trac(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trac]:
    unavailable = ""
    try:
        with Trac(tmp_path_factory.mktemp("trac")) as started:
            yield started
    except TracUnavailable as error:
        unavailable = str(error)
    if unavailable:  # said here, so that it is the one line that is shown
        pytest.fail(unavailable, pytrace=False)


@pytest.fixture
def road(trac: Trac) -> Iterator[FaultProxy]:
    """The road to Trac, whole until a test lays a fault on it."""
    with FaultProxy(trac.url) as proxy:
        yield proxy


@pytest.fixture
def file_ticket(road: FaultProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileTicket:
    """File a ticket of that summary: a run is submitted and kept until it ends or waits for a person."""
    monkeypatch.setenv("TRAC_PASSWORD", PASSWORD)

    def filed(summary: str, kill_at: Point | None = None) -> Filed:
        task = load_task(str(EXAMPLE))
        arguments = parse_arguments(task, {"summary": summary, "description": f"About: {summary}"})
        options = Options(kill_at=KillAt(kill_at) if kill_at else None, keep_looking=2)
        with Store(tmp_path / "runs.db") as store:
            run = store.leases.submit(
                task_file=str(task.file),
                task_name=task.name,
                arguments=dump_arguments(task, arguments),
                sites=json.dumps({"trac": {"url": road.url}}),
            ).id
            ended = keep(store, run, options)
            return Filed(ended, tuple(store.journal.gestures(run)), tuple(store.leases.attempts(run)))

    return filed
