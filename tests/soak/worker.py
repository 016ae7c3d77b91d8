"""A worker process of a soak: `browser-agent worker` with leases that are as many times shorter as it is told."""

from __future__ import annotations

import sys

from browser_agent.keeper.queue_worker import WorkerLimits, serve
from browser_agent.options import Options
from browser_agent.store import Store, Times


def main(where: str, concurrency: str, shorter: str) -> None:
    """Keep runs until SIGTERM."""
    with Store(where, times=Times.shortened(float(shorter))) as store:
        serve(store, WorkerLimits(int(concurrency)), Options(), lambda event: print(event, flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
