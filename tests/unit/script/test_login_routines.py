"""How a task declares that it signs in by itself: one routine for a site, which takes only the page."""

import pytest
from playwright.sync_api import Page

from browser_agent import Site, WrongTask, login
from browser_agent.script.login_routines import login_of


def test_a_routine_is_found_by_its_site_and_can_be_called_on_a_page() -> None:
    site, seen = Site("routine", url="http://routine.example", account="ann"), list[object]()

    @login(site=site)
    def sign_in(page: Page) -> None:
        seen.append(page)

    assert login_of(site) is sign_in and sign_in.name == "sign_in"
    sign_in("the page")  # type: ignore[arg-type]
    assert seen == ["the page"]
    assert login_of(Site("routine", url="http://elsewhere.example", account="ann")) is None


def test_a_second_routine_of_a_site_is_refused_and_the_same_one_again_is_not() -> None:
    site = Site("twice", url="http://twice.example", account="ann")

    def sign_in(page: Page) -> None: ...

    def other(page: Page) -> None: ...

    login(site=site)(sign_in)
    again = login(site=site)(sign_in)
    assert login_of(site) is again
    with pytest.raises(WrongTask, match="The site twice has two logins: .*sign_in.* and .*other"):
        login(site=site)(other)
    assert login_of(site) is again


def test_a_routine_takes_the_page_alone() -> None:
    site = Site("alone", url="http://alone.example", account="ann")

    def wants_more(page: Page, password: str) -> None: ...

    def wants_a_run(run: object) -> None: ...

    async def waits(page: Page) -> None: ...

    with pytest.raises(WrongTask, match="must take only the page"):
        login(site=site)(wants_more)  # type: ignore[arg-type]
    with pytest.raises(WrongTask, match="must take `page: Page`"):
        login(site=site)(wants_a_run)
    with pytest.raises(WrongTask, match="write a plain def"):
        login(site=site)(waits)
    assert login_of(site) is None
