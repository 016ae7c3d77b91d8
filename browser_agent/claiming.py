"""Taking a run over: who keeps it, whether its last keeper is dead, and the lease that follows.

A keeper on this host is judged by its process (pid and start time); one on another host only by its lease. Where an
engine stands above both keepers, its word is enough: it wants one of them only. That the run is claimed says nothing of
whether the old keeper's worker and browser are dead; that is seen to afterwards, on their own host.
"""

from __future__ import annotations

import json
import socket
from typing import Any

from pydantic import TypeAdapter

from browser_agent import processes
from browser_agent.attending import watcher
from browser_agent.errors import InOtherHands, Superseded
from browser_agent.heeding import NOBODY, Engine
from browser_agent.processes import ProcessId
from browser_agent.records import AttemptRow, RunRow
from browser_agent.states import RunState
from browser_agent.store import Lease, Store

_PROCESS = TypeAdapter(ProcessId)


def last_attempt(store: Store, run: str) -> AttemptRow | None:
    """The run's last attempt, if there was one. Raises `UnknownName` if there is no such run."""
    attempts = store.leases.attempts(store.leases.run(run).id)
    return attempts[-1] if attempts else None


def take_over(store: Store, run: str, previous: AttemptRow | None, engine: Engine = NOBODY) -> Lease:
    """Claim the run for this process, after the attempt that was seen last.

    Raises:
        Superseded: the engine has given later work on it to another.
        InOtherHands: a living keeper has it.
        NotAllowed: it has ended for good.
    """
    here = previous is not None and previous.host == socket.gethostname()
    over = previous is not None and (previous.ended is not None or (here and not lives(previous.keeper)))
    over = over or (previous is not None and _given_on(previous, engine))
    if previous is not None and here and not over:
        pid = json.loads(previous.keeper)["pid"]
        raise InOtherHands(
            f"Run {run} is kept by process {pid}: wait for it, or end that process (Ctrl-C there, or: kill {pid}) and "
            f"then: browser-agent resume {run}. Nothing was done."
        )
    after = previous.number if previous is not None else 0
    return store.leases.claim(run, keeper=own_process(engine), keeper_dead=over, after=after, present=watcher())


def keeper_lives(store: Store, run: RunRow) -> bool | None:
    """Whether the keeper of a running run lives; None if the run has none, or it is on another host."""
    if run.state is not RunState.RUNNING:
        return None
    last = last_attempt(store, run.id)
    if last is None or last.host != socket.gethostname():
        return None
    return last.ended is None and lives(last.keeper)


def _given_on(previous: AttemptRow, engine: Engine) -> bool:
    """Whether the engine of the last attempt is ours, and has given the run on since then."""
    stored = json.loads(previous.keeper)
    if not engine.name or stored.get("engine") != engine.name:
        return False
    if stored["order"] >= engine.order:
        raise Superseded(previous.run_id, previous.number, previous.number)
    return True


def own_process(engine: Engine = NOBODY) -> str:
    """This process as a keeper is stored, with the engine that stands above it."""
    own: dict[str, Any] = _PROCESS.dump_python(processes.own_id())
    return json.dumps(own | ({"engine": engine.name, "order": engine.order} if engine.name else {}))


def stored_process(process: ProcessId) -> str:
    """A process, as it is stored."""
    return _PROCESS.dump_json(process).decode()


def lives(stored: str | None) -> bool:
    """Whether the process that was stored lives on this host."""
    return stored is not None and processes.alive(_PROCESS.validate_json(stored))


def end_process(stored: str | None) -> None:
    """End the process that was stored, if it lives, and see it dead."""
    if stored is not None and lives(stored):
        processes.end([_PROCESS.validate_json(stored)])
