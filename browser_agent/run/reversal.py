"""Reversal of a run's step: a NEW run of the same file, in which a person approves it and one step reverses the other.

A step names the step that reverses it (`@step(reverse=cancel_invoice)`), which takes the first one's value as its only
argument. The old run isn't changed. Asking for the same reversal twice gives the same run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from browser_agent.errors import Misuse, WrongTask
from browser_agent.processes import own_user
from browser_agent.script.steps import Step
from browser_agent.script.task_file import load_module, load_task
from browser_agent.script.tasks import Task
from browser_agent.states import GestureState, StepState
from browser_agent.store import Store
from browser_agent.store.records import GestureRow, RunRow, StepRow

if TYPE_CHECKING:
    from observers import Site

PREFIX = "reverse "
"""Begins the name of a task that isn't in the file, but made from one of its steps."""


def load(spec: str) -> Task[..., Any]:
    """Load a task by file and name, such as "invoices.py:invoice_shipments" or "invoices.py:reverse post_invoice".

    Raises:
        WrongTask: see `load_task`; or there is no such step, or nothing reverses it.
    """
    file, _, name = spec.rpartition(":")
    if not name.startswith(PREFIX):
        return load_task(spec)
    module = load_module(Path(file).resolve())
    wanted = name.removeprefix(PREFIX)
    for step in vars(module).values():
        if isinstance(step, Step) and step.name == wanted and step.reverse is not None:
            return _task(step, step.reverse, module, Path(file).resolve())
    raise WrongTask(
        f"{Path(file).name} has no step {wanted!r} that names the step which reverses it. Nothing was made."
    )


def reversible(store: Store, run: str) -> Iterator[tuple[StepRow, GestureRow]]:
    """The finished steps of a run whose gesture happened and can be reversed, each with that gesture."""
    gestures = {row.step_id: row for row in store.journal.gestures(run)}  # the last one of each step
    for step in store.journal.steps(run):
        made = gestures.get(step.id)
        if made is None or made.reverse is None or step.state is not StepState.FINISHED:
            continue
        if made.state is GestureState.HAPPENED:
            yield step, made


def submit_reversal(store: Store, run: RunRow, what: str | None) -> RunRow:
    """Submit the run that reverses a step of another run, or return it if that was done before.

    Args:
        store: the store of both runs.
        run: the run whose step is reversed.
        what: the step's id or name. None = the only one that can be reversed.

    Raises:
        Misuse: no step fits, several do, or none can be reversed. Nothing was written.
    """
    known = list(reversible(store, run.id))
    fitting = [step for step, _ in known if what in (None, step.id, step.name)]
    if len(fitting) != 1:
        listed = "; ".join(f"{step.id} {step.words}" for step, _ in known) or "nothing"
        why = "Several steps fit" if fitting else "No step fits"
        raise Misuse(f"{why}. What can be reversed in run {run.id}: {listed}. Nothing was done.")
    return store.leases.submit(
        task_file=run.task_file,
        task_name=f"{PREFIX}{fitting[0].name}",
        arguments=json.dumps({"value": json.loads(fitting[0].value or "null")}),
        sites=run.sites,
        key=f"{PREFIX}{fitting[0].id}",
        by=own_user(),
    )


def _task(step: Step[..., Any], back: Step[..., Any], module: ModuleType, file: Path) -> Task[..., Any]:
    def reverse(run: Any, value: Any) -> Any:
        """Reverse what a step has made, once a person has approved it."""
        for call in run.approve(f"This reverses what {step.name} has made. May it be done?", [back(value)]):
            return run.step(call)
        return None

    gives: Any = back.returns.value | None
    reverse.__annotations__ = {"value": step.returns.value, "return": gives}
    made = Task(reverse, _sites(module), f"{PREFIX}{step.name}", step.version)
    made.file, made.module = file, module.__name__
    return made


def _sites(module: ModuleType) -> list[Site]:
    """The sites of every task in the file."""
    tasks = [found for found in vars(module).values() if isinstance(found, Task)]
    return list({id(site): site for task in tasks for site in task.sites.values()}.values())
