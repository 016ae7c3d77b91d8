"""A sentence on the page proves with our key in it, or as the declared request's own answer, and not otherwise."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.fix_matrix import chosen
from tests.fix_world import World

RECEIVED = r"Order \S+ received for \S+"
NOT_OURS = "the confirmation “{}” doesn't hold our key, so it supports and proves nothing"


def order(world: World, by: str, says: str = RECEIVED, **more: Any) -> tuple[str, set[str]]:
    """How the order of R-1 ended, and what its confirmation said of itself in all looks."""
    run = world.submit("confirming", "confirming.py", reference="R-1", by=by, says=says, **more)
    world.keep(run)
    (gesture,) = world.store.journal.gestures(run)
    said = [json.loads(row.observation) for row in world.store.journal.observations(gesture.id)]
    confirmations = [each for each in said if each["kind"] == "ConfirmationText"]
    return str(gesture.state), {word for each in confirmations for word in (each["sight"], *each["reasons"])}


def a_neighbour_orders_meanwhile(world: World) -> None:
    """Ours is accepted and not carried out; somebody else's is, and everybody is told of it."""
    world.shop.commit_late(3600, status=202)
    world.shop.tells_everybody = True
    world.to_shop.when("came", lambda: world.shop.enter(reference="R-2"), "POST /orders")


def references(world: World) -> list[str]:
    return [each.reference for each in world.shop.orders]


@pytest.mark.matrix  # a neighbour's is without our key as well
def test_a_sentence_that_every_order_is_answered_with_proves_nothing_of_ours(world: World) -> None:
    world.shop.commit_late(3600, status=202)
    outcome, why = order(world, "form", r"Your order was accepted")
    assert (outcome, references(world)) == ("asked", [])
    assert NOT_OURS.format("Your order was accepted") in why and "seen" not in why


@pytest.mark.parametrize(
    ("by", "key"), chosen(("form", "R-1"), others=[("form", None), ("fetch", None), ("fetch", "R-1")])
)
def test_a_neighbours_confirmation_on_our_page_is_not_ours(world: World, by: str, key: str | None) -> None:
    a_neighbour_orders_meanwhile(world)
    outcome, why = order(world, by, key=key)
    assert (outcome, references(world)) == ("asked", ["R-2"])
    assert NOT_OURS.format("Order O-1 received for R-2") in why and "seen" not in why


def test_a_sentence_on_a_page_that_is_no_answer_of_ours_proves_nothing(world: World) -> None:
    a_neighbour_orders_meanwhile(world)
    assert order(world, "fetch", answer=True)[0] == "asked"
    assert references(world) == ["R-2"]


@pytest.mark.parametrize(("by", "more"), [("fetch", {"key": "R-1"}), ("form", {"answer": True})])
def test_our_key_or_the_declared_answer_makes_a_sentence_a_proof(world: World, by: str, more: dict[str, Any]) -> None:
    outcome, why = order(world, by, **more)
    assert (outcome, "seen" in why) == ("happened", True)
    assert references(world) == ["R-1"]
