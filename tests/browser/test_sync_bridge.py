"""Playwright's private names by which one gate serves both of its faces, and what must not come of it."""

from __future__ import annotations

import asyncio

from playwright.sync_api import Page, Request

from browser_agent.browser.sync_bridge import async_page, async_session, run
from fixtures.till.till import Till
from tests.fix_guard import wait


def test_async_work_runs_on_the_loop_of_a_sync_page(page: Page) -> None:
    async def asked() -> int:
        await asyncio.sleep(0)
        answer: int = await async_page(page).evaluate("() => 6 * 7")
        return answer

    assert run(page, asked()) == 42


def test_a_session_tells_its_events_to_code_that_awaits(page: Page) -> None:
    browser = page.context.browser
    assert browser is not None
    session = async_session(browser.new_browser_cdp_session())

    async def listened() -> str:
        told = asyncio.Event()
        session.on("Target.targetCreated", lambda event: told.set())
        await session.send("Target.setDiscoverTargets", {"discover": True})
        await told.wait()
        await session.detach()
        return "told"

    assert run(page, listened()) == "told"


def test_the_owner_of_a_page_still_gets_sync_objects(page: Page) -> None:
    requests: list[Request] = []

    def note(request: Request) -> None:
        requests.append(request)

    page.on("request", note)
    with Till() as till:
        page.goto(till.url)
        run(page, async_page(page).evaluate("() => fetch('/')"))
        wait(page, lambda: len(requests) > 1)
    assert all(isinstance(request, Request) for request in requests)
