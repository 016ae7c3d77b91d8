"""OpenTelemetry spans of a run: one for the time that a keeper had it, one for each step, one for each gesture.

They are written from the journal, with its times, when the keeper ends, so they cost nothing while a gesture is made.
Needs the extra `browser-agent[otel]`; without it, or without a configured tracer, nothing is written. No span holds a
value, an argument or a task's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from browser_agent.states import GestureState
from browser_agent.store import Store
from browser_agent.store.records import GestureRow, RunRow, StepRow

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

_UNSETTLED = frozenset({GestureState.UNKNOWN, GestureState.ASKED, GestureState.IN_DOUBT, GestureState.DISPATCHING})


def trace(store: Store, run: str, began: datetime) -> None:
    """Write the spans of a run for what one keeper did.

    Args:
        store: the run's store.
        run: its id.
        began: when this keeper began; what had ended before has its spans already.
    """
    if find_spec("opentelemetry") is None:
        return
    from opentelemetry.trace import get_tracer

    tracer, now = get_tracer("browser_agent"), store.clock.now()
    row = store.leases.run(run)
    root = tracer.start_span(f"run {row.task_name}", start_time=_ns(began), attributes=_of_run(row))
    made = [gesture for gesture in store.journal.gestures(run) if gesture.intent_at >= began or _ended(gesture, began)]
    for step in store.journal.steps(run):
        own = [gesture for gesture in made if gesture.step_id == step.id]
        if own or step.began >= began or (step.ended is not None and step.ended >= began):
            _trace_step(tracer, root, step, own, now)
    root.end(_ns(now))


def _trace_step(tracer: Tracer, root: Span, step: StepRow, gestures: list[GestureRow], now: datetime) -> None:
    facts = {"step": step.id, "state": str(step.state), "writes": step.writes, "attempt": step.attempt}
    span = _child(tracer, root, f"step {step.name}", step.began, {"run": step.run_id, **facts})
    for gesture in gestures:
        of_gesture = {"gesture": gesture.id, "site": gesture.site, "outcome": str(gesture.state)}
        facts = {"run": gesture.run_id, "step": step.id, "attempt": gesture.attempt, "guarded": gesture.guarded}
        one = _child(tracer, span, f"gesture {gesture.kind}", gesture.intent_at, {**facts, **of_gesture})
        if gesture.state in _UNSETTLED:
            _set_error(one, "it is not known whether it happened")
        one.end(_ns(gesture.settled_at or now))
    span.end(_ns(step.ended or now))


def _child(tracer: Tracer, parent: Span, name: str, began: datetime, facts: Mapping[str, Any]) -> Span:
    from opentelemetry.trace import set_span_in_context

    known = {f"browser_agent.{word}": fact for word, fact in facts.items() if fact is not None}
    return tracer.start_span(name, set_span_in_context(parent), start_time=_ns(began), attributes=known)


def _set_error(span: Span, words: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_status(Status(StatusCode.ERROR, words))


def _of_run(row: RunRow) -> dict[str, Any]:
    facts = {"run": row.id, "task": row.task_name, "state": str(row.state), "attempt": row.attempt}
    return {f"browser_agent.{word}": fact for word, fact in facts.items()}


def _ended(gesture: GestureRow, since: datetime) -> bool:
    return gesture.settled_at is not None and gesture.settled_at >= since


def _ns(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000_000)
