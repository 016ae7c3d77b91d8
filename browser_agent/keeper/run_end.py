"""Where a run stands when its keeper lets go of it, and how an attempt ended that had the run no more: in words.

Only reads the store. What may never happen: another process's end of the run is told as this one's; a death that was
not our doing loses its signal.
"""

from __future__ import annotations

from browser_agent.keeper.worker_process import LINGERED
from browser_agent.options import Ended
from browser_agent.states import RunState
from browser_agent.store import Lease, Store
from browser_agent.store.records import RunRow

LEFT = "exit code 0"
"""How a worker ends that has nothing more to do."""


def where_it_stands(store: Store, lease: Lease) -> Ended:
    """Where the run of that lease stands now; whether another attempt than the lease's brought it there is said."""
    run = store.leases.run(lease.run)
    questions = tuple(row.id for row in store.inbox.questions(run.id, open_only=True))
    words = run.ended_by or ""
    if run.attempt > lease.attempt:
        words = f"carried on by another process (attempt {run.attempt}); this one let nothing more go"
        words += f". There: {run.ended_by}" if run.ended_by else ""
    return Ended(run.id, run.state, words, run.result, questions, run.attempt)


def after_the_run(how: str, lease: Lease, run: RunRow, *, ours: bool) -> str:
    """How the worker of an attempt ended that had the run no more.

    Args:
        how: how it ended, in words.
        lease: the attempt's.
        run: the run as it stands.
        ours: its keeper has ended it, for it had the run no more.
    """
    if how == LEFT:  # it cut nothing off
        return how
    handed_back = run.attempt == lease.attempt and run.state is not RunState.RUNNING
    first = "it handed its run back" if handed_back else "its run was given to another"
    if ours or how.endswith(LINGERED):
        return f"{first}; its worker was ended after that"
    return f"{first}; after that its worker died ({how})" if handed_back else how
