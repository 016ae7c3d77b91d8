"""The real command line in processes of its own: stopped by a person, killed, met by a site that is down, answered."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from pydantic import TypeAdapter

from browser_agent import processes
from browser_agent.browser.chromium import ENVIRONMENT_NAME, Chromium, processes_of
from browser_agent.processes import ProcessId
from browser_agent.secrets.seal import KEY_VARIABLE
from browser_agent.states import RunState
from tests.fix_matrix import chosen
from tests.fix_world import TASKS, World

Say = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def say(world: World, tmp_path: Path) -> Say:
    """Starts `browser-agent ...` on the world's store and sites."""

    def start(*words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "browser_agent", *words, "--store", world.store.address, "--json"]
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


_OWN_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


class Terminal:
    """A command at a terminal of its own, as a person has it: what is typed reaches it, Ctrl-C its whole group."""

    def __init__(self, *words: str, folder: Path) -> None:
        self._master, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", _OWN_TERMINAL, sys.executable, "-m", "browser_agent", *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            start_new_session=True,
        )
        os.close(theirs)
        self.said = ""

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def read_until(self, words: str) -> None:
        """Read what it says until those words have come; an `AssertionError` if it ends, or stays silent, before."""
        while words not in self.said:
            assert self._read(), self.said

    def end(self) -> int:
        """Read to the end; the exit code."""
        while self._read():
            pass
        os.close(self._master)
        return self.process.wait(60)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], 120)
        try:
            got = os.read(self._master, 65536) if ready else b""
        except OSError:  # the terminal's other end is closed
            got = b""
        self.said += got.decode(errors="replace")
        return bool(got)


def the_run(world: World) -> str:
    return world.store.leases.runs()[0].id


def test_ctrl_c_finishes_the_gesture_in_hand_and_the_resume_makes_the_rest(world: World, say: Say) -> None:
    process = say(*run_words(world, "post_many", references='["R-1", "R-2"]'))
    world.to_books.when("committed", lambda: interrupt_once(process))
    said = document(process)
    assert (said["code"], said["state"]) == (4, "stopped")
    assert world.invoices("R-1") == ["INV-1"] and len(world.books.invoices) == 1
    assert world.outcomes(said["run"]) == ["happened"]
    assert said["next"].startswith(f"browser-agent resume {said['run']}")
    world.to_books.clear()
    assert document(say("resume", said["run"]))["result"] == ["INV-1", "INV-2"]
    assert len(world.books.invoices) == 2


def test_ctrl_c_at_the_pause_makes_nothing_and_enter_on_the_resume_makes_it_once(world: World, tmp_path: Path) -> None:
    store = ("--store", world.store.address)
    at = Terminal(*run_words(world, "post_one", reference="R-1"), "--pause-before-gesture", *store, folder=tmp_path)
    at.type("\n")  # before the question: no answer to it
    at.read_until("Enter makes it, Ctrl-C stops here")
    at.type("\x03")
    at.read_until("that gesture is NOT made")
    at.type("\n")  # too late
    assert at.end() == 4, at.said
    run = the_run(world)
    assert "Stopped: Stopped by a person before the next gesture" in at.said
    assert f"browser-agent resume {run}" in at.said
    assert world.books.invoices == []
    assert world.outcomes(run) == ["intent"]
    assert [asked.path for asked in world.books.ledger.requests if asked.method == "POST"] == []
    at = Terminal("resume", run, "--pause-before-gesture", *store, folder=tmp_path)
    at.read_until("Enter makes it, Ctrl-C stops here")
    at.type("\n")
    assert at.end() == 0, at.said
    assert world.invoices("R-1") == ["INV-1"]
    assert world.outcomes(run) == ["refused", "happened"]


def test_a_person_who_takes_longer_than_a_step_may_is_waited_for(world: World, tmp_path: Path) -> None:
    words = (*run_words(world, "post_one", reference="R-1"), "--pause-before-gesture", "--store", world.store.address)
    at = Terminal(*words, "--set", "step_timeout=10", folder=tmp_path)
    at.read_until("Enter makes it, Ctrl-C stops here")
    time.sleep(13)
    at.type("\n")
    assert at.end() == 0, at.said
    assert len(world.store.leases.attempts(the_run(world))) == 1
    assert world.invoices("R-1") == ["INV-1"]


def test_a_second_ctrl_c_at_the_pause_ends_the_run_as_well(world: World, tmp_path: Path) -> None:
    words = (*run_words(world, "post_one", reference="R-1"), "--pause-before-gesture", "--store", world.store.address)
    at = Terminal(*words, folder=tmp_path)
    at.read_until("Enter makes it, Ctrl-C stops here")
    at.type("\x03\x03")
    assert at.end() == 4, at.said
    assert world.books.invoices == []
    assert world.store.leases.run(the_run(world)).state is RunState.STOPPED


@pytest.mark.parametrize("point", chosen("paused", others=["dispatching", "answered", "released"]))
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


@pytest.mark.parametrize("keyed", chosen(True, others=[False]), ids=["with a key", "without a key"])
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
    assert held and not any(cookie in stored for cookie in held), "a session lies in clear text"


def test_a_browser_that_never_starts_is_tried_twice_and_leaves_nothing_behind(
    world: World, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT_NAME, "/bin/false")
    said = document(say(*run_words(world, "post_one", reference="R-1")))
    assert (said["code"], said["state"], said["attempts"]) == (5, "needs_attention", 2), said
    assert (
        "got no browser, 2 times in a row" in said["words"] and "Run: browser-agent doctor --install" in said["words"]
    )
    assert "browser-agent doctor" in said["questions"][0]["safe_step"]
    assert list(world.store.profiles.glob("*")) == []
    monkeypatch.delenv(ENVIRONMENT_NAME)
    assert document(say("resume", said["run"]))["result"] == "INV-1"


def test_a_dead_driver_of_the_keeper_ends_the_keeping_and_a_resume_goes_on(world: World, say: Say) -> None:
    process = say(*run_words(world, "post_one", reference="R-1"))

    def kill_driver() -> None:
        for child in psutil.Process(process.pid).children():
            if "driver" in " ".join(child.cmdline()):
                child.kill()

    world.to_books.when("came", kill_driver)
    out, err = process.communicate(timeout=180)
    said = json.loads(out)
    assert (process.returncode, said["state"]) == (5, "needs_attention"), said
    assert "driver" in said["words"] and said["attempts"] == 1
    assert "Traceback" not in err and "never retrieved" not in err
    world.to_books.clear()
    assert document(say("resume", said["run"]))["result"] == "INV-1"
    assert world.invoices("R-1") == ["INV-1"]


@pytest.mark.matrix  # `test_faults.py` has a door that is shut
def test_a_site_that_is_down_at_the_start_is_told_and_nothing_is_lost(world: World, say: Say) -> None:
    world.to_books.fault("refuse", "GET /**")
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
