"""A session is carried over to the next browser; one that has ended is begun anew by a routine or by a person."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Playwright
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from browser_agent.secrets.seal import KEY_VARIABLE
from browser_agent.states import QuestionKind, RunState
from browser_agent.testing.proxy.fault_proxy import FaultProxy
from browser_agent.testing.sites.books import Books
from browser_agent.testing.sites.mail import Mail
from browser_agent.testing.sites.sessions import PASSWORD
from tests.fix_world import TASKS, World

BY_NAME = ("manual", "--account", "manual=acme", "--when-signed-in", '[data-account="acme"]')


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, urlsafe_b64encode(b"k" * 32).decode())
    monkeypatch.setenv("BOOKS_PASSWORD", PASSWORD)


def start(world: World, *words: str) -> subprocess.Popen[str]:
    """`browser-agent ...` in a process of its own, on the world's store."""
    command = [sys.executable, "-m", "browser_agent", *words, "--store", world.store.address, "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=world.folder)


def document(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=180)
    assert out, err
    said: dict[str, Any] = json.loads(out)
    return {**said, "code": process.returncode}


def sign_in_by_hand(world: World, playwright: Playwright, *words: str) -> dict[str, Any]:
    """`browser-agent login`, and a person who signs in in the browser that it opens."""
    process = start(world, "login", *words, "--site", f"manual={world.to_books.url}", "--headless")
    assert process.stderr is not None
    told = re.search(r"browser at (\S+)\.", process.stderr.readline())
    assert told is not None, process.communicate()
    browser = playwright.chromium.connect_over_cdp(told[1])
    page = browser.contexts[0].pages[0]
    page.get_by_label("Account").fill("acme")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    said = document(process)
    with suppress(Exception):  # its browser has ended
        browser.close()
    return said


def logins(world: World) -> int:
    """How often somebody has signed in at the site."""
    return sum(asked.method == "POST" and asked.path == "/login" for asked in world.books.ledger.requests)


def no_cookie_lies_in_the_clear(world: World) -> bool:
    held = [session.id.encode() for session in world.books.sessions.all if session.account]
    stored = b"".join(path.read_bytes() for path in world.folder.rglob("*") if path.is_file())
    return bool(held) and not any(cookie in stored for cookie in held)


def test_an_ended_session_is_a_question_and_one_login_serves_its_run_and_the_next(
    world: World, playwright: Playwright
) -> None:
    world.books.require_login()
    run = world.submit("post_by_hand", "signing.py", reference="R-1")
    ended = world.keep(run)
    assert (ended.state, ended.attempts) == (RunState.WAITING, 1), ended
    (question,) = world.store.inbox.questions(run, open_only=True)
    assert question.kind is QuestionKind.SIGNED_OUT and "The session of manual (acme) has ended" in question.words
    assert world.books.invoices == [] and world.outcomes(run) == []
    assert list(world.store.profiles.iterdir()) == [], "a waiting run has a browser"
    said = sign_in_by_hand(world, playwright, str(TASKS / "signing.py"), "manual")
    assert (said["code"], said["kept"]) == (0, True), said
    assert [command.split()[2] for command in said["next"]] == [run]
    assert world.keep(run).state is RunState.FINISHED
    assert world.keep(world.submit("post_by_hand", "signing.py", reference="R-2")).state is RunState.FINISHED
    assert (world.invoices("R-1"), world.invoices("R-2"), logins(world)) == (["INV-1"], ["INV-2"], 1)
    assert no_cookie_lies_in_the_clear(world)


def test_a_declared_routine_signs_in_again_wherever_the_session_ends(world: World) -> None:
    world.books.require_login()
    run = world.submit("post_and_count", "signing.py", references=["R-1", "R-2"])
    world.to_books.when("committed", world.books.expire_sessions)
    ended = world.keep(run)
    assert (ended.state, ended.result, ended.attempts) == (RunState.FINISHED, "[1,2]", 1), ended
    assert (world.invoices("R-1"), world.invoices("R-2")) == (["INV-1"], ["INV-2"])
    assert set(world.outcomes(run)) == {"happened"}
    told = [line for line in world.store.audit_lines(run) if line["kind"] == "signed_in"]
    assert len(told) == logins(world) >= 3 and told[0]["tool"] == "sign_in"


def test_a_routine_that_does_not_help_is_run_once_and_a_person_is_asked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOKS_PASSWORD", "wrong")
    world.books.require_login()
    run = world.submit("post_and_count", "signing.py", references=["R-1"])
    ended = world.keep(run)
    assert (ended.state, ended.attempts, logins(world)) == (RunState.WAITING, 1, 1), ended
    (question,) = world.store.inbox.questions(run, open_only=True)
    assert question.kind is QuestionKind.SIGNED_OUT and "The login sign_in (signing.py:" in question.reasons
    assert "wrong" not in question.model_dump_json() and world.books.invoices == []


def test_a_gesture_stays_in_doubt_until_somebody_has_signed_in(world: World, playwright: Playwright) -> None:
    world.books.require_login()
    sign_in_by_hand(world, playwright, *BY_NAME)
    world.to_books.when("committed", world.books.expire_sessions)
    run = world.submit("post_by_hand", "signing.py", reference="R-1")
    ended = world.keep(run)
    assert (ended.state, world.outcomes(run)) == (RunState.WAITING, ["asked"]), ended
    question = world.store.inbox.question(ended.questions[0])
    assert question.kind is QuestionKind.OUTCOME and "the session of manual (acme) has ended" in question.reasons, (
        question
    )
    assert world.keep(run).state is RunState.WAITING, "a doubt ended without a look under the account"
    world.to_books.clear()
    sign_in_by_hand(world, playwright, *BY_NAME)
    assert world.keep(run).state is RunState.FINISHED
    assert (world.invoices("R-1"), world.outcomes(run)) == (["INV-1"], ["happened"])


class TabBooks(Books):
    """An accounting site whose session lies in the tab as well: without it every page sends to the login."""

    def page(self, request: Request, template: str, status: int = 200, **values: object) -> HTMLResponse:
        answer = super().page(request, template, status, **values)
        guard = "<script>if (sessionStorage.getItem('tab') !== 'acme') location.replace('/login')</script>"
        return HTMLResponse(bytes(answer.body).decode() + guard, status)

    async def _log_in(self, request: Request) -> Response:
        answer = await super()._log_in(request)
        if not isinstance(answer, RedirectResponse):
            return answer
        to = json.dumps(answer.headers["location"])
        return HTMLResponse(f"<script>sessionStorage.setItem('tab', 'acme'); location.replace({to})</script>")


@pytest.fixture
def tab_world(tmp_path: Path) -> Iterator[World]:
    with TabBooks() as books, Mail() as mail, FaultProxy(books.url) as to_books, FaultProxy(mail.url) as to_mail:
        world = World(books, mail, to_books, to_mail, tmp_path)
        yield world
        assert world.store.verify().broken == ()
        world.close()


def test_what_the_tab_held_is_there_again_after_its_keeper_was_killed(tab_world: World) -> None:
    world = tab_world
    world.books.require_login()
    words = ("sign_in_and_post", 'references=["R-1", "R-2"]', "--site", f"books={world.to_books.url}")
    process = start(world, "run", f"{TASKS / 'signing.py'}:{words[0]}", *words[1:], "--kill-at", "answered:1@keeper")
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    said = document(start(world, "resume", "last"))
    assert (said["code"], said["result"]) == (0, ["INV-1", "INV-2"]), said
    assert len(world.books.invoices) == 2
    assert logins(world) == 1, "a finished step was made again, or the session was lost"
    assert no_cookie_lies_in_the_clear(world)
