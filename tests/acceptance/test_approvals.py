"""Approvals: only what a person has approved is made, once, and what must be made again is asked for anew."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from browser_agent.browser.chromium import Chromium
from browser_agent.options import Ended
from browser_agent.states import Answer, RunState
from browser_agent.store import Consent, PersonAnswer
from tests.fix_matrix import chosen
from tests.fix_world import World

FILE = "approving.py"


def say(world: World, ended: Ended, answer: Answer = Answer.APPROVE, **consent: Any) -> None:
    """Answer the one question that the run waits with."""
    assert ended.state is RunState.WAITING, ended.words
    (question,) = ended.questions
    world.store.inbox.answer(question, PersonAnswer(answer, by="Ann", reason="checked", consent=Consent(**consent)))


def test_only_the_approved_calls_are_made_and_waiting_costs_no_browser(world: World) -> None:
    run = world.submit("post_approved", FILE, references='["R-1", "R-2", "R-3"]')
    waiting = world.keep(run)
    (attempt,) = world.store.leases.attempts(run)
    assert attempt.ended is not None
    assert attempt.browser is None or not Chromium.found(attempt.browser).alive()
    assert world.books.ledger.writes == []
    say(world, waiting, only=(1, 3))
    ended = world.keep(run)
    assert (ended.state, ended.result) == (RunState.FINISHED, '["INV-1","INV-2","no, says Ann"]')
    assert [len(world.invoices(f"R-{number}")) for number in (1, 2, 3)] == [1, 0, 1]


def test_what_must_be_made_again_is_asked_for_anew_and_a_no_then_ends_it(world: World) -> None:
    run = world.submit("post_approved", FILE, references='["R-1"]')
    say(world, world.keep(run))
    again = world.keep(run, "paused:1")
    assert world.outcomes(run) == ["not_happened"]
    assert world.store.inbox.question(again.questions[0]).words.startswith("It was approved and made, and proven not")
    say(world, again, Answer.REFUSE)
    world.keep(run)
    assert world.books.ledger.writes == []


@pytest.mark.matrix  # the store's tests say which gestures a yes covers
def test_a_yes_until_it_is_done_also_covers_the_gesture_that_is_made_again(world: World) -> None:
    run = world.submit("post_approved", FILE, references='["R-1"]')
    say(world, world.keep(run), until_done=True)
    ended = world.keep(run, "paused:1")
    assert (ended.state, world.outcomes(run)) == (RunState.FINISHED, ["not_happened", "happened"])
    assert len(world.invoices("R-1")) == 1


@pytest.mark.matrix  # the store's tests say when a yes has run out
def test_a_yes_that_has_run_out_makes_nothing_and_is_asked_for_anew(world: World) -> None:
    run = world.submit("post_approved", FILE, references='["R-1"]')
    say(world, world.keep(run), valid=timedelta(milliseconds=1))
    anew = world.keep(run)
    assert world.books.ledger.writes == []
    assert "has run out" in world.store.inbox.question(anew.questions[0]).words
    say(world, anew)
    assert world.keep(run).state is RunState.FINISHED
    assert len(world.invoices("R-1")) == 1


def test_a_step_that_needs_a_yes_asks_by_itself_and_a_no_is_the_scripts_to_handle(world: World) -> None:
    yes, no = (world.submit("post_carefully", FILE, reference=reference) for reference in ("R-1", "R-2"))
    say(world, world.keep(yes))
    say(world, world.keep(no), Answer.REFUSE)
    assert (world.keep(yes).result, world.keep(no).result) == ('"INV-1"', '"no, says Ann"')
    assert (len(world.invoices("R-1")), len(world.invoices("R-2"))) == (1, 0)
    (dispatch,) = [line for line in world.store.audit_lines(yes) if line["kind"] == "dispatch"]
    assert (dispatch["authority"], dispatch["present"]) == ("Ann", "nobody")
    assert json.dumps(dispatch["approval"])


@pytest.mark.parametrize(("before", "after"), chosen(("released:1", "released:2"), others=[("settled:1", "settled:2")]))
def test_a_mail_before_a_question_and_an_invoice_after_it_are_made_once_however_often_it_is_resumed(
    world: World, before: str, after: str
) -> None:
    run = world.submit("mail_then_ask", FILE, reference="R-1")
    waiting = world.keep(run, before)
    assert world.keep(run).questions == waiting.questions, "resumed while nobody has answered: the same question"
    assert (world.mails("About R-1"), world.invoices("R-1")) == (1, [])
    say(world, waiting)
    ended = world.keep(run, after)
    assert (ended.state, ended.result) == (RunState.FINISHED, '["INV-1"]')
    assert (world.mails("About R-1"), world.invoices("R-1")) == (1, ["INV-1"])
    assert (len(world.mail.ledger.effects), len(world.books.ledger.effects)) == (1, 1)
    assert world.outcomes(run) == ["happened", "happened"]
