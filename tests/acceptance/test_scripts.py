"""What a script may do and may not: equal calls, swallowed stops, edited tasks, things that are there already."""

from pathlib import Path

import pytest

from browser_agent.states import Answer, QuestionKind, RunState
from tests.fix_matrix import one_in
from tests.fix_world import TASKS, World


@pytest.mark.matrix  # a kill between them includes it
def test_two_equal_calls_are_two_effects(world: World) -> None:
    ended = world.go("post_twice", reference="R-1")
    assert ended.state is RunState.FINISHED
    assert world.invoices("R-1") == ["INV-1", "INV-2"]


@pytest.mark.parametrize("point", one_in(4, ["answered:1", "paused:2", "settled:1", "answered:2"]))
def test_two_equal_calls_are_two_effects_across_a_kill(world: World, point: str) -> None:
    ended = world.go("post_twice", kill=point, reference="R-1")
    assert ended.state is RunState.FINISHED
    assert world.invoices("R-1") == ["INV-1", "INV-2"]


def test_a_script_that_swallows_everything_makes_no_other_gesture(world: World) -> None:
    world.to_books.fault("drop_before_commit", count=None)
    run = world.submit("swallow", reference="R-1")
    ended = world.keep(run)
    assert ended.state is RunState.WAITING
    assert world.outcomes(run) == ["asked"]
    assert [asked.path for asked in world.books.ledger.writes] == []


FORM = "post('R-1', 'form')"
EDITS = {
    "renamed": (FORM, "renamed('R-1', 'form')"),
    "argument changed": (FORM, "post('R-1', 'fetch')"),
    "argument added": (FORM, "noted('R-1', 'form', 'a note')"),
    "10 -> 10.00": ("post(10, 'form')", "post(Decimal('10.00'), 'form')"),
    "order changed": (FORM, "post('R-2', 'form')"),
}


def write_task(folder: Path, call: str) -> None:
    """Write the task file with that call as its first."""
    (folder / "keyed.py").write_text(
        "from decimal import Decimal\n"
        "from playwright.sync_api import Page\n"
        "from browser_agent import Gesture, Run, step, task\n"
        "from posting import Posted, books, post\n\n"
        "renamed = step(name='renamed', site=books)(post.fn)\n\n"
        "@step(name='post', site=books)\n"
        "def noted(page: Page, reference: str, by: str, note: str) -> Gesture[Posted]:\n"
        "    return post.fn(page, reference, by)\n\n"
        "@task(sites=[books])\n"
        "def work(run: Run) -> list[str]:\n"
        f"    return [run.step({call}).number, run.step(post('R-2', 'form')).number]\n"
    )


def cut_off(world: World, call: str = FORM) -> str:
    """A run whose worker dies before its second gesture is dispatched, and is not followed by another."""
    (world.folder / "posting.py").write_text((TASKS / "posting.py").read_text())
    write_task(world.folder, call)
    run = world.submit("work", file=world.folder / "keyed.py")
    ended = world.keep(run, "intent:2", attempts=1)
    assert ended.state is RunState.NEEDS_ATTENTION
    assert len(world.books.invoices) == 1
    return run


def asked_which(world: World, run: str) -> str:
    """Nothing more is made, and a person is asked which call it is; the question."""
    assert world.keep(run).state is RunState.WAITING
    (question,) = world.store.inbox.questions(run, open_only=True)
    assert question.kind is QuestionKind.TASK_CHANGED
    assert "The journal expects post(" in question.words and "the task asks for" in question.words
    made = world.store.journal.gestures(run)[0]
    assert question.last_confirmed == f"{made.words} (number = INV-1)", "what is proven already is named to the person"
    assert len(world.books.ledger.writes) == 1
    return question.id


@pytest.mark.matrix  # a renamed step is asked about below, and the unit tests compare what was called
@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_task_makes_nothing_and_asks(world: World, edit: str) -> None:
    first, second = EDITS[edit]
    run = cut_off(world, first)
    write_task(world.folder, second)
    asked_which(world, run)


@pytest.mark.matrix  # every run that is killed between two gestures does
def test_an_unedited_task_goes_on_where_it_was(world: World) -> None:
    run = cut_off(world)
    ended = world.keep(run)
    assert (ended.state, ended.result) == (RunState.FINISHED, '["INV-1","INV-2"]')
    assert len(world.books.invoices) == 2


