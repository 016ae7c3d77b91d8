"""Recovery of a gesture in doubt: observers look, the verdict weighs what they saw, one move settles the gesture.

The proof is the one that settles it on a good day. The order, each step only if those before it settled nothing:
(1) what write order and the gate prove; (2) the page as it stands and fresh pages, at once; (3) the site's written
contract; (4) the browser ended and confirmed dead, a wait until nothing can arrive late, a look from a new browser;
(5) a question. Presence concludes at once, absence only when all of its conditions hold. Recovery makes no gesture and
reloads no page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from browser_agent.browser.screenshot import Picture
from browser_agent.errors import OutcomeUnknown, Stopped, WaitingForPerson
from browser_agent.reporting.words import state_in_words
from browser_agent.rules import Move, acceptance, never_sent, next_move, nothing_left, rejection
from browser_agent.run import contradictions
from browser_agent.run.attempt import Attempt
from browser_agent.run.look import SPACING_SECONDS, Case, Looker, LookResult, stored_case
from browser_agent.run.outcome_question import outcome_question
from browser_agent.run.sign_in import run_login, signed_out_sites
from browser_agent.run.wire_conditions import in_contract, never_connected, nothing_was_sent, said_no
from browser_agent.states import OPEN_GESTURE_STATES, GestureState, QuestionKind, QuestionState
from browser_agent.store.records import GestureRow, QuestionRow
from browser_agent.wire import WireFact, WireReport
from observers import Condition, Site, UnknownKind

BACK_OFF_SECONDS = (1.0, 2.0, 4.0, 8.0, 15.0)
LONGEST_WAIT_SECONDS = 15 * 60.0
"""A longer wait for late effects isn't made: holding a worker for a day costs more than a question with a time."""
_FINAL = frozenset({GestureState.HAPPENED, GestureState.NOT_HAPPENED, GestureState.REFUSED, GestureState.REJECTED})


def settle_open_gestures(attempt: Attempt) -> None:
    """Settle every gesture that earlier attempts left open.

    Raises:
        WaitingForPerson, OutcomeUnknown: a person must answer first.
    """
    run = attempt.lease.run
    asked = {question.gesture_id: question for question in attempt.store.inbox.questions(run, open_only=True)}
    for gesture in attempt.store.journal.gestures(run):
        if gesture.state not in OPEN_GESTURE_STATES:
            continue
        question = asked.get(gesture.id)
        if question is not None and question.kind is QuestionKind.ALREADY_THERE:
            raise WaitingForPerson(question.words, question.id)
        try:
            recovery = Recovery(attempt, gesture, stored_case(attempt, gesture))
        except UnknownKind as unknown:
            recovery = Recovery(attempt, gesture, None, str(unknown))
        recovery.settle()


