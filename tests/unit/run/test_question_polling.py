"""While a question is open, recovery looks again exactly as long as the options say. Only its waits move the clock."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from browser_agent.errors import OutcomeUnknown
from browser_agent.options import Options
from browser_agent.run.attempt import Attempt
from browser_agent.run.look import Case
from browser_agent.run.recovery import Recovery
from browser_agent.states import GestureState
from browser_agent.store import Lease, Store
from observers import Site
from tests.store.building import HandClock, asked, brought, claim


class Waiting:
    """An attempt without page and browser: what recovery uses of it here."""

    stop_asked = False

    def __init__(self, store: Store, lease: Lease, seconds: float) -> None:
        self.store, self.lease, self.clock = store, lease, store.clock
        self.options = Options(keep_looking=seconds)

    def sleep(self, seconds: float) -> None:
        self.clock.sleep(seconds)

    def emit(self, kind: str, words: str, **details: Any) -> None:
        """Drop the event."""


@pytest.mark.parametrize("seconds", [0.0, 5.0, 60.0])
def test_an_open_question_is_looked_at_for_exactly_the_seconds_that_were_given(tmp_path: Path, seconds: float) -> None:
    clock = HandClock()
    with Store(tmp_path / "runs.db", clock) as store:
        lease = claim(store)
        question = asked(store, lease)
        gesture = store.journal.gesture(question.gesture_id or "")
        began = clock.monotonic()
        with pytest.raises(OutcomeUnknown):
            Recovery(cast(Attempt, Waiting(store, lease, seconds)), gesture, None).settle()
        assert clock.monotonic() - began == seconds


@pytest.mark.parametrize(("late_seconds", "waits"), [(120, 120), (86_400, 0)])
def test_what_may_arrive_within_minutes_is_waited_for_and_what_may_take_a_day_is_not(
    tmp_path: Path, late_seconds: float, waits: float
) -> None:
    clock = HandClock()
    site = Site("books", url="http://books.example", account="acme", late_commit=timedelta(seconds=late_seconds))
    with Store(tmp_path / "runs.db", clock) as store:
        gesture = brought(store, claim(store), GestureState.IN_DOUBT)
        attempt = Waiting(store, claim(store, gesture.run_id), 0.0)
        case = Case(gesture.id, gesture.words, (), (), site, dead_at=clock.now())
        waited = 0.0
        for seconds in Recovery(cast(Attempt, attempt), gesture, case)._waits():
            clock.sleep(seconds)
            waited += seconds
    assert waits <= waited < waits + 2
