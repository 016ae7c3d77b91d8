"""Answers lost on the road, browsers and drivers that die: nothing is renamed, nothing is made twice."""

import json
import sqlite3
from itertools import product
from pathlib import Path
from threading import Timer

import pytest

from browser_agent.options import Event
from browser_agent.states import RunState
from tests.fix_matrix import chosen, one_in
from tests.fix_world import World

LOST_AFTER = ("cut_after_head", "drop_after_commit", "gateway_502_after_commit", "hang")
LOST_ANSWERS = chosen(
    ("hang", "fetch"),
    others=[cell for cell in product(LOST_AFTER, ["form", "fetch"]) if cell != ("hang", "fetch")],
)
LOST_BEFORE = ("drop_before_commit", "gateway_502_before_commit", "hang_before")


@pytest.mark.parametrize(("fault", "by"), LOST_ANSWERS)
def test_a_lost_answer_makes_no_second_invoice(world: World, fault: str, by: str) -> None:
    world.to_books.fault(fault)
    run = world.submit("post_one", reference="R-1", by=by)
    ended = world.keep(run)
    assert world.invoices("R-1") == ["INV-1"]
    assert (ended.state, ended.result) == (RunState.FINISHED, '"INV-1"')
    assert world.outcomes(run) == ["happened"]


@pytest.mark.matrix  # `test_faults_by_name.py` loses one, `test_kills.py` two with their workers
@pytest.mark.parametrize(("fault", "by"), [*product(LOST_BEFORE, ["form", "fetch"])])
def test_a_lost_request_is_proven_absent_and_made_once_more(world: World, fault: str, by: str) -> None:
    world.to_books.fault(fault)
    run = world.submit("post_one", reference="R-1", by=by)
    ended = world.keep(run)
    assert world.invoices("R-1") == ["INV-1"]
    assert ended.state is RunState.FINISHED
    assert world.outcomes(run) == ["not_happened", "happened"]


@pytest.mark.matrix  # a far later one is, in `test_hanging.py`
def test_a_late_answer_is_waited_for(world: World) -> None:
    world.to_books.fault("answer_late", seconds=1.0)
    run = world.submit("post_one", reference="R-1")
    assert world.keep(run).state is RunState.FINISHED
    assert (world.invoices("R-1"), world.outcomes(run)) == (["INV-1"], ["happened"])


@pytest.mark.matrix  # after a kill too, in `test_kills.py`
def test_a_late_commit_within_the_declared_time_is_found_and_not_made_again(world: World) -> None:
    world.to_books.fault("commit_late", seconds=1.0)
    run = world.submit("post_one", reference="R-1")
    assert world.keep(run).state is RunState.FINISHED
    assert (world.invoices("R-1"), world.outcomes(run)) == (["INV-1"], ["happened"])


@pytest.mark.parametrize(("answered", "made"), [("GET /invoices/new", []), ("GET /invoices", ["asked"])])
def test_a_shut_door_proves_nothing_until_it_opens(world: World, answered: str, made: list[str]) -> None:
    world.to_books.fault("refuse", answered, skip=1)  # it shuts before, or after, the look before the gesture
    run = world.submit("post_one", reference="R-1")
    ended = world.keep(run)
    assert world.invoices("R-1") == []
    assert (ended.state, world.outcomes(run)) == (RunState.WAITING, made)
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
    (declare,) = json.loads(question.details)["declare"]
    assert declare.startswith("late_commit of slow: ")
    for text in (question.words, question.reasons, question.safe_step, question.last_confirmed):
        assert "failed" not in text.lower() and "try again" not in text.lower()


def test_a_login_page_is_not_an_empty_list(world: World) -> None:
    world.to_books.fault("drop_before_commit")
    world.to_books.when("came", world.books.expire_sessions)
    run = world.submit("post_one", reference="R-1")
    ended = world.keep(run)
    assert (ended.state, world.outcomes(run)) == (RunState.WAITING, ["asked"])
    assert world.invoices("R-1") == []
    told = json.loads(world.store.inbox.questions(run)[0].reasons)
    lost = [reason for reason in told if reason.startswith("POST /invoices was released, and no answer came")]
    assert len(lost) == 1, told


