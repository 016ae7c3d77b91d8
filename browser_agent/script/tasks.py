"""Tasks: the entry of a script, a plain function of a run and its arguments, which a run replays from its top."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError

from browser_agent.errors import WrongTask
from browser_agent.script.signatures import checked_signature, defined_at, resolved

if TYPE_CHECKING:
    from browser_agent.options import Ended, Options
    from browser_agent.run.executor import Run
    from observers import Site

P = ParamSpec("P")
R = TypeVar("R")


class Task(Generic[P, R]):
    """A function of a run and its arguments. Made by `@task`.

    Attributes:
        name: its name on the command line and in the store.
        version: the author's own version of it.
        sites: the sites that it may use, by name.
        fn: the function.
        file: the file that defines it.
        module: the stable name of its module.
    """

    def __init__(
        self, fn: Callable[Concatenate[Run, P], R], sites: Sequence[Site], name: str | None, version: str | int
    ) -> None:
        signature = checked_signature(fn, "task", "run", "Run")
        self.fn = fn
        self.name = name or fn.__name__
        self.version = str(version)
        self.sites = _by_name(self.name, sites)
        self.file = Path(inspect.unwrap(fn).__code__.co_filename).resolve()
        self.module = self.file.stem if fn.__module__ == "__main__" else fn.__module__
        self.where = defined_at(fn)
        self.signature = signature.replace(parameters=list(signature.parameters.values())[1:])
        self.__doc__ = fn.__doc__
        for parameter in self.signature.parameters.values():
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise WrongTask(f"{self} can't take {parameter}: every argument needs a name.")

    def submit(
        self,
        *,
        store: Path | str | None = None,
        key: str | None = None,
        not_before: datetime | timedelta | None = None,
        attempts: int | None = None,
        **arguments: Any,
    ) -> str:
        """Queue a run of this task for a worker process (`browser-agent worker`) and return its id.

        Args:
            store: the store's file, or `postgresql://user@host/name`. None = the default store.
            key: your own name for the work; the same key is the same run.
            not_before: the earliest start: a time with its zone, or a delay from now.
            attempts: how many attempts in a row may die before a person is asked. None = as the worker is configured.
            arguments: the task's arguments.

        Raises:
            WrongArguments, SecretMissing, StoreUnusable: nothing was written. The worker must be able to read the
                secrets too.
        """
        from browser_agent.keeper import launch

        return launch.queue_task(self, arguments, store, key, launch.ForWorkers(not_before, attempts))

    def run(
        self,
        *,
        store: Path | str | None = None,
        key: str | None = None,
        options: Options | None = None,
        **arguments: Any,
    ) -> Ended:
        """Run this task now, in a worker of its own, until it ends or waits for a person.

        Args:
            store, key, arguments: see `submit`.
            options: see `Options`. None = from the settings of the folder and the environment.

        Returns:
            The run's state, its result as JSON, and its open questions.

        Raises:
            WrongArguments, StoreUnusable: nothing was started.
            InOtherHands: a living process owns the run of that key.
        """
        from browser_agent.keeper import launch

        return launch.run_task(self, arguments, store, key, options)

    def __str__(self) -> str:
        return f"The task {self.name} ({self.where})"

    def __repr__(self) -> str:
        return f"<Task {self.name} at {self.where}>"

    @cached_property
    def parameters(self) -> dict[str, TypeAdapter[Any]]:
        """Each argument's type: validates, stores and reads it back. Raises `WrongTask` if it can't be stored."""
        return {name: self._adapter(name, f"its argument {name}") for name in self.signature.parameters}

    @cached_property
    def adapter(self) -> TypeAdapter[R]:
        """The result's type: validates, stores and reads it back. Raises `WrongTask` if it can't be stored."""
        return self._adapter("return", "its result")

    def _adapter(self, name: str, what: str) -> TypeAdapter[Any]:
        try:
            return TypeAdapter(resolved(self.fn, name))
        except PydanticUserError as error:
            raise WrongTask(f"{self}: {what} can't be stored: {error.message.splitlines()[0]}") from error


def _by_name(task_name: str, sites: Sequence[Site]) -> dict[str, Site]:
    found: dict[str, Site] = {}
    for site in sites:
        if found.setdefault(site.name, site) is not site:
            raise WrongTask(f"The task {task_name} has two different sites {site.name!r}; rename one of them.")
    return found


class TaskMaker:
    """The decorator that `@task(sites=...)` returns; it turns a function into a `Task`."""

    def __init__(self, sites: Sequence[Site], name: str | None, version: str | int) -> None:
        self._sites, self._name, self._version = sites, name, version

    def __call__(self, fn: Callable[Concatenate[Run, P], R], /) -> Task[P, R]:
        """Turn the function into a task."""
        return Task(fn, self._sites, self._name, self._version)


@overload
def task(fn: Callable[Concatenate[Run, P], R], /) -> Task[P, R]: ...
@overload
def task(*, sites: Sequence[Site] = (), name: str | None = None, version: str | int = "1") -> TaskMaker: ...
def task(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    sites: Sequence[Site] = (),
    name: str | None = None,
    version: str | int = "1",
) -> Any:
    """Turn a function that takes a run into a task.

    Args:
        sites: the sites that it may use; each is bound to its address by name when the task runs.
        name: the task's name. None = the function's name.
        version: your own version of it.

    Raises:
        WrongTask: the function is async or a generator, takes no run, has no return annotation, or two sites share a
            name.
    """
    maker = TaskMaker(sites, name, version)
    return maker if fn is None else maker(fn)
