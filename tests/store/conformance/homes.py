"""The three homes of a run: a SQLite file, a PostgreSQL database, and PostgreSQL below Temporal. All with real servers.

A test says what befalls a worker; a home knows how a run is handed out there, which hosts its workers may have, what is
restarted with it, and which cables lead to it. Judges nothing.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from browser_agent.errors import NotAllowed
from browser_agent.keeper.launch import ForWorkers, submit
from browser_agent.keeper.temporal.messages import GIVE_UP, STATUS, Limits
from browser_agent.states import Answer, RunState
from browser_agent.store.records import RunRow
from tests.store.conformance.cable import Cable
from tests.store.conformance.serving import Wanted

if TYPE_CHECKING:  # plugins, which must not be imported before they are registered
    from tests.fix_postgres import Server as Database
    from tests.fix_temporal import Engine
    from tests.fix_world import World

ROOT = Path(__file__).parents[3]
DEADLINE_SECONDS = 240.0
LEFT = frozenset({RunState.FINISHED, RunState.WAITING, RunState.NEEDS_ATTENTION})


class Home:
    """A world whose runs worker processes take from its store's own queue.

    Attributes:
        hosts: what the hosts of two workers are called: one machine's share a name.
    """

    hosts: ClassVar[tuple[str, str]] = ("here", "here")

    def __init__(self, world: World) -> None:
        self.world = world
        self.cables: list[Cable] = []
        self._processes: list[subprocess.Popen[bytes]] = []

    # the runs

    def submit(self, task: str = "post_one", file: str = "posting.py", *, attempts: int = 20, **arguments: Any) -> str:
        """Write a run down, and have it handed out; its id."""
        return submit(self.world.store, self.world.bound(task, file), arguments, queue=ForWorkers(attempts=attempts)).id

    def row(self, run: str) -> RunRow:
        return self.world.store.leases.run(run)

    def until(self, run: str, *states: RunState) -> RunRow:
        """Wait until the run stands so; generous, since nothing is timed here."""
        end = time.monotonic() + DEADLINE_SECONDS
        while (row := self.row(run)).state not in states:
            assert time.monotonic() < end, f"{row!r}\n{self.log()}"
            time.sleep(0.1)
        return row

    def until_finished(self, run: str, reference: str = "R-1") -> RunRow:
        """Wait for its end; a person answers what is asked meanwhile, by what the site really has."""
        while (row := self.until(run, *LEFT)).state is not RunState.FINISHED:
            for question in self.world.store.inbox.questions(run, open_only=True):
                made = self.world.invoices(reference)
                said = Answer.HAPPENED if made else Answer.NOT_HAPPENED
                try:
                    self.world.answer(question.id, said, **({"number": made[0]} if made else {}))
                except NotAllowed:  # a look was faster
                    continue
            time.sleep(0.2)
        return row

    def ended(self, run: str, attempt: int) -> None:
        """Wait until that attempt has written down how it ended."""
        end = time.monotonic() + DEADLINE_SECONDS
        while self.world.store.leases.attempts(run)[attempt - 1].ended is None:
            assert time.monotonic() < end, self.log()
            time.sleep(0.1)

    # the workers

    def worker(
        self,
        host: int = 0,
        kill_at: str = "",
        *,
        cut_off: bool = False,
        more: Mapping[str, str] | None = None,
        **wanted: Any,
    ) -> subprocess.Popen[bytes]:
        """Start a worker process.

        Args:
            host: on the first host or on the second.
            kill_at: where it is struck.
            cut_off: it reaches the home by cables, which may be pulled.
            more: what its environment says besides.
            wanted: see `Wanted`.
        """
        name = self.hosts[host]
        asked = Wanted(**{**self._wanted(cut_off=cut_off), "host": name, "kill_at": kill_at, **wanted})
        own = {"PYTHONPATH": str(ROOT), "XDG_DATA_HOME": str(self.world.folder / name)}
        with (self.world.folder / "workers.log").open("ab") as log:
            process = subprocess.Popen(
                asked.words(),
                stdout=log,
                stderr=log,
                cwd=self.world.folder,
                env={**os.environ, **own, **(more or {})},
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def _wanted(self, *, cut_off: bool) -> dict[str, str]:
        return {"store": self.world.store.address}

    def log(self) -> str:
        """What the workers have said last."""
        path = self.world.folder / "workers.log"
        return path.read_text()[-20000:] if path.exists() else ""

    # what befalls the home

    def restart(self) -> None:
        """Crash all servers of the home, and start them again."""

    def pull(self) -> None:
        """Cut off the workers that were started to be."""
        for cable in self.cables:
            cable.pull()

    def plug(self) -> None:
        """Let them come back."""
        for cable in self.cables:
            cable.plug()

    def close(self) -> None:
        """End the workers; their browsers end with them."""
        for process in self._processes:
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in self._processes:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for cable in self.cables:
            cable.close()


class PostgresHome(Home):
    """The same on several hosts, with a server between them."""

    hosts = ("alpha", "beta")

    def __init__(self, world: World, database: Database) -> None:
        super().__init__(world)
        self._database = database

    def restart(self) -> None:
        self._database.stop("immediate")
        self._database.start()

    def _wanted(self, *, cut_off: bool) -> dict[str, str]:
        address = self.world.store.address
        if cut_off:
            self.cables.append(cable := Cable(self._database.port))
            address = address.replace(f":{self._database.port}/", f":{cable.port}/")
        return {"store": address}


class TemporalHome(PostgresHome):
    """The same, with Temporal, which hands the runs out."""

    def __init__(self, world: World, database: Database, engine: Engine) -> None:
        super().__init__(world, database)
        self._engine = engine
        self._keys: dict[str, str] = {}

    def submit(self, task: str = "post_one", file: str = "posting.py", *, attempts: int = 20, **arguments: Any) -> str:
        limits = Limits(heartbeat_seconds=4.0, attempts=attempts, look_seconds=1.0, look_most_seconds=2.0)
        row = self._engine.start(task, f"{self._engine.queue} {arguments}", limits, file, **arguments)
        self._keys[row.id] = row.key or row.id
        return row.id

    def until_nobody_can_be_asked(self, run: str) -> None:
        """Wait until the run's workflow could not ask a person either, since the store takes nothing."""
        wait_until(lambda: _refused(self._engine.history(self._keys[run]), GIVE_UP), self)

    def until_it_waits_for_the_store(self, run: str) -> None:
        """Wait until the run's workflow can't learn from the store where the run stands."""
        wait_until(lambda: self._engine.tried_again(self._keys[run], STATUS), self)

    def ended_well(self, run: str) -> bool:
        """Whether the run's workflow ends with it; a failure of the workflow raises."""
        return self._engine.result(self._keys[run]).state == RunState.FINISHED

    def restart(self) -> None:
        self._engine.server.end()
        super().restart()
        self._engine.server.start()

    def _wanted(self, *, cut_off: bool) -> dict[str, str]:
        port = int(self._engine.server.address.rpartition(":")[2])
        if cut_off:
            self.cables.append(cable := Cable(port))
            port = cable.port
        place = {"temporal": f"127.0.0.1:{port}", "queue": self._engine.queue}
        return {**super()._wanted(cut_off=cut_off), **place}


def _refused(history: str, activity: str) -> bool:
    """Whether an activity of that name has failed for the store."""
    events = json.loads(history)["events"]
    asked = {event["eventId"] for event in events if _facts(event, "Scheduled", "activityType", "name") == activity}
    return any(
        _facts(event, "Failed", "scheduledEventId") in asked
        and _facts(event, "Failed", "failure", "applicationFailureInfo", "type") == "StoreUnusable"
        for event in events
    )


def _facts(event: dict[str, Any], kind: str, *path: str) -> Any:
    """A fact of an event of an activity; None if it is of another kind, or does not say that."""
    found: Any = event.get(f"activityTask{kind}EventAttributes", {})
    for name in path:
        found = found.get(name, {})
    return found or None


def once(act: Callable[[], object]) -> Callable[[], None]:
    """Does it the first time only."""
    done: list[bool] = []

    def first() -> None:
        if not done:
            done.append(True)
            act()

    return first


def wait_until(holds: Callable[[], bool], home: Home) -> None:
    end = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < end, home.log()
        time.sleep(0.1)
