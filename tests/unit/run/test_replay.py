"""Which stored step a call asks for, and when the task has changed."""

from datetime import UTC, datetime

import pytest

from browser_agent.errors import TaskChanged
from browser_agent.run.replay import Replay
from browser_agent.states import StepState
from browser_agent.store.records import StepRow


def row(bookmark: str, seq: int, state: StepState = StepState.FINISHED) -> StepRow:
    return StepRow(
        id=f"s-{seq}",
        run_id="run-1",
        seq=seq,
        bookmark=bookmark,
        name="post",
        words=f"post {seq}",
        arguments="{}",
        writes=True,
        state=state,
        attempt=1,
        began=datetime(2026, 11, 30, tzinfo=UTC),
    )


def names(replay: Replay, *calls: str) -> list[str]:
    found = []
    for call in calls:
        found.append(replay.bookmark("post", call, None))
        replay.ended("post", call, None)
    return found


def test_equal_calls_have_bookmarks_of_their_own_and_other_calls_do_not_count() -> None:
    first, other, second = names(Replay([], []), "a", "b", "a")
    assert len({first, other, second}) == 3
    assert first.removesuffix("#0") == second.removesuffix("#1")


def test_a_call_that_has_not_ended_keeps_its_bookmark() -> None:
    replay = Replay([], [])
    assert replay.bookmark("post", "a", None) == replay.bookmark("post", "a", None)


def test_a_key_stands_for_name_and_arguments() -> None:
    replay = Replay([], [])
    assert replay.bookmark("post", "a", "order-17") == replay.bookmark("post", "b", "order-17")


def test_stored_gestures_are_handed_out_in_their_order() -> None:
    one, two = row("one", 1), row("two", 2)
    replay = Replay([one, two], {one.id, two.id})
    assert replay.ask("one", "post 1", writes=True) is one
    assert replay.ask("two", "post 2", writes=True) is two
    replay.end()


def test_another_order_is_a_changed_task() -> None:
    one, two = row("one", 1), row("two", 2)
    with pytest.raises(TaskChanged, match="expects post 1; the task asks for post 2"):
        Replay([one, two], {one.id, two.id}).ask("two", "post 2", writes=True)


def test_no_new_gesture_while_a_stored_one_has_not_been_asked_for() -> None:
    one = row("one", 1)
    with pytest.raises(TaskChanged):
        Replay([one], {one.id}).ask("new", "post 9", writes=True)


def test_a_begun_step_without_a_gesture_waits_for_the_stored_ones_too() -> None:
    one, begun = row("one", 1), row("begun", 2, StepState.BEGUN)
    with pytest.raises(TaskChanged):
        Replay([one, begun], {one.id}).ask("begun", "post 2", writes=True)


def test_a_new_read_may_come_at_any_time() -> None:
    one = row("one", 1)
    assert Replay([one], {one.id}).ask("new", "read 9", writes=False) is None


def test_an_ended_step_that_made_nothing_is_handed_out_at_any_time() -> None:
    one, raised = row("one", 1), row("raised", 2, StepState.RAISED)
    assert Replay([one, raised], {one.id}).ask("raised", "post 2", writes=True) is raised


def test_a_task_that_ends_without_asking_for_a_stored_gesture_has_changed() -> None:
    one = row("one", 1)
    replay = Replay([one], {one.id})
    assert replay.awaited is one
    with pytest.raises(TaskChanged):
        replay.end()


def test_a_person_may_map_a_call_or_let_a_stored_one_go() -> None:
    one = row("post:x#0", 1)
    new = Replay([], []).bookmark("other", "a", None)
    mapped = Replay([one], {one.id}, mapped={new: "post:x#0"})
    assert mapped.ask(mapped.bookmark("other", "a", None), "other", writes=True) is one
    dropped = Replay([one], {one.id}, dropped={"post:x#0"})
    assert dropped.ask("new", "post 9", writes=True) is None
    assert dropped.awaited is None
