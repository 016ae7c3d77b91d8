"""The journal: steps and gestures of a run, each fact written before the next arrow is taken.

A gesture's row is written (`intend`) before the browser is touched, moved to `dispatching` only while the lease holds
(`dispatch`), and settled only with evidence. Every write is fenced by the attempt and tells the audit log in the same
transaction. Decides nothing: arrows come from `states`, outcomes from whoever has looked.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session, col, func, select

from browser_agent.clock import Clock, new_id
from browser_agent.errors import NotAllowed, Superseded, UnknownName, WrongTask
from browser_agent.states import GESTURE_ARROWS, NO_EFFECT_STATES, STEP_ARROWS, GestureState, StepState, check_arrow
from browser_agent.store import approvals, audit
from browser_agent.store.database import Database
from browser_agent.store.lease_times import Times
from browser_agent.store.leases import Lease, fence
from browser_agent.store.records import AttemptRow, GestureRow, ObservationRow, ReleaseRow, RunRow, StepRow

_MAY_SEND = (GestureState.DISPATCHING, GestureState.IN_DOUBT)
_READ_BACK = ("proof", "known", "needs", "takes")
_PROGRESS = {"deaths": 0}
"""What was finished gives the run its attempts anew; a refusal or a proven absence doesn't: it may come for ever."""
_DONE = frozenset({GestureState.HAPPENED, GestureState.REJECTED})
_SETTLED = frozenset(state for state, arrows in GESTURE_ARROWS.items() if not arrows)


@dataclass(frozen=True)
class Called:
    """A step call as the journal knows it."""

    bookmark: str
    name: str
    words: str
    arguments: str
    writes: bool


@dataclass(frozen=True)
class Intent:
    """A gesture as it is written down before it is made. JSON texts, see `GestureRow`."""

    kind: str
    words: str
    intent: str
    site: str | None = None
    account: str | None = None
    sends: str | None = None
    baseline: str | None = None
    before: str | None = None
    target_box: str | None = None
    reverse: str | None = None


