"""A process is named by pid and start; its death is seen, not assumed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from browser_agent import processes
from browser_agent.processes import ProcessId

Child = subprocess.Popen[str]

SLEEPS = "import time; time.sleep(600)"
HAS_A_CHILD = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {SLEEPS!r}], start_new_session={{own_session}})
print(child.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def start() -> Iterator[object]:
    started: list[Child] = []

    def start_python(code: str) -> Child:
        started.append(
            subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True)
        )
        return started[-1]

    yield start_python
    for child in started:
        child.kill()
        child.wait()
        if child.stdout:
            child.stdout.close()


def identified(pid: int) -> ProcessId:
    found = processes.identify(pid)
    assert found is not None
    return found


def said_pid(child: Child) -> int:
    assert child.stdout is not None
    return int(child.stdout.readline())


def test_this_process_knows_itself_and_lives():
    assert processes.own_id().pid == os.getpid()
    assert processes.alive(processes.own_id())


def test_a_later_process_with_the_same_pid_is_another_one():
    earlier = replace(processes.own_id(), started=processes.own_id().started - 1)
    assert not processes.alive(earlier)


def test_a_changed_clock_makes_nobody_look_dead(start, monkeypatch):
    child = identified(start(SLEEPS).pid)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 600)
    assert processes.alive(child)


def test_a_zombie_is_dead(start):
    child = start(SLEEPS)
    name = identified(child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # dead, and still in the process table
    assert not processes.alive(name)
    assert processes.identify(child.pid) is None


def test_a_stopped_process_lives(start):
    child = identified(start(SLEEPS).pid)
    os.kill(child.pid, signal.SIGSTOP)
    assert processes.alive(child)


def test_a_stopped_process_is_ended(start):
    child = identified(start(SLEEPS).pid)
    os.kill(child.pid, signal.SIGSTOP)
    assert processes.end([child]) == {child}
    assert not processes.alive(child)


@pytest.mark.parametrize("own_session", [False, True], ids=["in the same group", "in a session of its own"])
def test_a_child_is_ended_with_its_parent(start, own_session):
    parent = start(HAS_A_CHILD.format(own_session=own_session))
    child = identified(said_pid(parent))
    ended = processes.end([identified(parent.pid)])
    assert child in ended
    assert not processes.alive(child)


def test_the_group_of_a_dead_leader_is_ended(start):
    parent = start(HAS_A_CHILD.format(own_session=False))
    leader, child = identified(parent.pid), identified(said_pid(parent))
    parent.kill()
    parent.wait()
    assert processes.end([leader]) == {child}
    assert not processes.alive(child)


def test_a_later_holder_of_the_pid_is_left_alone(start):
    child = identified(start(SLEEPS).pid)
    assert processes.end([replace(child, started=child.started - 1)]) == frozenset()
    assert processes.alive(child)


def test_what_only_a_mark_finds_is_ended_too(start):
    first, second = identified(start(SLEEPS).pid), identified(start(SLEEPS).pid)
    assert processes.end([first], also=lambda: [second]) == {first, second}


def test_a_process_does_not_end_itself(start):
    child = identified(start(SLEEPS).pid)
    with pytest.raises(ValueError, match="belongs to"):
        processes.end([child, processes.own_id()])
    assert processes.alive(child)


def test_a_survivor_at_the_deadline_is_an_error(start, monkeypatch):
    child = identified(start(SLEEPS).pid)
    monkeypatch.setattr(processes, "_signal", lambda processes, number: None)
    with pytest.raises(processes.StillAlive, match=str(child.pid)):
        processes.end([child], deadline_seconds=0.05)
