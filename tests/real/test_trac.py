"""A third-party application that knows nothing of us: whatever befalls the run, Trac's own database holds one ticket.

What is asserted on is the `ticket` table; the run's own conclusion must agree with it.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser

from browser_agent.script.task_file import load_module
from browser_agent.states import Point, RunState
from browser_agent.testing.proxy.fault_proxy import FaultProxy
from observers import Observation
from observers.view import open_view
from tests.real.conftest import EXAMPLE, Filed, FileTicket
from tests.real.trac_site import ACCOUNT, PASSWORD, Trac

COMMIT = "POST /newticket"


def assert_one_ticket(trac: Trac, summary: str, filed: Filed) -> None:
    """Exactly one ticket is in Trac's database, ours, and the task has handed back its number."""
    tickets = trac.tickets(summary)
    assert len(tickets) == 1, tickets
    assert filed.ended.state is RunState.FINISHED, filed.ended
    assert filed.ended.questions == ()
    assert filed.number == tickets[0].id
    assert tickets[0].keywords == filed.ended.run
    assert tickets[0].reporter == ACCOUNT
    assert tickets[0].description == f"About: {summary}"


def commits(road: FaultProxy) -> int:
    """How often the form has come to the proxy."""
    return sum(entry.event == "came" and entry.method == "POST" for entry in road.log)


def test_a_good_day_files_one_ticket_and_a_second_run_of_equal_words_another(
    trac: Trac, road: FaultProxy, file_ticket: FileTicket
) -> None:
    first = file_ticket("A good day")
    assert_one_ticket(trac, "A good day", first)
    assert first.states == ["happened"]
    assert len(first.attempts) == 1
    assert commits(road) == 1

    second = file_ticket("A good day")
    assert [ticket.id for ticket in trac.tickets("A good day")] == [first.number, second.number]


@pytest.mark.parametrize("point", [Point.RELEASED, Point.ANSWERED])
def test_a_worker_killed_after_its_request_was_let_go_leaves_one_ticket(
    trac: Trac, road: FaultProxy, file_ticket: FileTicket, point: Point
) -> None:
    summary = f"Killed when {point}"
    filed = file_ticket(summary, kill_at=point)
    assert_one_ticket(trac, summary, filed)
    assert filed.states == ["happened"]
    assert len(filed.attempts) == 2
    assert commits(road) == 1


@pytest.mark.parametrize("point", [Point.DISPATCHING, Point.PAUSED])
def test_a_worker_killed_before_its_request_was_let_go_is_followed_by_one_that_files_it(
    trac: Trac, road: FaultProxy, file_ticket: FileTicket, point: Point
) -> None:
    summary = f"Killed when {point}"
    filed = file_ticket(summary, kill_at=point)
    assert_one_ticket(trac, summary, filed)
    assert filed.states == ["not_happened", "happened"]
    assert len(filed.attempts) == 2
    assert commits(road) == 1


@pytest.mark.parametrize("fault", ["cut_after_head", "drop_after_commit", "gateway_502_after_commit"])
def test_an_answer_lost_after_the_commit_makes_no_second_ticket(
    trac: Trac, road: FaultProxy, file_ticket: FileTicket, fault: str
) -> None:
    laid = road.fault(fault, COMMIT)
    filed = file_ticket(f"Lost by {fault}")
    assert laid.triggered == 1
    assert_one_ticket(trac, f"Lost by {fault}", filed)
    assert filed.states == ["happened"]
    assert commits(road) == 1


def test_a_request_lost_before_the_commit_is_made_once_more_after_its_absence_is_proven(
    trac: Trac, road: FaultProxy, file_ticket: FileTicket
) -> None:
    laid = road.fault("drop_before_commit", COMMIT)
    filed = file_ticket("Lost on the way")
    assert laid.triggered == 1
    assert_one_ticket(trac, "Lost on the way", filed)
    assert filed.states == ["not_happened", "happened"]
    assert commits(road) == 2


def test_the_query_page_is_the_whole_list_closed_tickets_and_more_than_a_page_of_them_included(
    trac: Trac, attached: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    trac.seed("seeded", 130)  # Trac shows 100 on a page by default
    seen = _look(trac, attached, "seeded", monkeypatch)
    assert (seen.complete, len(seen.matches)) == (True, 130), seen.reasons
    assert {int(match.values["ticket"].removeprefix("#")) for match in seen.matches} == {
        ticket.id for number in range(130) for ticket in trac.tickets(f"Seed {number}")
    }


def test_an_empty_query_page_vouches_for_an_absence_only_while_we_are_signed_in(
    trac: Trac, attached: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _look(trac, attached, "nobody-has-this", monkeypatch).complete
    signed_out = _look(trac, attached, "nobody-has-this", monkeypatch, signed_in=False)
    assert not signed_out.complete
    assert signed_out.sight == "cannot_tell"


def _look(
    trac: Trac, browser: Browser, keyword: str, monkeypatch: pytest.MonkeyPatch, *, signed_in: bool = True
) -> Observation:
    """What the example's own observer sees, in Trac's own pages."""
    example = load_module(EXAMPLE)
    monkeypatch.setenv("TRAC_PASSWORD", PASSWORD)
    monkeypatch.setattr(example.trac, "url", trac.url)
    context = browser.contexts[0]
    context.clear_cookies()
    page = context.new_page()
    try:
        if signed_in:
            example.sign_in(page)
        with open_view(browser, page, clock=lambda: datetime.now(UTC)) as view:
            seen: Observation = example.tickets_with(keyword).observe(view)
            return seen
    finally:
        page.close()
        context.clear_cookies()
