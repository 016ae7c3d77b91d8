"""Temporal's own dev server, and the two kinds of workers as processes of the real command line."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from pydantic import TypeAdapter

from browser_agent.browser.chromium import Chromium
from browser_agent.keeper.launch import submit
from browser_agent.keeper.temporal.messages import Limits, RunStatus
from browser_agent.ownership.takeover import process_alive
from browser_agent.store.records import AttemptRow, RunRow
from tests.support.free_port import free_port

if TYPE_CHECKING:  # every test would wait for its import
    from temporalio.client import Client, WorkflowHandle

    from tests.fix_world import World

ROOT = Path(__file__).parents[1]
TASKS = ROOT / "tests" / "scripts"
DEADLINE_SECONDS = 180.0
LONG_HISTORY = ("--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=100")
"""So many events are a long history, which a workflow leaves behind; usually it is thousands."""
T = TypeVar("T")


def apart(act: Coroutine[Any, Any, T]) -> T:
    """Do it in a thread of its own: where another test has a page open, a loop runs in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, act).result()


class Server:
    """A dev server that can be ended and started again with what it knew."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self.address = f"127.0.0.1:{self._port}"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        program = shutil.which("temporal", path=sysconfig.get_path("scripts")) or "temporal"
        known = ["--db-filename", str(self._folder / "temporal.db"), "--log-level", "error"]
        where = ["--ip", "127.0.0.1", "--port", str(self._port), "--headless", *LONG_HISTORY]
        with (self._folder / "temporal.log").open("ab") as log:
            self._process = subprocess.Popen(
                [program, "server", "start-dev", *known, *where], stdout=log, stderr=log, start_new_session=True
            )
        until(self._answers, "the dev server answers")

    def end(self) -> None:
        """End it."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(30)

    def client(self) -> Coroutine[Any, Any, Client]:
        from temporalio.client import Client

        return Client.connect(self.address)

    def _answers(self) -> bool:
        async def asked() -> bool:
            try:
                client = await self.client()
                return await client.service_client.check_health()
            except Exception:
                return False

        return apart(asked())


