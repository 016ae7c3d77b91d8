"""The pipeline of one gesture: intent written -> fence passed -> made once -> settled by its proof.

The gesture is written down before the browser is touched, and made only while the lease holds and the gate is armed.
Its proof settles it, never the fact that a call returned. There is one input for one intent.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from playwright.sync_api import Error

from browser_agent.browser.input_witness import Witness
from browser_agent.browser.recorder import Recorder
from browser_agent.browser.screenshot import NoPicture, Picture
from browser_agent.errors import MachineTrouble, NotApproved, Refused, WrongTask
from browser_agent.rules import never_sent, nothing_left, rejection, was_performed, was_refused
from browser_agent.run import contradictions
from browser_agent.run.after_picture import after_picture
from browser_agent.run.attempt import Attempt
from browser_agent.run.baseline import Baseline
from browser_agent.run.look import BASELINE, Case, Looker, LookResult
from browser_agent.run.prior_effect import PriorEffect
from browser_agent.run.recovery import Recovery
from browser_agent.run.returned_form import errors_of_returned_form
from browser_agent.run.step_history import StepHistory
from browser_agent.run.wire_conditions import nothing_was_sent, said_no
from browser_agent.script.gestures import Gesture
from browser_agent.states import GestureState, Point
from browser_agent.store import Intent
from browser_agent.store.records import GestureRow, StepRow
from browser_agent.wire import NO_SITE, SiteWrites, WireFact, WireReport
from observers import Observation, Site
from observers.site import origin_of

LOOK_EVERY_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.8)
_LATE = "found just before it would have been made again: an earlier gesture of this step has taken effect late"


@dataclass(frozen=True)
class Refusal:
    """Why a gesture was not made; `log` = Playwright's message, if its input call failed."""

    because: str
    log: str | None = None


