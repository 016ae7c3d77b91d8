"""Where a run stands, in the few words that may travel; and the errors of our own, as Temporal tells them.

What may never happen: a value, a page's text or a result of the task travels; a mistake is tried again by the engine.
"""

from __future__ import annotations

import re

from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from browser_agent.keeper.temporal.messages import OpenQuestion, RunStatus
from browser_agent.states import QuestionKind, RunState
from browser_agent.store import Store
from browser_agent.store.inbox import ALLOWED
from browser_agent.store.records import QuestionRow

_KIND = re.compile(r"(\w+): ")
_NO_NEWS = frozenset({"Superseded", "InOtherHands"})
"""Ends of an activity that say only that another has the run."""
_PASSES = frozenset({"StoreUnusable"})
"""Ends of an activity after which the engine may try it again by itself, unless its policy says otherwise."""
_LOOKED = frozenset({QuestionKind.OUTCOME, QuestionKind.VALUES})


def run_status(store: Store, run: str) -> RunStatus:
    """Where the run stands. Raises `UnknownName` if there is no such run."""
    row = store.leases.run(run)
    questions = [_open(question) for question in store.inbox.questions(run, open_only=True)]
    raised = _KIND.match(row.ended_by or "") if row.state is RunState.RAISED else None
    return RunStatus(run, str(row.state), row.attempt, questions, raised[1] if raised else "")


def _open(row: QuestionRow) -> OpenQuestion:
    return OpenQuestion(row.id, sorted(str(answer) for answer in ALLOWED[row.kind]), row.kind in _LOOKED)


def application_error(store: Store, error: BaseException) -> ApplicationError:
    """An error as Temporal receives it: its kind, its words without secrets; tried again only if it can pass."""
    kind = type(error).__name__
    return ApplicationError(
        store.database.scrubber.text(str(error)),
        type=kind,
        non_retryable=kind not in _PASSES,
        category=ApplicationErrorCategory.BENIGN if kind in _NO_NEWS else ApplicationErrorCategory.UNSPECIFIED,
    )
