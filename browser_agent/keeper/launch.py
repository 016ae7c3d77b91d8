"""A run is written down: a task, its arguments, and where its sites are, frozen into one row.

Nothing is made here, and no browser is started.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from browser_agent.processes import own_user
from browser_agent.run import run_secrets as vault
from browser_agent.script.tasks import Task, dump_arguments, parse_arguments
from browser_agent.store import Store
from browser_agent.store.records import RunRow
from observers import Site


@dataclass(frozen=True)
class ForWorkers:
    """A run is written down for whichever worker process takes it.

    Args:
        not_before: none takes it earlier: a time, or so long from now by the database's clock.
        attempts: how many attempts in a row may die; as the worker process is set by default.
    """

    not_before: datetime | timedelta | None = None
    attempts: int | None = None


def submit(
    store: Store,
    task: Task[..., Any],
    arguments: Mapping[str, Any],
    key: str | None = None,
    queue: ForWorkers | None = None,
) -> RunRow:
    """Write a run down, with the addresses and accounts that the task's sites are bound to now.

    Args:
        store: where it is written.
        task: what is to be run.
        arguments: its arguments, as texts or values.
        key: the caller's own name for the work; the run that has it already is handed back.
        queue: it is for worker processes; None = whoever calls keeps it.

    Raises:
        WrongArguments: all that do not fit, together.
        InOtherHands: the key belongs to other work.
        Misuse: an argument, or the key, holds the value of a secret in the clear.
        SecretMissing: it is for workers, and they could not have one of its secrets.
    """
    secrets: dict[str, str] = {}
    stored = dump_arguments(task, parse_arguments(task, arguments), secrets)
    vault.refuse_in_the_clear(stored, key or "")
    if queue is not None:
        vault.refuse_unreadable(store, secrets)
    asked = queue or ForWorkers()
    row = store.leases.submit(
        task_file=str(task.file),
        task_name=task.name,
        arguments=stored,
        sites=json.dumps({name: _bound(site) for name, site in task.sites.items()}),
        key=key,
        by=own_user(),
        queued=queue is not None,
        not_before=asked.not_before,
        budget=asked.attempts,
    )
    vault.keep(store, row.id, secrets)
    return row


def _bound(site: Site) -> dict[str, Any]:
    """Where a site is and who we are there, and what its keeper, who never runs task code, must know of it."""
    return {"url": site.url, "account": site.account, **({"indexed_db": True} if site.indexed_db else {})}