class Recovery:
    """Settles one gesture in doubt, or ends in a question.

    Args:
        attempt: the attempt that looks.
        row: the gesture's row.
        case: its proof; None if it can't be looked for here.
        because: why there is no case.
    """

    def __init__(self, attempt: Attempt, row: GestureRow, case: Case | None, because: str = "") -> None:
        self._because = because
        self._attempt, self._row, self._case = attempt, row, case
        self._looker = Looker(attempt, case) if case is not None else None
        self._looked: LookResult | None = None
        self._reasons: tuple[str, ...] = ()
        self._login_tried = False
        self._waited = False  # for long enough that an absence could have been proven
        self._missed = False  # by a look after the sender's death
        self._said: set[str] = set()

    def settle(self) -> GestureRow:
        """Settle the gesture.

        Returns:
            The gesture's row in a final state.

        Raises:
            OutcomeUnknown: nothing proves it either way; a question waits.
            Superseded: another attempt owns the run.
        """
        state = self._row.state
        if state is GestureState.INTENT:
            never = "it was recorded, but never dispatched (by the order of writes)"
            return self._move(GestureState.REFUSED, conditions=[nothing_was_sent(never)], reasons=[never])
        if state is GestureState.DISPATCHING:
            self._row = self._move(GestureState.IN_DOUBT)
        if state is GestureState.ASKED:
            return self._keep_looking(self._open_question())
        self._attempt.emit("in_doubt", f"In doubt: {self._row.words}. Looking for what it did.", gesture=self._row.id)
        return self._by_the_wire() or self._at_once() or self._by_contract() or self._by_waiting() or self._ask()

    # what needs no look

    def _by_the_wire(self) -> GestureRow | None:
        """Settle it by what the gate proves: nothing left the browser.

        A site's clean no, or a connection that was never made, settles it only if a look agrees: such answers come
        after a commit too.
        """
        wire = self._attempt.wire(self._row.id)
        self._record_wire(wire)
        if not (rejection(wire, self._documented) or self._nothing_left(wire) or never_sent(wire)):
            return None
        self._end_sender()
        wire = self._attempt.wire(self._row.id)  # what was released while the browser was being ended counts
        self._record_wire(wire)
        if self._nothing_left(wire):
            why = "the gate was armed before the input, nothing passed it, and nothing can pass it any more"
            proof = [nothing_was_sent(why)]
            return self._move(GestureState.NOT_HAPPENED, conditions=proof, reasons=[why], proven_by=["gate"])
        no, unsent = rejection(wire, self._documented), never_sent(wire)
        if (no is None and unsent is None) or self._looker is None:
            return None
        looked = self._look_signed_in()
        if not looked.agrees_with_refusal:
            return self._concluded(looked)
        if unsent is None:
            return self._reject(no, looked) if no is not None else None
        proof = [never_connected(unsent), *looked.refusal]
        reasons = [f"never sent: {unsent}"]
        return self._move(GestureState.NOT_HAPPENED, conditions=proof, reasons=reasons, proven_by=["wire"])

    @property
    def _documented(self) -> Sequence[int]:
        """The statuses that the site documents as rejections."""
        return self._case.site.rejects if self._case and self._case.site else ()

    def _reject(self, no: WireFact, looked: LookResult) -> GestureRow:
        proof, reasons = [said_no(no), *looked.refusal], [f"the site said no: {no}"]
        return self._move(GestureState.REJECTED, conditions=proof, reasons=reasons, proven_by=["wire"])

    def _nothing_left(self, wire: WireReport) -> bool:
        """In a browser that isn't ours to end, only a request that the guard refused is known not to have left."""
        return nothing_left(wire) and (self._attempt.may_end or any(fact.refused for fact in wire.facts))

    # looking

    def _at_once(self) -> GestureRow | None:
        """Look at the page as it stands and at fresh pages, before anything is ended: presence needs no wait."""
        if self._looker is None or (self._case is not None and self._case.dead_at is not None):
            return None
        self._record_picture()
        return self._concluded(self._look())

    def _by_contract(self) -> GestureRow | None:
        """Settle it by what the site's owner declared about such an answer, unless a look contradicts that."""
        contracts = self._case.site.accepts if self._case and self._case.site else ()
        fact = acceptance(self._attempt.wire(self._row.id), contracts)
        if fact is None or (self._looked is not None and not self._looked.clear):
            return None
        reasons = [f"by the site's written contract this answer means that it was carried out: {fact}"]
        values = self._looked.verdict.values if self._looked is not None else {}
        facts = {"proven_by": ["wire"], "reasons": reasons, "values": values, "count": 1}
        return self._move(GestureState.HAPPENED, conditions=[in_contract(fact)], **facts)

    def _by_waiting(self) -> GestureRow | None:
        """End the sender and see it dead, wait until nothing can arrive late, and look from a new browser."""
        if self._looker is None or self._case is None:
            return None
        if self._case.dead_at is None:
            self._end_sender()
        for seconds in self._waits():
            settled = self._concluded(self._look_signed_in())
            if settled is not None:
                return settled
            self._attempt.sleep(seconds)
        self._waited = self._case.safe_from is not None
        return self._concluded(self._look_signed_in())

    def _waits(self) -> Iterator[float]:
        """Seconds to wait before the next look, until nothing can arrive late and two looks are far enough apart.

        If that takes too long there is no wait: a person is asked, with the time from which an absence counts.
        """
        assert self._case is not None
        yield SPACING_SECONDS
        back_off = iter(BACK_OFF_SECONDS)
        while 0 < (left := self._seconds_to_safe(self._case)) < LONGEST_WAIT_SECONDS:
            self._attempt.emit(
                "waiting", f"A late effect is possible for another {left:.0f} s; looking meanwhile.", seconds=left
            )
            yield min(left + 0.05, next(back_off, BACK_OFF_SECONDS[-1]))
            if self._attempt.stop_asked:
                raise Stopped(f"Stopped while this is in doubt: {self._row.words}. A resume looks again.")

    def _seconds_to_safe(self, case: Case) -> float:
        """How long something may still arrive late; 0 if that isn't known, since there is no wait then."""
        return (case.safe_from - self._attempt.clock.now()).total_seconds() if case.safe_from is not None else 0.0

    def _look(self) -> LookResult:
        assert self._looker is not None
        looked = self._looked = self._looker.look(self._attempt.wire(self._row.id))
        verdict = looked.verdict
        self._reasons = (*verdict.reasons, *verdict.missing)
        self._say_contradictions(looked)
        return looked

    def _say_contradictions(self, looked: LookResult) -> None:
        """Say each declaration that the look contradicts, once."""
        case = self._case
        assert case is not None
        found = contradictions.of_lists(case.proof, looked.observations)
        if case.dead_at is not None and case.late_commit is not None and looked.happened and self._missed:
            since = self._attempt.clock.now() - case.dead_at
            found += contradictions.of_late_commit(since, case.late_commit + case.staleness)
        for words in found:
            if words not in self._said:
                self._attempt.emit("declaration", words, gesture=self._row.id)
        self._said |= set(found)
        self._missed |= case.dead_at is not None and not looked.happened

    def _look_signed_in(self) -> LookResult:
        """Look; if a login page was shown, sign in by the task's routine, once, and look again.

        The browser that made the gesture is ended by now, so the task's page is no evidence any more.
        """
        looked = self._look()
        sites = self._signed_out(looked) if self._attempt.may_end and not self._login_tried else []
        self._login_tried = self._login_tried or bool(sites)
        if not sites or any(run_login(self._attempt, site) is not None for site in sites):
            return looked
        return self._look()

    def _signed_out(self, looked: LookResult | None) -> list[Site]:
        """The sites that showed a login page instead of what the look wanted to read."""
        return signed_out_sites(self._case.proof, looked.observations) if self._case and looked else []

    def _concluded(self, looked: LookResult) -> GestureRow | None:
        """Settle the gesture by the look's verdict; None if that is unknown, or only a person can decide."""
        verdict = looked.verdict
        facts = {"reasons": list(verdict.reasons), "values": verdict.values, "count": verdict.count}
        match next_move(verdict.outcome, clear=looked.clear):
            case Move.CARRY_ON:
                proven_by = json.loads(looked.proven_by)
                return self._move(GestureState.HAPPENED, conditions=verdict.conditions, proven_by=proven_by, **facts)
            case Move.MAY_BE_MADE_AGAIN:
                no = rejection(self._attempt.wire(self._row.id), self._documented)
                if no is not None:
                    return self._reject(no, looked)
                facts = {
                    "reasons": _absence_words(looked, self._case),
                    "proven_by": [kept for kept in looked.ids if kept],
                }
                return self._move(GestureState.NOT_HAPPENED, conditions=verdict.conditions, **facts)
            case Move.ASK:
                return None

    # asking

    def _ask(self) -> GestureRow:
        checked = self._looked.verdict.conditions if self._looked is not None else ()
        self._row = self._move(GestureState.UNKNOWN, conditions=checked, reasons=list(self._reasons))
        signed_out = self._signed_out(self._looked)
        reasons = self._reasons or (self._because,)
        asked = outcome_question(
            self._attempt, self._row, self._case, reasons=reasons, looked=self._looked, signed_out=signed_out
        )
        question = self._attempt.put(asked)
        self._attempt.emit("question", question.words, question=question.id, reasons=list(self._reasons))
        return self._keep_looking(question)

    def _open_question(self) -> QuestionRow:
        questions = self._attempt.store.inbox.questions(self._row.run_id, open_only=True)
        found = next((row for row in questions if row.gesture_id == self._row.id), None)
        if found is None:  # it was settled between two reads
            raise OutcomeUnknown(self._row.words, "(answered)")
        self._reasons = tuple(json.loads(found.reasons))
        return found

    def _keep_looking(self, question: QuestionRow) -> GestureRow:
        """Look again with back-off, since a proof makes the question unnecessary; raise when the time is over."""
        begun = self._attempt.clock.now()
        back_off = iter(BACK_OFF_SECONDS)
        for looks in count(1):
            settled = self._answered(question) or self._looked_again(question)
            if settled is not None:
                return settled
            self._count_from_death(question)
            until = self._looked_until(begun)
            left = (until - self._attempt.clock.now()).total_seconds()
            over = left <= 0 and (looks > 1 or until == begun)  # one slow look is no two that agree
            if over or self._attempt.stop_asked:
                raise OutcomeUnknown(self._row.words, question.id, self._reasons)
            self._attempt.sleep(max(SPACING_SECONDS, min(left, next(back_off, BACK_OFF_SECONDS[-1]))))
        raise AssertionError("it is looked until an answer, a proof or the end of the time")

    def _looked_again(self, question: QuestionRow) -> GestureRow | None:
        if self._looker is None or self._case is None:
            return None
        looked = self._look_signed_in() if self._case.dead_at is not None else self._look()
        settled = self._concluded(looked)
        if settled is not None:
            self._attempt.store.inbox.close(self._attempt.lease, question.id, "a later look has proven it")
        return settled

    def _count_from_death(self, question: QuestionRow) -> None:
        """Date the question once the sender's death has been attested: from then on an absence can be proven."""
        if self._case is None or self._case.dead_at is not None or not self._attempt.senders_seen:
            return
        self._end_sender()
        if self._case.safe_from is not None:
            self._attempt.store.inbox.set_earliest_safe(self._attempt.lease, question.id, self._case.safe_from)

    def _looked_until(self, begun: datetime) -> datetime:
        """When looking ends: as the options say, or once an absence can be proven, if that is soon and still ahead."""
        only_look = self._attempt.options.only_look
        until = begun + timedelta(seconds=0.0 if only_look else self._attempt.options.keep_looking)
        safe = self._case.safe_from if self._case is not None and not self._waited else None
        soon = begun + timedelta(seconds=0.0 if only_look else LONGEST_WAIT_SECONDS)
        if safe is None or safe > soon:
            return until
        return max(until, safe, begun + timedelta(seconds=SPACING_SECONDS))

    def _answered(self, question: QuestionRow) -> GestureRow | None:
        if self._attempt.store.inbox.question(question.id).state is QuestionState.OPEN:
            return None
        row = self._attempt.store.journal.gesture(self._row.id)
        if row.state not in _FINAL:
            raise OutcomeUnknown(self._row.words, question.id, ("the run was abandoned by a person",))
        return row

    # recording

    def _end_sender(self) -> None:
        """End the browser that made the gesture, see it dead, and record when."""
        dead_at = self._attempt.end_browser()
        if not self._attempt.senders_seen:  # another machine's browser may still be alive
            return
        self._attempt.store.journal.record(self._attempt.lease, self._row.id, sender_dead_at=dead_at)
        if self._case is not None:
            self._case.dead_at = dead_at

    def _record_picture(self) -> None:
        """Take a picture of the page as it stands after the interruption, before anything else is done to it."""
        taken = self._attempt.task_page.picture()
        if isinstance(taken, Picture):
            found = {"after": taken.digest}
        else:
            found = {"change": json.dumps({"no_picture": taken.reason})}
        self._attempt.store.journal.record(self._attempt.lease, self._row.id, **found)

    def _record_wire(self, wire: WireReport) -> None:
        if wire.facts or wire.restarts:
            self._attempt.store.journal.record(self._attempt.lease, self._row.id, wire=wire.model_dump_json())

    def _move(self, state: GestureState, conditions: Sequence[Condition] = (), **facts: Any) -> GestureRow:
        columns = {name: json.dumps(fact) if isinstance(fact, list | dict) else fact for name, fact in facts.items()}
        row = self._attempt.store.journal.move(self._attempt.lease, self._row.id, state, conditions, **columns)
        if state in _FINAL:
            words = f"{state_in_words(row)}: {row.words}"
            details = {"values": facts.get("values"), "reasons": facts.get("reasons", [])}
            self._attempt.emit("settled", words, outcome=str(state), gesture=row.id, **details)
        return row


def _absence_words(looked: LookResult, case: Case | None) -> list[str]:
    seen = [
        f"{said.observer}: not there, and every condition of absence holds"
        for said in looked.observations
        if said.complete
    ]
    refusal = case.returned_form if case is not None else ()
    returned = [f"the site answered with the same form again: {' '.join(refusal)}"] if refusal else []
    return [*looked.verdict.reasons, *returned, *seen]
