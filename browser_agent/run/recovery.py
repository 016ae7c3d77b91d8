"""Recovery: a gesture in doubt -> observers -> verdict -> move. The one way that a doubt is settled, by the same proof
that settles it on a good day.

Order (each step only if the one before has settled nothing): what write order and the gate prove; the page as it stands
and fresh pages at once; end the browser and see it dead; wait until nothing can arrive late; look again from a new
browser; conclude, or ask. Presence concludes at once, absence never before all its conditions hold. What may never
happen here: a gesture, a reload, a doubt that is given another name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from browser_agent.browser.screenshot import Picture
from browser_agent.errors import OutcomeUnknown, Stopped
from browser_agent.reporting.words import state_in_words
from browser_agent.rules import Move, acceptance, never_sent, next_move, nothing_left, rejection
from browser_agent.run.attempt import Attempt
from browser_agent.run.look import BASELINE, SPACING_SECONDS, Case, Looked, Looker
from browser_agent.run.sign_in import by_routine, ended_words, login_met_by
from browser_agent.states import GestureState, QuestionKind, QuestionState
from browser_agent.store import NewQuestion
from browser_agent.store.records import GestureRow, QuestionRow
from browser_agent.wire import WireFact, WireReport
from observers import Observer, Site, UnknownKind

BACK_OFF_SECONDS = (1.0, 2.0, 4.0, 8.0, 15.0)
LONGEST_WAIT_SECONDS = 15 * 60.0
"""What can arrive later than this is not waited for: a worker held for a day costs more than a question with a time."""
_FINAL = frozenset({GestureState.HAPPENED, GestureState.NOT_HAPPENED, GestureState.REFUSED, GestureState.REJECTED})


def case_of(attempt: Attempt, row: GestureRow) -> Case:
    """The stored gesture as a case to look at.

    Raises:
        UnknownKind: an observer of its proof, or a secret that its baseline shows, is not known here.
    """
    if lost := attempt.store.database.scrubber.covered_unknown(row.baseline or ""):
        raise UnknownKind(f"the secret {lost} isn't known here: what was there before can't be told from what is new")
    intent = json.loads(row.intent)
    proof = tuple(Observer.from_json(stored, sites=attempt.sites) for stored in intent["proof"])
    baseline = BASELINE.validate_json(row.baseline or "[]")
    site = attempt.sites.get(row.site or "")
    return Case(row.id, row.words, proof, baseline, site, dead_at=row.sender_dead_at)


class Recovery:
    """Settles one gesture in doubt, or ends in a question.

    Args:
        attempt: the attempt that looks.
        row: the gesture as the journal holds it.
        case: the gesture's proof; None if it can't be looked for here.
        because: why there is no case.
    """

    def __init__(self, attempt: Attempt, row: GestureRow, case: Case | None, because: str = "") -> None:
        self._because = because
        self._attempt, self._row, self._case = attempt, row, case
        self._looker = Looker(attempt, case) if case is not None else None
        self._looked: Looked | None = None
        self._reasons: tuple[str, ...] = ()
        self._evidence: list[dict[str, Any]] = []
        self._signed_in_anew = False
        self._waited = False  # until an absence could have been proven

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
            return self._move(
                GestureState.REFUSED, reasons=["it was written down, but never dispatched (by write order)"]
            )
        if state is GestureState.DISPATCHING:
            self._row = self._move(GestureState.IN_DOUBT)
        if state is GestureState.ASKED:
            return self._keep_looking(self._open_question())
        self._attempt.tell("in_doubt", f"In doubt: {self._row.words}. Looking what it did.", gesture=self._row.id)
        return self._by_the_wire() or self._at_once() or self._by_contract() or self._by_waiting() or self._ask()

    # what needs no look

    def _by_the_wire(self) -> GestureRow | None:
        """What the gate proves: nothing left the browser, or the site's answer was a clean no."""
        wire = self._attempt.wire(self._row.id)
        self._note_wire(wire)
        documented = self._case.site.rejects if self._case and self._case.site else ()
        if not (rejection(wire, documented) or self._nothing_left(wire) or never_sent(wire)):
            return None
        self._see_dead()
        wire = self._attempt.wire(self._row.id)  # what was let go while the browser was being ended counts
        self._note_wire(wire)
        if (no := rejection(wire, documented)) is not None:
            return self._move(GestureState.REJECTED, reasons=[f"the site said no: {no}"], proven_by=["wire"])
        if self._nothing_left(wire):
            why = "the gate stood from before the input, nothing passed it, and nothing can any more"
            return self._move(GestureState.NOT_HAPPENED, reasons=[why], proven_by=["gate"])
        if (fact := never_sent(wire)) is not None:
            return self._move(GestureState.NOT_HAPPENED, reasons=[f"never sent: {fact}"], proven_by=["wire"])
        return None

    def _nothing_left(self, wire: WireReport) -> bool:
        """In a browser that isn't ours to end, only what the guard refused is known not to have left."""
        return nothing_left(wire) and (self._attempt.may_end or any(fact.refused for fact in wire.facts))

    # looking

    def _at_once(self) -> GestureRow | None:
        """The page as it stands and fresh pages, before anything is ended: presence concludes without waiting."""
        if self._looker is None or (self._case is not None and self._case.dead_at is not None):
            return None
        self._picture()
        return self._concluded(self._look())

    def _by_contract(self) -> GestureRow | None:
        """What the site's owner has written down about the answer that came, unless a look speaks against it."""
        contracts = self._case.site.accepts if self._case and self._case.site else ()
        fact = acceptance(self._attempt.wire(self._row.id), contracts)
        if fact is None or (self._looked is not None and not self._looked.clear):
            return None
        reasons = [f"by the site's written contract this answer means that it was carried out: {fact}"]
        values = self._looked.verdict.values if self._looked is not None else {}
        return self._move(GestureState.HAPPENED, proven_by=["wire"], reasons=reasons, values=values, count=1)

    def _by_waiting(self) -> GestureRow | None:
        """Its sender ended and seen dead, nothing left that can arrive late, and a new browser to look from."""
        if self._looker is None or self._case is None:
            return None
        if self._case.dead_at is None:
            self._see_dead()
        for seconds in self._waits():
            settled = self._concluded(self._look_signed_in())
            if settled is not None:
                return settled
            self._attempt.sleep(seconds)
        self._waited = self._case.safe_from is not None
        return self._concluded(self._look_signed_in())

    def _waits(self) -> Iterator[float]:
        """Seconds to wait before the next look, until nothing can arrive late and two looks are far enough apart.

        Where that is too far away it ends at once: a person is asked, and told from when on an absence is one.
        """
        assert self._case is not None
        yield SPACING_SECONDS
        back_off = iter(BACK_OFF_SECONDS)
        while 0 < (left := self._seconds_to_safe(self._case)) < LONGEST_WAIT_SECONDS:
            self._attempt.tell(
                "waiting", f"A late effect is possible for another {left:.0f} s; looking meanwhile.", seconds=left
            )
            yield min(left + 0.05, next(back_off, BACK_OFF_SECONDS[-1]))
            if self._attempt.stop_asked:
                raise Stopped(f"Stopped while this is in doubt: {self._row.words}. A resume goes on looking.")

    def _seconds_to_safe(self, case: Case) -> float:
        """How long something may still arrive late; none where that is not known, since it is not waited for then."""
        return (case.safe_from - self._attempt.clock.now()).total_seconds() if case.safe_from is not None else 0.0

    def _look(self) -> Looked:
        assert self._looker is not None
        looked = self._looked = self._looker.look(self._attempt.wire(self._row.id))
        verdict = looked.verdict
        self._reasons = (*verdict.reasons, *verdict.missing)
        self._evidence = [kept.model_dump(mode="json") for seen in looked.observations for kept in seen.evidence]
        return looked

    def _look_signed_in(self) -> Looked:
        """Look; where a login page came, sign in by the task's routine, once, and look again. The browser that made the
        gesture is ended by now, so that the acting page is no evidence any more."""
        looked = self._look()
        sites = self._signed_out(looked) if self._attempt.may_end and not self._signed_in_anew else []
        self._signed_in_anew = self._signed_in_anew or bool(sites)
        if not sites or any(by_routine(self._attempt, site) is not None for site in sites):
            return looked
        return self._look()

    def _signed_out(self, looked: Looked | None) -> list[Site]:
        """The sites whose login page came instead of what a look wanted to read."""
        return login_met_by(self._case.proof, looked.observations) if self._case and looked else []

    def _concluded(self, looked: Looked) -> GestureRow | None:
        """Settle the gesture if the look's verdict does; None while it is unknown or only a person can tell."""
        verdict = looked.verdict
        facts = {"reasons": list(verdict.reasons), "values": verdict.values, "count": verdict.count}
        match next_move(verdict.outcome, clear=looked.clear):
            case Move.CARRY_ON:
                return self._move(GestureState.HAPPENED, proven_by=json.loads(looked.proven_by), **facts)
            case Move.MAY_BE_MADE_AGAIN:
                ids = [kept for kept in looked.ids if kept]
                return self._move(GestureState.NOT_HAPPENED, reasons=_absence_words(looked), proven_by=ids)
            case Move.ASK:
                return None

    # asking

    def _ask(self) -> GestureRow:
        self._row = self._move(GestureState.UNKNOWN, reasons=list(self._reasons))
        question = self._attempt.store.inbox.ask(self._attempt.lease, self._question())
        self._attempt.tell("question", question.words, question=question.id, reasons=list(self._reasons))
        return self._keep_looking(question)

    def _question(self) -> NewQuestion:
        late = self._case.late_commit if self._case else None
        reasons = self._reasons or (self._because,)
        if late is None and self._case is not None and self._case.site is not None:
            reasons += (_LATE_COMMIT_HELP.format(site=self._case.site.name),)
        reasons += tuple(ended_words(self._attempt, site) for site in self._signed_out(self._looked))
        reasons += wire_words(self._attempt, self._row)
        return NewQuestion(
            kind=QuestionKind.OUTCOME,
            words=f"Did this happen: {self._row.words}?",
            reasons=reasons,
            evidence=tuple(self._evidence),
            last_confirmed=last_confirmed(self._attempt, self._row),
            safe_step=_SAFE_STEP.format(site=self._row.site or "the site", words=self._row.words),
            earliest_safe=self._case.safe_from if self._case else None,
            step=self._row.step_id,
            gesture=self._row.id,
        )

    def _open_question(self) -> QuestionRow:
        questions = self._attempt.store.inbox.questions(self._row.run_id, open_only=True)
        found = next((row for row in questions if row.gesture_id == self._row.id), None)
        if found is None:  # it was settled between two reads
            raise OutcomeUnknown(self._row.words, "(answered)")
        self._reasons = tuple(json.loads(found.reasons))
        return found

    def _keep_looking(self, question: QuestionRow) -> GestureRow:
        """Look again with back-off, since what is proven needs no person; end as unknown when the time is over."""
        begun = self._attempt.clock.now()
        back_off = iter(BACK_OFF_SECONDS)
        while True:
            settled = self._answered(question) or self._looked_again(question)
            if settled is not None:
                return settled
            self._count_from_death(question)
            left = (self._looked_until(begun) - self._attempt.clock.now()).total_seconds()
            if left <= 0 or self._attempt.stop_asked:
                raise OutcomeUnknown(self._row.words, question.id, self._reasons)
            self._attempt.sleep(max(SPACING_SECONDS, min(left, next(back_off, BACK_OFF_SECONDS[-1]))))

    def _looked_again(self, question: QuestionRow) -> GestureRow | None:
        if self._looker is None or self._case is None:
            return None
        looked = self._look_signed_in() if self._case.dead_at is not None else self._look()
        settled = self._concluded(looked)
        if settled is not None:
            self._attempt.store.inbox.close(self._attempt.lease, question.id, "a later look has proven it")
        return settled

    def _count_from_death(self, question: QuestionRow) -> None:
        """The sender's death may have been attested since the question was put: from then on an absence can be one."""
        if self._case is None or self._case.dead_at is not None or not self._attempt.senders_seen:
            return
        self._see_dead()
        if self._case.safe_from is not None:
            self._attempt.store.inbox.set_earliest_safe(self._attempt.lease, question.id, self._case.safe_from)

    def _looked_until(self, begun: datetime) -> datetime:
        """As long as is wanted; where an absence could be proven soon and that was not waited for, until then."""
        only_look = self._attempt.options.only_look
        until = begun + timedelta(seconds=0.0 if only_look else self._attempt.options.keep_looking_seconds)
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

    # small acts

    def _see_dead(self) -> None:
        """End the browser that made the gesture, see it dead, and write down when."""
        dead_at = self._attempt.end_browser()
        if not self._attempt.senders_seen:  # another machine's browser may live on
            return
        self._attempt.store.journal.record(self._attempt.lease, self._row.id, sender_dead_at=dead_at)
        if self._case is not None:
            self._case.dead_at = dead_at

    def _picture(self) -> None:
        """A picture of the page as it stands after the interruption, before anything else is done to it."""
        taken = self._attempt.acting.picture()
        found = {"after": taken.kept} if isinstance(taken, Picture) else {"change": _no_picture(taken.reason)}
        self._attempt.store.journal.record(self._attempt.lease, self._row.id, **found)

    def _note_wire(self, wire: WireReport) -> None:
        if wire.facts or wire.restarts:
            self._attempt.store.journal.record(self._attempt.lease, self._row.id, wire=wire.model_dump_json())

    def _move(self, state: GestureState, **facts: Any) -> GestureRow:
        columns = {name: json.dumps(fact) if isinstance(fact, list | dict) else fact for name, fact in facts.items()}
        row = self._attempt.store.journal.move(self._attempt.lease, self._row.id, state, **columns)
        if state in _FINAL:
            words = f"{state_in_words(row)}: {row.words}"
            details = {"values": facts.get("values"), "reasons": facts.get("reasons", [])}
            self._attempt.tell("settled", words, outcome=str(state), gesture=row.id, **details)
        return row


