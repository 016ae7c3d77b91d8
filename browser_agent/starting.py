"""A run is written down: a task, its arguments, and where its sites are, frozen into one row.

Nothing is made here, and no browser is started.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from browser_agent import vault
from browser_agent.attending import own_user
from browser_agent.records import RunRow
from browser_agent.store import Store
from browser_agent.tasks import Task, dump_arguments, parse_arguments
from observers import Site


def submit(store: Store, task: Task[..., Any], arguments: Mapping[str, Any], key: str | None = None) -> RunRow:
    """Write a run down, with the addresses and accounts that the task's sites are bound to now.

    Args:
        store: where it is written.
        task: what is to be run.
        arguments: its arguments, as texts or values.
        key: the caller's own name for the work; the run that has it already is handed back.

    Raises:
        WrongArguments: all that do not fit, together.
        InOtherHands: the key belongs to other work.
        Misuse: an argument, or the key, holds the value of a secret in the clear.
    """
    secrets: dict[str, str] = {}
    stored = dump_arguments(task, parse_arguments(task, arguments), secrets)
    vault.refuse_in_the_clear(stored, key or "")
    row = store.leases.submit(
        task_file=str(task.file),
        task_name=task.name,
        arguments=stored,
        sites=json.dumps({name: _bound(site) for name, site in task.sites.items()}),
        key=key,
        by=own_user(),
    )
    vault.keep(store, row.id, secrets)
    return row


def _bound(site: Site) -> dict[str, Any]:
    """Where a site is and who we are there, and what its keeper, who never runs task code, must know of it."""
    return {"url": site.url, "account": site.account, **({"indexed_db": True} if site.indexed_db else {})}
