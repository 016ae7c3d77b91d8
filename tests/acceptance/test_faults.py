"""Answers lost on the road, browsers and drivers that die: nothing is renamed, nothing is made twice."""

import json
import os
import signal
from contextlib import suppress

import psutil
import pytest

from browser_agent.keeping import Event, Tell
from browser_agent.states import RunState
from tests.fix_world import World

LOST_AFTER = ("cut_after_head", "drop_after_commit", "gateway_502_after_commit", "hang")
LOST_BEFORE = ("drop_before_commit", "gateway_502_before_commit", "hang_before")


@pytest.mark.parametrize("by", ["form", "fetch"])
@pytest.mark.parametrize("fault", LOST_AFTER)
def test_a_lost_answer_makes_no_second_invoice(world: World, fault: str, by: str) -> None:
    world.to_books.fault(fault)
    run = world.submit("post_one", reference="R-1", by=by)
    ended = world.keep(run)
    assert world.invoices("R-1") == ["INV-1"]
    assert (ended.state, ended.result) == (RunState.FINISHED, '"INV-1"')
    assert world.outcomes(run) == ["happened"]


@pytest.mark.parametrize("by", ["form", "fetch"])
@pytest.mark.parametrize("fault", LOST_BEFORE)
def test_a_lost_request_is_proven_absent_and_made_once_more(world: World, fault: str, by: str) -> None:
    world.to_books.fault(fault)
    run = world.submit("post_one", reference="R-1", by=by)
    ended = world.keep(run)
    assert world.invoices("R-1") == ["INV-1"]
    assert ended.state is RunState.FINISHED
    assert world.outcomes(run) == ["not_happened", "happened"]


def test_a_late_answer_is_waited_for(world: World) -> None:
    world.to_books.fault("answer_late", seconds=1.0)
    run = world.submit("post_one", reference="R-1")
    assert world.keep(run).state is RunState.FINISHED
    assert (world.invoices("R-1"), world.outcomes(run)) == (["INV-1"], ["happened"])


def test_a_late_commit_within_the_declared_time_is_found_and_not_made_again(world: World) -> None:
    world.to_books.fault("commit_late", seconds=1.0)
    run = world.submit("post_one", reference="R-1")
    assert world.keep(run).state is RunState.FINISHED
    assert (world.invoices("R-1"), world.outcomes(run)) == (["INV-1"], ["happened"])


def test_a_shut_door_is_not_happened_and_the_run_can_be_resumed(world: World) -> None:
    world.to_books.fault("refuse", "GET /invoices/new", skip=1)
    run = world.submit("post_one", reference="R-1")
    ended = world.keep(run)
    assert world.invoices("R-1") == []
    assert ended.state is RunState.RAISED
    assert set(world.outcomes(run)) == {"not_happened"}
    world.to_books.open()
    assert world.keep(run).state is RunState.FINISHED
    assert world.invoices("R-1") == ["INV-1"]


def test_without_a_declared_late_commit_a_lost_request_ends_as_a_question(world: World) -> None:
    world.to_books.fault("drop_before_commit")
    run = world.submit("post_one_slowly", reference="R-1")
    ended = world.keep(run)
    assert ended.state is RunState.WAITING
    assert world.outcomes(run) == ["asked"]
    question = world.store.inbox.question(ended.questions[0])
    assert "late_commit" in question.reasons
    for text in (question.words, question.reasons, question.safe_step, question.last_confirmed):
        assert "failed" not in text.lower() and "try again" not in text.lower()


def test_a_login_page_is_not_an_empty_list(world: World) -> None:
    world.to_books.fault("drop_before_commit")
    world.to_books.when("came", world.books.expire_sessions)
    run = world.submit("post_one", reference="R-1")
    ended = world.keep(run)
    assert (ended.state, world.outcomes(run)) == (RunState.WAITING, ["asked"])
    assert world.invoices("R-1") == []


def test_a_no_of_the_site_is_raised_to_the_script_and_not_made_again(world: World) -> None:
    world.books.reject(422, "The period is closed.")
    run = world.submit("handle_rejection", reference="R-1")
    ended = world.keep(run)
    assert ended.state is RunState.FINISHED
    assert ended.result is not None and "422" in ended.result and "The period is closed." in ended.result
    assert (world.invoices("R-1"), world.outcomes(run)) == ([], ["rejected"])
    assert len(world.books.ledger.writes) == 1


def end_chromium(world: World, run: str) -> None:
    """SIGKILL to Chromium's main process."""
    browser = world.store.leases.attempts(run)[-1].browser
    os.kill(json.loads(browser or "{}")["process"]["pid"], signal.SIGKILL)


def end_driver(world: World, run: str) -> None:
    """SIGKILL to the worker's Playwright driver."""
    driver = world.store.leases.attempts(run)[-1].driver
    os.kill(json.loads(driver or "{}")["pid"], signal.SIGKILL)


def crash_tabs(world: World, run: str) -> None:
    """SIGKILL to every renderer: all tabs crash."""
    browser = json.loads(world.store.leases.attempts(run)[-1].browser or "{}")
    for child in psutil.Process(browser["process"]["pid"]).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "--type=renderer" in child.cmdline():
                child.kill()


VICTIMS = {"chromium": end_chromium, "driver": end_driver, "tabs": crash_tabs}


MOMENTS = {"preparing": "GET /invoices/new", "sent": "POST /invoices", "committed": "POST /invoices"}


def strike_at(world: World, run: str, victim: str, moment: str) -> Tell:
    """Have the victim die at that moment, once; what the run's keeper is to tell its events to."""
    strikes = iter([VICTIMS[victim]])

    def strike() -> None:
        for end in strikes:
            end(world, run)

    def told(event: Event) -> None:
        world.events.append(event)
        if event.kind == moment:
            strike()

    if moment in MOMENTS:
        world.to_books.when("committed" if moment == "committed" else "came", strike, MOMENTS[moment])
    return told


@pytest.mark.parametrize("moment", ["preparing", "dispatching", "sent", "committed"])
@pytest.mark.parametrize("victim", list(VICTIMS))
def test_whatever_dies_whenever_leaves_one_invoice(world: World, victim: str, moment: str) -> None:
    run = world.submit("post_one", reference="R-1")
    ended = world.keep(run, tell=strike_at(world, run, victim, moment))
    assert world.invoices("R-1") == ["INV-1"], (ended, world.outcomes(run))
    assert (ended.state, ended.result) == (RunState.FINISHED, '"INV-1"')
    assert "asked" not in world.outcomes(run)
    if moment == "committed":
        assert world.outcomes(run) == ["happened"]


def test_an_open_question_keeps_looking_and_presence_closes_it(world: World) -> None:
    world.to_books.fault("commit_late")

    def told(event: Event) -> None:
        world.events.append(event)
        if event.kind == "question":
            world.to_books.let_go()

    run = world.submit("post_one_slowly", reference="R-1")
    ended = world.keep(run, tell=told, keep_looking_seconds=90.0)
    assert (ended.state, ended.result) == (RunState.FINISHED, '"INV-1"')
    (question,) = world.store.inbox.questions(run)
    assert (str(question.state), question.by) == ("closed", None)
    assert world.outcomes(run) == ["happened"]
