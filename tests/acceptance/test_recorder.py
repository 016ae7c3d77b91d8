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
    run = submit(world.store, task, {"reference": reference, "listed": kill is not None}).id
    ended = world.keep(run, kill)
    assert world.outcomes(run) == ["happened"], ended
    (gesture,) = world.store.journal.gestures(run)
    said = [json.loads(row.observation) for row in world.store.journal.observations(gesture.id)]
    return [(each["kind"], each["sight"], each["reasons"]) for each in said]


def test_what_was_heard_settles_its_gesture_and_is_gone_with_the_worker_that_heard_it(world: World) -> None:
    with Shop() as shop:
        for way, kind in (("toast", "ToastLog"), ("tab", "NewPage"), ("csv", "Download")):
            shop.confirm_by(way)  # type: ignore[arg-type]
            assert (kind, "seen", []) in order(world, shop, f"R-{way}")
        said = order(world, shop, "R-killed", kill="released:1")
        heard = {(sight, *reasons) for kind, sight, reasons in said if kind != "OrderStatus"}
        assert heard == {("cannot_tell", "the recorder died with its worker")}
        assert [each.reference for each in shop.orders] == ["R-toast", "R-tab", "R-csv", "R-killed"]
