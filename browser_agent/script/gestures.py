"""Gestures: the one input of a step that may change the outside world, as plain objects that live in the attempt.

A step returns its gesture; whoever runs the step writes it down first (`stored`) and then makes it (`make`), once.
A gesture knows the control it touches, what it means in words, which request it sends, and what will prove it.

What every kind has in common; the kinds themselves are in `kinds`. Knows nothing of stores, runs, fences or verdicts.
`make` does exactly one input call; `wait_actionable` never touches mouse or keyboard (a trial click would: page
handlers see it).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from time import monotonic
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    Required,
    TypedDict,
    TypeVar,
    get_origin,
    is_typeddict,
)

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from browser_agent.browser.deadline import DeadlinePassed, within
from browser_agent.errors import ProofTooThin, Refused, WrongArguments
from browser_agent.script.must_run import MustRun
from browser_agent.wire import check_sends, matches_request
from observers.key_in_text import of_one_key

if TYPE_CHECKING:
    from playwright.sync_api import ElementHandle, Locator

    from observers import Observer

__all__ = [
    "VALUE",
    "About",
    "Accept",
    "Done",
    "Gesture",
    "Left",
    "is_bare",
    "matches_request",
    "misfits",
    "required_names",
    "target_words",
    "value_names",
]

T_co = TypeVar("T_co", covariant=True)

Left = Callable[[], float]
"""Milliseconds that are left of a wait, never less than 1: to Playwright 0 means no time limit."""

VALUE = "value"
"""The name under which a proof supplies a value that has no fields of its own, such as a `str`."""

_POLL_MS = 50
_FIELDS_OF = ("model_fields", "_field_defaults")  # pydantic models, NamedTuples
_SELECTOR = re.compile(r"selector=(?P<quoted>'.*'|\".*\")>$", re.DOTALL)


@dataclass(frozen=True)
class Done(Generic[T_co]):
    """There is nothing to do, it is there already: the step's value without a gesture."""

    value: T_co


@dataclass(frozen=True)
class Accept:
    """Accept a dialog whose text holds `pattern` (a regular expression) while the gesture is made and settled.

    Any other alert, confirm or prompt is dismissed, its text kept, and the gesture is `Refused` if nothing of it was
    sent; one that comes after the write changes nothing. A prompt is answered with the text that the page proposes.
    The browser's own question whether to leave the page (`beforeunload`) is always accepted: leaving is a part of the
    gesture.
    """

    pattern: str

    def matches(self, text: str) -> bool:
        """Whether the dialog's text is the expected one."""
        return re.search(self.pattern, text) is not None


class About(TypedDict, total=False):
    """What every kind of gesture is told, whatever it does.

    intent: what the gesture means, in words a person would use ("post an invoice of 120.00 to Ada").
    sends: the commit request, such as "POST /invoices" or "POST /orders/*/confirm".
    proof: the observers that will prove it, on a good day and after a crash alike.
    known: facts read before the gesture that belong to the step's value.
    dialogs: the dialogs that may be accepted while it is made.
    timeout: seconds that the input call may take (10, or as the settings say).
    settle: seconds that the proof is waited for on a good day.
    """

    intent: Required[str]
    proof: Required[Sequence[Observer]]
    sends: str | None
    known: Mapping[str, Any]
    dialogs: Sequence[Accept]
    timeout: float
    settle: float


