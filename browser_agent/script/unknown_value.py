"""The value of a step whose gesture was not made: a dry run hands it to the task, which may only pass it on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

UNKNOWN_TAG = "$unknown"
"""The key by which a canonical argument names the value that isn't known."""

_USES = (
    *("bool", "str", "format", "bytes", "hash", "len", "iter", "next", "contains", "int", "float", "index", "complex"),
    *("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "round", "setitem", "delitem", "enter"),
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "and", "or", "xor", "matmul"),
    *("radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod", "rdivmod", "rpow", "rand", "ror", "rxor"),
)


class UnknownValue:
    """Stands for a value that isn't known. Its attributes, its items and the results of its calls aren't known either.

    It can be given to another step as an argument. Every other use raises what `stop` returns, because the task would
    continue with a value that no site has given.

    Args:
        of: the call of the step whose value it is, in words.
        stop: makes the exception for a use of it; gets `of`.
        path: what was taken from the value, such as ".number".
    """

    __slots__ = ("_of", "_path", "_stop")

    def __init__(self, of: str, stop: Callable[[str], BaseException], path: str = "") -> None:
        self._of, self._stop, self._path = of, stop, path

    def __repr__(self) -> str:
        return f"<{self._of}{self._path}>"

    def __getattr__(self, name: str) -> UnknownValue:
        if name.startswith("__"):  # a protocol that Python or a library asks about
            raise AttributeError(name)
        return self._part(f".{name}")

    def __getitem__(self, key: object) -> UnknownValue:
        return self._part(f"[{key!r}]")

    def __call__(self, *args: object, **named: object) -> UnknownValue:
        return self._part("()")

    def _part(self, path: str) -> UnknownValue:
        return UnknownValue(self._of, self._stop, self._path + path)

    def _use(self, *_: object) -> NoReturn:
        raise self._stop(self._of)


for _name in _USES:
    setattr(UnknownValue, f"__{_name}__", UnknownValue._use)


def canonical_unknown(value: UnknownValue) -> dict[str, Any]:
    """The canonical form of an unknown value."""
    return {UNKNOWN_TAG: value._of}


def unknown_in(canonical: str) -> tuple[str, ...]:
    """The calls whose values canonical arguments lack, each once."""
    return tuple(dict.fromkeys(_unknown_in(json.loads(canonical))))


def _unknown_in(value: Any) -> Iterator[str]:
    match value:
        case {"$unknown": str(of)}:
            yield of
        case dict():
            for each in value.values():
                yield from _unknown_in(each)
        case list():
            for each in value:
                yield from _unknown_in(each)
