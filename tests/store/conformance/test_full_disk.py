"""A disk that gets full in the middle of a run: nothing is made twice, and it goes on when there is room again."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from browser_agent.errors import StoreUnusable
from browser_agent.store import Store
from tests.fix_postgres import Server
from tests.fix_temporal import Server as Temporal
from tests.fix_temporal import engines
from tests.fix_world import World, worlds
from tests.store.building import submit
from tests.store.conformance.homes import DEADLINE_SECONDS, Home, PostgresHome, TemporalHome, once, wait_until


class SmallDisk:
    """A disk of its own, which can be filled to its last byte."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._ballast = folder, folder / "ballast"

    def fill(self) -> None:
        """Leave no room."""
        with self._ballast.open("ab", buffering=0) as file:
            for size in (2**20, 2**12, 1):
                with suppress(OSError):
                    while True:
                        file.write(b"\0" * size)

    def free(self) -> None:
        """Make room again."""
        self._ballast.unlink()


def _mounted(folder: Path, megabytes: int) -> Iterator[SmallDisk]:
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0755", "none", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    yield from _mounted(tmp_path / "disk", 300)


@pytest.fixture
def world_on_it(tmp_path: Path, small_disk: SmallDisk) -> Iterator[World]:
    """A world whose store lies there."""
    yield from worlds(tmp_path, small_disk.folder / "runs.db")


def test_a_store_on_a_full_disk_writes_nothing_and_says_so(small_disk: SmallDisk) -> None:
    with Store(small_disk.folder / "runs.db") as store:
        run = submit(store)
        small_disk.fill()
        for _ in range(3):
            with pytest.raises(StoreUnusable, match="is full. Nothing was written; free room"):
                submit(store)
        small_disk.free()
        assert [row.id for row in store.leases.runs()] == [run]
        submit(store)
        assert store.verify().broken == ()


def test_a_run_whose_disk_gets_full_after_its_write_has_left_makes_no_other(
    world_on_it: World, small_disk: SmallDisk
) -> None:
    home = Home(world_on_it)
    try:
        run = _made_on_a_full_disk(home, small_disk)
        assert "is full. Nothing was written" in home.log()
        small_disk.free()
        home.worker()
        home.until_finished(run)
        assert world_on_it.invoices("R-1") == ["INV-1"]
        assert world_on_it.outcomes(run) == ["happened"]
    finally:
        home.close()


@pytest.fixture
def small_server() -> Iterator[tuple[Server, SmallDisk]]:
    """A PostgreSQL server whose data lie on a small disk."""
    folder = Path(tempfile.mkdtemp(prefix="browser-agent-small-"))
    folder.chmod(0o755)
    for disk in _mounted(folder / "disk", 130):
        (disk.folder / "server").mkdir()
        server = Server(disk.folder / "server")
        try:
            yield server, disk
        finally:
            server.end()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.matrix
def test_a_server_whose_disk_gets_full_after_a_write_has_left_makes_no_other(
    tmp_path: Path, small_server: tuple[Server, SmallDisk], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, disk = small_server
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for world in worlds(tmp_path, server.new_database()):
        home = PostgresHome(world, server)
        try:
            run = _made_on_a_full_disk(home, disk)
            disk.free()
            home.worker(1)
            home.until_finished(run)
            assert world.invoices("R-1") == ["INV-1"], home.log()
        finally:
            home.close()


@pytest.fixture
def temporal_on_it(
    tmp_path: Path, small_server: tuple[Server, SmallDisk], temporal_server: Temporal, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TemporalHome]:
    """Temporal, with the runs on that server."""
    server, _ = small_server
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for world in worlds(tmp_path, server.new_database()):
        for engine in engines(temporal_server, world, tmp_path):
            home = TemporalHome(world, server, engine)
            yield home
            home.close()


@pytest.mark.parametrize(
    ("at", "made"),
    [
        pytest.param("GET /invoices/new", [], id="before the intent", marks=pytest.mark.matrix),
        pytest.param("POST /invoices", ["INV-1"], id="before the settlement"),
    ],
)
def test_a_workflow_whose_store_has_no_room_left_outlasts_all_its_attempts_and_goes_on_by_looking(
    temporal_on_it: TemporalHome, small_server: tuple[Server, SmallDisk], at: str, made: list[str]
) -> None:
    home, (server, disk) = temporal_on_it, small_server

    def fill() -> None:
        disk.fill()
        no_line_fits(server, home.world)

    home.world.to_books.when("came", once(fill), at)
    home.worker()
    run = home.submit(attempts=2, reference="R-1")
    home.until_nobody_can_be_asked(run)
    assert home.world.invoices("R-1") == made, home.log()
    assert "has no room left" in home.log()
    disk.free()
    assert home.ended_well(run)
    one_gesture(home, run)


@pytest.mark.matrix
def test_a_workflow_whose_database_ends_for_want_of_room_waits_for_it_and_goes_on_by_looking(
    temporal_on_it: TemporalHome, small_server: tuple[Server, SmallDisk]
) -> None:
    home, (server, disk) = temporal_on_it, small_server

    def fill() -> None:
        disk.fill()
        no_log_fits(server)

    home.world.to_books.when("came", once(fill))
    home.worker()
    run = home.submit(reference="R-1")
    home.world.to_books.wait_for("committed", DEADLINE_SECONDS)
    home.until_it_waits_for_the_store(run)
    assert server.process is None
    disk.free()
    server.start()
    assert home.ended_well(run)
    one_gesture(home, run)


def one_gesture(home: Home, run: str) -> None:
    """The site has one invoice, by one gesture, which was looked for."""
    assert home.world.invoices("R-1") == ["INV-1"], home.log()
    assert home.world.outcomes(run) == ["happened"], home.log()
    assert home.row(run).attempt > 1


def no_line_fits(server: Server, world: World) -> None:
    """Use up what room the audit log has in its own file: what is refused again and again takes room, too."""
    again = "INSERT INTO audit SELECT * FROM audit LIMIT 1; EXCEPTION WHEN unique_violation THEN NULL;"
    with pytest.raises(Exception, match="No space left"):
        server.sql(f"DO $$ BEGIN LOOP BEGIN {again} END; END LOOP; END $$", url=world.store.address)


def no_log_fits(server: Server) -> None:
    """Use up what room the server's own log has, as other work on it would; without room it can't start again."""
    while server.process is not None:
        with suppress(Exception):
            server.sql("SELECT pg_logical_emit_message(true, 'other', repeat('x', 4000000))")


def _made_on_a_full_disk(home: Home, disk: SmallDisk) -> str:
    """A run whose disk is full from when its request arrives until its worker has noticed, and was ended."""
    home.world.to_books.when("came", once(disk.fill))
    worker = home.worker()
    run = home.submit(reference="R-1")
    home.world.to_books.wait_for("committed", DEADLINE_SECONDS)
    noticed = ("is full", "has no room left", "lost its connection", "does not answer", "finished")
    wait_until(lambda: any(words in home.log() for words in noticed), home)
    worker.kill()
    worker.wait()
    return run
