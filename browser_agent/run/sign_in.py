"""A session that has ended: seen by the login page that stands where a step or a look wanted to be, and begun anew.

By the routine that the task declares (`@login`), else by a person, who is asked once, and whose login the resume goes
on with. What may never happen: a gesture is made without its baseline because a login page was read; a gesture in doubt
is given another name for it; somebody else's page is signed in.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from playwright.sync_api import Error, Page

from browser_agent.browser.deadline import DeadlinePassed, within
from browser_agent.browser.task_page import Acting
from browser_agent.errors import Fact, Misuse
from browser_agent.run.attempt import Attempt
from browser_agent.script.gestures import Gesture
from browser_agent.script.login_routines import Login, login_of
from browser_agent.states import QuestionKind
from browser_agent.store import NewQuestion
from observers import Observation, Observer, Site

T = TypeVar("T")

SIGNED_IN_SECONDS = 8.0
"""How long after its routine a page may take to show the sign of being signed in."""
COUNT_SECONDS = 2.0


class LoginMet(Exception):
    """A login page of that site stands where a step or a look wanted to be. Nothing was made."""

    def __init__(self, site: Site) -> None:
        self.site = site
        super().__init__(f"The session of {site.name} ({site.account}) has ended.")


def signed_in(attempt: Attempt, step: str, act: Callable[[], T]) -> T:
    """Do it; where a login page stands in its way, once more after signing in anew; then a person is asked.

    Raises:
        WaitingForPerson: no routine signs in, or it was of no use.
    """
    for way_in in (sign_in_anew, _ask):
        try:
            return act()
        except LoginMet as met:
            way_in(attempt, met.site, step)
    raise AssertionError("a person is asked before this")


def prepared(attempt: Attempt, site: Site | None, prepare: Callable[[Page], T]) -> T:
    """What a step's body gives on the acting page.

    Raises:
        LoginMet: it raised, or came to its end, on a login page of its site.
    """
    page, acting = attempt.fresh_page(), attempt.acting
    try:
        result = prepare(page)
        attempt.await_downloads()
    except Misuse:
        raise
    except Exception as error:
        if site is not None and _is_login_page(attempt, acting, site):
            raise LoginMet(site) from error
        raise
    # What was read on a login page is no value, though the step did not notice.
    if site is not None and site.mark and _is_login_page(attempt, acting, site) and not _is_meant(result):
        raise LoginMet(site)
    return result


def check_baseline(attempt: Attempt, proof: Sequence[Observer], seen: Sequence[Observation | None]) -> None:
    """Raise `LoginMet` if an observer was shown a login page: no gesture is made on such a baseline.

    Not where the acting page is a login page itself: then it is the gesture that signs in.
    """
    for site in login_met_by(proof, seen):
        if attempt.may_end and not _is_login_page(attempt, attempt.acting, site):
            raise LoginMet(site)


def login_met_by(proof: Sequence[Observer], seen: Sequence[Observation | None]) -> list[Site]:
    """The sites of the observers that were shown a login page, each once."""
    met = (watch.site for watch, said in zip(proof, seen, strict=True) if said is not None and said.login)
    return list(dict.fromkeys(site for site in met if site is not None))


def sign_in_anew(attempt: Attempt, site: Site, step: str) -> None:
    """Sign in by the declared routine.

    Raises:
        WaitingForPerson: there is none, or it did not help.
    """
    if (because := by_routine(attempt, site)) is not None:
        _ask(attempt, site, step, because)


def by_routine(attempt: Attempt, site: Site) -> str | None:
    """Run the declared routine on the acting page. None if it has signed in, else why it has not."""
    routine = login_of(site)
    if routine is None:
        return "the task declares no routine that signs in (@login)"
    attempt.tell("login", f"The session of {site.name} ({site.account}) has ended; signing in by {routine.name}.")
    trouble = _run(attempt, routine) or _still_signed_out(attempt, routine)
    attempt.acting.writes.clear()  # they may be repeated, as it declares, and mark no step
    if trouble is None:
        attempt.store.logins.signed_in(attempt.lease, site.name, site.account, routine.name)
        attempt.checkpoint(None)  # how the page of a gesture in doubt stood is evidence
    return trouble


def ended_words(attempt: Attempt, site: Site) -> str:
    """That the session has ended, and the command that begins it anew."""
    return f"the session of {site.name} ({site.account}) has ended: {command(attempt, site)}"


def command(attempt: Attempt, site: Site) -> str:
    """The command by which a person signs in, wherever it is given."""
    file = attempt.store.leases.run(attempt.lease.run).task_file
    words = [*([file] if Path(file).is_file() else []), site.name]
    options = ["--site", f"{site.name}={site.url}", "--account", f"{site.name}={site.account}"]
    return shlex.join(["browser-agent", "login", *words, *options])


def _run(attempt: Attempt, routine: Login) -> str | None:
    page = attempt.fresh_page()
    try:
        routine(page)
    except Exception as error:
        if attempt.broken():  # no fault of the routine; the next attempt looks first
            raise
        told = isinstance(error, Error | Fact | Misuse)  # of another error only the kind: it may quote a password
        said = f": {(str(error).splitlines() or [''])[0]}" if told else ""
        return f"{routine} raised {type(error).__name__}{said}"
    return None


def _still_signed_out(attempt: Attempt, routine: Login) -> str | None:
    until = attempt.clock.monotonic() + SIGNED_IN_SECONDS
    while not _is_signed_in(attempt, routine.site):
        if attempt.clock.monotonic() > until:
            return f"{routine} came to its end, and the page does not show that it has signed in"
        attempt.sleep(0.2)
    return None


def _is_signed_in(attempt: Attempt, site: Site) -> bool:
    with attempt.acting.view(attempt.clock.now, {}) as view:
        page = view.current
    return page is not None and (page.has(site.mark) if site.mark else not page.asks_password)


def _is_login_page(attempt: Attempt, acting: Acting, site: Site) -> bool:
    """Whether a password is asked for, and the sign of being signed in isn't there."""
    if not attempt.may_end or not acting.asks_password():
        return False
    with acting.view(attempt.clock.now, {}) as view:
        page = view.current
    return page is not None and page.asks_password and not (site.mark and page.has(site.mark))


def _is_meant(result: Any) -> bool:
    """Whether a gesture was prepared on what is on the page: on a login page it is the one that signs in."""
    try:
        return isinstance(result, Gesture) and within(COUNT_SECONDS, result.target.count) > 0
    except (Error, DeadlinePassed):
        return False


def _ask(attempt: Attempt, site: Site, step: str, because: str = "it was of no use to sign in anew") -> NoReturn:
    asked = NewQuestion(
        kind=QuestionKind.SIGNED_OUT,
        words=f"The session of {site.name} ({site.account}) has ended. Who signs in?",
        reasons=("a login page came where the step wanted to be", because),
        details={"site": site.name, "account": site.account, "commands": [command(attempt, site)]},
        safe_step="Nothing of this step was sent. Sign in by the first command, then resume the run.",
        step=step,
    )
    attempt.ask(asked)
