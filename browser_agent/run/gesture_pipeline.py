"""The pipeline of one gesture: intent written -> fence checked -> made once -> settled by its proof.

A gesture is written down before the browser is touched, and touched only while the lease holds and the gate stands.
What settles it is its proof, never the fact that a call returned. What may never happen here: a second input for one
intent; an outcome without what was seen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Error

from browser_agent.browser.image import NotAPicture, what_changed
from browser_agent.browser.input_witness import Witness
from browser_agent.browser.recorder import Recorder
from browser_agent.browser.screenshot import NoPicture, Picture
from browser_agent.errors import (
    MachineTrouble,
    NotApproved,
    Refused,
    StoreUnusable,
    UnknownName,
    WrongTask,
)
from browser_agent.rules import never_sent, nothing_left, rejection, was_performed, was_refused
from browser_agent.run.attempt import Attempt
from browser_agent.run.look import BASELINE, Case, Looked, Looker, observe
from browser_agent.run.recovery import Recovery, by_person, last_confirmed, wire_words
from browser_agent.run.sign_in import check_baseline
from browser_agent.script.gestures import Gesture
from browser_agent.states import GestureState, Point, QuestionKind
from browser_agent.store import Asked, Intent
from browser_agent.store.records import GestureRow, StepRow
from observers import Observation, Site, already_there, new_matches

HARDLY = 0.005
"""Of a picture: a smaller change is what a button looks like under the mouse."""
SETTLE_SECONDS = 0.4
LOOK_EVERY_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.8)


@dataclass(frozen=True)
class GesturePipeline:
    """Makes the next gesture of a step.

    Args:
        attempt: the attempt that makes it.
        step: the step's row.
        site: the site that the step changes.
        earlier: the step's gestures so far, all settled.
        ordinal: which gesture of the run it is, from 1.
        approval: the id of the yes that it is made on; None where none is needed.
        reverse: the name of the step that can take it back, if there is one.
    """

    attempt: Attempt
    step: StepRow
    site: Site | None
    earlier: Sequence[GestureRow]
    ordinal: int
    approval: str | None = None
    reverse: str | None = None

    def make(self, gesture: Gesture[Any]) -> GestureRow:
        """Make the gesture and settle it.

        Returns:
            Its row: happened, not_happened, refused or rejected.

        Raises:
            ProofTooThin: its proof could never supply the step's value; nothing was written or made.
            WrongTask: its target is on a page that is not the run's; nothing was written or made.
            LoginMet: the session of a site has ended; nothing was written or made.
            MachineTrouble: something gave way; the next attempt begins by looking.
            OutcomeUnknown, WaitingForPerson: a question waits.
            Superseded: another attempt owns the run.
        """
        gesture.check()
        self._check_page(gesture)
        baseline = self._baseline(gesture)
        row = self._intend(gesture, baseline)
        try:
            settled = self._made(gesture, Case(row.id, row.words, gesture.proof, baseline, self.site), row)
        except Exception as error:  # never the script's to catch: the gesture may be in doubt
            said = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
            broken = self.attempt.what_broke(error)
            raise MachineTrouble(f"Making {row.words} was cut off: {broken or said}") from error
        self.attempt.await_downloads()
        self.attempt.reach(Point.SETTLED, self.ordinal)
        return settled

    def _made(self, gesture: Gesture[Any], case: Case, row: GestureRow) -> GestureRow:
        late = self._settled_late(case, row) or self._already_there(case, row)
        if late is not None:
            return late
        in_order = self.attempt.acting.dialogs_in_order([accept.matches for accept in gesture.dialogs])
        with in_order, self.attempt.recorder_for(row.id, gesture) as recorder:
            return self._dispatch(gesture, case, row, recorder)

    # before anything is made

    def _check_page(self, gesture: Gesture[Any]) -> None:
        context = gesture.target.page.context
        if context == self.attempt.acting.context:
            return
        if context.browser is not None and not context.browser.is_connected():
            raise MachineTrouble(f"The browser died while this was prepared: {gesture.intent}. Nothing was made.")
        raise WrongTask(f"“{gesture.intent}” is on a page of another browser context, where nothing guards it.")

    def _baseline(self, gesture: Gesture[Any]) -> tuple[Observation | None, ...]:
        """What the observers saw before the step's FIRST gesture."""
        if self.earlier:
            return BASELINE.validate_json(self.earlier[0].baseline or "[]")
        seen = observe(self.attempt, gesture.proof)
        check_baseline(self.attempt, gesture.proof, seen)
        return seen

    def _intend(self, gesture: Gesture[Any], baseline: tuple[Observation | None, ...]) -> GestureRow:
        box = _box(gesture)
        picture = self.attempt.acting.picture()
        if isinstance(picture, NoPicture) and picture.unkept:
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
            before=picture.kept if isinstance(picture, Picture) else None,
            target_box=json.dumps(box) if box else None,
            reverse=self.reverse,
        )
        self.attempt.reach(Point.BEFORE_INTENT, self.ordinal)
        row = self.attempt.store.journal.intend(self.attempt.lease, self.step, len(self.earlier) + 1, intent)
        self.attempt.reach(Point.INTENT, self.ordinal)
        return row

    def _settled_late(self, case: Case, row: GestureRow) -> GestureRow | None:
        """A match found just before a gesture is made again settles the earlier one: nothing is made."""
        absent = [gesture for gesture in self.earlier if gesture.state is GestureState.NOT_HAPPENED]
        if not absent or by_person(absent[-1]):  # a person has said what to make of what is there
            return None
        looked = Looker(self.attempt, case, made=False).look(self.attempt.wire(row.id))
        pairs = zip(looked.observations, case.baseline, strict=True)
        found = [match for seen, before in pairs for match in new_matches(seen, before)]
        if not found:
            return None
        if not looked.happened:
            self._ask(row, case, "It was not there, and something that may be it is there now", looked)
        words = "found just before it would have been made again: an earlier gesture of this step has taken effect late"
        return self._happened(row, looked, (words,))

    def _already_there(self, case: Case, row: GestureRow) -> GestureRow | None:
        """A unique key that is there before the first gesture: nothing is made, a person says what it means."""
        counting = [(seen, watch) for seen, watch in zip(case.baseline, case.proof, strict=True) if watch.counts]
        there = already_there([seen for seen, _ in counting], [watch for _, watch in counting])
        if not there or any(by_person(gesture) for gesture in self.earlier):
            return None
        self._ask(row, case, "What this step would make is there already", None, [match.identity for match in there])
        return None

    def _ask(self, row: GestureRow, case: Case, why: str, looked: Looked | None, matches: Sequence[str] = ()) -> None:
        seen = looked.observations if looked else tuple(said for said in case.baseline if said is not None)
        asked = Asked(
            kind=QuestionKind.ALREADY_THERE,
            words=f"{why}: {row.words}. Use it, or make another?",
            reasons=(*matches, *(reason for said in seen for reason in said.reasons), *self._on_the_wire()),
            evidence=tuple(kept.model_dump(mode="json") for said in seen for kept in said.evidence),
            details={"values": _values(seen)},
            last_confirmed=last_confirmed(self.attempt, row),
            safe_step="answer happened: what is there is used; answer not-happened: another one is made",
            step=row.step_id,
            gesture=row.id,
        )
        values = _values(seen)
        if values:
            self.attempt.store.journal.note(self.attempt.lease, row.id, values=json.dumps(values))
        self.attempt.ask(asked)

    def _on_the_wire(self) -> tuple[str, ...]:
        """What the wire told of the step's earlier gestures, one of which may have had its effect late."""
        return tuple(words for gesture in self.earlier for words in wire_words(self.attempt, gesture))

    # making it

    def _dispatch(self, gesture: Gesture[Any], case: Case, row: GestureRow, recorder: Recorder) -> GestureRow:
        attempt = self.attempt
        patience = gesture.patience(attempt.options.gesture_seconds)
        try:
            gesture.wait_actionable(patience * 1000)
        except Refused as refused:
            return self._refuse(row, refused.args[0])
        if attempt.options.pause_before_gesture:
            attempt.pause(gesture.intent)
        attempt.checkpoint(gesture.intent)
        guarded = attempt.arm(row.id, gesture.sends)
        if not guarded and attempt.may_end:  # a browser of our own is guarded, or nothing is made in it
            return self._refuse(row, "The gate cannot guard this browser (pooled connections cannot be closed).")
        witness = Witness(gesture.target.page)
        witness.arm()
        recorder.mark()  # before the fence: a page that hangs may keep it for a while
        try:
            attempt.store.journal.dispatch(attempt.lease, row.id, guarded=guarded, approval=self.approval)
        except NotApproved:
            return self._refuse(row, "Its approval ran out, or was used, before it was made.")
        attempt.reach(Point.DISPATCHING, self.ordinal)
        attempt.tell("dispatching", gesture.intent, gesture=row.id)
        attempt.goes_on(patience)
        log = None
        try:
            # It ends before the lease can: the driver waits on its own (measured).
            gesture.make(min(patience, self.attempt.store.times.input) * 1000)
        except Refused as refused:  # by the kind itself, before it touched the page
            return self._refuse(row, refused.args[0])
        except Error as error:
            log = error.message
        attempt.reach(Point.INPUT, self.ordinal)
        if log is not None and not was_performed(log) and self._never_reached(gesture, row, log, witness):
            return self._refuse(row, "The input never reached the page.", log)
        return self._settle(gesture, case, row)

    def _never_reached(self, gesture: Gesture[Any], row: GestureRow, log: str, witness: Witness) -> bool:
        answers, seen = witness.answers(), witness.seen()  # in this order: what was queued arrives before the answer
        alive = not self.attempt.broken()
        refused = was_refused(gesture.kind, log, seen_in_page=seen, page_answers=answers, processes_alive=alive)
        return refused and nothing_left(self.attempt.wire(row.id))

    # settling it

    def _settle(self, gesture: Gesture[Any], case: Case, row: GestureRow) -> GestureRow:
        """Wait for the proof as a person would, for `settle` seconds; then it is in doubt, and recovery looks."""
        looker = Looker(self.attempt, case)
        until = self.attempt.clock.monotonic() + gesture.settle
        waits = iter(LOOK_EVERY_SECONDS)
        fresh = False
        while self.attempt.browser_lives():
            wire = self.attempt.wire(row.id)
            if rejection(wire, self._documented) is not None:
                return self._rejected(row) or self._doubt(case, row)
            if never_sent(wire) is not None or (self.attempt.acting.dialogs and nothing_left(wire)):
                break
            looked = looker.look(wire, fresh=fresh)
            if looked.happened:
                return self._happened(row, looked)
            if not looked.clear or self.attempt.clock.monotonic() > until or (fresh and wire.given_up):
                break
            fresh = any(fact.status is not None or fact.error is not None for fact in wire.released)
            self.attempt.sleep(next(waits, LOOK_EVERY_SECONDS[-1]))
        return self._doubt(case, row)

    def _doubt(self, case: Case, row: GestureRow) -> GestureRow:
        """The proof did not come. A dialog that nobody declared, with nothing sent, is a refusal."""
        dialogs = list(self.attempt.acting.dialogs)
        if dialogs and nothing_left(self.attempt.wire(row.id)):
            self.attempt.end_browser()
        if dialogs and not self.attempt.browser_lives() and nothing_left(self.attempt.wire(row.id)):
            return self._refuse(row, f"A dialog that is not declared came up and was dismissed: {dialogs[0]!r}.")
        settled = Recovery(self.attempt, self.attempt.store.journal.gesture(row.id), case).settle()
        self.attempt.disarm()
        return settled

    def _happened(self, row: GestureRow, looked: Looked, more: tuple[str, ...] = ()) -> GestureRow:
        verdict = looked.verdict
        settled = self.attempt.store.journal.move(
            self.attempt.lease,
            row.id,
            GestureState.HAPPENED,
            values=json.dumps(verdict.values),
            count=verdict.count,
            reasons=json.dumps([*more, *verdict.reasons]),
            proven_by=looked.proven_by,
        )
        self._note_the_end(row)
        details = {"values": verdict.values, "reasons": [*more, *verdict.reasons], "gesture": row.id}
        self.attempt.tell("settled", f"happened: {row.words}", outcome="happened", **details)
        return settled

    @property
    def _documented(self) -> tuple[int, ...]:
        return self.site.rejects if self.site is not None else ()

    def _rejected(self, row: GestureRow) -> GestureRow | None:
        """The site's no, if it still stands alone once the page can send nothing more."""
        texts, picture = self.attempt.acting.texts(), self.attempt.acting.picture()
        self.attempt.end_browser()
        wire = self.attempt.wire(row.id)
        no = rejection(wire, self._documented)
        if no is None:
            return None
        because = f"the site said no: {no}"
        self.attempt.tell("settled", f"rejected: {row.words}", outcome="rejected", reasons=[because], gesture=row.id)
        facts = {"reasons": json.dumps([because, *texts]), "proven_by": json.dumps(["wire"])}
        after = picture.kept if isinstance(picture, Picture) else None
        return self._move(row, GestureState.REJECTED, after=after, wire=wire.model_dump_json(), **facts)

    def _refuse(self, row: GestureRow, because: str, log: str | None = None) -> GestureRow:
        reasons = [because] if log is None else [because, _call_log(log)]
        self.attempt.disarm()
        self.attempt.tell("settled", f"refused: {row.words}", outcome="refused", reasons=[because], gesture=row.id)
        return self._move(row, GestureState.REFUSED, reasons=json.dumps(reasons))

    def _move(self, row: GestureRow, state: GestureState, **facts: Any) -> GestureRow:
        return self.attempt.store.journal.move(self.attempt.lease, row.id, state, **facts)

    def _note_the_end(self, row: GestureRow) -> None:
        """It is settled; open the gate, and add the picture after it, what changed, and what the wire said."""
        wire = self.attempt.wire(row.id)
        self.attempt.disarm()
        facts: dict[str, Any] = {"wire": wire.model_dump_json() if wire.facts or wire.restarts else None}
        taken = self.attempt.acting.picture()
        change = self._change(row.before, taken)
        if change.get("ratio", 1.0) < HARDLY:  # a view that a script puts in place may come a moment later
            self.attempt.sleep(SETTLE_SECONDS)
            taken = self.attempt.acting.picture()
            change = self._change(row.before, taken)
            change |= {"unsettled": True} if change.get("ratio", 1.0) < HARDLY else {}
        if isinstance(taken, Picture):
            facts["after"] = taken.kept
            facts["change"] = json.dumps(change) if change else None
        else:
            facts["change"] = json.dumps({"no_picture": taken.reason})
        self.attempt.store.journal.note(self.attempt.lease, row.id, **facts)

    def _change(self, before: str | None, after: Picture | NoPicture) -> dict[str, Any]:
        """What changed in the picture; empty if that can't be said."""
        if not isinstance(after, Picture):
            return {}
        empty = {"one_colour": True} if after.one_colour else {}
        try:
            change = what_changed(self.attempt.store.artifacts.read(before)[0], after.webp) if before else None
        except (NotAPicture, UnknownName, StoreUnusable):
            change = None
        if change is None:
            return empty
        box = [change.box.left, change.box.top, change.box.right, change.box.bottom] if change.box else None
        return {"ratio": change.ratio, "box": box, **empty}


def _box(gesture: Gesture[Any]) -> list[float] | None:
    """Where the target stands, after it has been scrolled to, so that the picture shows it."""
    try:
        gesture.target.scroll_into_view_if_needed(timeout=1000)
        box = gesture.target.bounding_box(timeout=1000)
    except Error:
        return None
    return [box["x"], box["y"], box["width"], box["height"]] if box else None


def _values(observations: Sequence[Observation]) -> dict[str, str]:
    """The values of what is there, if it is exactly one thing."""
    matches = [match for seen in observations if seen.counts for match in seen.matches]
    return dict(matches[0].values) if len(matches) == 1 else {}


def _call_log(message: str) -> str:
    """Playwright's call log without its first lines, which may quote what was filled in."""
    _, found, log = message.partition("Call log:")
    return f"call log:{log}" if found else "no call log"