@dataclass(frozen=True)
class GesturePipeline:
    """Makes the next gesture of a step.

    Args:
        attempt: the attempt that makes it.
        step: the step's row.
        site: the site that the step changes.
        history: the step's gestures so far, all settled.
        ordinal: its number among the run's gestures, from 1.
        approval: id of the approval that it is made on. None = it needs none.
        reverse: name of the step that can reverse it, if there is one.
    """

    attempt: Attempt
    step: StepRow
    site: Site | None
    history: StepHistory
    ordinal: int
    approval: str | None = None
    reverse: str | None = None

    def make(self, gesture: Gesture[Any]) -> GestureRow:
        """Make the gesture and settle it.

        Returns:
            Its row: happened, not_happened, refused or rejected.

        Raises:
            ProofTooThin: its proof could never supply the step's value; nothing was written or made.
            WrongTask: its target is on a page that isn't the run's; nothing was written or made.
            SignedOut: the session of a site has ended; nothing was written or made.
            MachineTrouble: browser, driver or machine failed; the next attempt begins by looking.
            OutcomeUnknown, WaitingForPerson: a question waits.
            Superseded: another attempt owns the run.
        """
        gesture.check()
        self._check_page(gesture)
        baseline = self._baseline(gesture)
        for words in contradictions.before(gesture.proof, baseline, self.site, gesture.sends):
            self.attempt.emit("declaration", words)
        target = gesture.read_target()
        row = self._intend(gesture, baseline)
        case = Case(row.id, row.words, gesture.proof, baseline, self.site, gesture.sends)
        case.earlier_may_be_late = self.history.may_be_late
        try:
            prior = PriorEffect(self.attempt, case, row, self.history)
            if (late := prior.late()) is not None:
                settled = self._happened(row, late, _LATE)
            else:
                prior.ask_if_there()
                settled = self._make_once(gesture, case, row, target)
        except Exception as error:  # never the script's to catch: the gesture may be in doubt
            said = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
            broken = self.attempt.what_broke(error)
            raise MachineTrouble(f"Making {row.words} was cut off: {broken or said}") from error
        self.attempt.await_downloads()
        self.attempt.reach(Point.SETTLED, self.ordinal)
        return settled

    def _make_once(self, gesture: Gesture[Any], case: Case, row: GestureRow, target: str | None) -> GestureRow:
        """Make the input, wait for what it shows, and settle the gesture by that."""
        in_order = self.attempt.task_page.dialogs_in_order([accept.matches for accept in gesture.dialogs])
        with in_order, self.attempt.recorder_for(row.id, gesture) as recorder:
            refusal = self._dispatch(gesture, row, recorder, target)
            if refusal is not None:
                return self._refuse(row, refusal)
            seen = self._wait_for_proof(gesture, case, row)
            if isinstance(seen, LookResult):
                return self._happened(row, seen)
            case.returned_form = errors_of_returned_form(self.attempt, gesture, self.attempt.wire(row.id))
            return (self._rejected(case, row) if seen is not None else None) or self._doubt(case, row)

    # written down before anything is made

    def _check_page(self, gesture: Gesture[Any]) -> None:
        context = gesture.target.page.context
        if context == self.attempt.task_page.context:
            return
        if context.browser is not None and not context.browser.is_connected():
            raise MachineTrouble(f"The browser died while this was prepared: {gesture.intent}. Nothing was made.")
        raise WrongTask(f"“{gesture.intent}” is on a page of another browser context, where nothing guards it.")

    def _baseline(self, gesture: Gesture[Any]) -> tuple[Observation, ...]:
        """What the observers see before the gesture, in this attempt: every one that counts must be able to tell."""
        baseline = Baseline(self.attempt, self.step, self.history, gesture.intent, gesture.proof)
        return baseline.readable()

    def _intend(self, gesture: Gesture[Any], baseline: tuple[Observation, ...]) -> GestureRow:
        box = _box(gesture)
        picture = self.attempt.task_page.picture()
        if isinstance(picture, NoPicture) and picture.unsaved:
            raise MachineTrouble(f"{picture.reason} Nothing is made that can't be shown: {gesture.intent}.")
        stored = {**gesture.stored(), "no_picture": picture.reason if isinstance(picture, NoPicture) else None}
        intent = Intent(
            kind=gesture.kind,
            words=gesture.intent,
            intent=json.dumps(stored),
            site=self.site.name if self.site else None,
            account=self.site.account if self.site else None,
            sends=gesture.sends,
            baseline=BASELINE.dump_json(baseline).decode(),
            before=picture.digest if isinstance(picture, Picture) else None,
            target_box=json.dumps(box) if box else None,
            reverse=self.reverse,
        )
        self.attempt.reach(Point.BEFORE_INTENT, self.ordinal)
        number = len(self.history.gestures) + 1
        row = self.attempt.store.journal.intend(self.attempt.lease, self.step, number, intent)
        self.attempt.reach(Point.INTENT, self.ordinal)
        return row

    # made once

    def _dispatch(
        self, gesture: Gesture[Any], row: GestureRow, recorder: Recorder, target: str | None
    ) -> Refusal | None:
        """Pass the fence and make the input; returns why it was not made, None if it was or may have been."""
        seconds = gesture.timeout_or(self.attempt.options.gesture_timeout)
        try:  # before the fence: actionability may take a while, and the lease must not run out behind it
            gesture.wait_actionable(seconds * 1000)
        except Refused as refused:
            return Refusal(refused.because)
        if self.attempt.options.pause_before_gesture:
            self.attempt.pause(gesture.intent)
        self.attempt.checkpoint(gesture.intent)
        guarded = self.attempt.arm(row.id, gesture.sends, self._site_writes)
        if not guarded and self.attempt.may_end:  # a browser of our own is guarded, or nothing is made in it
            return Refusal("The gate cannot guard this browser (pooled connections cannot be closed).")
        witness = Witness(gesture.target.page)
        witness.arm()
        recorder.mark()  # before the fence: a page that hangs may delay it
        if target is not None and (now := gesture.read_target()) not in {target, None}:
            return Refusal(_changed(target, now or ""))
        try:
            self.attempt.store.journal.dispatch(self.attempt.lease, row.id, guarded=guarded, approval=self.approval)
        except NotApproved:
            return Refusal("Its approval expired, or was used, before it was made.")
        self.attempt.reach(Point.DISPATCHING, self.ordinal)
        self.attempt.emit("dispatching", gesture.intent, gesture=row.id)
        self.attempt.restart_step_limit(seconds)
        return self._input(gesture, row, seconds, witness)

    def _input(self, gesture: Gesture[Any], row: GestureRow, seconds: float, witness: Witness) -> Refusal | None:
        log = None
        try:  # its time-out ends before the lease does: the driver waits on its own (measured)
            gesture.make(min(seconds, self.attempt.store.times.input) * 1000)
        except Refused as refused:  # by the kind itself, before it touched the page
            return Refusal(refused.because)
        except Error as error:
            log = error.message
        self.attempt.reach(Point.INPUT, self.ordinal)
        if log is not None and not was_performed(log) and self._never_reached(gesture, row, log, witness):
            return Refusal("The input never reached the page.", log)
        return None

    def _never_reached(self, gesture: Gesture[Any], row: GestureRow, log: str, witness: Witness) -> bool:
        answers, seen = witness.answers(), witness.seen()  # in this order: queued input arrives before the answer
        alive = not self.attempt.broken()
        refused = was_refused(gesture.row, log, seen_in_page=seen, page_answers=answers, processes_alive=alive)
        return refused and nothing_left(self.attempt.wire(row.id))

    # settled by what is seen

    def _wait_for_proof(self, gesture: Gesture[Any], case: Case, row: GestureRow) -> LookResult | WireFact | None:
        """Wait for the proof as a person would, for at most the gesture's `settle` seconds.

        Returns:
            The look that proves it; the site's rejection; None if neither was seen.
        """
        looker = Looker(self.attempt, case)
        until = self.attempt.clock.monotonic() + gesture.settle
        waits = iter(LOOK_EVERY_SECONDS)
        fresh = False
        while self.attempt.browser_alive():
            wire = self.attempt.wire(row.id)
            if (no := rejection(wire, self._documented)) is not None:
                return no
            never_left = self.attempt.task_page.dialogs or any(fact.undeclared for fact in wire.facts)
            if never_sent(wire) is not None or (never_left and nothing_left(wire)):
                return None
            looked = looker.look(wire, fresh=fresh)
            if looked.happened:
                return looked
            if not looked.clear or self.attempt.clock.monotonic() > until or (fresh and wire.given_up):
                return None
            fresh = any(fact.status is not None or fact.error is not None for fact in wire.released)
            self.attempt.sleep(next(waits, LOOK_EVERY_SECONDS[-1]))
        return None

    def _happened(self, row: GestureRow, looked: LookResult, *more: str) -> GestureRow:
        verdict, reasons = looked.verdict, [*more, *looked.verdict.reasons]
        settled = self._move(
            row,
            GestureState.HAPPENED,
            values=json.dumps(verdict.values),
            count=verdict.count,
            reasons=json.dumps(reasons),
            proven_by=looked.proven_by,
            conditions=verdict.conditions,
        )
        self._record_end(row)
        details = {"values": verdict.values, "reasons": reasons, "gesture": row.id}
        self.attempt.emit("settled", f"happened: {row.words}", outcome="happened", **details)
        return settled

    def _rejected(self, case: Case, row: GestureRow) -> GestureRow | None:
        """Settle it by the site's rejection, if that is still the only answer once the page can send nothing more, and
        a look agrees with it."""
        texts, picture = self.attempt.task_page.texts(), self.attempt.task_page.picture()
        looker = Looker(self.attempt, case)
        looker.look(self.attempt.wire(row.id), fresh=False)  # what the page says of the refusal
        self.attempt.end_browser()
        wire = self.attempt.wire(row.id)
        no = rejection(wire, self._documented)
        if no is None or not (looked := looker.look(wire)).agrees_with_refusal:
            return None
        because = f"the site said no: {no}"
        self.attempt.emit("settled", f"rejected: {row.words}", outcome="rejected", reasons=[because], gesture=row.id)
        facts: dict[str, Any] = {"reasons": json.dumps([because, *texts]), "proven_by": json.dumps(["wire"])}
        facts |= {"wire": wire.model_dump_json(), "after": picture.digest if isinstance(picture, Picture) else None}
        return self._move(row, GestureState.REJECTED, conditions=(said_no(no), *looked.refusal), **facts)

    def _refuse(self, row: GestureRow, refusal: Refusal) -> GestureRow:
        reasons = [refusal.because] if refusal.log is None else [refusal.because, _call_log(refusal.log)]
        self.attempt.disarm()
        details = {"outcome": "refused", "reasons": [refusal.because], "gesture": row.id}
        self.attempt.emit("settled", f"refused: {row.words}", **details)
        proof = [nothing_was_sent(refusal.because)]
        return self._move(row, GestureState.REFUSED, conditions=proof, reasons=json.dumps(reasons))

    def _doubt(self, case: Case, row: GestureRow) -> GestureRow:
        """Recover it, since no proof came. With nothing sent, what the task doesn't declare is a refusal: a dialog, or
        another request than the commit request."""
        refusal = self._undeclared(self.attempt.wire(row.id))
        if refusal is not None and nothing_left(self.attempt.wire(row.id)):
            self.attempt.end_browser()
        if refusal is not None and not self.attempt.browser_alive() and nothing_left(self.attempt.wire(row.id)):
            return self._refuse(row, refusal)
        settled = Recovery(self.attempt, self.attempt.store.journal.gesture(row.id), case).settle()
        self.attempt.disarm()
        return settled

    def _undeclared(self, wire: WireReport) -> Refusal | None:
        """The dialog or the request that the task doesn't declare, if there was one."""
        if self.attempt.task_page.dialogs:
            return Refusal(f"An undeclared dialog was shown and dismissed: {self.attempt.task_page.dialogs[0]!r}.")
        other = next((fact for fact in wire.facts if fact.undeclared), None)
        return Refusal(f"{other.refused}. If that is the commit, declare it as sends.") if other is not None else None

    def _record_end(self, row: GestureRow) -> None:
        """Open the gate, and record what the wire said and what the page shows now."""
        wire = self.attempt.wire(row.id)
        self.attempt.disarm()
        facts = {"wire": wire.model_dump_json() if wire.facts or wire.restarts else None}
        facts |= after_picture(self.attempt, row.before)
        self.attempt.store.journal.record(self.attempt.lease, row.id, **facts)

    def _move(self, row: GestureRow, state: GestureState, **facts: Any) -> GestureRow:
        return self.attempt.store.journal.move(self.attempt.lease, row.id, state, **facts)

    @property
    def _site_writes(self) -> SiteWrites:
        if self.site is None:
            return NO_SITE
        return SiteWrites(origin_of(self.site.url), self.site.harmless, self.site.reads)

    @property
    def _documented(self) -> Sequence[int]:
        """The statuses that the site documents as rejections."""
        return self.site.rejects if self.site is not None else ()


def _changed(before: str, now: str) -> str:
    """That another control stands there now, with the first thing in which it differs."""
    pairs = zip_longest(before.splitlines(), now.splitlines(), fillvalue="")
    old, new = next(pair for pair in pairs if pair[0] != pair[1])
    return f"The control has changed since it was prepared: it was “{old}”, and is “{new}”."


def _box(gesture: Gesture[Any]) -> list[float] | None:
    """The target's box, after scrolling to it so that the picture shows it."""
    try:
        gesture.target.scroll_into_view_if_needed(timeout=1000)
        box = gesture.target.bounding_box(timeout=1000)
    except Error:
        return None
    return [box["x"], box["y"], box["width"], box["height"]] if box else None


def _call_log(message: str) -> str:
    """Playwright's call log without its first lines, which may quote what was filled in."""
    _, found, log = message.partition("Call log:")
    return f"call log:{log}" if found else "no call log"
