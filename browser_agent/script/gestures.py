"""Gestures: the one input of a step that may change the outside world, as a plain object. The kinds are in `kinds`.

A gesture knows the control it touches, what it means in words, which request it sends, and what will prove it. Its
intent is stored first (`stored`); then it is made once (`make`), by exactly one input call. `wait_actionable` touches
neither mouse nor keyboard: a page's handlers would see a trial click.
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
from browser_agent.wire import check_sends
from observers.key_in_text import of_one_key
from observers.request_pattern import matches_request

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
    "selector_of",
    "target_words",
    "value_names",
]

T_co = TypeVar("T_co", covariant=True)

Left = Callable[[], float]
"""Milliseconds left of a wait, never less than 1: to Playwright 0 means no time limit."""

VALUE = "value"
"""The name under which a proof supplies a value without fields, such as a `str`."""

_POLL_MS = 50
_READ_MS = 1000.0
_READ_TARGET = """(element) => {
  const form = element.form ?? element.closest("form");
  const fields = form ? [...form.querySelectorAll("input[type=hidden]")] : [];
  const hidden = fields.map((field) => `${field.name}=${field.value}`);
  const name = element.getAttribute("aria-label") ?? (element.innerText?.trim() || element.title || element.alt || "");
  const token = /csrf|token|nonce/i;
  return [
    name, element.tagName === "INPUT" && /submit|button|image/.test(element.type) ? element.value : "",
    element.href ?? "", element.formAction ?? "", form?.action ?? "",
    ...hidden.filter((field) => !token.test(field)), JSON.stringify(element.dataset),
  ].join("\\n");
}"""
_FIELDS_OF = ("model_fields", "_field_defaults")  # pydantic models, NamedTuples
_SELECTOR = re.compile(r"selector=(?P<quoted>'.*'|\".*\")>$", re.DOTALL)


@dataclass(frozen=True)
class Done(Generic[T_co]):
    """The step's value without a gesture: there is nothing to do, since the effect is there already."""

    value: T_co


@dataclass(frozen=True)
class Accept:
    """Accept a dialog whose text contains `pattern` (a regular expression) while the gesture is made and settled.

    Any other alert, confirm or prompt is dismissed and its text recorded, and the gesture is `Refused` if it sent
    nothing; a dialog that comes after the write changes nothing. A prompt is answered with the text that the page
    proposes. The browser's own question whether to leave the page (`beforeunload`) is always accepted: leaving is part
    of the gesture.
    """

    pattern: str

    def matches(self, text: str) -> bool:
        """Whether the dialog's text is the expected one."""
        return re.search(self.pattern, text) is not None


class About(TypedDict, total=False):
    """The arguments that every kind of gesture takes.

    intent: what the gesture means, in words a person would use ("post an invoice of 120.00 to Ada").
    sends: the commit request, such as "POST /invoices" or "POST /orders/*/confirm".
    proof: the observers that will prove it, on a good day and after a crash alike.
    known: facts read before the gesture that belong to the step's value.
    dialogs: the dialogs that may be accepted while it is made.
    timeout: seconds that the input call may take (10, or as the settings say).
    settle: seconds to wait for the proof before the gesture is in doubt (15).
    """

    intent: Required[str]
    proof: Required[Sequence[Observer]]
    sends: str | None
    known: Mapping[str, Any]
    dialogs: Sequence[Accept]
    timeout: float
    settle: float


