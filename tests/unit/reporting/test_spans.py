"""Spans of a run, by OpenTelemetry's own SDK: one for the run, one for each step and gesture, none with a value."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from browser_agent.options import Options
from browser_agent.reporting.announcer import Announcer
from browser_agent.states import GestureState, StepState
from browser_agent.store import Lease, Store
from tests.store.building import HandClock, brought, claim

SECRET = "4111-1111-1111-1111"


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> TracerProvider:
    """Replaces the process's own provider, which can be set only once and would last for all tests."""
    provider = TracerProvider(shutdown_on_exit=False)
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return provider


@pytest.fixture
def exporter(provider: TracerProvider) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter


@pytest.fixture
def timed_store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "runs.db", HandClock()) as store:
        yield store


def keep(store: Store, lease: Lease, *states: GestureState) -> None:
    """Run steps, each with a gesture in that state, under one keeper; a second passes before each."""
    with Announcer(store, lease.run, Options(), lambda event: None):
        for state in states:
            store.clock.sleep(1)
            gesture = brought(store, lease, state, words=f"pay_{state}(card='{SECRET}')")
            store.clock.sleep(1)
            if state is GestureState.HAPPENED:
                store.journal.end_step(lease, gesture.step_id, StepState.FINISHED, f'"{SECRET}"')


def named(spans: tuple[ReadableSpan, ...]) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans}


def test_a_run_has_a_span_and_so_has_each_step_and_each_gesture(
    timed_store: Store, exporter: InMemorySpanExporter
) -> None:
    lease = claim(timed_store)
    keep(timed_store, lease, GestureState.HAPPENED)
    spans = named(exporter.get_finished_spans())
    assert set(spans) == {"run invoice_shipments", "step pay_happened", "gesture click"}
    run, step, gesture = (spans[name] for name in ("run invoice_shipments", "step pay_happened", "gesture click"))
    assert (run.parent, step.parent, gesture.parent) == (None, run.context, step.context)
    facts: dict[str, Any] = dict(gesture.attributes or {})
    assert (facts["browser_agent.run"], facts["browser_agent.outcome"]) == (lease.run, "happened")
    assert (step.start_time or 0) - (run.start_time or 0) == 10**9
    assert (step.end_time or 0) - (step.start_time or 0) == 10**9
    assert SECRET not in "".join(span.to_json() for span in spans.values())


def test_a_later_keeper_writes_only_what_is_new_and_a_doubt_is_an_error(
    timed_store: Store, exporter: InMemorySpanExporter
) -> None:
    lease = claim(timed_store)
    keep(timed_store, lease, GestureState.HAPPENED)
    exporter.clear()
    timed_store.clock.sleep(1)
    keep(timed_store, lease, GestureState.UNKNOWN)
    spans = named(exporter.get_finished_spans())
    assert set(spans) == {"run invoice_shipments", "step pay_unknown", "gesture click"}
    assert spans["gesture click"].status.status_code is StatusCode.ERROR


def test_a_failing_exporter_changes_nothing(
    timed_store: Store, provider: TracerProvider, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(InMemorySpanExporter):
        def export(self, spans: Any) -> SpanExportResult:
            raise OSError("the collector is gone")

    broken = Broken()
    provider.add_span_processor(SimpleSpanProcessor(broken))
    lease = claim(timed_store)
    with caplog.at_level(logging.CRITICAL):
        keep(timed_store, lease, GestureState.HAPPENED)
    assert timed_store.journal.gestures(lease.run)[0].state is GestureState.HAPPENED
