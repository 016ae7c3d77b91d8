"""Files that a step's pages download stay in the folder that is set: whole, under their own names, none overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser_agent.errors import Misuse
from browser_agent.keeper.launch import submit
from browser_agent.script.task_file import load_task
from browser_agent.states import RunState
from tests.fix_matrix import chosen
from tests.fix_world import TASKS, World


def written(world: World, name: str, **arguments: object) -> str:
    task = load_task(f"{TASKS / 'downloading.py'}:{name}")
    task.sites["shop"].bind(world.to_shop.url)
    return submit(world.store, task, arguments).id


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_downloaded_file_stays_and_a_second_one_of_its_name_gets_a_number(world: World, tmp_path: Path) -> None:
    world.shop.enter(reference="R-1")
    folder = tmp_path / "kept" / "here"
    run = written(world, "fetch_receipts", numbers=["O-1", "O-1"])
    ended = world.keep(run, downloads=folder)
    assert ended.state is RunState.FINISHED, ended
    assert files(folder) == ["receipt-O-1 (2).csv", "receipt-O-1.csv"]
    assert all("R-1" in (folder / name).read_text() for name in files(folder))
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    told = [event.words for event in world.events if event.kind == "download"]
    assert told[0] == f"The download receipt-O-1.csv is kept as {folder / 'receipt-O-1.csv'}."


def test_a_download_that_breaks_off_leaves_no_file_and_is_told(world: World, tmp_path: Path) -> None:
    world.shop.enter(reference="R-1")
    world.to_shop.fault("cut_after_head", "GET /receipts/*", count=None)
    run = written(world, "fetch_receipts", numbers=["O-1"])
    world.keep(run, downloads=tmp_path / "kept")
    assert files(tmp_path / "kept") == []
    (told,) = [event.words for event in world.events if event.kind == "download_lost"]
    assert told.startswith("The download receipt-O-1.csv is not kept: ")


@pytest.mark.parametrize("kill", chosen("answered:1", others=["settled:1", None]))
def test_what_a_gesture_brings_is_whole_or_not_there_whenever_its_worker_dies(
    world: World, tmp_path: Path, kill: str | None
) -> None:
    run = written(world, "order_and_keep", reference="R-1")
    ended = world.keep(run, kill, downloads=tmp_path / "kept")
    assert ended.result == '"O-1"', ended
    assert [order.reference for order in world.shop.orders] == ["R-1"]
    kept = files(tmp_path / "kept")
    assert kept == ["receipt-O-1.csv"] or (kept == [] and kill == "answered:1")
    assert all((tmp_path / "kept" / name).read_text().count("\n") == 2 for name in kept)


def test_a_folder_that_cannot_be_used_is_told_before_anything_starts(world: World, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    run = written(world, "fetch_receipts", numbers=["O-1"])
    with pytest.raises(Misuse, match="Nothing was started"):
        world.keep(run, downloads=tmp_path / "taken")
    assert world.store.leases.run(run).state is RunState.NEW
