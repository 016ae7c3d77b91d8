"""A step that hangs is ended with its worker after `step_timeout`; the next worker looks before anything is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser_agent.states import QuestionKind, RunState
from tests.fix_matrix import one_in
from tests.fix_world import World

LIMIT = 12.0
"""Seconds: a step that does not hang is far below it, on a busy machine too."""


def ends(world: World, run: str) -> list[str]:
    return [row.how or "" for row in world.store.leases.attempts(run)]


@pytest.mark.parametrize("way", one_in(3, ["script", "wait", "sleep"]))
def test_a_step_that_hangs_before_its_gesture_is_ended_and_the_next_worker_makes_it(
    world: World, tmp_path: Path, way: str
) -> None:
    run = world.submit("hang_before", "hanging.py", reference="R-1", way=way, mended=str(tmp_path / "mended"))
    ended = world.keep(run, step_timeout=LIMIT)
    assert ended.result == '"INV-1"', ended
    assert ends(world, run)[0] == f"ended by signal 9: the step post_hanging took longer than {LIMIT:g} s"
    assert world.invoices("R-1") == ["INV-1"]
    told = [event.words for event in world.events if event.kind == "step_too_long"]
    assert "the step post_hanging(reference='R-1'" in told[0]


def test_a_step_that_has_written_before_it_hung_is_not_prepared_again_by_itself(world: World, tmp_path: Path) -> None:
    run = world.submit("hang_before", "hanging.py", reference="R-1", way="draft", mended=str(tmp_path / "mended"))
    ended = world.keep(run, step_timeout=LIMIT)
    assert ended.state is RunState.WAITING, ended
    (question,) = world.store.inbox.questions(run, open_only=True)
    assert question.kind is QuestionKind.MARKED_STEP and "/draft" in question.words
    written = [asked.path for asked in world.books.ledger.requests if asked.method == "POST"]
    assert (written, world.invoices("R-1")) == (["/draft"], [])


def test_a_step_that_hangs_after_its_gesture_is_not_made_again(world: World) -> None:
    run = world.submit("hang_after", "hanging.py", reference="R-1")
    ended = world.keep(run, step_timeout=LIMIT)
    assert ended.result == '"INV-1"', ended
    assert ends(world, run)[0].endswith(f"the step post_deaf took longer than {LIMIT:g} s")
    assert world.outcomes(run) == ["happened"]
    assert world.invoices("R-1") == ["INV-1"]


def test_a_step_that_waits_for_its_proof_does_not_hang(world: World) -> None:
    world.to_books.fault("answer_late", "POST /invoices", seconds=2 * LIMIT)
    run = world.submit("wait_long", "hanging.py", reference="R-1")
    ended = world.keep(run, step_timeout=LIMIT)
    assert (ended.result, ends(world, run)) == ('"INV-1"', ["exit code 0"])
    assert world.invoices("R-1") == ["INV-1"]


def test_a_step_that_always_hangs_ends_in_a_question_that_names_it_and_makes_nothing_twice(world: World) -> None:
    run = world.submit("hang_always", "hanging.py", reference="R-1")
    ended = world.keep(run, step_timeout=LIMIT, attempts=2)
    assert ended.state is RunState.NEEDS_ATTENTION
    (question,) = world.store.inbox.questions(run, open_only=True)
    assert question.kind is QuestionKind.ATTEMPTS
    assert f"the step read_for_ever(reference='R-1') took longer than {LIMIT:g} s, 2 times" in question.words
    assert world.invoices("R-1") == ["INV-1"]
    assert world.outcomes(run) == ["happened"]
