"""What is said while a run is kept goes out by one door: to the log, to spans, to a person far off, to the watcher.

Each question is told of once: that it was told stands with the question, so that a resume doesn't tell of it again;
what could not be told is tried again by the next keeper. Knows nothing of processes and browsers. What may never
happen: a log or a notification holds up the keeper, or changes how the run ends.
"""

from __future__ import annotations

import shlex
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Self

from browser_agent.errors import Misuse
from browser_agent.options import Event, Options, Tell
from browser_agent.reporting import log as logs
from browser_agent.reporting import notify, spans
from browser_agent.store import Store


class Announcer:
    """The door; use it with `with`, so that what is being told at the end is told.

    Args:
        store: the run's store.
        run: its id.
        options: `on_question` says who is told of questions.
        watcher: called with each event, from the thread that it comes from.
    """

    def __init__(self, store: Store, run: str, options: Options, watcher: Tell) -> None:
        self._store, self._run, self._told, self._watcher = store, run, options.on_question, watcher
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="browser-agent telling")
        self._telling: dict[str, Future[str | None]] = {}
        self._attempt = 0

    def tell(self, event: Event) -> None:
        """Pass an event on."""
        self._attempt = event.attempt
        self._log(event)
        self._watcher(event)
        if event.kind == "question" and "question" in event.details:
            self._begin(event.details["question"])

    def __enter__(self) -> Self:
        self._began = self._store.clock.now()
        return self

    def __exit__(self, raised: type[BaseException] | None, *_: object) -> None:
        """Tell of what is open and has not been told of; say what could not be told."""
        ours = raised is None or not issubclass(raised, Misuse)  # else the run was never in these hands
        try:
            if self._told and ours:
                for question in self._store.inbox.questions(self._run, open_only=True):
                    self._begin(question.id)
            for future in self._telling.values():
                if trouble := future.result():
                    self.tell(Event("notification", trouble, self._run, self._attempt))
        finally:
            self._thread.shutdown()
        if ours:
            self._trace()

    def _trace(self) -> None:
        try:
            spans.trace(self._store, self._run, self._began)
        except Exception:  # whatever an exporter or a tracer raises, the run has ended as it has
            logs.LOGGER.exception("the spans of run %s could not be written", self._run)

    def _begin(self, question: str) -> None:
        if self._told and question not in self._telling:
            self._telling[question] = self._thread.submit(self._tell_of, question)

    def _tell_of(self, question: str) -> str | None:
        """Tell of a question, if nobody has yet; what went wrong, in one line."""
        try:
            row = self._store.inbox.question(question)
            if self._store.inbox.was_notified(row):
                return None
            more = f"--store {shlex.quote(str(self._store.where))}"
            run = self._store.leases.run(row.run_id)
            notify.tell(self._told, notify.document(row, run, more))
            self._store.inbox.record_notified(question)
        except (notify.NotTold, Misuse) as error:
            return f"Nobody was told of question {question}: {error}."
        return None

    def _log(self, event: Event) -> None:
        if not logs.is_heard(event):
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
