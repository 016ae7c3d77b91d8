"""What a worker's recorder has heard settles its gesture; it dies with its worker, and a later look says so."""

from __future__ import annotations

import json
from typing import Any

from browser_agent.keeper.launch import submit
from browser_agent.script.task_file import load_task
from browser_agent.testing import Shop
from tests.fix_world import TASKS, World


def order(world: World, shop: Shop, *ways: str, listed: bool = False, kill: str | None = None) -> list[list[Any]]:
    """Order once in each way; what each observer said of each: kind, sight, reasons."""
    task = load_task(f"{TASKS / 'hearing.py'}:hearing")
    task.sites["shop"].bind(shop.url)
    run = submit(world.store, task, {"ways": list(ways), "listed": listed}).id
    ended = world.keep(run, kill)
    assert world.outcomes(run) == ["happened"] * len(ways), ended
    return [
        [(said["kind"], said["sight"], said["reasons"]) for said in _said(world, gesture.id)]
        for gesture in world.store.journal.gestures(run)
    ]


def _said(world: World, gesture: str) -> list[dict[str, Any]]:
    return [json.loads(row.observation) for row in world.store.journal.observations(gesture)]


def test_what_was_heard_settles_its_gesture_and_is_gone_with_the_worker_that_heard_it(world: World) -> None:
    with Shop() as shop:
        for said, kind in zip(
            order(world, shop, "toast", "tab", "csv"), ("ToastLog", "NewPage", "Download"), strict=True
        ):
            assert (kind, "seen", []) in said
        (said,) = order(world, shop, "text", listed=True, kill="released:1")
        heard = {(sight, *reasons) for kind, sight, reasons in said if kind != "OrderStatus"}
        assert heard == {("cannot_tell", "the recorder died with its worker")}
        assert [each.reference for each in shop.orders] == ["R-toast", "R-tab", "R-csv", "R-text"]
