"""Tasks: a script's entry, how its file is found and loaded, and how its arguments are read, stored and read back.

A task is a plain function of a run and its arguments; a run replays it from its top. Its file is loaded under a stable
module name, so that the observers in it are found again in another process.

Knows nothing of stores, browsers or keepers. Loading a file runs the file, and never a task in it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import json
import platform
import sys
import traceback
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from importlib.metadata import version as installed
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic_core import ErrorDetails, PydanticSerializationError

import observers
from browser_agent.errors import WrongArguments, WrongTask, nearest
from browser_agent.script.signatures import checked_signature, place, resolved

if TYPE_CHECKING:
    from browser_agent.options import Ended, Options
    from browser_agent.run.executor import Run
    from observers import Site

P = ParamSpec("P")
R = TypeVar("R")


class Task(Generic[P, R]):
    """A function of a run and its arguments. Made by `@task`.

    Attributes:
        name: what it is called on the command line and in the store.
        version: as the author counts.
        sites: the sites that it may use, by name.
        fn: the function.
        file: where it is written.
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
        self.where = place(fn)
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
        """Write a run of this task down for a worker process (`browser-agent worker`); its id.

        Args:
            store: the store's file, or `postgresql://user@host/name`; the default store if not given.
            key: your own name for the work; the same key is the same run.
            not_before: no worker takes it earlier: a time with its zone, or so long from now.
            attempts: how many attempts in a row may die before a person is asked; as the worker is set by default.
            arguments: the task's arguments.

        Raises:
            WrongArguments, SecretMissing, StoreUnusable: nothing was written. A worker must have its secrets, too.
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
        """Run this task here and now, in a worker of its own, until it ends or waits for a person.

        Args:
            store, key, arguments: see `submit`.
            options: see `Options`; as the settings of the folder and the environment say by default.

        Returns:
            Where the run stands: its state, its result as JSON, its open questions.

        Raises:
            WrongArguments, StoreUnusable: nothing was started.
            InOtherHands: a living process keeps the run of that key.
        """
        from browser_agent.keeper import launch

        return launch.run_task(self, arguments, store, key, options)

    def __str__(self) -> str:
        return f"The task {self.name} ({self.where})"

    def __repr__(self) -> str:
        return f"<Task {self.name} at {self.where}>"

    @cached_property
    def parameters(self) -> dict[str, TypeAdapter[Any]]:
        """Checks, stores and reads back each argument. Raises `WrongTask` for a type that can't be stored."""
        return {name: self._adapter(name, f"its argument {name}") for name in self.signature.parameters}

    @cached_property
    def adapter(self) -> TypeAdapter[R]:
        """Checks, stores and reads back its result. Raises `WrongTask` for a type that can't be stored."""
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
            raise WrongTask(f"The task {task_name} names two different sites {site.name!r}; give one another name.")
    return found


class TaskMaker:
    """What `@task(sites=...)` gives: it makes a `Task` of a function."""

    def __init__(self, sites: Sequence[Site], name: str | None, version: str | int) -> None:
        self._sites, self._name, self._version = sites, name, version

    def __call__(self, fn: Callable[Concatenate[Run, P], R], /) -> Task[P, R]:
        """Make a task of the function."""
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
    """Make a task of a function that takes a run.

    Args:
        sites: the sites that it may use; bound anew at run time by their names.
        name: what it is called, if not like the function.
        version: as you count.

    Raises:
        WrongTask: an async function, a generator, no run, no return annotation, two sites of one name.
    """
    maker = TaskMaker(sites, name, version)
    return maker if fn is None else maker(fn)


def load_task(spec: str) -> Task[..., Any]:
    """Load a task from its file.

    Args:
        spec: "invoices.py", or "invoices.py:invoice_shipments" where a file holds several.

    Raises:
        WrongTask: no such file, not Python, the file raised, no task in it, or several without a name.
    """
    path, _, name = spec.rpartition(":") if ".py:" in spec else (spec, "", "")
    file = Path(path).resolve()
    tasks = {found.name: found for found in vars(load_module(file)).values() if isinstance(found, Task)}
    own = {known: found for known, found in tasks.items() if found.file == file} or tasks
    if name:
        if name in tasks:
            return tasks[name]
        raise WrongTask(f"{file.name} has no task {name!r}{nearest(name, own)}.")
    if len(own) != 1:
        many = f"has several tasks; name one: {', '.join(f'{path}:{known}' for known in own)}"
        raise WrongTask(f"{file.name} {many if own else 'has no task: put @task on a function'}.")
    return next(iter(own.values()))


def load_module(file: Path) -> ModuleType:
    """Load a file under its stem, once; its folder is put on the path, so that it may import its neighbours.

    Raises:
        WrongTask: no such file, not Python, the file raised, or its name is taken.
    """
    if not file.is_file():
        raise WrongTask(f"There is no file {file}.")
    if file.suffix != ".py":
        raise WrongTask(f"{file.name} isn't a Python file.")
    for name in ("__main__", file.stem):
        loaded = sys.modules.get(name)
        if loaded is not None and _same_file(getattr(loaded, "__file__", None), file):
            return sys.modules.setdefault(file.stem, loaded)
    if file.stem in sys.modules or file.stem in sys.stdlib_module_names:
        raise WrongTask(f"{file} has the name of another module{_whose(file.stem)}; rename the file.")
    for hiding in (file.with_name("observers.py"), file.with_name("observers") / "__init__.py"):
        if hiding.exists() and not _same_file(observers.__file__, hiding.resolve()):
            raise WrongTask(f"{hiding} has the name of a package that browser-agent needs; rename it.")
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    return _run_file(file)


