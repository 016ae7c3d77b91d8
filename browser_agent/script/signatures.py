"""Reads and checks the signature of a step's or task's function, without calling it.

Annotations are read one at a time, since a task file may import `Page` or `Run` for its type checker only.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_type_hints

from browser_agent.errors import WrongTask

Function = Callable[..., Any]


def defined_at(fn: Function) -> str:
    """File and line of a function, such as `invoices.py:12`."""
    code = inspect.unwrap(fn).__code__
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}"


def checked_signature(fn: Function, noun: str, first: str, first_type: str) -> inspect.Signature:
    """The signature of a function that can be replayed.

    Args:
        fn: the decorated function.
        noun: "step" or "task", for the message.
        first: the name of its first parameter.
        first_type: the annotation of its first parameter, if that has another name.

    Raises:
        WrongTask: the function is async or a generator, has another first parameter, or no return annotation.
    """
    if not callable(fn) or not hasattr(inspect.unwrap(fn), "__code__"):
        raise WrongTask(f"@{noun} decorates a function, not {fn!r}.")
    named = f"The {noun} {fn.__name__} ({defined_at(fn)})"
    if inspect.iscoroutinefunction(fn) or inspect.isasyncgenfunction(fn):
        raise WrongTask(f"{named} is an async def; write a plain def.")
    if inspect.isgeneratorfunction(fn):
        raise WrongTask(f"{named} is a generator; return its value instead of yielding it.")
    signature = inspect.signature(fn)
    leading = next(iter(signature.parameters.values()), None)
    if leading is None or not _is_leading(leading, first, first_type):
        raise WrongTask(f"{named} must take `{first}: {first_type}` as its first parameter.")
    if signature.return_annotation is inspect.Signature.empty:
        raise WrongTask(f"{named} must say what it returns: write a return annotation.")
    return signature


def _is_leading(parameter: inspect.Parameter, first: str, first_type: str) -> bool:
    positional = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    written = parameter.annotation
    words = written if isinstance(written, str) else getattr(written, "__name__", "")
    return positional and (parameter.name == first or words.rpartition(".")[2] == first_type)


def resolved(fn: Function, name: str) -> Any:
    """The type that an annotation names; `name` is a parameter or "return".

    Raises:
        WrongTask: the annotation names something that the file doesn't define at its top level.
    """
    inner = inspect.unwrap(fn)
    written = inner.__annotations__.get(name, Any)
    stand_in = SimpleNamespace(__annotations__={name: written})
    try:
        return get_type_hints(stand_in, inner.__globals__, include_extras=True)[name]
    except (NameError, AttributeError, TypeError, SyntaxError) as error:
        what = "return annotation" if name == "return" else f"annotation of {name}"
        raise WrongTask(f"The {what} of {fn.__name__} ({defined_at(fn)}) can't be read: {error}.") from error
