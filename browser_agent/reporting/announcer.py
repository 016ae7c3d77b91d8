"""Announces the events of a run: to the log, to spans, to its caller, and each question once by notification.

The store records that a question was announced, so a resume doesn't repeat it; the next keeper retries a notification
that failed. None of this delays the keeper or changes how the run ends.
"""

from __future__ import annotations

import shlex
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Self

from browser_agent.errors import Misuse
from browser_agent.options import Event, OnEvent, Options
from browser_agent.reporting import log as logs
from browser_agent.reporting import notify, spans
from browser_agent.store import Store


class Announcer:
    """Announces one run's events; as a context manager it waits at the end for pending notifications.

    Args:
        store: the run's store.
        run: its id.
        options: `on_question` is the command or address to notify of questions.
        on_event: called with each event, in the thread that announces it.
    """

    def __init__(self, store: Store, run: str, options: Options, on_event: OnEvent) -> None:
        self._store, self._run, self._target, self._on_event = store, run, options.on_question, on_event
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="browser-agent notification")
        self._pending: dict[str, Future[str | None]] = {}
        self._attempt = 0

    def announce(self, event: Event) -> None:
        """Pass an event on to everybody who receives it."""
        self._attempt = event.attempt
        self._log(event)
        self._on_event(event)
        if event.kind == "question" and "question" in event.details:
            self._notify(event.details["question"])

    def __enter__(self) -> Self:
        self._began = self._store.clock.now()
        return self

    def __exit__(self, raised: type[BaseException] | None, *_: object) -> None:
        """Notify of open questions that no event announced, and announce the notifications that failed."""
        ours = raised is None or not issubclass(raised, Misuse)  # otherwise this process never owned the run
        try:
            if self._target and ours:
                for question in self._store.inbox.questions(self._run, open_only=True):
                    self._notify(question.id)
            for future in self._pending.values():
                if trouble := future.result():
                    self.announce(Event("notification", trouble, self._run, self._attempt))
        finally:
            self._thread.shutdown()
        if ours:
            self._trace()

    def _trace(self) -> None:
        try:
            spans.trace(self._store, self._run, self._began)
        except Exception:  # whatever an exporter or a tracer raises, the run has ended as it has
            logs.LOGGER.exception("the spans of run %s could not be written", self._run)

    def _notify(self, question: str) -> None:
        if self._target and question not in self._pending:
            self._pending[question] = self._thread.submit(self._send, question)

    def _send(self, question: str) -> str | None:
        """Notify of a question, unless that was done before; returns what went wrong, in one line."""
        try:
            row = self._store.inbox.question(question)
            if self._store.inbox.was_notified(row):
                return None
            more = f"--store {shlex.quote(str(self._store.where))}"
            run = self._store.leases.run(row.run_id)
            notify.send(self._target, notify.payload(row, run, more))
            self._store.inbox.record_notified(question)
        except (notify.NotSent, Misuse) as error:
            return f"The notification of question {question} was not delivered: {error}."
        return None

    def _log(self, event: Event) -> None:
        if not logs.is_enabled(event):
            return
        gesture = event.details.get("gesture")
        if gesture and "step" not in event.details:
            event = replace(event, details={**event.details, "step": self._step_of(gesture)})
        logs.log(event)

    def _step_of(self, gesture: str) -> str | None:
        """The name of the step that a gesture belongs to."""
        try:
            made = self._store.journal.gesture(gesture)
            return next(step.name for step in self._store.journal.steps(self._run) if step.id == made.step_id)
        except (Misuse, StopIteration):
            return None
