"""The real command line in processes of its own: stopped by a person, killed, met by a site that is down, answered."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from browser_agent import processes
from browser_agent.browser.chromium import Chromium, processes_of
from browser_agent.processes import ProcessId
from browser_agent.sealing import KEY_VARIABLE
from browser_agent.states import RunState
from tests.fix_world import TASKS, World

Say = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def say(world: World, tmp_path: Path) -> Say:
    """Starts `browser-agent ...` on the world's store and sites."""

    def start(*words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "browser_agent", *words, "--store", str(world.store.path), "--json"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)

    return start


def run_words(world: World, task: str, **arguments: str) -> list[str]:
    """The words that start a run of that task on the world's sites."""
    given = [f"{name}={value}" for name, value in arguments.items()]
    site = "slow" if "slow" in task else "books"
    return ["run", f"{TASKS / 'posting.py'}:{task}", *given, "--site", f"{site}={world.to_books.url}"]


def document(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What it printed."""
    out, err = process.communicate(timeout=180)
    assert out, err
    said: dict[str, Any] = json.loads(out)
    return {**said, "code": process.returncode}


def interrupt_once(process: subprocess.Popen[str]) -> None:
    """Ctrl-C, unless it has ended by an earlier one."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)


def the_run(world: World) -> str:
    return world.store.leases.runs()[0].id


def test_ctrl_c_finishes_the_gesture_in_hand_and_the_resume_makes_the_rest(world: World, say: Say) -> None:
    process = say(*run_words(world, "post_many", references='["R-1", "R-2", "R-3"]'))
    world.to_books.when("committed", lambda: interrupt_once(process))
    said = document(process)
    assert (said["code"], said["state"]) == (4, "stopped")
    assert world.invoices("R-1") == ["INV-1"] and len(world.books.invoices) == 1
    assert world.outcomes(said["run"]) == ["happened"]
    assert said["next"].startswith(f"browser-agent resume {said['run']}")
    world.to_books.clear()
    assert document(say("resume", said["run"]))["result"] == ["INV-1", "INV-2", "INV-3"]
    assert len(world.books.invoices) == 3


@pytest.mark.parametrize("point", ["intent", "dispatching", "input", "paused", "released", "answered"])
def test_a_killed_keeper_takes_its_worker_and_browser_along_and_a_resume_looks(
    world: World, say: Say, point: str
) -> None:
    process = say(*run_words(world, "post_one", reference="R-1"), "--kill-at", f"{point}@keeper")
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    run = the_run(world)
    (attempt,) = world.store.leases.attempts(run)
    worker = TypeAdapter(ProcessId).validate_json(attempt.worker or "")
    browser = Chromium.found(attempt.browser or "")
    for _ in range(200):
        if not processes.alive(worker):
            break
        time.sleep(0.1)
    assert not processes.alive(worker) and not processes_of(browser.profile)
    assert world.store.leases.run(run).state is RunState.RUNNING
    assert set(world.outcomes(run)) <= {"intent", "dispatching"}
    said = document(say("resume", run))
    assert (said["code"], said["result"]) == (0, "INV-1"), said
    assert world.invoices("R-1") == ["INV-1"]


@pytest.mark.parametrize("keyed", [True, False], ids=["with a key", "without a key"])
def test_with_a_key_a_resume_looks_under_the_session_of_the_dead_keeper(
    world: World, say: Say, keyed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if keyed:
        monkeypatch.setenv(KEY_VARIABLE, urlsafe_b64encode(b"k" * 32).decode())
    world.books.require_login()
    process = say(*run_words(world, "post_signed_in", reference="R-1"), "--kill-at", "answered@keeper")
    _, err = process.communicate(timeout=120)
    assert ("memory only" in err) is not keyed
    run = the_run(world)
    said = document(say("resume", run, "--keep-looking", "0"))
    assert world.invoices("R-1") == ["INV-1"]
    if keyed:
        assert (said["code"], said["result"]) == (0, "INV-1"), said
        logins = [asked for asked in world.books.ledger.requests if asked.method == "POST" and asked.path == "/login"]
        assert len(logins) == 1, "a finished step was made again"
    else:
        assert (said["code"], said["state"]) == (3, "waiting"), said
    held = [session.id.encode() for session in world.books.sessions.all if session.account]
    stored = b"".join(path.read_bytes() for path in world.folder.rglob("*") if path.is_file())
    assert held and not any(cookie in stored for cookie in held), "a session lies in the clear"


def test_a_site_that_is_down_at_the_start_is_told_and_nothing_is_lost(world: World, say: Say) -> None:
    world.to_books.fault("refuse", "GET /*")
    words = run_words(world, "post_one", reference="R-1")
    import httpx

    with pytest.raises(httpx.HTTPError):
        httpx.get(world.to_books.url)
    said = document(say(*words))
    assert (said["code"], said["state"]) == (1, "raised")
    assert "ERR_CONNECTION_REFUSED" in said["words"]
    world.to_books.open()
    assert document(say("resume", said["run"]))["result"] == "INV-1"


def test_a_question_is_answered_and_the_run_goes_on(world: World, say: Say) -> None:
    world.to_books.fault("drop_before_commit")
    said = document(say(*run_words(world, "post_one_slowly", reference="R-1"), "--keep-looking", "0"))
    assert (said["code"], said["state"]) == (3, "waiting")
    question = said["questions"][0]["id"]
    early = document(say("answer", question, "not-happened", "--by", "Ann", "--reason", "not on the list"))
    assert early["code"] == 2 and "Too early" in early["error"]
    words = ("answer", question, "not-happened", "--by", "Ann", "--reason", "asked the bookkeeper", "--override")
    said = document(say(*words))
    assert (said["code"], said["ended"]["result"]) == (0, "INV-1"), said
    assert world.outcomes(the_run(world)) == ["not_happened", "happened"]
    assert world.invoices("R-1") == ["INV-1"]


def test_what_appears_while_the_question_is_open_closes_it_without_an_answer(world: World, say: Say) -> None:
    world.to_books.fault("commit_late", seconds=3600)
    said = document(say(*run_words(world, "post_one_slowly", reference="R-1"), "--keep-looking", "0"))
    assert said["state"] == "waiting"
    world.to_books.let_go()
    world.to_books.wait_for("committed")
    question = said["questions"][0]["id"]
    document(say("answer", question, "not-happened", "--by", "Ann", "--reason", "I see nothing", "--override"))
    assert world.invoices("R-1") == ["INV-1"]
    assert world.outcomes(the_run(world)) == ["happened"]
    assert str(world.store.inbox.question(question).state) == "closed"
