"""Submits a run (its task, its arguments and its sites' addresses become one row), and the bodies of `Task.run` and
`Task.submit`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from browser_agent import settings_sources
from browser_agent.options import Ended, Options
from browser_agent.processes import own_user
from browser_agent.run import run_secrets
from browser_agent.script.arguments import dump_arguments, parse_arguments
from browser_agent.script.tasks import Task
from browser_agent.settings import Settings
from browser_agent.store import Store
from browser_agent.store.records import RunRow
from observers import Site


@dataclass(frozen=True)
class ForWorkers:
    """Marks a run as queued for any queue worker.

    Args:
        not_before: no worker takes it earlier: a time, or a span from now by the database's clock.
        attempts: how many attempts in a row may die; None = as the queue worker's options say.
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
    """Store a run, with the addresses and accounts to which the task's sites are bound now.

    Args:
        store: where the run is stored.
        task: its task.
        arguments: the task's arguments, as texts or values.
        key: the caller's own name for the work; if a run with that key exists, it is returned.
        queue: the run is for queue workers; None = the caller keeps it.

    Raises:
        WrongArguments: lists all arguments that don't fit.
        InOtherHands: the key belongs to other work.
        Misuse: an argument, or the key, contains the value of a secret in clear text.
        SecretMissing: the run is for queue workers, and they could not read one of its secrets.
    """
    secrets: dict[str, str] = {}
    stored = dump_arguments(task, parse_arguments(task, arguments), secrets)
    run_secrets.refuse_in_the_clear(stored, key or "")
    if queue is not None:
        run_secrets.refuse_unreadable(store, secrets)
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
    run_secrets.hold(store, row.id, secrets)
    return row


def queue_task(
    task: Task[..., Any], arguments: Mapping[str, Any], store: Path | str | None, key: str | None, queue: ForWorkers
) -> str:
    """The body of `Task.submit`: store the run for the queue workers, and return its id."""
    with _opened(store, settings_sources.load()) as opened:
        return submit(opened, task, arguments, key, queue).id


def run_task(
    task: Task[..., Any],
    arguments: Mapping[str, Any],
    store: Path | str | None,
    key: str | None,
    options: Options | None,
) -> Ended:
    """The body of `Task.run`: submit the run and keep it in this process until it ends or waits for a person."""
    from browser_agent.keeper.keeper import keep

    using = settings_sources.load()
    with _opened(store, using) as opened:
        return keep(opened, submit(opened, task, arguments, key).id, options or using.options())


def _opened(store: Path | str | None, using: Settings) -> Store:
    return Store(settings_sources.store_meant(store, using), host=using.host, evidence=using.evidence)


def _bound(site: Site) -> dict[str, Any]:
    """A site's address, our account there, and what the keeper must know about it without running task code."""
    return {"url": site.url, "account": site.account, **({"indexed_db": True} if site.indexed_db else {})}