def _whose(stem: str) -> str:
    file = getattr(sys.modules.get(stem), "__file__", None)
    return f" ({file})" if file else ""


def _same_file(one: str | None, other: Path) -> bool:
    return one is not None and Path(one).resolve() == other


def _run_file(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:  # can't be, for a file that ends in .py
        raise WrongTask(f"{file.name} can't be loaded.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[file.stem]
        raise WrongTask(_import_words(file, error)) from error
    return module


def _import_words(file: Path, error: BaseException) -> str:
    if isinstance(error, SyntaxError) and _same_file(error.filename, file):
        return f"{file.name} isn't Python: line {error.lineno}: {error.msg}."
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _same_file(frame.filename, file)]
    line = f", line {frames[-1].lineno}," if frames else ""
    said = str(error).rstrip(".")
    return f"{file.name}{line} raised {type(error).__name__}{f': {said}' if said else ''}."


def parse_arguments(of: Task[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Read a task's arguments by its signature, from texts (command line) or values; defaults are put in.

    Raises:
        WrongArguments: unknown names, missing ones and ones that don't fit, all of them together.
    """
    parsed: dict[str, Any] = {}
    wrong = [
        f"{name}: there is no such argument{nearest(name, of.parameters)}"
        for name in given
        if name not in of.parameters
    ]
    for name, parameter in of.signature.parameters.items():
        if name in given:
            try:
                parsed[name] = _read(of.parameters[name], given[name])
            except ValidationError as error:
                wrong += [f"{_place(name, part['loc'])}: {_why(part)}" for part in error.errors(include_url=False)]
        elif parameter.default is parameter.empty:
            wrong.append(f"{name}: is missing")
        else:
            parsed[name] = parameter.default
    if wrong:
        raise WrongArguments(f"{of} can't take these arguments. {'; '.join(wrong)}.")
    return parsed


def _read(adapter: TypeAdapter[Any], value: Any) -> Any:
    """A text that doesn't fit as it stands may be JSON, as for a list on the command line."""
    try:
        return adapter.validate_python(value)
    except ValidationError:
        if not isinstance(value, str):
            raise
        try:
            return adapter.validate_json(value)
        except ValidationError as error:
            if any(part["type"] == "json_invalid" for part in error.errors(include_url=False)):
                return adapter.validate_python(value)
            raise


_FORMS = {"date_": "YYYY-MM-DD", "datetime_": "YYYY-MM-DDTHH:MM"}


def _why(part: ErrorDetails) -> str:
    """What is wrong with an argument; of a date in the form that it must have, for pydantic tells of its parser."""
    form = next((form for kind, form in _FORMS.items() if part["type"].startswith(kind)), None)
    return f"{part['input']!r} is not of the form {form}" if form else part["msg"]


def _place(name: str, inside: tuple[int | str, ...]) -> str:
    return ".".join([name, *(str(part) for part in inside)])


def dump_arguments(
    of: Task[..., Any], arguments: Mapping[str, Any], vault: MutableMapping[str, str] | None = None
) -> str:
    """Parsed arguments as JSON text that `load_arguments` reads back to equal values.

    Args:
        of: the task.
        arguments: name -> value.
        vault: takes the values of secrets, by name; the text holds their names alone.

    Raises:
        WrongArguments: one that JSON can't hold, such as pydantic's SecretStr, which would be stored masked, or a
            `Secret` without a vault.
    """
    stored: dict[str, Any] = {}
    for name, value in arguments.items():
        adapter = of.parameters[name]
        try:
            text = adapter.dump_json(value, context={"vault": vault})
            if adapter.validate_json(text, context={"vault": vault or {}}) != value:
                raise ValueError("it comes back as something else (a secret is of the type browser_agent.Secret)")
        except (PydanticSerializationError, ValueError) as error:
            raise WrongArguments(f"{of}: the argument {name} can't be stored: {error}.") from error
        stored[name] = json.loads(text)
    return json.dumps(stored, ensure_ascii=False)


def load_arguments(of: Task[..., Any], text: str, vault: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The arguments of a stored text; `vault` holds the values of its secrets, by name.

    Raises:
        WrongArguments: the signature has changed, so that they no longer fit.
    """
    wrong: list[str] = []
    loaded: dict[str, Any] = {}
    for name, value in json.loads(text).items():
        try:
            loaded[name] = of.parameters[name].validate_json(json.dumps(value), context={"vault": vault or {}})
        except KeyError:
            wrong.append(f"{name}: there is no such argument any more")
        except ValidationError as error:
            wrong += [f"{_place(name, part['loc'])}: {part['msg']}" for part in error.errors(include_url=False)]
    if wrong:
        raise WrongArguments(f"{of} no longer takes its stored arguments. {'; '.join(wrong)}.")
    return loaded


def source_hash(of: Task[..., Any]) -> str:
    """SHA-256 of the task's file as it is on the disk now, as 64 hex digits."""
    return hashlib.sha256(of.file.read_bytes()).hexdigest()


def package_versions() -> dict[str, str]:
    """The versions that a replay depends on."""
    named = {name: installed(name) for name in ("browser-agent", "playwright")}
    return {**named, "python": platform.python_version()}
