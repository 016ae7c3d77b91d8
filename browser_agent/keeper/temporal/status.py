"""What a workflow may learn about a run and its errors: ids, states and kinds.

Never a value, a page's text or a task's result: they would stay in Temporal's history.
"""

from __future__ import annotations

from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from browser_agent.keeper.temporal.messages import OpenQuestion, RunStatus
from browser_agent.states import QuestionKind, RunState
from browser_agent.store import Store
from browser_agent.store.answers import allowed
from browser_agent.store.records import QuestionRow

_NO_NEWS = frozenset({"Superseded", "InOtherHands"})
"""Errors that only say that another keeper has the run."""
_PASSES = frozenset({"StoreUnusable"})
"""Errors after which Temporal may try an activity again by itself, unless its policy says otherwise."""
_LOOKED_AGAIN = frozenset({QuestionKind.OUTCOME, QuestionKind.VALUES})


def run_status(store: Store, run: str) -> RunStatus:
    """The status of a run. Raises `UnknownName` if there is no such run."""
    row = store.leases.run(run)
    questions = [_open(question) for question in store.inbox.questions(run, open_only=True)]
    raised = (row.error_kind or "") if row.state is RunState.RAISED else ""
    return RunStatus(run, str(row.state), row.attempt, questions, raised)


def _open(row: QuestionRow) -> OpenQuestion:
    return OpenQuestion(row.id, sorted(str(answer) for answer in allowed(row)), row.kind in _LOOKED_AGAIN)


def application_error(store: Store, error: BaseException) -> ApplicationError:
    """An error in Temporal's form: its kind, and its words without secrets. It is tried again only if it can pass."""
    kind = type(error).__name__
    return ApplicationError(
        store.database.scrubber.text(str(error)),
        type=kind,
        non_retryable=kind not in _PASSES,
        category=ApplicationErrorCategory.BENIGN if kind in _NO_NEWS else ApplicationErrorCategory.UNSPECIFIED,
    )
