"""Pure decisions: what may be concluded from what was seen, and what may be done next.

Each function only decides; its one caller acts. A doubt must never be turned into "not happened", and a gesture must
never be made again without a proven absence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import assert_never

from browser_agent.states import GestureState
from browser_agent.wire import WireFact, WireReport
from observers import Accepted, Outcome
from observers.request_pattern import matches_request

REJECTED_STATUSES = frozenset({400, 401, 402, 403, 404, 405, 406, 411, 413, 414, 415, 422, 428, 431})
"""A clean no: the request was understood and not carried out (RFC 9110, 15.5). 402: refused for business reasons."""

MAY_BE_DECLARED = frozenset({408, 409, 423, 425, 429, 500, 502, 503, 504})
"""These prove nothing by themselves, but a site may document one of them as refused before execution."""

NEVER_SENT_ERRORS = (
    "net::ERR_NAME_NOT_RESOLVED",
    "net::ERR_INTERNET_DISCONNECTED",
    "net::ERR_CERT_",
)
"""The connection was never made. Holds only under the guard: otherwise the error may be that of the browser's second
copy of the request.

ERR_CONNECTION_REFUSED and ERR_ADDRESS_UNREACHABLE aren't among them: they also come from the read side, after the
request was delivered (measured in a network namespace with a small tcp_retries2).
"""


_CALL_LOG = "Call log:"
_FOUND = "locator resolved to"
# One line, or several equal ones that are logged as one, after their number and a multiplication sign.
_PERFORMING = re.compile(r"\s*(?:-\s*)?(?:\d+ \u00d7 )?performing\b")


class Move(StrEnum):
    """What to do after a verdict."""

    CARRY_ON = "carry_on"
    MAY_BE_MADE_AGAIN = "may_be_made_again"  # within the budget of its step
    ASK = "ask"


def next_move(outcome: Outcome, *, clear: bool) -> Move:
    """Decide what to do after a verdict.

    Args:
        outcome: the outcome of the step's last gesture.
        clear: there is no contradiction, and at most one effect.
    """
    match outcome:
        case Outcome.happened:
            return Move.CARRY_ON if clear else Move.ASK
        case Outcome.not_happened:
            return Move.MAY_BE_MADE_AGAIN
        case Outcome.unknown:
            return Move.ASK
        case _:
            assert_never(outcome)


def approval_covers(*, approved: bool, until_done: bool, expired: bool, used_by: Sequence[GestureState]) -> bool:
    """Whether a person's decision on a step call allows its next gesture to be dispatched.

    Args:
        approved: the person said yes.
        until_done: the approval also covers gestures that are made again.
        expired: the approval has expired.
        used_by: the states of the gestures dispatched under it so far. A refused one has sent nothing, so it doesn't
            count as a use.
    """
    undone = {GestureState.REFUSED} | ({GestureState.NOT_HAPPENED, GestureState.REJECTED} if until_done else set())
    return approved and not expired and all(state in undone for state in used_by)


def was_performed(log: str) -> bool:
    """Whether the driver's log says that it has begun to perform the input (a test pins the wording)."""
    return any(_PERFORMING.match(line) for line in log.splitlines())


def was_refused(kind: str, log: str, *, seen_in_page: bool | None, page_answers: bool, processes_alive: bool) -> bool:
    """Whether an input call that raised is known not to have reached the page.

    Args:
        kind: the gesture's kind; "" for an input that a task has written itself.
        log: the error's message with the full call log, never a tail of it.
        seen_in_page: the witness saw a trusted event since arming; None = the witness could not be read.
        page_answers: a round trip to the page AFTER the call ended was answered (queued input fires late: measured).
        processes_alive: browser and driver were seen alive by pid after the call.
    """
    if seen_in_page is not False or not page_answers or not processes_alive:
        return False
    if _CALL_LOG not in log or was_performed(log):
        return False
    match kind:
        case "click" | "check" | "double click" | "right click" | "hold" | "drag":
            # The log says when the pointer's input begins: for a hold and a drag, when the button goes down.
            return True
        case "press" | "select" | "upload":
            # The log has no line for them, and no witness sees them because they are made by script: an `onchange`
            # that posts and does not return gives a time-out and one write (measured).
            return _FOUND not in log
        case _:  # untested kinds: in doubt from `dispatching` on
            return False


def nothing_left(report: WireReport) -> bool:
    """Whether nothing of the gesture can have left the browser: the gate was armed throughout and released nothing.

    Valid only for a report that is read AFTER the browser was confirmed dead, because requests released while it was
    being ended count. Unless the declared commit request itself was held at the gate, a GET that passed may have been
    the commit.
    """
    commit_held = any(fact.declared for fact in report.facts)
    unseen = report.sockets or report.workers or report.restarts or (report.reads and not commit_held)
    return report.armed and not report.released and not unseen


def _declared_alone(report: WireReport) -> WireFact | None:
    """The declared commit request, if no other one was seen and it went out once."""
    declared = [fact for fact in report.facts if fact.declared]
    return declared[0] if report.sent_once and len(declared) == 1 and declared[0].released else None


def rejection(report: WireReport, documented: Sequence[int] = ()) -> WireFact | None:
    """The declared commit request, if its answer is a clean no.

    Args:
        report: what the gate saw.
        documented: statuses that the site documents as refused before execution.
    """
    fact = _declared_alone(report)
    if fact is None or fact.status is None:
        return None
    no = fact.status in REJECTED_STATUSES or (fact.status in documented and fact.status in MAY_BE_DECLARED)
    return fact if no else None


def acceptance(report: WireReport, contracts: Sequence[Accepted]) -> WireFact | None:
    """The declared commit request, if its answer means "carried out" by the site's written contract.

    Args:
        report: what the gate saw.
        contracts: what the site's owner has documented; without it an answer proves nothing.
    """
    fact = _declared_alone(report)
    return fact if fact is not None and any(_fulfils(fact, contract) for contract in contracts) else None


def _fulfils(fact: WireFact, contract: Accepted) -> bool:
    if fact.status != contract.status or not matches_request(contract.sends, fact.method, fact.address):
        return False
    return not contract.location or matches_request(f"GET {contract.location}", "GET", fact.location or "")


def never_sent(report: WireReport) -> WireFact | None:
    """The declared commit request, if its connection was never made and nothing else was released."""
    fact = _declared_alone(report)
    if fact is None or len(report.released) != 1 or fact.status is not None or fact.error is None:
        return None
    return fact if fact.error.startswith(NEVER_SENT_ERRORS) else None