_SAFE_STEP = (
    "Look at {site} yourself for: {words}. If it is there, answer happened. If it is not, answer not-happened; "
    "the run then makes it as a new gesture. If you cannot tell, leave the question open: each resume looks again."
)
_LATE_COMMIT_HELP = (
    "how late {site} may still carry a request out is not declared: it is its request time-out plus what proxies and "
    "job queues before it may add; declare it as late_commit of the site, and an absence can be proven by itself"
)


def _no_picture(reason: str) -> str:
    return json.dumps({"no_picture": reason})


def wire_words(attempt: Attempt, row: GestureRow) -> tuple[str, ...]:
    """What the wire told of a gesture: from its keeper, else as it was stored, else at least what was let go."""
    wire = attempt.wire(row.id)
    if not wire.released and row.wire is not None:
        wire = WireReport.model_validate_json(row.wire)
    if not wire.released:
        let_go = attempt.store.journal.releases(row.id)
        facts = tuple(WireFact(method=one.method, address=one.address, at=one.at, released=True) for one in let_go)
        wire = wire.model_copy(update={"facts": facts})
    return wire.in_words


def by_person(gesture: GestureRow) -> bool:
    """Whether a person's answer has settled the gesture."""
    return any(str(proof).startswith("answer to ") for proof in json.loads(gesture.proven_by or "[]"))


def last_confirmed(attempt: Attempt, row: GestureRow) -> str:
    """The last change of the run that is known to have happened, in words."""
    happened = [g for g in attempt.store.journal.gestures(row.run_id) if g.state is GestureState.HAPPENED]
    if not happened:
        return "none in this run"
    values = json.loads(happened[-1].values or "{}")
    told = ", ".join(f"{name} = {value}" for name, value in values.items())
    return happened[-1].words + (f" ({told})" if told else "")


def _absence_words(looked: Looked) -> list[str]:
    seen = [
        f"{said.observer}: not there, and every condition of absence holds"
        for said in looked.observations
        if said.complete
    ]
    return [*looked.verdict.reasons, *seen]


__all__ = ["Recovery", "UnknownKind", "by_person", "case_of", "last_confirmed", "wire_words"]
