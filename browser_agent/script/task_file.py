"""Finds a task's file, loads it under a stable module name, and says which version of it was loaded.

The name must be stable since observers that the file defines are stored by it and found again in another process.
"""

from __future__ import annotations

import hashlib
import importlib.util
import platform
import sys
import traceback
from importlib.metadata import version as installed
from pathlib import Path
from types import ModuleType
from typing import Any

import observers
from browser_agent.errors import WrongTask, nearest
from browser_agent.script.tasks import Task


def load_task(spec: str) -> Task[..., Any]:
    """Load a task from its file.

    Args:
        spec: "invoices.py", or "invoices.py:invoice_shipments" where a file holds several.

    Raises:
        WrongTask: there is no such file, it isn't Python, it raised, it has no task, or it has several and `spec`
            names none.
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
        raise WrongTask(f"{file.name} {many if own else 'has no task: decorate a function with @task'}.")
    return next(iter(own.values()))


def load_module(file: Path) -> ModuleType:
    """Load a file once, under its stem. Its folder is added to `sys.path`, so that it can import its neighbours.

    Raises:
        WrongTask: there is no such file, it isn't Python, it raised, or another module has its name.
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
    if spec is None or spec.loader is None:  # impossible for a file that ends in .py
        raise WrongTask(f"{file.name} can't be loaded.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[file.stem]
        raise WrongTask(_error_words(file, error)) from error
    return module


def _error_words(file: Path, error: BaseException) -> str:
    if isinstance(error, SyntaxError) and _same_file(error.filename, file):
        return f"{file.name} isn't Python: line {error.lineno}: {error.msg}."
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _same_file(frame.filename, file)]
    line = f", line {frames[-1].lineno}," if frames else ""
    said = str(error).rstrip(".")
    return f"{file.name}{line} raised {type(error).__name__}{f': {said}' if said else ''}."


def source_hash(of: Task[..., Any]) -> str:
    """SHA-256 of the task's file as it is on disk now, as 64 hex digits."""
    return hashlib.sha256(of.file.read_bytes()).hexdigest()


def package_versions() -> dict[str, str]:
    """The versions of Python and of the packages that a replay depends on."""
    named = {name: installed(name) for name in ("browser-agent", "playwright")}
    return {**named, "python": platform.python_version()}
