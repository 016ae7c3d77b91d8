"""The nursery: workers start in a blink, as fresh processes would, and no death goes unseen."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from browser_agent import processes
from browser_agent.keeper.worker_process import LINGERED, UNKNOWN_END, ForkServer, Worker
from browser_agent.processes import ProcessId
from browser_agent.states import RunState
from tests.fix_world import World

TELLS_ITS_SURROUNDINGS = """
import os, sys
from browser_agent import Run, task

@task()
def surroundings(run: Run) -> list[str]:
    print("on standard output")
    print("on standard error", file=sys.stderr)
    return [os.environ.get("ORDERED", "unset"), os.getcwd(), str(os.getsid(0) == os.getpid())]
"""
ORDERS_ONE_AND_WAITS = """
import sys
from browser_agent.keeper.worker_process import ForkServer
nursery = ForkServer()
worker = nursery.start_worker()
print(nursery.pid, worker.process.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def nursery() -> Iterator[ForkServer]:
    with closing(ForkServer()) as nursery:
        yield nursery


def who(worker: Worker) -> ProcessId:
    assert worker.process is not None
    return worker.process


def how(worker: Worker, grace_seconds: float = 10.0) -> str:
    """How it ended; its line is let go with it."""
    with ThreadPoolExecutor(1) as thread:  # this one may have Playwright's loop in it
        words = thread.submit(asyncio.run, worker.end(grace_seconds)).result()
    worker.line.close()
    return words


def ended(end: socket.socket) -> bool:
    """Whether nobody holds the other end any more."""
    end.settimeout(30)
    try:
        return end.recv(1) == b""
    finally:
        end.setblocking(False)


def test_a_worker_leads_a_session_of_its_own_below_the_nursery(nursery: ForkServer) -> None:
    worker = nursery.start_worker()
    assert processes.alive(who(worker))
    assert psutil.Process(who(worker).pid).ppid() == nursery.pid
    assert who(worker) in processes.tree(processes.own_id())
    how(worker, grace_seconds=0)


def test_a_killed_worker_is_told_by_its_signal_and_leaves_no_zombie(nursery: ForkServer) -> None:
    worker = nursery.start_worker()
    os.kill(who(worker).pid, signal.SIGKILL)
    assert ended(worker.line)
    assert how(worker) == "ended by signal 9"
    assert not psutil.pid_exists(who(worker).pid)


def test_a_worker_that_ends_by_itself_is_told_by_its_exit_code(nursery: ForkServer) -> None:
    worker = nursery.start_worker()
    worker.line.shutdown(1)  # an end in place of an order, which no worker can make anything of
    assert how(worker) == "exit code 1"


def test_a_worker_that_does_not_leave_in_time_is_ended(nursery: ForkServer) -> None:
    worker = nursery.start_worker()
    os.kill(who(worker).pid, signal.SIGSTOP)
    assert how(worker, grace_seconds=0.1) == f"ended by signal 9{LINGERED}"
    assert not processes.alive(who(worker))


def test_the_line_of_a_dead_worker_ends_while_its_younger_sisters_live(nursery: ForkServer) -> None:
    eldest, *sisters = [nursery.start_worker() for _ in range(3)]
    os.kill(who(eldest).pid, signal.SIGKILL)
    assert ended(eldest.line)
    assert all(processes.alive(who(each)) for each in sisters)
    for each in (eldest, *sisters):
        how(each, grace_seconds=0)


def test_many_threads_order_at_once_and_one_nursery_gives_each_a_worker() -> None:
    with closing(ForkServer()) as nursery, ThreadPoolExecutor(8) as threads:
        workers = list(threads.map(lambda _: nursery.start_worker(), range(8)))
        assert len({who(each) for each in workers}) == 8
        assert {psutil.Process(who(each).pid).ppid() for each in workers} == {nursery.pid}
        for each in workers:
            os.kill(who(each).pid, signal.SIGKILL)
            assert how(each) == "ended by signal 9"


def test_the_nursery_has_one_thread_and_keeps_nothing_of_the_dead(nursery: ForkServer) -> None:
    how(nursery.start_worker(), grace_seconds=0)
    found = psutil.Process(nursery.pid)
    before = found.num_fds()
    for _ in range(3):
        how(nursery.start_worker(), grace_seconds=0)
    assert (found.num_threads(), found.num_fds()) == (1, before)
    assert found.children() == []


def test_a_dead_nursery_is_followed_by_another_and_its_workers_live_on() -> None:
    with closing(ForkServer()) as nursery:
        orphan, sister, first = nursery.start_worker(), nursery.start_worker(), nursery.pid
        os.kill(first, signal.SIGKILL)
        assert ended(orphan.cord), "a sister holds it"
        worker = nursery.start_worker()
        assert nursery.pid != first
        assert all(processes.alive(who(each)) for each in (orphan, sister, worker))
        assert how(orphan) == UNKNOWN_END
        assert not processes.alive(who(orphan))
        assert how(sister, grace_seconds=0) == UNKNOWN_END
        assert how(worker, grace_seconds=0) == f"ended by signal 9{LINGERED}"


def test_a_killed_keeper_leaves_neither_nursery_nor_worker() -> None:
    keeper = subprocess.Popen(
        [sys.executable, "-c", ORDERS_ONE_AND_WAITS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert keeper.stdin is not None and keeper.stdout is not None
    with keeper.stdin, keeper.stdout:
        left = [psutil.Process(int(pid)) for pid in keeper.stdout.readline().split()]
        keeper.kill()
        keeper.wait()
        _, alive = psutil.wait_procs(left, timeout=30)
    assert len(left) == 2 and alive == []


@pytest.mark.parametrize("number", ["first", "second"])
def test_a_worker_sees_the_folder_the_environment_and_the_output_of_the_moment_it_is_ordered(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], number: str
) -> None:
    file = tmp_path / "surroundings_told.py"
    file.write_text(TELLS_ITS_SURROUNDINGS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORDERED", number)
    ended = world.keep(world.submit("surroundings", file))
    assert (ended.state, ended.result) == (RunState.FINISHED, f'["{number}","{tmp_path}","True"]'), ended
    said = capfd.readouterr()
    assert (said.out.count("on standard output\n"), said.err.count("on standard error\n")) == (1, 1)
