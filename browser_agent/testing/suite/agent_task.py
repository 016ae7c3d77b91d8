"""`agent_task`: runs a task with a real keeper, worker and Chromium, and returns how it ended. Kills are real.

The keeper runs in its own thread, because Playwright's loop may be running in the test's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

from browser_agent.keeper.keeper import keep
from browser_agent.keeper.launch import submit
from browser_agent.options import Ended, Event, KillAt, Options
from browser_agent.script.tasks import Task
from browser_agent.settings_sources import load
from browser_agent.states import RunState
from browser_agent.store import Store
from browser_agent.testing.suite.outcomes import OpenQuestion, Outcomes, gestures_of
from browser_agent.testing.suite.trial import Trial

OPTIONS = frozenset(each.name for each in fields(Options))


@dataclass(frozen=True)
class TaskEnded:
    """How a task ended in a test.

    Attributes:
        run: the run's id.
        state: its state, such as "finished", "waiting" or "raised".
        words: the reason for that state.
        result: the task's value; None if it has none.
        outcomes: how each of its gestures ended, in order.
        questions: those that wait for a person's answer.
        attempts: how many workers it took.
    """

    run: str
    state: RunState
    words: str
    result: Any
    outcomes: Outcomes
    questions: list[OpenQuestion]
    attempts: int


class AgentTasks:
    """Runs tasks for one test."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial

    def __call__(self, task: Task[..., Any], /, **words: Any) -> TaskEnded:
        """Run a task to its end, or until it waits for a person.

        Args:
            task: the task.
            words: its arguments. A keyword that isn't an argument but a field of `Options` sets that option. For an
                open question the sites are looked at once more, unless `keep_looking` says otherwise.

        Raises:
            WrongArguments: lists all wrong arguments. Nothing was started.
        """
        arguments, asked = _sorted(task, words)
        kill = asked.pop("kill_at", None) or self._trial.kills.pending
        kill = KillAt.parse(kill) if isinstance(kill, str) else kill
        quiet = replace(load().options(), keep_looking=0.0, on_question=())
        options = replace(quiet, kill_at=kill, **asked)
        with Store(self._trial.store) as store, ThreadPoolExecutor(1, thread_name_prefix="agent_task") as thread:
            with self._bound_to_the_test(task):
                run = submit(store, task, arguments).id
            self._trial.audit.add(run)
            return _ended(store, task, thread.submit(keep, store, run, options, self._print).result())

    def _print(self, event: Event) -> None:
        print(f"agent_task: {event.words}")
        if event.kind == "fault_injected":
            self._trial.kills.done = True

    @contextmanager
    def _bound_to_the_test(self, task: Task[..., Any]) -> Iterator[None]:
        """Bind the task's sites to the addresses of the test's sites of the same names, while its run is submitted."""
        sites = {site.name: site for site in self._trial.sites}
        before = {name: site.url for name, site in task.sites.items() if name in sites and site is not sites[name]}
        for name in before:
            task.sites[name].bind(sites[name].url)
        try:
            yield
        finally:
            for name, url in before.items():
                task.sites[name].bind(url)


def _sorted(task: Task[..., Any], words: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split the keywords into the task's arguments and options."""
    options = {name: value for name, value in words.items() if name in OPTIONS and name not in task.parameters}
    return {name: value for name, value in words.items() if name not in options}, options


def _ended(store: Store, task: Task[..., Any], ended: Ended) -> TaskEnded:
    rows = store.inbox.questions(ended.run, open_only=True)
    return TaskEnded(
        run=ended.run,
        state=ended.state,
        words=ended.words,
        result=task.adapter.validate_json(ended.result) if ended.result is not None else None,
        outcomes=Outcomes(gestures_of(store, ended.run)),
        questions=[OpenQuestion.of(row, store.where) for row in rows],
        attempts=ended.attempts,
    )
