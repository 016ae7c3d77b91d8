"""Sites whose pages and answers say something else than what they did: their ledger decides what was right."""

from __future__ import annotations

import json

import pytest

from browser_agent.states import Answer, QuestionKind, RunState
from tests.fix_matrix import chosen
from tests.fix_misread import MisreadShop
from tests.fix_workers import DEADLINE_SECONDS, Workers
from tests.fix_world import TASKS, World


def submitted(world: World, shop: MisreadShop, task: str = "ordering") -> str:
    return world.submit(task, "misread.py", till=shop.url, key="R-1")


@pytest.mark.parametrize("status", chosen(401, others=[404, 422]))
def test_a_no_after_the_commit_is_not_believed(world: World, misread: MisreadShop, status: int) -> None:
    misread.status = status
    run = submitted(world, misread)
    assert (world.keep(run).state, world.outcomes(run)) == (RunState.FINISHED, ["happened"])
    assert misread.ledger == ["R-1"]


def test_a_no_that_the_list_agrees_with_is_a_rejection(world: World, misread: MisreadShop) -> None:
    misread.status, misread.commits = 422, False
    run = submitted(world, misread)
    assert (world.keep(run).state, world.outcomes(run)) == (RunState.RAISED, ["rejected"])
    assert misread.ledger == []


def test_nothing_is_made_while_nobody_can_tell_what_is_there(world: World, misread: MisreadShop) -> None:
    misread.list_status = 503
    run = submitted(world, misread)
    ended = world.keep(run)
    assert (ended.state, world.outcomes(run), misread.ledger) == (RunState.WAITING, [], [])
    question = world.store.inbox.question(ended.questions[0])
    assert question.kind is QuestionKind.BASELINE and "503" in " ".join(json.loads(question.reasons))
    world.answer(question.id, Answer.NOT_HAPPENED)
    misread.list_recovers = 5  # it can be read again when the gesture has been made
    assert (world.keep(run).state, misread.ledger) == (RunState.FINISHED, ["R-1"])


def test_a_list_that_comes_back_while_it_is_looked_at_again_asks_nobody(world: World, misread: MisreadShop) -> None:
    misread.list_status, misread.list_recovers = 503, 2
    run = submitted(world, misread)
    assert (world.keep(run).state, misread.ledger) == (RunState.FINISHED, ["R-1"])


def test_what_was_made_by_hand_before_a_resume_is_found(world: World, misread: MisreadShop) -> None:
    misread.list_status = 503
    run = submitted(world, misread)
    assert world.keep(run).state is RunState.WAITING
    misread.list_status = 200
    misread.ledger.append("R-1")
    ended = world.keep(run)
    assert (ended.state, misread.ledger) == (RunState.WAITING, ["R-1"])
    assert world.store.inbox.question(ended.questions[0]).kind is QuestionKind.ALREADY_THERE


@pytest.mark.parametrize("kill", [None, "input:1", "input:1@browser"])
def test_a_link_that_orders_is_no_proof_that_nothing_was_sent(
    world: World, misread: MisreadShop, kill: str | None
) -> None:
    run = submitted(world, misread, "following")
    ended = world.keep(run, kill)
    assert misread.ledger == ["R-1"]
    assert (ended.state, world.outcomes(run)) == (RunState.FINISHED, ["happened"])


def test_an_answer_that_a_dead_keeper_has_seen_contradicts_a_list_that_hides_the_order(
    world: World, misread: MisreadShop, workers: Workers
) -> None:
    misread.hides = True
    words = ["run", f"{TASKS / 'misread.py'}:ordering", "key=R-1", "--site", f"misread={misread.url}"]
    workers.command(*words, "--kill-at", "answered@keeper").wait(DEADLINE_SECONDS)
    (run,) = world.store.leases.runs()
    ended = world.keep(run.id)
    assert (ended.state, misread.ledger) == (RunState.WAITING, ["R-1"])
    (question,) = world.store.inbox.questions(run.id)
    assert "POST" in question.reasons and "303" in question.reasons


def test_a_list_that_is_declared_complete_and_shows_otherwise_is_said_on_a_good_day(
    world: World, misread: MisreadShop
) -> None:
    misread.says = "1 to 1 of 7"
    run = submitted(world, misread)
    assert (world.keep(run).state, misread.ledger) == (RunState.FINISHED, ["R-1"])
    said = [event.words for event in world.events if event.kind == "declaration"]
    assert len(said) == 1 and said[0].startswith("complete=True is declared of the record at misread/orders")
    assert "says that it has 7 rows" in said[0]


def test_another_request_than_the_declared_one_never_leaves(world: World, misread: MisreadShop) -> None:
    run = submitted(world, misread, "paying")
    ended = world.keep(run)
    assert (ended.state, world.outcomes(run), misread.ledger) == (RunState.RAISED, ["refused"], [])
    (gesture,) = world.store.journal.gestures(run)
    assert "declared POST /pay/R-1, and the page sends POST /orders" in (gesture.reasons or "")


@pytest.mark.parametrize(("status", "commits"), [(409, False), (200, True)])
def test_a_text_that_stood_there_before_the_answer_proves_nothing(
    world: World, misread: MisreadShop, status: int, commits: bool
) -> None:
    misread.optimistic, misread.status, misread.commits = True, status, commits
    run = submitted(world, misread)
    ended = world.keep(run)
    assert misread.ledger == (["R-1"] if commits else [])
    assert world.outcomes(run)[-1] == ("happened" if commits else "not_happened")
    assert ended.result == ('"N-1"' if commits else None), "the number is the list's, not the text's"
