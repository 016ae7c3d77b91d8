"""What a worker's recorder has heard settles its gesture; it dies with its worker, and a later look says so."""

from __future__ import annotations

import json

from browser_agent.starting import submit
from browser_agent.tasks import load_task
from fixtures import Shop
from tests.fix_world import TASKS, World


def order(world: World, shop: Shop, reference: str, kill: str | None = None) -> list[tuple[str, str, list[str]]]:
    """Order once; what each observer said of it: kind, sight, reasons."""
    task = load_task(f"{TASKS / 'ordering.py'}:ordering")
    task.sites["shop"].bind(shop.url)
    run = submit(world.store, task, {"reference": reference}).id
    ended = world.keep(run, kill)
    assert world.outcomes(run) == ["happened"], ended
    (gesture,) = world.store.journal.gestures(run)
    said = [json.loads(row.observation) for row in world.store.journal.observations(gesture.id)]
    return [(each["kind"], each["sight"], each["reasons"]) for each in said]


def test_a_toast_settles_its_gesture_and_is_gone_with_the_worker_that_heard_it(world: World) -> None:
    with Shop() as shop:
        shop.confirm_by("toast")
        assert ("ToastLog", "seen", []) in order(world, shop, "R-1")
        said = order(world, shop, "R-2", kill="released:1")
        toasts = {(sight, *reasons) for kind, sight, reasons in said if kind == "ToastLog"}
        assert toasts == {("cannot_tell", "the recorder died with its worker")}
        assert [each.reference for each in shop.orders] == ["R-1", "R-2"]
