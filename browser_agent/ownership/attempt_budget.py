"""When a run's attempts are used up, and how a person is told: a question, never silence and never one more attempt.

Attempts count in a row: whatever was finished in between gives the run its budget anew. Knows nothing of processes.
"""

from __future__ import annotations

from browser_agent.options import Options
from browser_agent.reporting.words import last_confirmed
from browser_agent.states import QuestionKind, RunState
from browser_agent.store import Asked, Lease, Store
from browser_agent.store.leases import deaths_after
from browser_agent.store.records import RunRow


def budget_of(run: RunRow, options: Options) -> int:
    """How many attempts of the run may die in a row: as the run says, else as its keeper's options do."""
    return run.budget or options.attempts


def used_up(run: RunRow, options: Options) -> bool:
    """Whether the budget is used up, if the run's last attempt counts as dead."""
    return run.state is RunState.RUNNING and deaths_after(run) >= budget_of(run, options)


def died_in_words(store: Store, run: RunRow, how: str, because: str, late: str = "") -> str:
    """That the attempts of a run are used up, for the person who is asked.

    Args:
        store: where the run is written.
        run: the run.
        how: how its last attempt ended, which isn't written down yet.
        because: the same, or what its worker said of it.
        late: which step took too long, in words; empty if that isn't why.
    """
    if not late:
        return f"The worker of run {run.id} has died {run.attempt} times ({because} the last time)."
    took, in_a_row = how.partition(": ")[2], deaths_after(run)
    ends = [*(row.how or "" for row in store.leases.attempts(run.id)[:-1]), how][-in_a_row:]
    times = sum(each.endswith(took) for each in ends)
    more = f" In all its worker has died {in_a_row} times in a row." if in_a_row > times else ""
    return f"Run {run.id}: {late}, {'once' if times == 1 else f'{times} times'}, and its worker was ended.{more}"


def ask_a_person(store: Store, lease: Lease, words: str, find_out: str = "Find out why") -> str:
    """Put the question and let the run need attention; the question's id.

    Raises:
        Superseded: another attempt owns the run.
    """
    run = store.leases.run(lease.run)
    queue = f", or browser-agent resume {run.id} --queue for a worker" if run.queued else ""
    safe = f"{find_out}, then: browser-agent resume {run.id}{queue}. It begins by looking."
    confirmed = last_confirmed(store.journal.gestures(run.id))
    asked = Asked(QuestionKind.ATTEMPTS, words, safe_step=safe, last_confirmed=confirmed)
    question = store.inbox.ask(lease, asked)
    store.leases.end(lease, RunState.NEEDS_ATTENTION, ended_by=words)
    return question.id
