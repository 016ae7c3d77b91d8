"""Login routines, which a task declares beside its steps to sign in at a site by itself.

    @login(site=books)
    def sign_in(page: Page) -> None:
        page.goto(books / "login")
        page.get_by_label("Account").fill(books.account)
        page.get_by_label("Password").fill(os.environ["BOOKS_PASSWORD"])
        page.get_by_role("button", name="Sign in").click()

A routine runs when a login page is shown instead of the page that a step or a look wanted. Declaring it says that it
may be repeated: signing in changes nothing but the session.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from browser_agent.errors import WrongTask
from browser_agent.script.signatures import checked_signature, defined_at

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from observers import Site

Routine = Callable[["Page"], Any]


@dataclass(frozen=True)
class Login:
    """A routine that signs in at a site. Made by `@login`; calling it signs in on a page, for tests."""

    site: Site
    fn: Routine
    where: str

    def __call__(self, page: Page) -> None:
        """Sign in on that page."""
        self.fn(page)

    @property
    def name(self) -> str:
        """The function's name."""
        return self.fn.__name__

    def __str__(self) -> str:
        return f"The login {self.name} ({self.where})"


_declared: dict[Site, Login] = {}


def login(*, site: Site) -> Callable[[Routine], Login]:
    """Declare how a task signs in at a site, by code that may be repeated.

    Args:
        site: the site; it should declare `signed_in`, by which the end of a session is detected.

    Raises:
        WrongTask: the function isn't a plain one that takes a page alone, or the site has another routine.
    """

    def declare(fn: Routine) -> Login:
        signature = checked_signature(fn, "login", "page", "Page")
        made = Login(site, fn, defined_at(fn))
        if len(signature.parameters) > 1:
            raise WrongTask(f"{made} must take only the page: the rest comes from the site or the environment.")
        other = _declared.get(site)
        if other is not None and (other.name, other.fn.__module__) != (made.name, fn.__module__):
            raise WrongTask(f"The site {site.name} has two logins: {other} and {made}.")
        _declared[site] = made  # its file may have been loaded again
        return made

    return declare


def login_of(site: Site) -> Login | None:
    """The routine that is declared for the site, if there is one."""
    return _declared.get(site)
