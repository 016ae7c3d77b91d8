"""An approval is consent to exactly these calls, for as long as it was declared to hold; then it is asked for anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from browser_agent.attempt import Attempt
from browser_agent.errors import WaitingForPerson
from browser_agent.executor import Run
from browser_agent.gestures import Done, Gesture
from browser_agent.keeping import Options
from browser_agent.states import Answer, RunState
from browser_agent.steps import step
from browser_agent.store import Lease, Said, Store
from observers import Site
from tests.store.building import HandClock, claim

if TYPE_CHECKING:
    from playwright.sync_api import Page

books = Site("books", url="https://books.example", account="acme")


@step(site=books)
def post(page: Page, order: str) -> Gesture[None] | Done[None]:
    return Done(None)


class Asking:
    """What asking needs of an attempt, without page and browser."""

    def __init__(self, store: Store, lease: Lease, seconds: float | None) -> None:
        self.store, self.lease, self.clock = store, lease, store.clock
        self.options = Options(approval_seconds=seconds)

    def tell(self, kind: str, words: str, **details: Any) -> None:
        """Nobody watches."""


@pytest.fixture
def timed_store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "runs.db", HandClock()) as store:
        yield store


def approved(store: Store, lease: Lease, seconds: float | None) -> list[str]:
    """What the run may make, in words; each go of a run asks by this."""
    run = Run(cast(Attempt, Asking(store, lease, seconds)))
    return [call.words for call in run.approve("May I?", [post("S-1")])]


@pytest.mark.parametrize(("seconds", "later", "holds"), [(60, 60, True), (60, 61, False), (None, 10**6, True)])
def test_an_approval_that_was_given_too_long_ago_is_asked_for_anew(
    timed_store: Store, seconds: float | None, later: float, holds: bool
) -> None:
    lease = claim(timed_store)
    with pytest.raises(WaitingForPerson) as asked:
        approved(timed_store, lease, seconds)
    timed_store.leases.end(lease, RunState.WAITING, ended_by="a question waits")
    timed_store.inbox.answer(asked.value.question, Said(Answer.APPROVE, "ann", "checked"))
    timed_store.clock.sleep(later)
    lease = claim(timed_store, lease.run)
    if holds:
        assert len(approved(timed_store, lease, seconds)) == 1
        return
    with pytest.raises(WaitingForPerson) as again:
        approved(timed_store, lease, seconds)
    assert again.value.question != asked.value.question
