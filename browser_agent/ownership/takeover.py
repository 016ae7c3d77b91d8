"""Takes a run over: whether its last keeper is gone, and the lease that follows.

A keeper on this host is judged by its process (pid and start time); one on another host, or in another container that
has this host's name, only by its lease. If one engine assigned the run to both keepers, its later assignment is enough.
A claim says nothing about the old keeper's worker and browser: they are ended afterwards, on their own host.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from browser_agent import processes
from browser_agent.errors import InOtherHands, Superseded
from browser_agent.ownership.engine import NO_ENGINE, Engine
from browser_agent.ownership.terminal import watcher
from browser_agent.processes import ProcessId
from browser_agent.states import RunState
from browser_agent.store import AttemptEnd, Lease, Store
from browser_agent.store.records import AttemptRow, RunRow

_PROCESS = TypeAdapter(ProcessId)


def last_attempt(store: Store, run: str) -> AttemptRow | None:
    """The run's last attempt, if there was one. Raises `UnknownName` if there is no such run."""
    attempts = store.leases.attempts(store.leases.run(run).id)
    return attempts[-1] if attempts else None


def visible_here(store: Store, host: str, process: str) -> bool:
    """Whether this process can see if a stored one is alive: it is on this host, in a visible pid namespace."""
    return host == store.host and processes.visible(stored_as(process))


def is_over(store: Store, attempt: AttemptRow) -> bool:
    """Whether the attempt's keeper has ended it, or is confirmed dead on this host."""
    return attempt.ended is not None or (
        visible_here(store, attempt.host, attempt.keeper) and not process_alive(attempt.keeper)
    )


def take_over(
    store: Store,
    run: str,
    previous: AttemptRow | None,
    *,
    engine: Engine = NO_ENGINE,
    of_queue: bool = False,
    only_look: bool = False,
) -> Lease:
    """Claim the run for this process, after the attempt that was seen last.

    Args:
        store: where the run is stored.
        run: its id.
        previous: the attempt that was seen last.
        engine: the engine that this process obeys.
        of_queue: a queue worker takes it: only if the queue offers it now.
        only_look: for one look at its open question.

    Raises:
        Superseded: the engine has assigned the run to a later keeper.
        InOtherHands: a living keeper has it.
        NotAllowed: it has ended for good.
    """
    over = previous is not None and (is_over(store, previous) or _reassigned(previous, engine))
    judged = previous is not None and visible_here(store, previous.host, previous.keeper)
    if previous is not None and judged and not over and store.leases.lease_left(run) > 0:
        pid = json.loads(previous.keeper)["pid"]
        raise InOtherHands(
            f"Run {run} is kept by process {pid}: wait for it, or end that process (Ctrl-C there, or: kill {pid}) and "
            f"then run: browser-agent resume {run}. Nothing was done."
        )
    return store.leases.claim(
        run,
        keeper=own_process(engine),
        keeper_dead=over,
        after=previous.number if previous is not None else 0,
        present=None if of_queue else watcher(),
        of_queue=of_queue,
        only_look=only_look,
        reset_deaths=not of_queue and not engine.name,  # a person resumes it
    )


def give_to_queue(store: Store, run: str, by: str) -> None:
    """Give a run that no keeper holds to the queue, with its full budget again.

    Raises:
        InOtherHands: a living keeper has it.
        NotAllowed: it has ended for good.
    """
    lease = take_over(store, run, last_attempt(store, run))
    store.leases.requeue(lease, f"given to the queue by {by}")
    store.leases.end_attempt(lease, AttemptEnd("it only gave the run to the queue"))
    store.deaths.attest(run, [lease.attempt], own_process())


def keeper_alive(store: Store, run: RunRow) -> bool | None:
    """Whether the keeper of a running run is alive; None if it has none, or if that is not visible here."""
    if run.state is not RunState.RUNNING:
        return None
    last = last_attempt(store, run.id)
    if last is None or not visible_here(store, last.host, last.keeper):
        return None
    return last.ended is None and process_alive(last.keeper)


def _reassigned(previous: AttemptRow, engine: Engine) -> bool:
    """Whether our engine had assigned the last attempt too, and has assigned the run again since."""
    stored = json.loads(previous.keeper)
    if not engine.name or stored.get("engine") != engine.name:
        return False
    if stored["order"] >= engine.sequence:
        raise Superseded(previous.run_id, previous.number, previous.number)
    return True


def under_engine(stored: str) -> bool:
    """Whether the stored keeper obeys an engine, which then decides who resumes the run and when a person is asked."""
    return "engine" in json.loads(stored)


def own_process(engine: Engine = NO_ENGINE) -> str:
    """This process in the stored form of a keeper, with the engine that it obeys."""
    own: dict[str, Any] = _PROCESS.dump_python(processes.own_id())
    return json.dumps(own | ({"engine": engine.name, "order": engine.sequence} if engine.name else {}))


def stored_process(process: ProcessId) -> str:
    """The stored form of a process."""
    return _PROCESS.dump_json(process).decode()


def stored_as(stored: str) -> ProcessId:
    """The process of a stored form."""
    return _PROCESS.validate_json(stored)


def process_alive(stored: str | None) -> bool:
    """Whether a stored process is alive on this host. Raises `ProcessNotVisible` if that can't be told here."""
    return stored is not None and processes.alive(stored_as(stored))


def end_process(stored: str | None) -> None:
    """End a stored process if it is alive, and see it dead."""
    if stored is not None and process_alive(stored):
        processes.end([stored_as(stored)])
