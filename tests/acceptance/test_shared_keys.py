"""A key that other invoices may have too settles a gesture by its time, where nobody else can have made the record."""

from __future__ import annotations

import json

from tests.fix_world import World


def test_one_new_invoice_from_the_time_of_a_killed_gesture_is_its_own(world: World) -> None:
    run = world.submit("post_one", "sharing.py", reference="S-1")
    assert str(world.keep(run, "released:1").state) == "finished"
    assert (world.invoices("S-1"), world.outcomes(run)) == (["INV-1"], ["happened"])


def test_what_another_gesture_of_ours_may_have_made_is_put_to_a_person(world: World) -> None:
    first = world.submit("post_one", "sharing.py", reference="S-1")
    assert str(world.keep(first).state) == "finished"
    second = world.submit("post_one", "sharing.py", reference="S-2")
    assert str(world.keep(second).state) == "waiting"
    (gesture,) = world.store.journal.gestures(second)
    (question,) = world.store.inbox.questions(second, open_only=True)
    assert "another gesture of ours may have made it" in json.dumps(question.model_dump(mode="json"))
    assert (str(gesture.state), world.invoices("S-2")) == ("asked", ["INV-2"])
