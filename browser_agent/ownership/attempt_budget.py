"""How many attempts of a run may die in a row before a person is asked, and the question that is asked then.

Whatever a run finishes in between restores its full budget.
"""

from __future__ import annotations

from browser_agent.options import Options
from browser_agent.reporting.words import last_confirmed
from browser_agent.states import QuestionKind, RunState
from browser_agent.store import Lease, NewQuestion, Store
from browser_agent.store.leases import deaths_after
from browser_agent.store.records import RunRow


def budget_of(run: RunRow, options: Options) -> int:
    """How many attempts of the run may die in a row: as the run says, else as its keeper's options say."""
    return run.budget or options.attempts


def used_up(run: RunRow, options: Options) -> bool:
    """Whether the budget is used up, counting the run's last attempt as dead."""
    return run.state is RunState.RUNNING and deaths_after(run) >= budget_of(run, options)


def ask_a_person(store: Store, lease: Lease, words: str, find_out: str = "Find out why") -> str:
    """Put the question to a person, mark the run as needing attention, and return the question's id.

    Raises:
        Superseded: another attempt owns the run.
    """
    run = store.leases.run(lease.run)
    queue = f", or browser-agent resume {run.id} --queue for a worker" if run.queued else ""
    safe = f"{find_out}, then: browser-agent resume {run.id}{queue}. It looks first."
    confirmed = last_confirmed(store.journal.gestures(run.id))
    asked = NewQuestion(QuestionKind.ATTEMPTS, words, safe_step=safe, last_confirmed=confirmed)
    question = store.inbox.ask(lease, asked)
    store.leases.end(lease, RunState.NEEDS_ATTENTION, ended_by=words)
    return question.id
