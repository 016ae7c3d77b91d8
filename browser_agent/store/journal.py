"""The journal: the steps and gestures of a run, each change of state recorded before the next one.

Every write is fenced by the attempt's lease, and appends to the audit log in the same transaction.
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
from observers import Condition, Observation

_MAY_SEND = (GestureState.DISPATCHING, GestureState.IN_DOUBT)
_READ_BACK = ("proof", "known", "needs", "takes")
"""The parts of an intent that recovery reads, which must stay exact."""
_PROGRESS = {"deaths": 0}
"""Progress resets the run's count of deaths. A refusal or a proven absence doesn't: those could repeat for ever."""
_DONE = frozenset({GestureState.HAPPENED, GestureState.REJECTED})
_SETTLED = frozenset(state for state, arrows in GESTURE_ARROWS.items() if not arrows)


@dataclass(frozen=True)
class NewStep:
    """A step call to be recorded. See `StepRow`."""

    bookmark: str
    name: str
    words: str
    arguments: str
    writes: bool


@dataclass(frozen=True)
class Intent:
    """A gesture to be recorded before it is made. See `GestureRow`."""

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
    """The journal of one store."""

    def __init__(self, database: Database, clock: Clock, times: Times) -> None:
        self._database, self._clock, self._times = database, clock, times

    # reading

    def steps(self, run: str) -> list[StepRow]:
        """The steps of a run, in order."""
        with self._database.read() as session:
            return list(session.exec(select(StepRow).where(StepRow.run_id == run).order_by(col(StepRow.seq))))

    def gestures(self, run: str) -> list[GestureRow]:
        """The gestures of a run, in order."""
        with self._database.read() as session:
            asked = select(GestureRow).join(StepRow).where(GestureRow.run_id == run)
            return list(session.exec(asked.order_by(col(StepRow.seq), col(GestureRow.number))))

    def gesture(self, gesture: str) -> GestureRow:
        """One gesture. Raises `UnknownName` if there is none."""
        with self._database.read() as session:
            return _gesture(session, gesture)

    def made_at(self, site: str) -> list[GestureRow]:
        """The gestures of all runs that may have changed something at that site."""
        with self._database.read() as session:
            asked = select(GestureRow).where(GestureRow.site == site)
            return list(session.exec(asked.where(col(GestureRow.state).not_in(NO_EFFECT_STATES))))

    def releases(self, gesture: str) -> list[ReleaseRow]:
        """The requests of a gesture that the keeper released."""
        with self._database.read() as session:
            asked = select(ReleaseRow).where(ReleaseRow.gesture_id == gesture).order_by(col(ReleaseRow.id))
            return list(session.exec(asked))

    def observations(self, gesture: str) -> list[ObservationRow]:
        """The observations for a gesture, look by look."""
        with self._database.read() as session:
            asked = select(ObservationRow).where(ObservationRow.gesture_id == gesture)
            return list(session.exec(asked.order_by(col(ObservationRow.look), col(ObservationRow.position))))

    def proven_kinds(self, site: str | None) -> frozenset[str]:
        """The kinds of observers that have proven a gesture at a site, among the last thousand proofs there."""
        with self._database.read() as session:
            proofs = (
                select(GestureRow.proven_by, ObservationRow.id, ObservationRow.observation)
                .join(ObservationRow, col(ObservationRow.gesture_id) == col(GestureRow.id))
                .where(GestureRow.site == site, GestureRow.state == GestureState.HAPPENED)
                .order_by(col(ObservationRow.at).desc())
                .limit(1000)
            )
            decided = [text for proven_by, row, text in session.exec(proofs) if row in (proven_by or "")]
        return frozenset[str]().union(*(Observation.model_validate_json(text).kinds_that_saw for text in decided))

    # steps

    def begin_step(self, lease: Lease, called: NewStep) -> StepRow:
        """Record a step at the end of the journal, or return the one that has the bookmark already.

        Raises:
            Superseded: another attempt owns the run.
            WrongTask: an argument or the caller's key holds a known secret in clear text.
        """
        for what, text in (("key", called.bookmark), ("argument", called.arguments)):
            if held := self._database.scrubber.known_in(text):
                raise WrongTask(f"A {what} of step {called.name} holds {held} in clear text: pass the Secret itself.")
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
            self._audit(session, lease, "step_began", step=row.id, tool=row.name, words=row.words)
            return row

    def end_step(self, lease: Lease, step: str, state: StepState, text: str, files: str | None = None) -> None:
        """Finish a step with its value, end it with the error that it raised, or open it again.

        Args:
            lease: the attempt's right to write.
            step: the step's id.
            state: `finished` (text = JSON of the value), `raised` (text = JSON of the error) or `begun`.
            text: see `state`; empty for `begun`.
            files: JSON of the files in the value.

        Raises:
            Superseded: another attempt owns the run.
            NotAllowed: no such arrow.
            WrongTask: the value holds a known secret, so it is not stored.
        """
        with self._database.write() as session:
            fence(session, lease, **(_PROGRESS if state is not StepState.BEGUN else {}))
            row = session.get_one(StepRow, step)
            if state is StepState.FINISHED and (held := self._database.scrubber.known_in(text)):
                raise WrongTask(f"The value of step {row.name} holds {held}. Values are stored: return another.")
            check_arrow(STEP_ARROWS, row.state, state)
            row.state = state
            row.ended = self._clock.now()  # also when it is opened again: gestures settled before don't count
            row.value, row.files = (text, files) if state is StepState.FINISHED else (None, None)
            row.raised = text if state is StepState.RAISED else None
            session.add(row)
            self._audit(session, lease, f"step_{state}", step=row.id, tool=row.name)

    def mark_step(self, lease: Lease, step: str, write: str) -> None:
        """Record a write that was seen while the step was prepared; the step is then not prepared again by itself."""
        with self._database.write() as session:
            fence(session, lease)
            row = session.get_one(StepRow, step)
            if row.marked is not None:  # keeper and worker both report it; the first report is enough
                return
            row.marked = write
            session.add(row)
            self._audit(session, lease, "step_marked", step=row.id, tool=row.name, write=write)

    # gestures

    def intend(self, lease: Lease, step: StepRow, number: int, intent: Intent) -> GestureRow:
        """Record a gesture before anything of it reaches the browser.

        Raises:
            WrongTask: its proof or its known facts hold a known secret, and they are stored exactly.
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
            self._audit(
                session, lease, "intent", step=step.id, gesture=row.id, evidence=pictures, sends=intent.sends, **facts
            )
        return row

    def dispatch(self, lease: Lease, gesture: str, *, guarded: bool, approval: str | None = None) -> None:
        """Move a gesture to `dispatching` before its input is made, if enough of the lease is left.

        Args:
            lease: the attempt's right to write.
            gesture: the gesture's id.
            guarded: the gate at the wire is armed for it.
            approval: the id of the approval that it uses; None = its step needs none.

        Raises:
            NotApproved: the approval doesn't cover it, or no longer does.
            Superseded: another attempt owns the run, or too little of the lease is left.
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
            self._audit(
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
        """Record that the keeper releases a paused request, before it does. If this raises, the request is refused.

        Raises:
            Superseded: another attempt owns the run, or too little of the lease is left.
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
            self._audit(session, lease, "released", gesture=gesture, method=method, address=address)

    def move(
        self, lease: Lease, gesture: str, state: GestureState, conditions: Sequence[Condition] = (), **facts: Any
    ) -> GestureRow:
        """Change a gesture's state, and record the facts of that change.

        Args:
            lease: the attempt's right to write.
            gesture: the gesture's id.
            state: the new state.
            conditions: those that were checked for it; they stand in the log alone.
            facts: columns of `GestureRow`; JSON columns take JSON text.

        Raises:
            Superseded: another attempt owns the run.
            NotAllowed: no such arrow.
        """
        with self._database.write() as session:
            fence(session, lease, **(_PROGRESS if state in _DONE else {}))
            return self.move_within(session, lease, gesture, state, conditions=conditions, **facts)

    def move_within(
        self,
        session: Session,
        lease: Lease,
        gesture: str,
        state: GestureState,
        *,
        by: str | None = None,
        conditions: Sequence[Condition] = (),
        **facts: Any,
    ) -> GestureRow:
        """`move` inside the caller's fenced write transaction; `by` = the person who decided it."""
        row = self._moved(session, lease, gesture, state, by=by, **facts)
        if state in _SETTLED:
            row.settled_at = self._clock.now()
        session.add(row)
        recorded = {
            name: _loaded(facts[name]) for name in ("values", "count", "reasons", "proven_by") if facts.get(name)
        }
        pictures = [row.after] if row.after else None
        self._audit(
            session,
            lease,
            "verdict",
            gesture=gesture,
            step=row.step_id,
            ended=str(state),
            by=by,
            evidence=pictures,
            conditions=[each.model_dump() for each in conditions] or None,
            **recorded,
        )
        return row

    def record(self, lease: Lease, gesture: str, **facts: Any) -> None:
        """Record columns of the gesture's row without changing its state, such as pictures or its traffic."""
        with self._database.write() as session:
            fence(session, lease)
            row = _gesture(session, gesture)
            for name, fact in facts.items():
                setattr(row, name, fact)
            session.add(row)
            self._audit(session, lease, "noted", gesture=gesture, **{n: _loaded(f) for n, f in facts.items()})

    def observe(self, lease: Lease, gesture: str, observations: Sequence[str]) -> tuple[int, list[str]]:
        """Record the observations of one look. Allowed in any state, since it decides nothing.

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
            summaries = [_summary(row) for row in rows]
            self._audit(session, lease, "look", gesture=gesture, look=look, observations=summaries)
            return look, [row.id for row in rows]

    def _storable(self, intent: Intent) -> str:
        """The intent's JSON, scrubbed. What recovery reads stays exact, and is refused if it holds a secret."""
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

    def _audit(self, session: Session, lease: Lease, kind: str, /, **facts: Any) -> None:
        audit.append(session, self._clock, kind, lease.run, attempt=lease.attempt, **facts)


def _gesture(session: Session, gesture: str) -> GestureRow:
    row = session.get(GestureRow, gesture)
    if row is None:
        raise UnknownName(f"No gesture {gesture!r} in this store.")
    return row


def _loaded(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) and value[:1] in "[{" else value


def _summary(row: ObservationRow) -> dict[str, Any]:
    seen = json.loads(row.observation)
    pictures = [one["blob"] for one in seen.get("evidence", ()) if one.get("blob")]
    return {"id": row.id, "observer": seen["observer"], "sight": seen["sight"], "evidence": pictures}
