"""Steps: named parts of a run. A step prepares the real page and RETURNS its gesture, so no code follows the gesture.

`@step` makes a `Step`; calling it with arguments makes a `StepCall`, a value that touches no page. The run takes the
call, prepares the page with it, and makes the gesture that it returns.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Concatenate,
    Final,
    Generic,
    Literal,
    NamedTuple,
    Optional,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    overload,
)

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic_core import PydanticSerializationError

from browser_agent.errors import WrongArguments, WrongTask
from browser_agent.script.canonical_json import canonical
from browser_agent.script.gestures import VALUE, Done, Gesture, is_bare, value_names
from browser_agent.script.must_run import MustRun, raise_if_dropped
from browser_agent.script.signatures import checked_signature, defined_at, resolved

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from observers import Site

__all__ = ["Preparation", "Step", "StepCall", "StepMaker", "check_result", "raise_if_dropped", "step"]

P = ParamSpec("P")
T = TypeVar("T")

Preparation = Literal["marked", "repeatable"]
WORDS = 120


class Returns(NamedTuple):
    """What a step's return annotation says."""

    writes: bool  # it may return a gesture
    done: bool  # it may return Done
    nothing: bool  # it may return None
    value: Any  # the type of its value


class Step(Generic[P, T]):
    """A function that prepares a page and returns its gesture, or that reads the page and returns a value.

    Made by `@step`; its options are those of `StepMaker`.
    """

    def __init__(self, fn: Callable[Concatenate[Page, P], Any], maker: StepMaker) -> None:
        signature = checked_signature(fn, "step", "page", "Page")
        self.fn = fn
        self.name = maker.name or fn.__name__
        self.version = str(maker.version)
        self.site = maker.site
        self.again = maker.again
        self.refusals = maker.refusals
        self.preparation = maker.preparation
        self.approval = maker.approval
        self.reverse = maker.reverse
        self.where = defined_at(fn)
        self.signature = signature.replace(parameters=list(signature.parameters.values())[1:])
        self.__doc__ = fn.__doc__
        _check_reverse(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> StepCall[T]:
        """A call of the step, as a value. Nothing is done yet.

        Raises:
            TypeError: the function doesn't take these arguments.
            WrongArguments: an argument has no canonical form.
        """
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        try:
            return StepCall(self, canonical(bound.arguments), MappingProxyType(bound.arguments))
        except WrongArguments as error:
            raise WrongArguments(f"{self.name}: {error}") from error

    def prepare(self, page: Page, /, *args: P.args, **kwargs: P.kwargs) -> Gesture[T]:
        """Prepare a page and return the gesture without making it, for unit tests.

        Raises:
            WrongTask: the step returned no gesture.
        """
        result = self.fn(page, *args, **kwargs)
        check_result(self, result)
        if not isinstance(result, Gesture):
            raise WrongTask(f"{self} returned no gesture, but {result!r}.")
        result.take()
        return result

    def __str__(self) -> str:
        return f"The step {self.name} ({self.where})"

    @property
    def identity(self) -> str:
        """Its name and version, by which a bookmark and an approval refer to it."""
        return f"{self.name}@{self.version}"

    @cached_property
    def returns(self) -> Returns:
        """What its return annotation says. Raises `WrongTask` if it can't be read."""
        return _read_annotation(str(self), resolved(self.fn, "return"))

    @property
    def writes(self) -> bool:
        """Whether it may return a gesture."""
        return self.returns.writes

    @property
    def gives(self) -> Any:
        """The type of its value; None if it has none."""
        return None if self.returns.value is NoneType else self.returns.value

    @cached_property
    def adapter(self) -> TypeAdapter[T]:
        """Its value's type: validates, stores and reads it back. Raises `WrongTask` if it can't be stored."""
        try:
            return TypeAdapter(self.returns.value)
        except PydanticUserError as error:
            raise WrongTask(f"{self} gives a value that can't be stored: {error.message.splitlines()[0]}") from error

    def dump(self, value: T) -> str:
        """The value as JSON. Raises `WrongTask` if it isn't what the annotation promises."""
        try:
            return self.adapter.dump_json(self.adapter.validate_python(value)).decode()
        except (ValidationError, PydanticSerializationError) as error:
            raise WrongTask(f"{self} gave {_short(repr(value))}, not what its annotation promises: {error}") from error

    def load(self, text: str) -> T:
        """The value of a stored text."""
        return self.adapter.validate_json(text)

    def proven(self, values: Mapping[str, Any]) -> T:
        """Build the step's value from proven values and known facts.

        Raises:
            pydantic.ValidationError: they don't fit its type; the gesture has happened nevertheless.
        """
        kind = _without_none(self.returns.value)
        names = value_names(kind)
        if self.gives is None:
            return self.adapter.validate_python(None)
        if is_bare(kind):
            return self.adapter.validate_python(values.get(VALUE))
        return self.adapter.validate_python({n: v for n, v in values.items() if names is None or n in names})


@dataclass(frozen=True)
class StepCall(MustRun, Generic[T]):
    """A step with its arguments: a value that can be listed and approved, and that must be run.

    Two calls are equal if their step and canonical arguments are; running both still runs the step twice.
    """

    step: Step[..., T]
    canonical: str
    arguments: Mapping[str, Any] = field(compare=False)

    def __post_init__(self) -> None:
        self._made_here()

    def prepare(self, page: Page) -> Any:
        """Run the step's body on a page and return its gesture, `Done`, None or the value read.

        Raises:
            WrongTask: its annotation doesn't announce such a result.
        """
        bound = inspect.BoundArguments(self.step.signature, OrderedDict(self.arguments))
        result = self.step.fn(page, *bound.args, **bound.kwargs)
        check_result(self.step, result)
        return result

    @property
    def words(self) -> str:
        """The call as source text, at most 120 characters."""
        return _short(f"{self.step.name}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})")

    def __str__(self) -> str:
        return self.words

    __repr__ = __str__


@dataclass(frozen=True)
class StepMaker:
    """The decorator `@step`, with or without options.

    site: the site that the step writes to or reads.
    name, version: a given name survives a rename of the function; a new version is another step.
    again: how many further gestures it makes after a proven absence, before it raises `NotHappened`.
    refusals: how many further gestures it makes after a refusal, before it raises `Refused`.
    preparation: "repeatable" if writes made while the page is prepared may be repeated.
    approval: a person must approve each of its gestures, in `run.approve` or when asked.
    reverse: the step that reverses what this one has made; it takes this one's value as its only argument.
    """

    site: Site | None = None
    name: str | None = None
    version: str | int = "1"
    again: int = 1
    refusals: int = 3
    preparation: Preparation = "marked"
    approval: bool = False
    reverse: Step[..., Any] | None = None

    @overload
    def __call__(self, fn: Callable[Concatenate[Page, P], Gesture[T] | Done[T]], /) -> Step[P, T]: ...
    @overload
    def __call__(self, fn: Callable[Concatenate[Page, P], Gesture[T] | Done[T] | None], /) -> Step[P, T | None]: ...
    @overload
    def __call__(self, fn: Callable[Concatenate[Page, P], T], /) -> Step[P, T]: ...
    @overload
    def __call__(
        self,
        /,
        *,
        site: Site | None = None,
        name: str | None = None,
        version: str | int = "1",
        again: int = 1,
        refusals: int = 3,
        preparation: Preparation = "marked",
        approval: bool = False,
        reverse: Step[..., Any] | None = None,
    ) -> StepMaker: ...
    def __call__(self, fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """Turn a function into a `Step`.

        Raises:
            WrongTask: the function is async or a generator, takes no page, or has no return annotation; or `reverse`
                isn't a step of one argument.
        """
        return replace(self, **options) if fn is None else Step(fn, self)


step: Final = StepMaker()
"""Put `@step` or `@step(site=books)` on a function that takes a page and returns its gesture, or what it reads."""


def check_result(of: Step[..., Any], result: object) -> None:
    """Refuse a result that the step's annotation doesn't announce.

    Raises:
        WrongTask: it is an undeclared gesture, no gesture where one is declared, or one that gives something else.
    """
    says = of.returns
    if isinstance(result, Gesture):
        result.take()  # it may be wrong, but it wasn't dropped
        if not says.writes:
            raise WrongTask(f"{of} returned a gesture without saying so: annotate it `-> Gesture[...]`.")
        if result.gives is None and of.gives is not None and not _may_be_none(says.value):
            raise WrongTask(f"{of} says that its gesture gives a value, but the gesture has no `gives=`.")
        return
    if inspect.iscoroutine(result):
        result.close()
        raise WrongTask(f"{of} returned a coroutine; write a plain def.")
    announced = says.done if isinstance(result, Done) else says.nothing if result is None else False
    if (says.writes or says.done) and not announced:
        hint = " Is a `return` missing?" if result is None else ""
        raise WrongTask(f"{of} returned {_short(repr(result))}, which its annotation doesn't announce.{hint}")


def _check_reverse(of: Step[..., Any]) -> None:
    if of.reverse is None:
        return
    needed = [each for each in of.reverse.signature.parameters.values() if each.default is each.empty]
    if len(needed) != 1:
        takes = ", ".join(each.name for each in needed) or "nothing"
        raise WrongTask(
            f"{of} is reversed by {of.reverse.name}, which must take its value and nothing else; it takes {takes}."
        )


def _read_annotation(named: str, hint: Any) -> Returns:
    members = _members(hint)
    kinds = {Gesture: [m for m in members if _is(m, Gesture)], Done: [m for m in members if _is(m, Done)]}
    if not kinds[Gesture] and not kinds[Done]:
        return Returns(writes=False, done=False, nothing=True, value=hint)
    others = [m for m in members if not _is(m, Gesture) and not _is(m, Done) and m is not NoneType]
    values = [(get_args(m) or (Any,))[0] for m in kinds[Gesture] + kinds[Done]]
    if others or any(value != values[0] for value in values):
        raise WrongTask(f"{named} must return `Gesture[T] | Done[T]`, perhaps None, with one T and nothing else.")
    nothing = NoneType in members
    value = Optional[values[0]] if nothing else values[0]  # noqa: UP045 (a type that is only known at run time)
    return Returns(writes=bool(kinds[Gesture]), done=bool(kinds[Done]), nothing=nothing, value=value)


def _members(hint: Any) -> list[Any]:
    while get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) in (Union, UnionType):
        return [member for part in get_args(hint) for member in _members(part)]
    return [NoneType if hint is None else hint]


def _is(hint: Any, kind: type) -> bool:
    base = get_origin(hint) or hint
    return isinstance(base, type) and issubclass(base, kind)


def _may_be_none(value: Any) -> bool:
    return value is Any or NoneType in _members(value)


def _without_none(value: Any) -> Any:
    left = [member for member in _members(value) if member is not NoneType]
    return left[0] if len(left) == 1 else value if left else None


def _short(words: str) -> str:
    return words if len(words) <= WORDS else f"{words[: WORDS - 4]}...)"
