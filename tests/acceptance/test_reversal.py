"""Reversing: a new run that asks first, makes one gesture, and is the same run when it is asked for again."""

from __future__ import annotations

import pytest

from browser_agent.errors import Misuse
from browser_agent.run.reversal import reversible, submit_reversal
from browser_agent.states import Answer, RunState
from tests.fix_world import World


def test_what_a_run_has_made_is_taken_back_once_by_a_new_run_that_asks_first_and_not_after_a_no(world: World) -> None:
    run = world.submit("post_all", "reversing.py", references='["R-1", "R-2"]')
    assert world.keep(run).state is RunState.FINISHED
    first, second = [step for step, _ in reversible(world.store, run)]
    with pytest.raises(Misuse, match="Several steps fit"):
        submit_reversal(world.store, world.store.leases.run(run), None)
    back = submit_reversal(world.store, world.store.leases.run(run), second.id)
    asked = world.keep(back.id)
    assert asked.state is RunState.WAITING and len(world.books.invoices) == 2, "nothing is made before a yes"
    assert "INV-2" in (world.store.inbox.question(asked.questions[0]).reasons)
    world.answer(asked.questions[0], Answer.APPROVE)
    assert world.keep(back.id, "released:1").state is RunState.FINISHED
    assert world.invoices("CREDIT-INV-2") == ["INV-3"] and world.invoices("CREDIT-INV-1") == []
    again = submit_reversal(world.store, world.store.leases.run(run), second.id)
    assert (again.id, again.state) == (back.id, RunState.FINISHED)
    assert first.id != second.id
    refused = submit_reversal(world.store, world.store.leases.run(run), first.id)
    world.answer(world.keep(refused.id).questions[0], Answer.REFUSE)
    ended = world.keep(refused.id)
    assert (ended.state, ended.result, refused.id != back.id) == (RunState.FINISHED, "null", True)
    assert len(world.books.invoices) == 3, "what was refused was taken back"


def test_the_entry_of_an_intent_says_whether_it_can_be_taken_back_and_by_which_step(world: World) -> None:
    runs = [world.submit("post_all", "reversing.py", references='["R-1"]'), world.submit("post_one", reference="R-2")]
    for run in runs:
        world.keep(run)
    told = [next(line for line in world.store.audit_lines(run) if line["kind"] == "intent") for run in runs]
    assert [line["reverse"] for line in told] == ["credit", "none is declared"]
    assert submit_reversal(world.store, world.store.leases.run(runs[0]), "post").state is RunState.NEW
    assert list(reversible(world.store, runs[1])) == []
    with pytest.raises(Misuse, match="No step fits"):
        submit_reversal(world.store, world.store.leases.run(runs[1]), None)