class Gesture(MustRun, ABC, Generic[T_co]):
    """One input that may change the outside world. Made at most once; the next one is a new object.

    Raises:
        WrongTask: `sends` isn't written as "METHOD /path".
    """

    kind: ClassVar[str]

    def __init__(self, target: Locator, gives: type[T_co] | None, about: About) -> None:
        self.target = target
        self.gives = gives
        self.intent = about["intent"]
        self.proof = of_one_key(about["proof"])
        self.sends = about.get("sends")
        self.known = dict(about.get("known", {}))
        self.dialogs = tuple(about.get("dialogs", ()))
        self.timeout = about.get("timeout", 10.0)
        self._says_timeout = "timeout" in about
        self.settle = about.get("settle", 15.0)
        if self.sends is not None:
            check_sends(self.sends)
        self._made_here()

    def patience(self, otherwise: float) -> float:
        """How long its control is waited for, in seconds: as it says itself, or else as its run does."""
        return self.timeout if self._says_timeout else otherwise

    @abstractmethod
    def make(self, timeout_ms: float) -> None:
        """Make the input: exactly one Playwright call, whose errors pass through as they are."""

    def __str__(self) -> str:
        return f"{type(self).__name__} ({self.intent})"

    @property
    def selector(self) -> str:
        """The target as Playwright would find it again; never the page's address."""
        found = _SELECTOR.search(repr(self.target))
        return found["quoted"][1:-1] if found else repr(self.target)

    def wait_actionable(self, timeout_ms: float) -> None:
        """Wait until the control can take an input of this kind, without any input.

        Raises:
            Refused: it did not get there in time, or more than one control fits, or the page is gone.
        """
        from playwright.sync_api import Error, TimeoutError

        end = monotonic() + timeout_ms / 1000
        while True:
            try:
                return self._wait_once(lambda: max(1.0, (end - monotonic()) * 1000))
            except (TimeoutError, DeadlinePassed) as late:
                raise self._refused(f"was not ready within {timeout_ms / 1000:g} s") from late
            except Error as error:
                if "not attached" in error.message and monotonic() < end:
                    continue  # drawn anew by the page while it was waited for: look for it again
                raise self._refused(f"can't be used: {_first_line(error.message)}") from error

    def _wait_once(self, left: Left) -> None:
        """Visible, enabled and at rest; a kind that needs less or more says so itself."""
        self._wait_enabled("visible", left).wait_for_element_state("stable", timeout=left())

    def _wait_enabled(self, state: Literal["visible", "attached"], left: Left) -> ElementHandle:
        self.target.wait_for(state=state, timeout=left())
        control = self.target.element_handle(timeout=left())
        control.wait_for_element_state("enabled", timeout=left())
        return control

    def _wait_until(self, true: str, arg: Any, left: Left, otherwise: str) -> None:
        """Wait until a JavaScript function of the control and `arg` says true; refused with the words `otherwise`."""
        answered = False
        try:
            while not within(left() / 1000, lambda: self.target.evaluate(true, arg)):
                answered = True
                self.target.page.wait_for_timeout(_POLL_MS)
        except DeadlinePassed:
            if answered:
                raise self._refused(otherwise) from None
            raise

    def _refused(self, because: str) -> Refused:
        return Refused(self.intent, f"{target_words(self.selector)} {because}.")

    def stored(self) -> dict[str, Any]:
        """The intent's JSON form.

        Raises:
            WrongArguments: a known fact can't be written as JSON.
        """
        try:
            known = to_jsonable_python(self.known)
        except PydanticSerializationError as error:
            raise WrongArguments(f"A known fact of “{self.intent}” can't be stored: {error}.") from error
        return {
            "kind": self.kind,
            "words": self.intent,
            "target": {"words": target_words(self.selector), "selector": self.selector},
            "sends": self.sends,
            "proof": [observer.to_json() for observer in self.proof],
            "known": known,
            "dialogs": [accept.pattern for accept in self.dialogs],
            "needs": [name for name in required_names(self.gives) if name not in self.known],
            "takes": self._takes(),
        }

    def _takes(self) -> list[str] | None:
        """The names of all values that may be known of what happened; None if it takes any."""
        names = value_names(self.gives)
        supplied = {name for observer in self.proof for name in observer.supplies}
        return None if names is None else [*names, *sorted(supplied - names.keys())]

    def check(self) -> None:
        """Refuse a proof that could never supply the step's value.

        Raises:
            ProofTooThin: no proof at all, none that can prove anything, or a required field of `gives` that no observer
                and no known fact supplies.
        """
        if not self.proof:
            raise ProofTooThin(f"“{self.intent}” has no proof: name at least one observer that can see its effect.")
        if not any(observer.proves for observer in self.proof):
            words = " and ".join(map(str, self.proof))
            raise ProofTooThin(
                f"The proof of “{self.intent}” can't prove it: {words} without a key only supports. "
                "Give it as key= what only this gesture's effect can hold, or name a list that shows it."
            )
        supplied = frozenset(self.known).union(*(observer.supplies for observer in self.proof))
        missing = [name for name in required_names(self.gives) if name not in supplied]
        if missing:
            raise ProofTooThin(
                f"The proof of “{self.intent}” can't supply {', '.join(missing)} of {_type_words(self.gives)}. "
                + " ".join(f"{observer} supplies {_listed(observer.supplies)}." for observer in self.proof)
                + f" Known before the gesture: {_listed(self.known)}."
            )


