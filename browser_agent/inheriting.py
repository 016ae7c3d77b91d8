"""What a keeper inherits from the attempts before it on this host: their processes are ended, a browser may be kept.

What may never happen: a worker is ended before the browser that it worked in, since a paused request would be let go by
its death (measured); a browser is adopted that a living keeper still holds.
"""

from __future__ import annotations

import asyncio
import socket

from browser_agent.browser.chromium import Chromium
from browser_agent.claiming import end_process, lives
from browser_agent.records import AttemptRow
from browser_agent.store import Lease, Store


async def inherit(store: Store, lease: Lease, previous: AttemptRow | None) -> str | None:
    """End what earlier attempts have left here, and see it dead.

    A keeper that still lives has lost the run to an engine's word: its own process may keep other runs and is let be,
    but what could send for this one is ended.

    Args:
        store: where the run is written.
        lease: the right of the attempt that takes over.
        previous: the attempt before it.

    Returns:
        The browser of a dead keeper, as stored, if it lives and its page may still be read.
    """
    kept: str | None = None
    for row in await asyncio.to_thread(store.leases.attempts, lease.run):
        if row.host != socket.gethostname() or row.number >= lease.attempt:
            continue
        chromium = Chromium.found(row.browser) if row.browser else None
        last = previous is not None and row.number == previous.number
        if previous is not None and not last and row.browser == previous.browser:
            chromium = None  # the last attempt went on with the same one
        adopt = last and row.ended is None and not lives(row.worker) and not lives(row.keeper)
        if chromium is not None and (not adopt or not chromium.alive()):
            await asyncio.to_thread(chromium.discard)
        await asyncio.to_thread(end_process, row.worker)
        await asyncio.to_thread(end_process, row.driver)
        if chromium is not None and chromium.alive():
            kept = row.browser
        if row.ended is None:
            how = "its keeper died" if not lives(row.keeper) else "its engine gave the run to another"
            await asyncio.to_thread(store.leases.end_attempt, Lease(lease.run, row.number, ""), how)
    return kept
