"""What a keeper inherits from the attempts before it on this host: their processes are ended, a browser may be kept.

What may never happen: a browser is adopted that a living keeper still holds.
"""

from __future__ import annotations

from browser_agent.browser.chromium import Chromium
from browser_agent.ownership.leftovers import end_remains, end_strays
from browser_agent.ownership.takeover import lives, near
from browser_agent.store import Lease, Store
from browser_agent.store.records import AttemptRow


def inherit(store: Store, lease: Lease, previous: AttemptRow | None) -> str | None:
    """End what earlier attempts have left here, and see it dead.

    A keeper that still lives has lost the run (its lease ran out, or an engine gave the run on): its own process may
    keep other runs and is let be, but what could send for this one is ended.

    Args:
        store: where the run is written.
        lease: the right of the attempt that takes over.
        previous: the attempt before it.

    Returns:
        The browser of a dead keeper, as stored, if it lives and its page may still be read.
    """
    kept: str | None = None
    rows = earlier(store, lease)
    end_strays(store.profiles, lease.run, store.leases.attempts(lease.run))
    for row in rows:
        last = previous is not None and row.number == previous.number
        keeper_lives = lives(row.keeper)
        adopt = last and row.ended is None and not keeper_lives
        still_used = previous is not None and not last and row.browser == previous.browser
        end_remains(row, leave_browser=adopt or still_used)
        if adopt and row.browser is not None:
            if Chromium.found(row.browser).alive():
                kept = row.browser
            else:
                end_remains(row)
        if row.ended is None:
            how = "its run was given to another" if keeper_lives else "its keeper died"
            store.leases.end_attempt(Lease(lease.run, row.number, ""), how)
    return kept


def earlier(store: Store, lease: Lease) -> list[AttemptRow]:
    """The earlier attempts of this host that are in sight; nothing is known here of the processes of another."""
    rows = store.leases.attempts(lease.run)
    return [row for row in rows if row.number < lease.attempt and near(store, row.host, row.keeper)]