class Gesture(MustRun, ABC, Generic[T_co]):
    """One input that may change the outside world. It is made at most once; the next one is a new object.

    Raises:
        WrongTask: `sends` isn't of the form "METHOD /path".
    """

    kind: ClassVar[str]
    _tested: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "make" in vars(cls):  # an input that a task has written has no row, whatever kind it calls itself
            cls._tested = cls.__module__.startswith("browser_agent.script.")

    def __init__(self, target: Locator, gives: type[T_co] | None, about: About) -> None:
        self.target = self._awaited = target
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

    def timeout_or(self, default: float) -> float:
        """Seconds to wait for its control: its own `timeout` if it was given one, else the default."""
        return self.timeout if self._says_timeout else default

    @property
    def row(self) -> str:
        """Its row in `rules.was_refused`: its kind, or "" if its input is the task's own."""
        return self.kind if self._tested else ""

    @abstractmethod
    def make(self, timeout_ms: float) -> None:
        """Make the input: exactly one Playwright call, whose errors are not caught."""

    def __str__(self) -> str:
        return f"{type(self).__name__} ({self.intent})"

    @property
    def selector(self) -> str:
        """The selector by which Playwright finds the target again, without the page's address."""
        return selector_of(self.target)

    @property
    def controls(self) -> tuple[Locator, ...]:
        """Every control that the input touches: all are waited for, and read again at the press."""
        return (self.target,)

    def wait_actionable(self, timeout_ms: float) -> None:
        """Wait until the control can take an input of this kind, without any input.

        Raises:
            Refused: it wasn't ready in time, more than one control matches, or the page is gone.
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
                    continue  # the page redrew it meanwhile: find it again
                raise self._refused(f"can't be used: {_first_line(error.message)}") from error

    def read_target(self) -> str | None:
        """What the target is at this moment: its name, where it leads, and what its form would send.

        A list that is drawn again puts another record under the same selector: the target is read when the intent is
        stored and again at the press, and a change refuses.

        Returns:
            A text for comparison; None if it can't be read now.
        """
        from playwright.sync_api import Error

        try:
            return "\n".join(control.evaluate(_READ_TARGET, timeout=_READ_MS) for control in self.controls)
        except Error:
            return None

    def _wait_once(self, left: Left) -> None:
        """Wait until it is visible, enabled and at rest; a kind that needs less or more overrides this."""
        for control in self.controls:
            self._awaited = control
            self._wait_enabled(control, "visible", left).wait_for_element_state("stable", timeout=left())

    def _wait_enabled(self, target: Locator, state: Literal["visible", "attached"], left: Left) -> ElementHandle:
        target.wait_for(state=state, timeout=left())
        control = target.element_handle(timeout=left())
        control.wait_for_element_state("enabled", timeout=left())
        return control

    def _wait_until(self, true: str, arg: Any, left: Left, otherwise: str) -> None:
        """Wait until a JavaScript function of the control and `arg` returns true; refuse with `otherwise` if not."""
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
        return Refused(self.intent, f"{target_words(selector_of(self._awaited))} {because}.")

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
        """The names of the values that a person may give for what happened; None = any."""
        names = value_names(self.gives)
        supplied = {name for observer in self.proof for name in observer.supplies}
        return None if names is None else [*names, *sorted(supplied - names.keys())]

    def check(self) -> None:
        """Refuse a proof that could never supply the step's value.

        Raises:
            ProofTooThin: there is no proof, or none that can prove anything, or no observer and no known fact supplies
                a required field of `gives`.
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
    """The names of the values that a type is built from, and whether each is required; None = any.

    A type without fields, such as `str`, is built from one named `value`.
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
    """Whether a value of this type is built from the one named `value`, not from fields."""
    has_fields = is_dataclass(gives) or is_typeddict(gives) or any(hasattr(gives, a) for a in _FIELDS_OF)
    return value_names(gives) == {VALUE: True} and not has_fields


def required_names(gives: Any) -> list[str]:
    """The names of the values that a value of this type can't be built without."""
    return [name for name, required in (value_names(gives) or {}).items() if required]


def misfits(error: ValidationError | KeyError) -> dict[str, str]:
    """The values that don't fit a type: name -> why."""
    if isinstance(error, KeyError):
        return {str(error.args[0]): "is missing"}
    parts = error.errors(include_url=False, include_input=False)
    return {str(part["loc"][0]) if part["loc"] else VALUE: part["msg"] for part in parts}


def _alias(alias: object) -> str | None:
    return alias if isinstance(alias, str) else None


def selector_of(target: Locator) -> str:
    """The selector by which Playwright finds a control again, without the page's address."""
    found = _SELECTOR.search(repr(target))
    return found["quoted"][1:-1] if found else repr(target)


def target_words(selector: str) -> str:
    """A selector in words: `button "Post"`, `field "Customer"`; CSS stays as it is."""
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
    """The first line of an error, without the call's name; the other lines may quote what the fields hold."""
    return re.sub(r"^\w+\.\w+: (Error: )?", "", message.splitlines()[0]).rstrip(".:")


def _listed(names: Any) -> str:
    return ", ".join(sorted(names)) or "nothing"


def _type_words(gives: object) -> str:
    return getattr(gives, "__name__", None) or str(gives)
