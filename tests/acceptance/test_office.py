"""What must vanish, and what comes in threes: the office's ledger decides what was right."""

from __future__ import annotations

from typing import Any

import pytest

from browser_agent.states import QuestionKind, RunState
from tests.fix_matrix import chosen
from tests.fix_office import Office
from tests.fix_world import World


def submitted(world: World, office: Office, task: str) -> str:
    return world.submit(task, "filing.py", till=office.url, key="D-2" if task == "deleting" else "B-7")


@pytest.mark.parametrize("kill", chosen(None, "answered:1", others=["released:1", "answered:1@browser"]))
def test_a_deletion_is_proven_by_the_row_that_is_gone(world: World, office: Office, kill: str | None) -> None:
    run = submitted(world, office, "deleting")
    assert world.keep(run, kill).state is RunState.FINISHED
    assert (office.deleted, world.outcomes(run)) == (["D-2"], ["happened"])


def test_a_deletion_whose_answer_is_lost_is_found_and_not_made_again(world: World, office: Office) -> None:
    office.answers = False
    run = submitted(world, office, "deleting")
    assert world.keep(run).state is RunState.FINISHED
    assert (office.deleted, world.outcomes(run)) == (["D-2"], ["happened"])


def test_a_row_that_still_stands_proves_that_it_was_not_deleted(world: World, office: Office) -> None:
    office.answers = office.carries_out = False
    run = submitted(world, office, "deleting")
    world.keep(run)
    assert (office.deleted, world.outcomes(run)) == ([], ["not_happened", "not_happened"])


@pytest.mark.parametrize("lie", [{"forgets": True}, {"account_after": "other"}])
def test_a_list_that_is_not_the_one_of_before_proves_no_deletion(
    world: World, office: Office, lie: dict[str, Any]
) -> None:
    for name, value in lie.items():
        setattr(office, name, value)
    run = submitted(world, office, "deleting")
    assert world.keep(run).state is RunState.WAITING
    assert (office.deleted, world.outcomes(run)) == (["D-2"], ["asked"])


def test_what_is_gone_before_is_asked_about_and_not_made(world: World, office: Office) -> None:
    office.documents.remove("D-2")
    run = submitted(world, office, "deleting")
    ended = world.keep(run)
    assert (ended.state, office.deleted) == (RunState.WAITING, [])
    assert world.store.inbox.question(ended.questions[0]).kind is QuestionKind.ALREADY_THERE


@pytest.mark.parametrize("kill", chosen(None, others=["answered:1"]))
def test_three_records_that_one_gesture_makes_are_one_effect(world: World, office: Office, kill: str | None) -> None:
    run = submitted(world, office, "approving_sheets")
    assert world.keep(run, kill).state is RunState.FINISHED
    assert (office.approved, world.outcomes(run)) == (["B-7"] * 3, ["happened"])
    assert [row.count for row in world.store.journal.gestures(run)] == [1]


@pytest.mark.parametrize("batch", [2, 6])
def test_another_number_of_records_is_asked_about(world: World, office: Office, batch: int) -> None:
    office.batch = batch
    run = submitted(world, office, "approving_sheets")
    ended = world.keep(run)
    assert (ended.state, office.approved) == (RunState.WAITING, ["B-7"] * batch)
    words = world.store.inbox.question(ended.questions[0]).words
    assert ("happened 2 times" in words) == (batch == 6)
