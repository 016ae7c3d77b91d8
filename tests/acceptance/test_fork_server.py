"""The fork server: workers start in a blink, as fresh processes would, and no death goes unseen."""

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
from browser_agent.keeper.run_end import WorkerEnd
from browser_agent.keeper.worker_process import ForkServer, Worker
from browser_agent.processes import ProcessId
from browser_agent.states import RunState
from tests.fix_world import World

RETURNS_ITS_SURROUNDINGS = """
import os, sys
from browser_agent import Run, task

@task()
def surroundings(run: Run) -> list[str]:
    print("on standard output")
    print("on standard error", file=sys.stderr)
    return [os.environ.get("STARTED_AS", "unset"), os.getcwd(), str(os.getsid(0) == os.getpid())]
"""
STARTS_ONE_AND_WAITS = """
import sys
from browser_agent.keeper.worker_process import ForkServer
server = ForkServer()
worker = server.start_worker()
print(server.pid, worker.process.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with closing(ForkServer()) as server:
        yield server


def who(worker: Worker) -> ProcessId:
    assert worker.process is not None
    return worker.process


KILLED, KILLED_LATE, UNKNOWN = WorkerEnd(signal=9), WorkerEnd(signal=9, lingered=True), WorkerEnd()


def how(worker: Worker, grace_seconds: float = 10.0) -> WorkerEnd:
    """How it ended; its channel is closed, too."""
    with ThreadPoolExecutor(1) as thread:  # this one may have Playwright's loop in it
        end = thread.submit(asyncio.run, worker.end(grace_seconds)).result()
    worker.channel.close()
    return end


def ended(end: socket.socket) -> bool:
    """Whether no process holds the other end any more."""
    end.settimeout(30)
    try:
        return end.recv(1) == b""
    finally:
        end.setblocking(False)


def test_a_worker_leads_a_session_of_its_own_below_the_fork_server(server: ForkServer) -> None:
    worker = server.start_worker()
    assert processes.alive(who(worker))
    assert psutil.Process(who(worker).pid).ppid() == server.pid
    assert who(worker) in processes.tree(processes.own_id())
    how(worker, grace_seconds=0)


def test_a_killed_worker_is_reported_with_its_signal_and_leaves_no_zombie(server: ForkServer) -> None:
    worker = server.start_worker()
    os.kill(who(worker).pid, signal.SIGKILL)
    assert ended(worker.channel)
    assert how(worker) == KILLED
    assert not psutil.pid_exists(who(worker).pid)


def test_a_worker_that_ends_by_itself_is_reported_with_its_exit_code(server: ForkServer) -> None:
    worker = server.start_worker()
    worker.channel.shutdown(1)  # an end instead of a first message is an error in the worker
    assert how(worker) == WorkerEnd(code=1)


def test_a_worker_that_does_not_leave_in_time_is_ended(server: ForkServer) -> None:
    worker = server.start_worker()
    os.kill(who(worker).pid, signal.SIGSTOP)
    assert how(worker, grace_seconds=0.1) == KILLED_LATE
    assert not processes.alive(who(worker))


def test_the_channel_of_a_dead_worker_ends_while_younger_workers_live(server: ForkServer) -> None:
    oldest, *younger = [server.start_worker() for _ in range(3)]
    os.kill(who(oldest).pid, signal.SIGKILL)
    assert ended(oldest.channel)
    assert all(processes.alive(who(each)) for each in younger)
    for each in (oldest, *younger):
        how(each, grace_seconds=0)


def test_many_threads_ask_at_once_and_one_fork_server_gives_each_a_worker() -> None:
    with closing(ForkServer()) as server, ThreadPoolExecutor(8) as threads:
        workers = list(threads.map(lambda _: server.start_worker(), range(8)))
        assert len({who(each) for each in workers}) == 8
        assert {psutil.Process(who(each).pid).ppid() for each in workers} == {server.pid}
        for each in workers:
            os.kill(who(each).pid, signal.SIGKILL)
            assert how(each) == KILLED


def test_the_fork_server_has_one_thread_and_keeps_nothing_of_the_dead(server: ForkServer) -> None:
    how(server.start_worker(), grace_seconds=0)
    found = psutil.Process(server.pid)
    before = found.num_fds()
    for _ in range(3):
        how(server.start_worker(), grace_seconds=0)
    assert (found.num_threads(), found.num_fds()) == (1, before)
    assert found.children() == []


def test_a_dead_fork_server_is_replaced_and_its_workers_live_on() -> None:
    with closing(ForkServer()) as server:
        orphan, other, first = server.start_worker(), server.start_worker(), server.pid
        os.kill(first, signal.SIGKILL)
        assert ended(orphan.status), "another worker holds it"
        worker = server.start_worker()
        assert server.pid != first
        assert all(processes.alive(who(each)) for each in (orphan, other, worker))
        assert how(orphan) == UNKNOWN
        assert not processes.alive(who(orphan))
        assert how(other, grace_seconds=0) == UNKNOWN
        assert how(worker, grace_seconds=0) == KILLED_LATE


def test_a_killed_keeper_leaves_neither_fork_server_nor_worker() -> None:
    keeper = subprocess.Popen(
        [sys.executable, "-c", STARTS_ONE_AND_WAITS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
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
def test_a_worker_sees_the_folder_the_environment_and_the_output_of_the_moment_it_is_started(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], number: str
) -> None:
    file = tmp_path / "surroundings_returned.py"
    file.write_text(RETURNS_ITS_SURROUNDINGS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STARTED_AS", number)
    ended = world.keep(world.submit("surroundings", file))
    assert (ended.state, ended.result) == (RunState.FINISHED, f'["{number}","{tmp_path}","True"]'), ended
    said = capfd.readouterr()
    assert (said.out.count("on standard output\n"), said.err.count("on standard error\n")) == (1, 1)
