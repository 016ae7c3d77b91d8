"""A worker process of one home, as a test wants it: short leases, a host of its own, struck at a point of a gesture."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from browser_agent.keeper.queue_worker import WorkerLimits, serve
from browser_agent.options import Event, KillAt, Options
from browser_agent.store import Store, Times


@dataclass(frozen=True)
class Wanted:
    """A worker process.

    Args:
        store: its address.
        host: what its host is called.
        kill_at: where it is struck, as `--kill-at` says it.
        attempts: how many attempts of a run may die in a row.
        temporal: where Temporal is; empty = it takes runs from the store's own queue.
        queue: which queue of Temporal's.
        chromium: the Chromium to start, if not the usual one.
        shorter: so many times shorter than usual are its leases; 2.5 = 12 s.
    """

    store: str
    host: str
    kill_at: str = ""
    attempts: int = 20
    temporal: str = ""
    queue: str = ""
    chromium: str = ""
    shorter: float = 2.5

    def words(self) -> list[str]:
        """The command that starts it."""
        return [sys.executable, "-m", "tests.store.conformance.serving", json.dumps(asdict(self))]


def main(wanted: Wanted) -> None:
    """Serve until SIGTERM."""
    options = Options(
        keep_looking=0.0,
        attempts=wanted.attempts,
        kill_at=KillAt.parse(wanted.kill_at) if wanted.kill_at else None,
        chromium=Path(wanted.chromium) if wanted.chromium else None,
    )
    with Store(wanted.store, times=Times.shortened(wanted.shorter), host=wanted.host) as store:
        if wanted.temporal:
            asyncio.run(_serve(store, wanted, options))
        else:
            serve(store, WorkerLimits(), options, _on_event)


async def _serve(store: Store, wanted: Wanted, options: Options) -> None:
    from browser_agent.keeper.temporal.browser_activities import BrowserActivities
    from browser_agent.keeper.temporal.client import TemporalAddress, connect
    from browser_agent.keeper.temporal.client import serve as serve_temporal

    client = await connect(TemporalAddress(wanted.temporal, queue=wanted.queue))
    browsers = BrowserActivities(client, store, options, at_once=1, submit=lambda *_: "", on_event=_on_event)
    await serve_temporal(browsers.worker(wanted.queue))


def _on_event(event: Event) -> None:
    print(event, flush=True)


if __name__ == "__main__":
    main(Wanted(**json.loads(sys.argv[1])))