def test_a_no_of_the_site_is_raised_to_the_script_and_not_made_again(world: World) -> None:
    world.books.reject(422, "The period is closed.")
    run = world.submit("handle_rejection", reference="R-1")
    ended = world.keep(run)
    assert ended.state is RunState.FINISHED
    assert ended.result is not None and "422" in ended.result and "The period is closed." in ended.result
    assert ended.result.strip('"').split(": ", 1)[1] == "The period is closed.", "not the bar above it"
    assert (world.invoices("R-1"), world.outcomes(run)) == ([], ["rejected"])
    assert len(world.books.ledger.writes) == 1


@pytest.mark.parametrize("victim", one_in(3, ["browser", "driver", "tabs"]))
def test_whatever_dies_while_the_page_is_prepared_leaves_one_invoice(world: World, victim: str) -> None:
    run = world.submit("post_one", reference="R-1")
    strikes = iter([victim])

    def strike_once() -> None:
        for each in strikes:
            world.strike(run, each)

    world.to_books.when("came", strike_once, "GET /invoices/new")
    ended = world.keep(run)
    assert world.invoices("R-1") == ["INV-1"], (ended, world.outcomes(run))
    assert (ended.state, ended.result) == (RunState.FINISHED, '"INV-1"')


def test_a_browser_that_dies_when_all_is_prepared_is_no_mistake_of_the_task(world: World, tmp_path: Path) -> None:
    run = world.submit("lose_the_browser", "dying.py", reference="R-1", died=tmp_path / "died")
    ended = world.keep(run)
    assert (ended.state, ended.result) == (RunState.FINISHED, '"INV-1"'), ended
    assert ended.attempts == 2 and world.outcomes(run) == ["happened"]
    assert world.invoices("R-1") == ["INV-1"]


def test_an_open_question_keeps_looking_and_presence_closes_it(world: World) -> None:
    world.to_books.fault("commit_late")

    def told(event: Event) -> None:
        world.events.append(event)
        if event.kind == "question":
            world.to_books.let_go()

    run = world.submit("post_one_slowly", reference="R-1")
    ended = world.keep(run, on_event=told, keep_looking=90.0)
    assert (ended.state, ended.result) == (RunState.FINISHED, '"INV-1"')
    (question,) = world.store.inbox.questions(run)
    assert (str(question.state), question.by) == ("closed", None)
    assert world.outcomes(run) == ["happened"]


def test_an_answer_settles_a_gesture_only_by_the_written_contract_of_the_site(world: World) -> None:
    run = world.submit("post_one_by_contract", reference="R-1")
    ended = world.keep(run)
    assert (ended.state, world.outcomes(run), world.invoices("R-1")) == (RunState.FINISHED, ["happened"], ["INV-1"])
    (gesture,) = world.store.journal.gestures(run)
    assert gesture.proven_by == '["wire"]' and "written contract" in (gesture.reasons or "")


def test_an_answer_that_the_contract_does_not_name_leaves_a_question(world: World) -> None:
    world.to_books.fault("gateway_502_after_commit")
    run = world.submit("post_one_by_contract", reference="R-1")
    assert world.keep(run).state is RunState.WAITING
    assert (world.outcomes(run), world.invoices("R-1")) == (["asked"], ["INV-1"])
    told = json.loads(world.store.inbox.questions(run)[0].reasons)
    assert "the site answered POST /invoices with 502; an answer alone proves nothing here" in told


class Locked:
    """Another process holds the store's write lock, from the moment that a gesture is dispatched, for some seconds."""

    def __init__(self, path: Path, seconds: float) -> None:
        self._path, self._seconds = path, seconds
        self.held = 0

    def on_event(self, event: Event) -> None:
        """Called with each event of the run, from the keeper's thread."""
        if event.kind == "dispatching":
            connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            connection.execute("BEGIN IMMEDIATE")
            Timer(self._seconds, self._free, [connection]).start()
            self.held += 1

    def _free(self, connection: sqlite3.Connection) -> None:
        connection.execute("ROLLBACK")
        connection.close()


def test_a_database_that_is_locked_while_a_gesture_is_settled_loses_and_doubles_nothing(world: World) -> None:
    locked = Locked(Path(world.store.address), 8.0)
    run = world.submit("post_one", reference="R-1")
    ended = world.keep(run, on_event=locked.on_event)
    assert locked.held == 1
    assert (ended.state, world.outcomes(run), world.invoices("R-1")) == (RunState.FINISHED, ["happened"], ["INV-1"])