def test_a_renamed_step_goes_on_when_a_person_says_that_it_is_the_same(world: World) -> None:
    run = cut_off(world)
    write_task(world.folder, EDITS["renamed"][1])
    world.answer(asked_which(world, run), Answer.MAP)
    ended = world.keep(run)
    assert ended.state is RunState.FINISHED
    assert (world.invoices("R-1"), world.invoices("R-2")) == (["INV-1"], ["INV-2"])


USE_OR_MAKE = [(Answer.HAPPENED, "INV-1", 1), (Answer.NOT_HAPPENED, "INV-2", 2)]


@pytest.mark.parametrize(("answer", "number", "count"), USE_OR_MAKE)
def test_what_is_there_already_is_not_made_until_a_person_has_said_what_it_means(
    world: World, answer: Answer, number: str, count: int
) -> None:
    world.books.enter(customer="Contoso Ltd", amount="380.00", reference="R-1")
    run = world.submit("post_one", reference="R-1")
    asked = world.keep(run)
    assert asked.state is RunState.WAITING
    assert world.store.inbox.question(asked.questions[0]).kind is QuestionKind.ALREADY_THERE
    assert world.books.ledger.writes == []
    world.answer(asked.questions[0], answer)
    ended = world.keep(run)
    assert (ended.state, ended.result) == (RunState.FINISHED, f'"{number}"')
    assert len(world.invoices("R-1")) == count


@pytest.mark.matrix  # it is pressed three times below
def test_the_enter_key_posts_once(world: World) -> None:
    ended = world.go("press_one", reference="R-1")
    assert (ended.state, world.invoices("R-1")) == (RunState.FINISHED, ["INV-1"])


@pytest.mark.matrix  # `test_observers_status.py` looks at the answer of a post
def test_looking_after_a_kill_writes_nothing_also_on_the_answer_of_a_post(world: World) -> None:
    world.books.answer_post_in_place = True
    ended = world.go("post_one", kill="answered:1", reference="R-1")
    assert (ended.state, ended.attempts) == (RunState.FINISHED, 2)
    assert [asked.path for asked in world.books.ledger.writes] == ["/invoices"]


def test_a_dialog_that_nobody_declared_is_a_refusal_and_sends_nothing(world: World) -> None:
    world.books.confirm_dialog = True
    run = world.submit("post_one", reference="R-1")
    ended = world.keep(run)
    assert ended.state is RunState.RAISED
    assert "dialog" in ended.words
    assert set(world.outcomes(run)) == {"refused"}
    assert world.books.ledger.writes == []


@pytest.mark.matrix  # the tests of dialogs have it
def test_a_declared_dialog_is_accepted(world: World) -> None:
    world.books.confirm_dialog = True
    ended = world.go("post_with_dialog", reference="R-1")
    assert (ended.state, world.invoices("R-1")) == (RunState.FINISHED, ["INV-1"])


@pytest.mark.matrix  # the step is prepared anew, as without a kill
def test_what_is_there_already_is_asked_about_after_a_kill_too(world: World) -> None:
    world.books.enter(customer="Contoso Ltd", amount="380.00", reference="R-1")
    run = world.submit("post_one", reference="R-1")
    ended = world.keep(run, "intent:1")
    assert (ended.state, ended.attempts) == (RunState.WAITING, 2)
    assert world.store.inbox.question(ended.questions[0]).kind is QuestionKind.ALREADY_THERE
    assert world.books.ledger.writes == []


def test_a_no_that_a_dead_worker_never_heard_is_raised_and_not_made_again(world: World) -> None:
    world.books.reject(422, "The period is closed.")
    run = world.submit("handle_rejection", reference="R-1")
    ended = world.keep(run, "answered:1")
    assert (ended.state, ended.attempts) == (RunState.FINISHED, 2)
    assert ended.result is not None and "422" in ended.result
    assert (world.outcomes(run), len(world.books.ledger.writes)) == (["rejected"], 1)


def test_a_person_may_resume_what_was_proven_absent_as_often_as_allowed(world: World) -> None:
    world.to_books.fault("drop_before_commit", count=2)
    run = world.submit("press_one", reference="R-1")
    ended = world.keep(run)
    assert (ended.state, world.outcomes(run)) == (RunState.RAISED, ["not_happened", "not_happened"])
    assert world.keep(run).state is RunState.FINISHED
    assert world.invoices("R-1") == ["INV-1"]
