"""Each kind of gesture on a site that writes as soon as its control is changed: one effect, or none and a refusal."""

import json
from itertools import product

import pytest

from browser_agent.states import RunState
from tests.fix_matrix import chosen
from tests.fix_world import World

KILLS = (None, "dispatching:1", "released:1")
TAKEN = (("upload", "dispatching:1"), ("select", "released:1"))


def submit(world: World, by: str, **more: str) -> str:
    """A run that posts one invoice by that kind of control."""
    contract = world.folder / "contract.pdf"
    contract.write_text("signed")
    return world.submit("post_one", "controls.py", reference="R-1", by=by, contract=f"{contract}", **more)


@pytest.mark.parametrize(
    ("by", "kill"),
    chosen(*TAKEN, others=[cell for cell in product(["check", "select", "upload"], KILLS) if cell not in TAKEN]),
)
def test_a_control_that_writes_at_once_makes_one_effect(world: World, by: str, kill: str | None) -> None:
    run = submit(world, by)
    ended = world.keep(run, kill)
    assert (ended.state, ended.result) == (RunState.FINISHED, '"INV-1"'), (ended, world.outcomes(run))
    assert world.invoices("R-1") == ["INV-1"]
    assert world.outcomes(run)[-1] == "happened"
    assert ended.attempts == (2 if kill else 1)
    assert world.books.invoices[0].contract == ("contract.pdf (6 bytes)" if by == "upload" else "")


IN_THE_WAY = chosen(("check", "covered"), others=[("upload", "disabled"), ("select", "hidden"), ("click", "moving")])


@pytest.mark.parametrize(("by", "but"), IN_THE_WAY)
def test_a_control_that_can_not_be_used_is_a_refusal_and_nothing_reaches_the_site(
    world: World, by: str, but: str
) -> None:
    run = submit(world, by, but=but)
    ended = world.keep(run)
    assert (ended.state, world.outcomes(run)) == (RunState.RAISED, ["refused"]), ended
    assert "Refused" in ended.words
    assert world.books.ledger.writes == []


def test_a_file_that_has_changed_since_it_was_written_down_is_not_sent(world: World) -> None:
    run = submit(world, "upload", but="changed")
    ended = world.keep(run)
    assert (ended.state, world.outcomes(run)) == (RunState.RAISED, ["refused"]), ended
    assert "contract.pdf has changed" in ended.words
    assert world.books.ledger.writes == []


@pytest.mark.parametrize("kill", chosen("released:1", others=[None]))
def test_a_form_that_posts_into_a_new_tab_makes_one_effect(world: World, kill: str | None) -> None:
    run = submit(world, "popup")
    ended = world.keep(run, kill)
    assert (ended.state, ended.result) == (RunState.FINISHED, '"INV-1"'), (ended, world.outcomes(run))
    assert (world.invoices("R-1"), world.outcomes(run)) == (["INV-1"], ["happened"])


@pytest.mark.matrix  # the tests of dialogs have an alert
def test_an_alert_that_comes_before_the_write_has_left_the_browser_changes_nothing(world: World) -> None:
    run = submit(world, "fetch", but="alert")
    ended = world.keep(run)
    assert (ended.state, world.outcomes(run)) == (RunState.FINISHED, ["happened"]), ended
    assert world.invoices("R-1") == ["INV-1"]


@pytest.mark.matrix  # the tests of dialogs have it
def test_the_question_whether_to_leave_the_page_is_no_refusal(world: World) -> None:
    run = submit(world, "form", but="leaving")
    ended = world.keep(run)
    assert (ended.state, world.outcomes(run)) == (RunState.FINISHED, ["happened"]), ended
    assert world.invoices("R-1") == ["INV-1"]


STAYED = "Leave this page? (answered by a listener of the task's own)"


def test_a_page_that_the_tasks_own_listener_would_not_leave_makes_nothing_and_the_run_goes_on(world: World) -> None:
    run = world.submit("leave_then_post", "staying.py", on="context", answer="stay")
    ended = world.keep(run)
    assert ended.state is RunState.FINISHED and (said := json.loads(ended.result or "[]")), ended
    assert STAYED in said[0] and said[1] == "INV-1"
    assert world.outcomes(run) == ["refused", "happened"]
    assert (world.invoices("R-1"), world.invoices("R-2")) == ([], ["INV-1"])
    first, second = [line for line in world.store.audit_lines(run) if line["kind"] == "verdict"]
    assert (first["ended"], second["ended"]) == ("refused", "happened")


@pytest.mark.matrix  # a page that is left is what the others show
@pytest.mark.parametrize(("on", "answer"), [("page", "stay"), ("context", "leave")])
def test_a_page_that_is_left_all_the_same_makes_one_effect(world: World, on: str, answer: str) -> None:
    run = world.submit("leave_then_post", "staying.py", on=on, answer=answer)
    ended = world.keep(run)
    assert (ended.state, world.outcomes(run)) == (RunState.FINISHED, ["happened", "happened"]), ended
    assert (world.invoices("R-1"), world.invoices("R-2")) == (["INV-1"], ["INV-2"])
