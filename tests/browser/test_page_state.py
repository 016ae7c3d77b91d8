"""How a page stands is read without its secrets and without waiting; what a tab held is given to the next one, once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import async_playwright
from playwright.sync_api import Browser, Page
from playwright.sync_api import Route as Routed
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from browser_agent.browser.guarded_browser import HELPER_ADDRESS, GuardedBrowser
from browser_agent.browser.page_state import PageState, give_session_storage, read_page_state
from browser_agent.run.session import merged
from browser_agent.testing.sites.server import serve
from observers.session import SESSION_STORAGE
from observers.view import open_view

SITE, OTHER = "http://books.example:8001", "http://mail.example"
SECRETS = {
    "a password": '<input type="password" value="{}">',
    "a password that is shown": '<input type="text" name="password" value="{}">',
    "a current password": '<input autocomplete="current-password" value="{}">',
    "a new password": '<input autocomplete="new-password" value="{}">',
    "a card number": '<input autocomplete="section-a cc-number" value="{}">',
    "a card's code": '<input autocomplete="cc-csc" value="{}">',
    "a code by its name": '<input name="card_cvc" value="{}">',
    "a one-time code": '<input autocomplete="one-time-code" value="{}">',
    "a one-time code by its label": '<label>One-time code <input value="{}"></label>',
    "a PIN by the label that is for it": '<label for="x">PIN</label><input id="x" value="{}">',
    "a token": '<textarea name="api-token">{}</textarea>',
    "an API key": '<label>API key <input value="{}"></label>',
    "what is drawn as dots": '<input style="-webkit-text-security: disc" value="{}">',
}


def served(page: Page, body: str = "<h1>Books</h1>") -> list[str]:
    """Every address answers with that body; what was asked for."""
    asked: list[str] = []

    def answer(route: Routed) -> None:
        asked.append(route.request.url)
        route.fulfill(body=body, content_type="text/html")

    page.context.route("**/*", answer)
    return asked


@pytest.fixture(autouse=True)
def routes_end_with_the_test(page: Page) -> Iterator[None]:
    yield
    page.context.unroute_all(behavior="ignoreErrors")


def state_of(page: Page) -> PageState:
    found = read_page_state(page, 5.0)
    assert found is not None
    return found


def test_a_page_tells_where_it_is_and_how_its_form_stands(page: Page) -> None:
    served(
        page,
        """<title>New invoice</title><label>Customer <input value="x"></label><label for=a>Amount</label><input id=a>
        <select name=size><option>S<option selected>Large</select><input type=checkbox aria-label=Urgent checked>
        <textarea placeholder=Note></textarea><input type=hidden name=csrf value=h><input type=submit>
        <p style="height: 4000px">""",
    )
    page.goto(f"{SITE}/invoices/new?draft=7")
    page.get_by_label("Customer").fill("Contoso Ltd")
    page.get_by_label("Amount").fill("380.00")
    page.evaluate("scrollTo(0, 700)")
    found = state_of(page)
    assert (found.address, found.title, found.scroll) == (f"{SITE}/invoices/new?draft=7", "New invoice", (0, 700))
    assert {field.name: field.value for field in found.fields} == {
        "Customer": "Contoso Ltd", "Amount": "380.00", "size": "Large", "Urgent": "true", "Note": "",
    }  # fmt: skip
    assert found.shown == {"address": f"{SITE}/invoices/new?draft", "title": "New invoice"}


@pytest.mark.parametrize("what", list(SECRETS))
def test_a_secret_is_withheld(page: Page, what: str) -> None:
    page.set_content(SECRETS[what].format("hunter2"))
    found = state_of(page)
    assert [field.withheld for field in found.fields] == [True]
    assert "hunter2" not in found.model_dump_json()


@pytest.mark.parametrize(("value", "withheld"), [("4111 1111 1111 1111", True), ("4111 1111 1111 1112", False)])
def test_a_card_number_is_withheld_wherever_it_was_typed(page: Page, value: str, withheld: bool) -> None:
    page.set_content(f'<input name="note" value="{value}">')
    assert [field.withheld for field in state_of(page).fields] == [withheld]


def test_a_page_that_does_not_answer_holds_nothing_up(page: Page) -> None:
    page.set_content("<input value=1>")
    page.evaluate("setTimeout(() => { const until = Date.now() + 3000; while (Date.now() < until); }, 0)")
    began = time.monotonic()
    assert read_page_state(page, 0.3) is None
    assert time.monotonic() - began < 2.0


HOSTILE = {
    "a title without end": "Object.defineProperty(document, 'title', {get: () => ({slice: () => 'x'.repeat(1e6)})})",
    "a form without end": "document.querySelectorAll = () => ({[Symbol.iterator]: () => { throw 1 }})",
    "no text at all": "Object.defineProperty(document, 'title', {get: () => ({slice: () => 7})})",
}


@pytest.mark.parametrize("what", list(HOSTILE))
def test_a_page_that_tells_nonsense_tells_nothing(page: Page, what: str) -> None:
    page.set_content(f"<input><script>{HOSTILE[what]}</script>")
    assert read_page_state(page, 5.0) is None


def test_a_tab_that_holds_too_much_is_not_carried_over_and_all_else_is_cut(page: Page) -> None:
    served(page, f"<input name={'n' * 500} value={'v' * 5000}>")
    page.goto(f"{SITE}/")
    page.evaluate("sessionStorage.setItem('all', 'x'.repeat(1_000_001))")
    found = state_of(page)
    assert (found.session_storage, [len(field.value) for field in found.fields]) == ({}, [2000])
    assert len(found.model_dump_json()) < 4000


def test_a_new_tab_gets_what_the_old_one_held_origin_by_origin_and_no_request_leaves(page: Page) -> None:
    asked = served(page)
    held = {"tab": "acme", "x</script>": '"'}
    assert give_session_storage(page, {SITE: held, OTHER: {"tab": "ann"}, "null": {"a": "b"}})
    assert page.url == "about:blank" and asked == []
    for origin, there in ((SITE, held), (OTHER, {"tab": "ann"})):
        page.goto(f"{origin}/anything")
        assert state_of(page).session_storage == there
    page.goto("http://third.example/")
    assert state_of(page).session_storage == {}


def test_what_the_site_itself_has_emptied_is_not_given_again(page: Page) -> None:
    served(page)
    give_session_storage(page, {SITE: {"tab": "acme"}})
    page.goto(f"{SITE}/")
    page.evaluate("sessionStorage.clear()")
    page.goto(f"{SITE}/again")
    assert state_of(page).session_storage == {}


def test_a_fresh_page_of_a_look_holds_what_the_tab_held(attached: Browser) -> None:
    tells = "<p id=t></p><script>t.textContent = `tab is ${sessionStorage.getItem('tab')}`</script>"
    app = Starlette(routes=[Route("/invoices", lambda request: HTMLResponse(tells))])
    site, other = serve(app, 0), serve(app, 0)
    state: Any = {"cookies": [], "origins": [], SESSION_STORAGE: {site.url: {"tab": "acme"}}}
    try:
        with open_view(attached, None, state=state) as view:
            assert view.open(f"{site.url}/invoices").find("tab is acme")
            assert view.open(f"{other.url}/invoices").find("tab is null")
    finally:
        site.close()
        other.close()


def test_the_later_of_two_sessions_wins_and_nothing_else_is_lost() -> None:
    def cookie(name: str, value: str, domain: str = "a.example") -> dict[str, str]:
        return {"name": name, "value": value, "domain": domain, "path": "/"}

    older = {"cookies": [cookie("sid", "old"), cookie("sid", "b", "b.example")], SESSION_STORAGE: {SITE: {"a": "1"}}}
    newer = {"cookies": [cookie("sid", "new")], "origins": [{"origin": SITE, "localStorage": []}]}
    found = merged([older, {}, newer])
    assert sorted(one["value"] for one in found["cookies"]) == ["b", "new"]
    assert (found["origins"], found[SESSION_STORAGE]) == (newer["origins"], older[SESSION_STORAGE])
    assert merged([]) == merged([{}, {"cookies": []}]) == {}


PUT = """async () => {
  const opening = indexedDB.open("books", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("held").put("acme", "account");
  const opened = await new Promise((done) => { opening.onsuccess = () => done(opening.result); });
  opened.close();
}"""
GET = """async () => {
  const opening = indexedDB.open("books", 1);
  const opened = await new Promise((done) => { opening.onsuccess = () => done(opening.result); });
  if (!opened.objectStoreNames.contains("held")) return null;
  const asked = opened.transaction("held").objectStore("held").get("account");
  return await new Promise((done) => { asked.onsuccess = () => done(asked.result ?? null); });
}"""


async def tab(playwright: Any, held: GuardedBrowser) -> Any:
    """The page that a task would act on, on a connection of its own."""
    browser = await playwright.chromium.connect_over_cdp(held.chromium.endpoint)
    return next(page for page in browser.contexts[0].pages if page.url != HELPER_ADDRESS)


async def carried_over(folder: Path, origin: str, declared: list[str]) -> object:
    """What of a browser's IndexedDB is there in the next one."""

    async def nothing(*_: object) -> None: ...

    async def start(playwright: Any, name: str, state: dict[str, Any]) -> GuardedBrowser:
        held = await GuardedBrowser.start(
            playwright, folder / name, headed=False, extra=(), state=state, release=nothing, reach=nothing
        )
        held.indexed_db = declared
        return held

    async with async_playwright() as playwright:
        first = await start(playwright, "first", {})
        try:
            page = await tab(playwright, first)
            await page.goto(f"{origin}/invoices")
            await page.evaluate(PUT)
            await first.remember_state()
        finally:
            await first.end()
        second = await start(playwright, "second", first.last_state)
        try:
            page = await tab(playwright, second)
            await page.goto(f"{origin}/invoices")
            return await page.evaluate(GET)
        finally:
            await second.end()


@pytest.mark.parametrize("declared", [True, False])
def test_indexed_db_is_carried_over_where_the_site_declares_it(tmp_path: Path, declared: bool) -> None:
    app = Starlette(routes=[Route("/invoices", lambda request: HTMLResponse("<h1>Invoices</h1>"))])
    site, other = serve(app, 0), "http://127.0.0.1:1"
    try:
        with ThreadPoolExecutor(1) as thread:  # this one has Playwright's loop in it
            work = carried_over(tmp_path, site.url, [site.url if declared else other])
            found = thread.submit(asyncio.run, work).result(timeout=120)
    finally:
        site.close()
    assert found == ("acme" if declared else None)