class Engine:
    """A world whose runs Temporal hands out, by a queue of its own."""

    tasks = TASKS

    def __init__(self, server: Server, world: World, queue: str) -> None:
        self.server, self.world, self.queue = server, world, queue
        self._processes: list[subprocess.Popen[bytes]] = []
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "BROWSER_AGENT_STORE": world.store.address,
            "BROWSER_AGENT_TEMPORAL_ADDRESS": server.address,
            "BROWSER_AGENT_TEMPORAL_QUEUE": queue,
            "BROWSER_AGENT_TEMPORAL_HEARTBEAT": "3",
            "BROWSER_AGENT_KEEP_LOOKING": "0",
        }

    def workflows(self) -> subprocess.Popen[bytes]:
        """A workflow worker."""
        return self._started("workflows")

    def browsers(self, *words: str, host: str = "", **environment: str) -> subprocess.Popen[bytes]:
        """A browser worker; on a host of that name, as far as it can see."""
        return self._started("worker", *words, host=host, **environment)

    def cli(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Another command of `browser-agent temporal`."""
        command = [sys.executable, "-m", "browser_agent", "temporal", *words]
        return subprocess.run(
            command, env=self.environment, cwd=self.world.folder, capture_output=True, text=True, check=False
        )

    def submit(self, task: str, *arguments: str, key: str, site: str = "books") -> RunRow:
        """Submit a run by the command line."""
        file = f"{TASKS / 'posting.py'}:{task}"
        said = self.cli("submit", file, *arguments, "--key", key, "--site", f"{site}={self.world.road(site).url}")
        assert said.returncode == 0, said.stderr
        return self.row(key)

    def start(self, task: str, key: str, limits: Limits, file: str = "posting.py", **arguments: Any) -> RunRow:
        """Submit a run whose workflow waits as long as it is told."""
        from browser_agent.keeper.temporal.client import TemporalAddress, start

        row = submit(self.world.store, self.world.bound(task, file), arguments, key=key)

        async def started() -> bool:
            return await start(await self.server.client(), row, TemporalAddress(queue=self.queue), limits)

        assert self.run(started())
        return row

    def runs_of(self, key: str) -> int:
        """How many workflows that id has had, one after the other."""

        async def counted() -> int:
            client = await self.server.client()
            return len([each async for each in client.list_workflows(f"WorkflowId = '{key}'")])

        return self.run(counted())

    def row(self, key: str) -> RunRow:
        row = self.world.store.leases.keyed(key)
        assert row is not None
        return row

    def ask(self, key: str, act: Callable[[WorkflowHandle[Any, Any]], Coroutine[Any, Any, T]]) -> T:
        """Do something with the workflow of that key."""

        async def asked() -> T:
            client = await self.server.client()
            return await act(client.get_workflow_handle(key))

        return apart(asked())

    def result(self, key: str) -> RunStatus:
        """How its workflow ended; its failure raises."""
        from temporalio.client import WorkflowFailureError

        async def result(handle: WorkflowHandle[Any, Any]) -> Any:
            return await asyncio.wait_for(handle.result(), DEADLINE_SECONDS)

        try:
            return TypeAdapter(RunStatus).validate_python(self.ask(key, result))
        except WorkflowFailureError as error:
            raise error.cause or error from error

    def history(self, key: str) -> str:
        """All that the server has noted of the workflow of that key."""

        async def fetched(handle: WorkflowHandle[Any, Any]) -> str:
            return (await handle.fetch_history()).to_json()

        return self.ask(key, fetched)

    def tried_again(self, key: str, activity: str) -> bool:
        """Whether the server tries an activity of that workflow once more."""

        async def pending(handle: WorkflowHandle[Any, Any]) -> bool:
            known = (await handle.describe()).raw_description.pending_activities
            return any(each.activity_type.name == activity and each.attempt > 1 for each in known)

        return self.ask(key, pending)

    def run(self, act: Coroutine[Any, Any, T]) -> T:
        """Do something with the server."""
        return apart(act)

    def open_in(self, key: str) -> list[str]:
        """The questions that the workflow of that key knows as open."""

        async def asked(handle: WorkflowHandle[Any, Any]) -> Any:
            return await handle.query("stand")

        found = self.ask(key, asked)
        return [question["id"] for question in found["questions"]] if found else []

    def ended_of(self, name: str) -> list[str]:
        """The workflows that a schedule has started and that have ended."""

        async def listed() -> list[str]:
            client = await self.server.client()
            return [each.id async for each in client.list_workflows("ExecutionStatus = 'Completed'")]

        return [each for each in self.run(listed()) if each.startswith(name)]

    def browser_alive(self, attempt: AttemptRow) -> bool:
        """Whether the browser of an attempt lives."""
        return attempt.browser is not None and Chromium.found(attempt.browser).alive()

    def until_state(self, key: str, *states: str) -> RunRow:
        """Wait until the run stands so in our store."""
        until(lambda: str(self.row(key).state) in states, f"the run is {' or '.join(states)}")
        return self.row(key)

    def end(self, process: subprocess.Popen[bytes], number: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal to a worker, and see it dead."""
        process.send_signal(number)
        process.wait(60)

    def close(self) -> None:
        """End all workers; their browsers and workers end with them."""
        for process in self._processes:
            process.send_signal(signal.SIGCONT)
            process.terminate()  # a killed keeper could leave a browser whose worker has left already
        for process in self._processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(60)
            process.kill()
            process.wait(30)
        for run in self.world.store.leases.runs():
            for attempt in self.world.store.leases.attempts(run.id):
                until(lambda worker=attempt.worker: not process_alive(worker), "its worker has left")  # type: ignore[misc]

    def _started(self, *words: str, host: str = "", **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "browser_agent", "temporal", *words]
        if host:
            command = ["unshare", "--uts", "sh", "-c", f'hostname {host}; exec "$@"', "sh", *command]
        with (self.world.folder / f"{words[0]}-{len(self._processes)}.log").open("wb") as log:
            environment = {**self.environment, **environment}
            process = subprocess.Popen(
                command, env=environment, cwd=self.world.folder, stdout=log, stderr=log, start_new_session=True
            )
        self._processes.append(process)
        return process


def until(found: Callable[[], bool], words: str) -> None:
    """Wait until something is so; generous, since nothing is timed here."""
    end = time.monotonic() + DEADLINE_SECONDS
    while not found():
        assert time.monotonic() < end, f"waited {DEADLINE_SECONDS:g} s until {words}"
        time.sleep(0.1)


def kind_of(error: BaseException) -> str | None:
    """The kind of a workflow's failure."""
    from temporalio.exceptions import ApplicationError

    return error.type if isinstance(error, ApplicationError) else None


@pytest.fixture(scope="session")
def temporal_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("temporal"))
    yield server
    server.end()


@pytest.fixture
def engine(temporal_server: Server, world: World, tmp_path: Path) -> Iterator[Engine]:
    yield from engines(temporal_server, world, tmp_path)


@pytest.fixture
def engine_on_postgres(temporal_server: Server, postgres_world: World, tmp_path: Path) -> Iterator[Engine]:
    """The same, with the runs in PostgreSQL."""
    yield from engines(temporal_server, postgres_world, tmp_path)


def engines(server: Server, world: World, folder: Path) -> Iterator[Engine]:
    """One engine, with a workflow worker."""
    engine = Engine(server, world, f"queue-{folder.name}-{os.getpid()}")
    engine.workflows()
    yield engine
    engine.close()
