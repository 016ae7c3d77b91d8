"""The worker: a child process that runs one attempt of a run. It can click, but it cannot send.

It settles what earlier attempts left in doubt, replays the task from its start, and stores how the run stands when the
task returns, raises or stops. If it dies before that, its keeper sees the death.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Playwright
from pydantic import TypeAdapter

from browser_agent import processes
from browser_agent.browser.driver import sync_driver
from browser_agent.errors import (
    BrowserUnavailable,
    Fact,
    KeeperGone,
    MachineTrouble,
    Misuse,
    Stop,
    Superseded,
)
from browser_agent.keeper.channel import Channel, Message
from browser_agent.keeper.stop_request import ignore_interrupts
from browser_agent.keeper.worker_attempt import WorkerAttempt
from browser_agent.options import KillAt, Options
from browser_agent.processes import ProcessId
from browser_agent.run.attempt import Attempt
from browser_agent.run.executor import Run, state_after
from browser_agent.run.reversal import load
from browser_agent.script.arguments import load_arguments
from browser_agent.script.task_file import package_versions, source_hash
from browser_agent.script.tasks import Task
from browser_agent.states import TROUBLE_CODE, RunState
from browser_agent.store import Lease, Store, Times
from browser_agent.store.records import RunRow


class _Died(Exception):
    """Ends the attempt like a death: the run stays as it is, and the next worker looks first."""


def main(descriptor: int) -> int:
    """Run the attempt that the first message on the socket `descriptor` describes, and return the exit code."""
    ignore_interrupts()
    connection = socket.socket(fileno=descriptor)
    work = _first_message(connection)
    lease = Lease(**work["lease"])
    channel = Channel(connection)
    with Store(work["store"], times=Times(**work["times"]), host=work["host"]) as store:
        sys.excepthook = lambda kind, error, trace: print(store.database.scrubber.trace(error), file=sys.stderr, end="")
        try:
            _attempt(store, lease, channel, _options(work["options"]), work["secrets"])
        except Superseded:
            return 0  # another attempt owns the run: this one may store nothing
        channel.close()
    return 0


def _attempt(store: Store, lease: Lease, channel: Channel, options: Options, secrets: dict[str, str]) -> None:
    row = store.leases.run(lease.run)
    try:
        task = load(f"{row.task_file}:{row.task_name}")
        arguments = load_arguments(task, row.arguments, secrets)
        _bind(task, row)
    except Misuse as misuse:
        store.leases.end(lease, RunState.RAISED, ended_by=str(misuse))
        return
    store.leases.record(lease, source=source_hash(task), packages=json.dumps(package_versions()))
    children = set(_children())  # started by the task's import
    with _driver(channel) as playwright:
        driver = next((child for child in _children() if child not in children), ProcessId(0, 0.0))
        channel.ask("hello", driver=driver.pid)
        attempt = WorkerAttempt(store, lease, channel, playwright, task.sites, options)
        channel.ended = attempt.keeper_gone
        attempt.driver = driver
        try:
            _end(attempt, task, Run(attempt), arguments)
        except KeeperGone:
            attempt.keeper_gone()
        except _Died as died:
            attempt.emit("trouble", str(died))
            os._exit(TROUBLE_CODE)  # the keeper sees it, and starts a worker that looks


@contextmanager
def _driver(channel: Channel) -> Iterator[Playwright]:
    """Start Playwright's driver. If it doesn't start, report why to the keeper and end this process."""
    with ExitStack() as stack:
        try:
            playwright = stack.enter_context(sync_driver())
        except BrowserUnavailable as unavailable:
            channel.report(kind="trouble", words=str(unavailable))
            os._exit(TROUBLE_CODE)
        yield playwright


def _end(attempt: Attempt, task: Task[..., Any], run: Run, arguments: dict[str, Any]) -> None:
    """Run the task, and store how the run stands at its end."""
    store, lease = attempt.store, attempt.lease
    try:
        run.recover()
        if attempt.options.only_look:
            store.leases.end(lease, RunState.WAITING, ended_by="looked once; nothing is in doubt")
            return
        value = task.fn(run, **arguments)
        run.end()
        result = task.adapter.dump_json(value).decode()
    except Stop as stop:
        _stopped(attempt, run.stop or stop)
    except BaseException as error:
        if run.stop is not None:
            _stopped(attempt, run.stop)
        elif not isinstance(error, Fact | Misuse) and (broken := attempt.what_broke(error)):
            raise _Died(f"While the task ran, {broken}.") from error
        else:
            run.reopen(error)
            raised, kind = _in_words(error, task), type(error).__name__
            store.leases.end(lease, RunState.RAISED, ended_by=raised, error_kind=kind)
            attempt.emit("raised", raised)
    else:
        if run.stop is not None:
            _stopped(attempt, run.stop)
        else:
            store.leases.end(lease, RunState.FINISHED, ended_by="the task completed", result=result)


def _stopped(attempt: Attempt, stop: Stop) -> None:
    if isinstance(stop, MachineTrouble):
        raise _Died(str(stop)) from stop
    state = state_after(stop)
    if state is None:
        raise stop
    said = str(stop)
    if state is RunState.STOPPED and attempt.options.queued:  # the queue worker was asked to stop, not the run
        state, said = RunState.READY, f"given back to the queue by its worker process: {said}"
    if attempt.store.leases.run(attempt.lease.run).state is RunState.RUNNING:
        attempt.store.leases.end(attempt.lease, state, ended_by=said)
    attempt.emit("stopped", str(stop))


def _in_words(error: BaseException, task: Task[..., Any]) -> str:
    """The script's error with the task's line. Only its first line if it isn't ours: the rest may quote values."""
    said = str(error) if isinstance(error, Fact | Misuse) else (str(error).splitlines() or [""])[0]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == task.file]
    position = f" ({task.file.name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {said}{position}"


def _bind(task: Task[..., Any], row: RunRow) -> None:
    """Bind the task's sites to the addresses and accounts that are frozen into the run."""
    for name, bound in json.loads(row.sites).items():
        if name in task.sites:
            task.sites[name].bind(bound.get("url"), bound.get("account"))


def _children() -> list[ProcessId]:
    """The living children of this process; the one that `sync_driver` adds is its driver."""
    return [found for child in psutil.Process().children() if (found := processes.identify(child.pid)) is not None]


def _options(stored: dict[str, Any]) -> Options:
    kill_at = stored.pop("kill_at")
    options = TypeAdapter(Options).validate_python(stored)
    return replace(options, kill_at=KillAt.parse(kill_at) if kill_at else None)


def _first_message(connection: socket.socket) -> Message:
    """The work that the keeper sends, read byte by byte so that nothing of the next message is taken."""
    text = bytearray()
    while not text.endswith(b"\n"):
        text += connection.recv(1) or b"\n"
    work: Message = json.loads(text.decode())["work"]
    return work
