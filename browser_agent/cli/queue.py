"""`submit`, `worker`, `watch` and `workers`: queue a run, be a worker process, watch keepers, list worker processes."""

from __future__ import annotations

import re
import threading
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer
from rich.table import Table

from browser_agent.cli import plain_text
from browser_agent.cli.desk import Desk, named_values, open_desk, resolved
from browser_agent.cli.exit_codes import Exit
from browser_agent.cli.parameters import (
    Account,
    Arguments,
    AsJson,
    File,
    Key,
    LogFile,
    LogLevel,
    Set,
    SiteUrl,
    StorePath,
)
from browser_agent.cli.plain_text import one_line
from browser_agent.cli.run import bind
from browser_agent.errors import Misuse
from browser_agent.keeper.launch import ForWorkers
from browser_agent.keeper.launch import submit as write_down
from browser_agent.options import Event
from browser_agent.ownership.liveness import Liveness, age, held_idly, liveness
from browser_agent.script.arguments import parse_arguments
from browser_agent.script.task_file import load_task
from browser_agent.states import RunState
from browser_agent.store.records import AttemptRow
from browser_agent.store.worker_registry import KeeperStatus

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_FROM_NOW = re.compile(r"\+(\d+)([smhd])")


def submit(
    file: File,
    arguments: Arguments = None,
    *,
    site: SiteUrl = None,
    account: Account = None,
    key: Key = None,
    not_before: Annotated[
        str | None,
        typer.Option(
            "--not-before",
            metavar="TIME",
            help="The earliest start: +90s, +15m, +2h, +1d, or a time such as 2026-12-01T06:00 (in this machine's time "
            "zone, unless it names one).",
        ),
    ] = None,
    attempts: Annotated[
        int | None,
        typer.Option("--attempts", min=1, help="How many attempts in a row may die before a person is asked."),
    ] = None,
    given: Set = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Queue a run for a worker process (`browser-agent worker`), and return at once. Nothing is made here.

    With a key, the same work is queued once, however often it is submitted.

    Example:  browser-agent submit invoices.py day=2026-11-30 --key invoices-2026-11-30
    """
    using, when = resolved(given).settings, time_of(not_before)
    found = load_task(file)
    values = parse_arguments(found, named_values(arguments or [], "an argument of the task"))  # before a store is made
    desk = open_desk(store, as_json, new=True, using=using)
    bind(found, named_values(site or [], "a site"), named_values(account or [], "an account"), desk.settings)
    row = write_down(desk.store, found, values, key, ForWorkers(when, attempts))
    if row.queued and row.state is RunState.NEW:
        due = f", not before {row.not_before:%Y-%m-%d %H:%M:%S} UTC" if row.not_before else ""
        desk.screen.say(f"Run {row.id}: {row.task_name} waits for a worker in {desk.store.where}{due}.")
    else:
        desk.screen.say(f"Run {row.id} has that key already: it is {row.state.replace('_', ' ')}. Nothing was changed.")
    desk.screen.document(plain_text.row(row, *plain_text.RUN))
    return Exit.FINISHED


def time_of(said: str | None) -> datetime | timedelta | None:
    """Parse a time, or a time from now, from the command line.

    Raises:
        Misuse: it is neither.
    """
    if said is None:
        return None
    if found := _FROM_NOW.fullmatch(said.strip()):
        return timedelta(seconds=int(found[1]) * _UNITS[found[2]])
    try:
        return datetime.fromisoformat(said).astimezone(UTC)
    except ValueError as error:
        raise Misuse(f"{said!r} is not a time: write 2026-12-01T06:00, or +15m. Nothing was written.") from error


def worker(
    *,
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", min=1, help="How many runs at once, each with its own browser.")
    ] = 1,
    memory_limit: Annotated[
        float | None,
        typer.Option(
            "--memory-limit", metavar="MB", help="End a run's worker and browser if they use more memory than this."
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", metavar="", help="Take one run, then exit.")] = False,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", metavar="", help="Exit when no run is left to take.")
    ] = False,
    log_level: LogLevel = None,
    log_file: LogFile = None,
    given: Set = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Take submitted runs and MAKE their changes, until it is asked to stop.

    Interrupted runs come first, then those whose question was answered, then new ones by age. Ctrl-C or SIGTERM: it
    takes no more runs, finishes the gestures in hand and puts its runs back into the queue. A second signal ends it at
    once; the next attempt of each run looks at what is in doubt.

    Example:  browser-agent worker --concurrency 4 --memory-limit 2000
    """
    from browser_agent.keeper.queue_worker import WorkerLimits, serve  # Playwright is slow to import

    using = resolved(given, memory=memory_limit, log_level=log_level, log_file=log_file).settings
    desk = open_desk(store, as_json, new=True, keeps_sessions=True, using=using)
    limits = WorkerLimits(concurrency, 1 if once else None, until_idle or once)
    desk.screen.progress(f"A worker for up to {concurrency} at once waits for runs in {desk.store.where}")
    taken = serve(desk.store, limits, using.options(), _event_printer(desk))
    desk.screen.say(f"Ended; {taken} {'run was' if taken == 1 else 'runs were'} taken.")
    held = held_idly(desk.store) if until_idle else []
    for each in held:
        desk.screen.say(str(each), "yellow")
    desk.screen.document({"taken": taken, "held": [asdict(each) for each in held]})
    return Exit.FINISHED


def watch(
    once: Annotated[bool, typer.Option("--once", metavar="", help="Look once, and end.")] = False,
    given: Set = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Watch this machine's keepers: end what a dead one left, attest its death, report runs that make no progress.

    Makes no change at any site and needs no browser. Each worker process does this too.

    Example:  browser-agent watch
    """
    from browser_agent.keeper.stop_request import StopRequest, stop_signals
    from browser_agent.ownership.watchdog import Watchdog

    desk = open_desk(store, as_json, new=True, using=resolved(given).settings)
    watching = Watchdog(desk.store, desk.settings.options(), _event_printer(desk))
    if once:
        watching.check(takeover_seconds=0.0)
        return Exit.FINISHED
    stop = StopRequest()
    with stop_signals(stop.ask), watching.running():
        stop.wait()
    return Exit.FINISHED


def workers(store: StorePath = None, as_json: AsJson = False) -> Exit:
    """List the worker processes that live or died in the last hour, and the runs of each. Changes nothing.

    Example:  browser-agent workers
    """
    desk = open_desk(store, as_json)
    now, found = desk.store.keepers.recent()
    states = {each.row.id: liveness(desk.store, each.row, now) for each in found}
    table = Table("worker", "host", "pid", "since (UTC)", "runs", box=None, header_style="bold", pad_edge=False)
    for each in found:
        row, state = each.row, _state(each, states[each.row.id], now)
        pid, since = str(plain_text.loaded(row.process)["pid"]), f"{row.began:%m-%d %H:%M:%S}"
        table.add_row(state, one_line(row.host), pid, since, f"{len(each.attempts)} of {row.concurrency}")
    if found:
        desk.screen.table(table)
    else:
        desk.screen.say("No worker process was alive in the last hour. Start one with: browser-agent worker")
    for each in found:
        for attempt in each.attempts:
            desk.screen.say(_kept(each, attempt, now))
    desk.screen.document([_document(each, states[each.row.id], now) for each in found])
    return Exit.FINISHED


def _state(of: KeeperStatus, state: Liveness, now: datetime) -> str:
    """A worker process's state for people, with the seconds since its last heartbeat if it is silent."""
    return f"silent for {age(of.row.beaten, now):.0f} s" if state is Liveness.SILENT else str(state)


def _kept(by: KeeperStatus, attempt: AttemptRow, now: datetime) -> str:
    mark = f"; {one_line(attempt.progress)} ({age(attempt.progressed, now):.0f} s ago)" if attempt.progress else ""
    pid, beaten = plain_text.loaded(by.row.process)["pid"], age(attempt.beaten, now)
    return f"  {pid} keeps {attempt.run_id}, attempt {attempt.number}: heartbeat {beaten:.0f} s ago{mark}"


def _document(of: KeeperStatus, state: Liveness, now: datetime) -> dict[str, Any]:
    kept = [
        {
            "run": attempt.run_id,
            "attempt": attempt.number,
            "heartbeat_seconds": age(attempt.beaten, now),
            "progress": attempt.progress,
            "progress_seconds": age(attempt.progressed, now) if attempt.progressed else None,
        }
        for attempt in of.attempts
    ]
    return {**plain_text.row(of.row, "process"), "state": str(state), "keeps": kept}


def _event_printer(desk: Desk) -> Any:
    """A callback that prints live lines of many runs, from many threads, each with its run's id."""
    lock = threading.Lock()

    def print_event(event: Event) -> None:
        with lock:
            desk.screen.progress(f"{event.run or '-'}  {event.kind.replace('_', ' ')}: {one_line(event.words)}")

    return print_event