class Journal:
    """Reads and writes the journal of one store."""

    def __init__(self, database: Database, clock: Clock, times: Times) -> None:
        self._database, self._clock, self._times = database, clock, times

    # reading

    def steps(self, run: str) -> list[StepRow]:
        """The steps of a run in their order."""
        with self._database.read() as session:
            return list(session.exec(select(StepRow).where(StepRow.run_id == run).order_by(col(StepRow.seq))))

    def gestures(self, run: str) -> list[GestureRow]:
        """The gestures of a run in their order."""
        with self._database.read() as session:
            asked = select(GestureRow).join(StepRow).where(GestureRow.run_id == run)
            return list(session.exec(asked.order_by(col(StepRow.seq), col(GestureRow.number))))

    def gesture(self, gesture: str) -> GestureRow:
        """One gesture; `UnknownName` if there is none."""
        with self._database.read() as session:
            return _gesture(session, gesture)

    def made_at(self, site: str) -> list[GestureRow]:
        """The gestures of all runs at that site that may have changed something there."""
        with self._database.read() as session:
            asked = select(GestureRow).where(GestureRow.site == site)
            return list(session.exec(asked.where(col(GestureRow.state).not_in(NO_EFFECT_STATES))))

    def releases(self, gesture: str) -> list[ReleaseRow]:
        """The requests of a gesture that the keeper let go."""
        with self._database.read() as session:
            asked = select(ReleaseRow).where(ReleaseRow.gesture_id == gesture).order_by(col(ReleaseRow.id))
            return list(session.exec(asked))

    def observations(self, gesture: str) -> list[ObservationRow]:
        """All that was seen for a gesture, look by look."""
        with self._database.read() as session:
            asked = select(ObservationRow).where(ObservationRow.gesture_id == gesture)
            return list(session.exec(asked.order_by(col(ObservationRow.look), col(ObservationRow.position))))

    # steps

    def begin_step(self, lease: Lease, called: Called) -> StepRow:
        """Write a step down at the end of the journal, or hand back the one that has the bookmark.

        Raises:
            Superseded: another attempt owns the run.
            WrongTask: an argument or the caller's key for it holds a known secret in the clear.
        """
        for what, text in (("key", called.bookmark), ("argument", called.arguments)):
            if held := self._database.scrubber.known_in(text):
                raise WrongTask(f"A {what} of step {called.name} holds {held} in the clear: hand on the Secret itself.")
        with self._database.write() as session:
            fence(session, lease)
            asked = select(StepRow).where(StepRow.run_id == lease.run, StepRow.bookmark == called.bookmark)
            known = session.exec(asked).first()
            if known is not None:
                return known
            last = session.exec(select(func.max(StepRow.seq)).where(StepRow.run_id == lease.run)).one()
            row = StepRow(
                id=new_id("s"),
                run_id=lease.run,
                seq=(last or 0) + 1,
                bookmark=called.bookmark,
                name=called.name,
                words=called.words,
                arguments=called.arguments,
                writes=called.writes,
                attempt=lease.attempt,
                began=self._clock.now(),
            )
            session.add(row)
            self._tell(session, lease, "step_began", step=row.id, tool=row.name, words=row.words)
            return row

    def end_step(self, lease: Lease, step: str, state: StepState, text: str, files: str | None = None) -> None:
        """Finish a step with its value, let it end with the fact that it raised, or open it again.

        Args:
            lease: the attempt's right to write.
            step: the step's id.
            state: `finished` (text = JSON of the value), `raised` (text = JSON of the fact) or `begun`.
            text: see `state`; empty for `begun`.
            files: JSON of the files in the value.

        Raises:
            Superseded: another attempt owns the run.
            NotAllowed: no such arrow.
            WrongTask: the value holds a known secret, so it can't be stored.
        """
        with self._database.write() as session:
            fence(session, lease, **(_PROGRESS if state is not StepState.BEGUN else {}))
            row = session.get_one(StepRow, step)
            if state is StepState.FINISHED and (held := self._database.scrubber.known_in(text)):
                raise WrongTask(f"The value of step {row.name} holds {held}: a value is stored, so return another.")
            check_arrow(STEP_ARROWS, row.state, state)
            row.state = state
            row.ended = self._clock.now()  # kept when it is opened again: what was settled before belongs to that go
            row.value, row.files = (text, files) if state is StepState.FINISHED else (None, None)
            row.raised = text if state is StepState.RAISED else None
            session.add(row)
            self._tell(session, lease, f"step_{state}", step=row.id, tool=row.name)

    def mark_step(self, lease: Lease, step: str, write: str) -> None:
        """Remember that a write was seen while the step was prepared: it is not prepared again by itself."""
        with self._database.write() as session:
            fence(session, lease)
            row = session.get_one(StepRow, step)
            if row.marked is not None:  # the first one is enough; keeper and worker both see it
                return
            row.marked = write
            session.add(row)
            self._tell(session, lease, "step_marked", step=row.id, tool=row.name, write=write)

    # gestures

    def intend(self, lease: Lease, step: StepRow, number: int, intent: Intent) -> GestureRow:
        """Write a gesture down before anything of it reaches the browser.

        Raises:
            WrongTask: its proof or its known facts hold a known secret: they are stored, and looked for by another
                process.
        """
        row = GestureRow(
            id=new_id("g"),
            run_id=lease.run,
            step_id=step.id,
            number=number,
            attempt=lease.attempt,
            kind=intent.kind,
            words=intent.words,
            site=intent.site,
            sends=intent.sends,
            intent=self._storable(intent),
            baseline=intent.baseline,
            before=intent.before,
            target_box=intent.target_box,
            reverse=intent.reverse,
            intent_at=self._clock.now(),
        )
        with self._database.write() as session:
            fence(session, lease)
            session.add(row)
            pictures = [intent.before] if intent.before else None
            facts = {"tool": step.name, "site": intent.site, "account": intent.account, "target": intent.words}
            facts["reverse"] = intent.reverse or "none is declared"
            self._tell(
                session, lease, "intent", step=step.id, gesture=row.id, evidence=pictures, sends=intent.sends, **facts
            )
        return row

    def dispatch(self, lease: Lease, gesture: str, *, guarded: bool, approval: str | None = None) -> None:
        """The fence before the input: `intent` -> `dispatching`, only while the lease has its margin left.

        Args:
            lease: the attempt's right to write.
            gesture: the gesture's id.
            guarded: the gate stands before it.
            approval: the id of the yes that it is made on; None where its step needs none.

        Raises:
            NotApproved: the yes doesn't cover it (any more).
            Superseded: another attempt owns the run, or too little of the lease is left to make the gesture safely.
            NotAllowed: the gesture is no longer at `intent`.
        """
        with self._database.write() as session:
            fence(session, lease)
            left = session.get_one(RunRow, lease.run).lease_until - self._database.now(session)
            if left < self._times.margin:
                raise Superseded(lease.run, lease.attempt)
            row = self._moved(session, lease, gesture, GestureState.DISPATCHING)
            step = session.get_one(StepRow, row.step_id)
            given = approvals.use(self._database, session, approval, step, row) if approval is not None else None
            row.guarded, row.dispatched_at = guarded, self._clock.now()
            session.add(row)
            present = session.get_one(AttemptRow, (lease.run, lease.attempt)).present
            self._tell(
                session,
                lease,
                "dispatch",
                step=row.step_id,
                gesture=gesture,
                guarded=guarded,
                approval={"question": given.question_id, "by": given.by} if given else "none was needed",
                authority=given.by if given else session.get_one(RunRow, lease.run).submitted_by,
                present=present or "nobody",
            )

    def release(self, lease: Lease, gesture: str, method: str, address: str) -> None:
        """The fence at the wire, written by the keeper before a paused write is let go.

        Raises:
            Superseded: another attempt owns the run, or its lease has run out: the request must be refused.
            NotAllowed: the gesture is not being dispatched.
        """
        with self._database.write() as session:
            fence(session, lease)
            if session.get_one(RunRow, lease.run).lease_until <= self._database.now(session) + self._times.release:
                raise Superseded(lease.run, lease.attempt)
            row = _gesture(session, gesture)
            if row.state not in _MAY_SEND:
                raise NotAllowed(f"A request of gesture {gesture} may not leave: the gesture is at {row.state}.")
            release = ReleaseRow(gesture_id=gesture, method=method, address=address, at=self._clock.now())
            session.add(release)
            self._tell(session, lease, "released", gesture=gesture, method=method, address=address)

    def move(self, lease: Lease, gesture: str, state: GestureState, **facts: Any) -> GestureRow:
        """Take one arrow and write the facts that belong to it into the gesture's row and the audit log.

        Args:
            lease: the attempt's right to write.
            gesture: the gesture's id.
            state: where the arrow leads.
            facts: columns of `GestureRow`; JSON columns take JSON text.

        Raises:
            Superseded: another attempt owns the run.
            NotAllowed: no such arrow.
        """
        with self._database.write() as session:
            fence(session, lease, **(_PROGRESS if state in _DONE else {}))
            return self.move_within(session, lease, gesture, state, **facts)

    def move_within(
        self, session: Session, lease: Lease, gesture: str, state: GestureState, by: str | None = None, **facts: Any
    ) -> GestureRow:
        """`move` inside a caller's fenced write transaction; `by` names the person who decided it."""
        row = self._moved(session, lease, gesture, state, by=by, **facts)
        if state in _SETTLED:
            row.settled_at = self._clock.now()
        session.add(row)
        kept = {name: _loaded(facts[name]) for name in ("values", "count", "reasons", "proven_by") if facts.get(name)}
        pictures = [row.after] if row.after else None
        self._tell(
            session,
            lease,
            "verdict",
            gesture=gesture,
            step=row.step_id,
            ended=str(state),
            by=by,
            evidence=pictures,
            **kept,
        )
        return row

    def note(self, lease: Lease, gesture: str, **facts: Any) -> None:
        """Write facts that are no arrow (pictures, what the wire said) into the gesture's row."""
        with self._database.write() as session:
            fence(session, lease)
            row = _gesture(session, gesture)
            for name, fact in facts.items():
                setattr(row, name, fact)
            session.add(row)
            self._tell(session, lease, "noted", gesture=gesture, **{n: _loaded(f) for n, f in facts.items()})

    def observe(self, lease: Lease, gesture: str, observations: Sequence[str]) -> tuple[int, list[str]]:
        """Keep what the observers said in one look; allowed in any state, since it decides nothing.

        Returns:
            The look's number and the ids of the observations, by position.
        """
        with self._database.write() as session:
            fence(session, lease)
            asked = select(func.max(ObservationRow.look)).where(ObservationRow.gesture_id == gesture)
            look = (session.exec(asked).one() or 0) + 1
            rows = [
                ObservationRow(
                    id=new_id("o"),
                    gesture_id=gesture,
                    attempt=lease.attempt,
                    look=look,
                    position=position,
                    observation=observation,
                    at=self._clock.now(),
                )
                for position, observation in enumerate(observations)
            ]
            session.add_all(rows)
            said = [_summary(row) for row in rows]
            self._tell(session, lease, "look", gesture=gesture, look=look, observations=said)
            return look, [row.id for row in rows]

    def _storable(self, intent: Intent) -> str:
        """The intent's JSON: words are scrubbed, what recovery reads back stays as it is or is refused."""
        scrubber, stored = self._database.scrubber, json.loads(intent.intent)
        for name in _READ_BACK:
            if held := scrubber.known_in(json.dumps(stored.get(name))):
                raise WrongTask(f"The {name} of “{scrubber.text(intent.words)}” holds {held}, and would be stored.")
        return json.dumps({name: fact if name in _READ_BACK else scrubber.facts(fact) for name, fact in stored.items()})

    def _moved(
        self, session: Session, lease: Lease, gesture: str, state: GestureState, by: str | None = None, **facts: Any
    ) -> GestureRow:
        row = _gesture(session, gesture)
        check_arrow(GESTURE_ARROWS, row.state, state)
        for name, fact in facts.items():
            setattr(row, name, fact)
        row.state = state
        return row

    def _tell(self, session: Session, lease: Lease, kind: str, /, **facts: Any) -> None:
        audit.append(session, self._clock, kind, lease.run, attempt=lease.attempt, **facts)


def _gesture(session: Session, gesture: str) -> GestureRow:
    row = session.get(GestureRow, gesture)
    if row is None:
        raise UnknownName(f"No gesture {gesture!r} in this store.")
    return row


def _loaded(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) and value[:1] in "[{" else value


def _summary(row: ObservationRow) -> dict[str, Any]:
    said = json.loads(row.observation)
    pictures = [kept["blob"] for kept in said.get("evidence", ()) if kept.get("blob")]
    return {"id": row.id, "observer": said["observer"], "sight": said["sight"], "evidence": pictures}
