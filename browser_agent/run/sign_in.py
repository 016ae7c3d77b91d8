"""Detects a session that has ended, by the login page shown instead of the page wanted, and signs in again.

By the routine that the task declares (`@login`); otherwise a person signs in, and the resume continues with that
session. A person is asked at most once for a step. Nobody else's page (`open_run`) is ever signed in.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from playwright.sync_api import Error, Page

from browser_agent.browser.deadline import DeadlinePassed, within
from browser_agent.browser.task_page import TaskPage
from browser_agent.errors import Fact, Misuse
from browser_agent.run.attempt import Attempt
from browser_agent.script.gestures import Gesture
from browser_agent.script.login_routines import Login, login_of
from browser_agent.states import QuestionKind
from browser_agent.store import NewQuestion
from observers import Observation, Observer, Site

T = TypeVar("T")

SIGNED_IN_SECONDS = 8.0
"""How long after its routine a page may take to show that it is signed in."""
COUNT_SECONDS = 2.0


class SignedOut(Exception):
    """The site shows its login page instead of what a step or a look wanted. No gesture was made."""

    def __init__(self, site: Site) -> None:
        self.site = site
        super().__init__(f"The session of {site.name} ({site.account}) has ended.")


def with_login(attempt: Attempt, step: str, act: Callable[[], T]) -> T:
    """Call `act`; if it meets a login page, sign in and call it once more; if it meets another one, ask a person.

    Raises:
        WaitingForPerson: there is no routine, or it didn't sign in.
    """
    try:
        return act()
    except SignedOut as first:
        because = run_login(attempt, first.site)
        if because is not None:
            _ask(attempt, first.site, step, because)
    try:
        return act()
    except SignedOut as again:
        _ask(attempt, again.site, step, "signing in again did not help")


def prepare_page(attempt: Attempt, site: Site | None, prepare: Callable[[Page], T]) -> T:
    """Run a step's body on the task's page and return what it gives.

    Raises:
        SignedOut: it raised, or ended, on a login page of its site.
    """
    page, task_page = attempt.fresh_page(), attempt.task_page
    try:
        result = prepare(page)
        attempt.await_downloads()
    except Misuse:
        raise
    except Exception as error:
        if site is not None and _is_login_page(attempt, task_page, site):
            raise SignedOut(site) from error
        raise
    # What was read on a login page is no value, even if the step didn't notice.
    if site is not None and site.mark and _is_login_page(attempt, task_page, site) and not _is_meant(result):
        raise SignedOut(site)
    return result


def check_baseline(attempt: Attempt, proof: Sequence[Observer], seen: Sequence[Observation | None]) -> None:
    """Raise `SignedOut` if an observer was shown a login page: no gesture is made on such a baseline.

    Not if the task's page is a login page itself: then the gesture is the one that signs in.
    """
    for site in signed_out_sites(proof, seen):
        if attempt.may_end and not _is_login_page(attempt, attempt.task_page, site):
            raise SignedOut(site)


def signed_out_sites(proof: Sequence[Observer], seen: Sequence[Observation | None]) -> list[Site]:
    """The sites whose observers were shown a login page, each once."""
    found = (watch.site for watch, said in zip(proof, seen, strict=True) if said is not None and said.login)
    return list(dict.fromkeys(site for site in found if site is not None))


def run_login(attempt: Attempt, site: Site) -> str | None:
    """Sign in on the task's page by the declared routine.

    Returns:
        None if the page is signed in now; otherwise why it isn't.
    """
    routine = login_of(site)
    if routine is None:
        return "the task declares no routine that signs in (@login)"
    attempt.emit("login", f"The session of {site.name} ({site.account}) has ended; signing in by {routine.name}.")
    trouble = _run(attempt, routine) or _still_signed_out(attempt, routine)
    attempt.task_page.writes.clear()  # the routine declares that they may be repeated, so they mark no step
    if trouble is None:
        attempt.store.logins.signed_in(attempt.lease, site.name, site.account, routine.name)
        attempt.checkpoint(None)  # the last state of the page is evidence for a gesture in doubt
    return trouble


def ended_words(attempt: Attempt, site: Site) -> str:
    """That the session has ended, and the command that signs in again."""
    return f"the session of {site.name} ({site.account}) has ended: {login_command(attempt, site)}"


def login_command(attempt: Attempt, site: Site) -> str:
    """The command that a person signs in with, from any folder."""
    file = attempt.store.leases.run(attempt.lease.run).task_file
    words = [*([file] if Path(file).is_file() else []), site.name]
    options = ["--site", f"{site.name}={site.url}", "--account", f"{site.name}={site.account}"]
    return shlex.join(["browser-agent", "login", *words, *options])


def _run(attempt: Attempt, routine: Login) -> str | None:
    page = attempt.fresh_page()
    try:
        routine(page)
    except Exception as error:
        if attempt.broken():  # not the routine's fault; the next attempt looks first
            raise
        quotable = isinstance(error, Error | Fact | Misuse)  # another error's message may quote a password
        said = f": {(str(error).splitlines() or [''])[0]}" if quotable else ""
        return f"{routine} raised {type(error).__name__}{said}"
    return None


def _still_signed_out(attempt: Attempt, routine: Login) -> str | None:
    until = attempt.clock.monotonic() + SIGNED_IN_SECONDS
    while not _is_signed_in(attempt, routine.site):
        if attempt.clock.monotonic() > until:
            return f"{routine} ended, but the page does not show that it is signed in"
        attempt.sleep(0.2)
    return None


def _is_signed_in(attempt: Attempt, site: Site) -> bool:
    with attempt.task_page.view(attempt.clock.now, {}) as view:
        page = view.current
    return page is not None and (page.has(site.mark) if site.mark else not page.asks_password)


def _is_login_page(attempt: Attempt, task_page: TaskPage, site: Site) -> bool:
    """Whether the page asks for a password and doesn't show that it is signed in."""
    if not attempt.may_end or not task_page.asks_password():
        return False
    with task_page.view(attempt.clock.now, {}) as view:
        page = view.current
    return page is not None and page.asks_password and not (site.mark and page.has(site.mark))


def _is_meant(result: Any) -> bool:
    """Whether a gesture was prepared on what the page shows: on a login page that is the gesture that signs in."""
    try:
        return isinstance(result, Gesture) and within(COUNT_SECONDS, result.target.count) > 0
    except (Error, DeadlinePassed):
        return False


def _ask(attempt: Attempt, site: Site, step: str, because: str) -> NoReturn:
    asked = NewQuestion(
        kind=QuestionKind.SIGNED_OUT,
        words=f"The session of {site.name} ({site.account}) has ended. Please sign in.",
        reasons=("a login page was shown instead of the page that the step wanted", because),
        details={"site": site.name, "account": site.account, "commands": [login_command(attempt, site)]},
        safe_step="Nothing of this step was sent. Sign in by the first command, then resume the run.",
        step=step,
    )
    attempt.ask(asked)
