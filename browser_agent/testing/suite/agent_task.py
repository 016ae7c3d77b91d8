"""`agent_task`: keeps a task with a real keeper, worker and Chromium of its own, and hands back how it ended.

Kills are real ones here. It is kept in a thread of its own, since Playwright's loop may live in the test's. Must not
know the test's page.
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
from browser_agent.testing.suite.outcomes import Outcomes, Question, seen_in
from browser_agent.testing.suite.trial import Trial

OPTIONS = frozenset(each.name for each in fields(Options))


@dataclass(frozen=True)
class TaskEnded:
    """How a task has ended in a test.

    Attributes:
        run: the run's id.
        state: where it stands, such as "finished", "waiting" or "raised".
        words: why it stands there.
        result: the task's value; None as long as it has none.
        outcomes: how each of its gestures has ended, in order.
        questions: what waits for a person.
        attempts: how many workers it took.
    """

    run: str
    state: RunState
    words: str
    result: Any
    outcomes: Outcomes
    questions: list[Question]
    attempts: int


class AgentTasks:
    """Keeps tasks for one test."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial

    def __call__(self, task: Task[..., Any], /, **words: Any) -> TaskEnded:
        """Run a task to its end, or until it waits for a person.

        Args:
            task: the task.
            words: its arguments; what is none of them and a field of `Options` says how it is kept. An open question
                is looked at once more and then left, unless `keep_looking_seconds` says otherwise.

        Raises:
            WrongArguments: all that do not fit, together. Nothing was started.
        """
        arguments, asked = _sorted(task, words)
        kill = asked.pop("kill_at", None) or self._trial.kills.open
        kill = KillAt.parse(kill) if isinstance(kill, str) else kill
        quiet = replace(load().options(), keep_looking_seconds=0.0, on_question=())
        options = replace(quiet, kill_at=kill, **asked)
        with Store(self._trial.store) as store, ThreadPoolExecutor(1, thread_name_prefix="agent_task") as thread:
            with self._on_the_roads(task):
                run = submit(store, task, arguments).id
            self._trial.audit.add(run)
            return _told(store, task, thread.submit(keep, store, run, options, self._heard).result())

    def _heard(self, event: Event) -> None:
        print(f"agent_task: {event.words}")
        if event.kind == "struck":
            self._trial.kills.struck = True

    @contextmanager
    def _on_the_roads(self, task: Task[..., Any]) -> Iterator[None]:
        """Have the task's sites where the test's sites of that name are, while its run is written down."""
        roads = {site.name: site for site in self._trial.sites}
        before = {name: site.url for name, site in task.sites.items() if name in roads and site is not roads[name]}
        for name in before:
            task.sites[name].bind(roads[name].url)
        try:
            yield
        finally:
            for name, url in before.items():
                task.sites[name].bind(url)


def _sorted(task: Task[..., Any], words: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The task's arguments, and what says how it is kept."""
    options = {name: value for name, value in words.items() if name in OPTIONS and name not in task.parameters}
    return {name: value for name, value in words.items() if name not in options}, options


def _told(store: Store, task: Task[..., Any], ended: Ended) -> TaskEnded:
    rows = store.inbox.questions(ended.run, open_only=True)
    return TaskEnded(
        run=ended.run,
        state=ended.state,
        words=ended.words,
        result=task.adapter.validate_json(ended.result) if ended.result is not None else None,
        outcomes=Outcomes(seen_in(store, ended.run)),
        questions=[Question.of(row, store.where) for row in rows],
        attempts=ended.attempts,
    )