def value_names(gives: Any) -> dict[str, bool] | None:  # noqa: PLR0911 (a table of types, one line each)
    """The names of the values that a type is made of, and whether each is required; None if it takes any.

    A type without fields of its own, such as `str`, is made of the one named `value`.
    """
    if gives is None or gives is type(None):
        return {}
    if isinstance(gives, type) and issubclass(gives, BaseModel):
        names = {_alias(f.validation_alias) or name: f.is_required() for name, f in gives.model_fields.items()}
        return names
    if is_dataclass(gives):
        return {f.name: f.default is MISSING and f.default_factory is MISSING for f in fields(gives) if f.init}
    if is_typeddict(gives):
        return {name: name in gives.__required_keys__ for name in gives.__annotations__}
    if hasattr(gives, "_field_defaults"):  # a NamedTuple
        return {name: name not in gives._field_defaults for name in gives._fields}
    if gives is dict or get_origin(gives) in (dict, Mapping):
        return None
    return {VALUE: True}


def is_bare(gives: Any) -> bool:
    """Whether a value of this type is made of the one named `value`, not of fields."""
    has_fields = is_dataclass(gives) or is_typeddict(gives) or any(hasattr(gives, a) for a in _FIELDS_OF)
    return value_names(gives) == {VALUE: True} and not has_fields


def required_names(gives: Any) -> list[str]:
    """The names of the values without which a value of this type can't be made."""
    return [name for name, required in (value_names(gives) or {}).items() if required]


def misfits(error: ValidationError | KeyError) -> dict[str, str]:
    """Which values a type could not be made of, and why: name -> why."""
    if isinstance(error, KeyError):
        return {str(error.args[0]): "is missing"}
    parts = error.errors(include_url=False, include_input=False)
    return {str(part["loc"][0]) if part["loc"] else VALUE: part["msg"] for part in parts}


def _alias(alias: object) -> str | None:
    return alias if isinstance(alias, str) else None


def target_words(selector: str) -> str:
    """A selector as a person would say it: `button "Post"`, `field "Customer"`; CSS stays as it is."""
    words = selector
    for pattern, spoken in (
        (r'internal:role=(\w+)\[name="((?:[^"\\]|\\.)*)"[is]?\]', r'\1 "\2"'),
        (r"internal:role=(\w+)", r"\1"),
        (r'internal:label="((?:[^"\\]|\\.)*)"[is]?', r'field "\1"'),
        (r'internal:text="((?:[^"\\]|\\.)*)"[is]?', r'text "\1"'),
        (r'internal:(?:attr|testid)=\[([\w-]+)="((?:[^"\\]|\\.)*)"[is]?\]', r'\1 "\2"'),
        (r" >> nth=(\d+)", r" [\1]"),
        (r" >> ", " in which "),
    ):
        words = re.sub(pattern, spoken, words)
    return words


def _first_line(message: str) -> str:
    """Without the name of the call; the further lines may quote what the fields hold."""
    return re.sub(r"^\w+\.\w+: (Error: )?", "", message.splitlines()[0]).rstrip(".:")


def _listed(names: Any) -> str:
    return ", ".join(sorted(names)) or "nothing"


def _type_words(gives: object) -> str:
    return getattr(gives, "__name__", None) or str(gives)
