"""Gestures: what is stored before one is made, what its proof must supply, which request is the declared one."""

from __future__ import annotations

import gc
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, cast

import pytest
from pydantic import BaseModel, Field

from browser_agent.errors import ProofTooThin, Refused, WrongArguments, WrongTask
from browser_agent.script.gestures import Accept, Gesture, is_bare, required_names, target_words
from browser_agent.script.kinds import MOST_BYTES, Check, Click, Press, Select, Upload
from browser_agent.script.must_run import raise_if_dropped
from observers import Observation, Observer

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from observers import View


class Supplier(Observer):
    """Supplies the given names."""

    names: tuple[str, ...] = ()

    def look(self, view: View) -> Observation:
        return self.cannot_tell("nobody looked")

    @property
    def supplies(self) -> frozenset[str]:
        return frozenset(self.names)


class Button:
    """A locator that keeps the inputs it was asked for."""

    def __init__(self, selector: str = 'internal:role=button[name="Post"i]') -> None:
        self.selector = selector
        self.inputs: list[tuple[str, dict[str, Any]]] = []

    def __repr__(self) -> str:
        return f"<Locator frame=<Frame name= url='https://books.example/?token=s3cret'> selector={self.selector!r}>"

    def click(self, **options: Any) -> None:
        self.inputs.append(("click", options))

    def press(self, key: str, **options: Any) -> None:
        self.inputs.append((f"press {key}", options))

    def set_checked(self, on: bool, **options: Any) -> None:
        self.inputs.append((f"check {on}", options))

    def select_option(self, **options: Any) -> None:
        self.inputs.append(("select", options))

    def set_input_files(self, files: Any, **options: Any) -> None:
        self.inputs.append((f"upload {[(file['name'], file['buffer']) for file in files]}", options))


class Invoice(BaseModel):
    number: str
    day: date
    note: str = ""


def click(
    proof: Sequence[Observer] = (), gives: Any = None, button: Button | None = None, **about: Any
) -> Gesture[Any]:
    made = Click(cast("Locator", button or Button()), intent="post it", proof=proof, gives=gives, **about)
    made.take()
    return made


def test_a_click_is_one_input_and_lets_playwright_wait_as_it_does() -> None:
    button = Button()
    click([Supplier()], button=button).make(1500)
    assert button.inputs == [("click", {"timeout": 1500})]


def test_a_press_is_one_input() -> None:
    button = Button()
    press = Press(cast("Locator", button), "Enter", intent="search", proof=[Supplier()])
    press.take()
    press.make(800)
    assert button.inputs == [("press Enter", {"timeout": 800})]
    assert (press.kind, press.stored()["key"]) == ("press", "Enter")


ABOUT: dict[str, Any] = {"intent": "post it", "proof": [Supplier()]}


def test_a_check_is_one_input_and_says_how_it_sets_the_box() -> None:
    button = Button()
    on, off = Check(cast("Locator", button), **ABOUT), Check(cast("Locator", button), False, **ABOUT)
    for made in (on, off):
        made.take()
        made.make(800)
    assert button.inputs == [("check True", {"timeout": 800}), ("check False", {"timeout": 800})]
    assert (on.kind, on.stored()["on"], off.stored()["on"]) == ("check", True, False)


def test_a_select_is_one_input_by_label_or_by_value() -> None:
    button = Button()
    label = Select(cast("Locator", button), "posted", **ABOUT)
    value = Select(cast("Locator", button), "p", "value", **ABOUT)
    for made in (label, value):
        made.take()
        made.make(800)
    assert button.inputs == [
        ("select", {"label": "posted", "timeout": 800}),
        ("select", {"value": "p", "timeout": 800}),
    ]
    assert [(made.kind, made.stored()["option"], made.stored()["by"]) for made in (label, value)] == [
        ("select", "posted", "label"),
        ("select", "p", "value"),
    ]


def test_an_upload_is_one_input_and_is_written_down_by_its_digest(tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_bytes(b"s3cret one")
    second.write_bytes(b"two")
    button = Button()
    made = Upload(cast("Locator", button), [first, second], **ABOUT)
    made.take()
    made.make(800)
    assert button.inputs == [("upload [('a.txt', b's3cret one'), ('b.txt', b'two')]", {"timeout": 800})]
    stored = made.stored()
    assert (stored["kind"], stored["files"][0]) == (
        "upload",
        {"name": "a.txt", "size": 10, "sha256": sha256(b"s3cret one").hexdigest()},
    )
    assert "s3cret" not in json.dumps(stored) and f"{tmp_path}" not in json.dumps(stored)


def test_an_upload_of_nothing_or_of_too_much_is_refused_and_never_dropped_work(tmp_path: Path) -> None:
    large = tmp_path / "large.bin"
    with large.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(Refused, match="more than 50 MiB"):
        Upload(cast("Locator", Button()), large, **ABOUT)
    with pytest.raises(Refused, match="The file none.pdf can't be read"):
        Upload(cast("Locator", Button()), tmp_path / "none.pdf", **ABOUT)
    gc.collect()
    raise_if_dropped()


@pytest.mark.parametrize("change", ["changed", "gone"])
def test_an_upload_of_a_file_that_is_no_longer_the_same_touches_nothing(tmp_path: Path, change: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one")
    button = Button()
    made = Upload(cast("Locator", button), path, **ABOUT)
    made.take()
    path.write_bytes(b"two") if change == "changed" else path.unlink()
    with pytest.raises(Refused):
        made.make(800)
    assert button.inputs == []


def test_what_is_written_down_says_everything_and_is_json() -> None:
    made = click(
        [Supplier(("number",))],
        sends="POST /invoices",
        known={"day": date(2026, 11, 30)},
        dialogs=[Accept("Really post")],
    )
    assert json.loads(json.dumps(made.stored())) == {
        "kind": "click",
        "words": "post it",
        "target": {"words": 'button "Post"', "selector": 'internal:role=button[name="Post"i]'},
        "sends": "POST /invoices",
        "proof": [{"kind": "Supplier", "names": ["number"]}],
        "known": {"day": "2026-11-30"},
        "dialogs": ["Really post"],
        "needs": [],
        "takes": ["number"],
    }


def test_the_address_of_the_page_is_not_written_down() -> None:
    assert "s3cret" not in json.dumps(click([Supplier()]).stored())


@pytest.mark.parametrize("selector", ['internal:text="it\'s \\"x\\""i >> nth=0', "a[title='b']", "plain"])
def test_any_selector_is_kept_as_it_is(selector: str) -> None:
    assert click([Supplier()], button=Button(selector)).selector == repr(selector)[1:-1]


def test_a_known_fact_that_is_no_json_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(WrongArguments, match="known fact of “post it” can't be stored"):
        click([Supplier()], known={"tab": object()}).stored()


def test_a_gesture_waits_ten_seconds_for_its_input_and_fifteen_for_its_proof() -> None:
    assert (click().timeout, click().settle) == (10, 15)
    assert (click(timeout=2).timeout, click(settle=60).settle) == (2, 60)
    assert (click().timeout_or(default=7), click(timeout=2).timeout_or(default=7)) == (7, 2)


def test_a_gesture_without_any_proof_is_refused() -> None:
    with pytest.raises(ProofTooThin, match="has no proof"):
        click().check()


def test_a_proof_that_can_not_supply_a_required_field_is_refused_with_the_names() -> None:
    with pytest.raises(ProofTooThin) as refused:
        click([Supplier(("total",)), Supplier()], gives=Invoice, known={"who": "Ada"}).check()
    assert str(refused.value) == (
        "The proof of “post it” can't supply number, day of Invoice. Supplier supplies total. "
        "Supplier supplies nothing. Known before the gesture: who."
    )


def test_observers_and_known_facts_supply_a_value_together() -> None:
    click([Supplier(("number",)), Supplier(("other",))], gives=Invoice, known={"day": date(2026, 11, 30)}).check()
    click([Supplier()]).check()


@dataclass
class Row:
    number: str
    note: str = ""
    lines: list[str] = field(default_factory=list)
    made: str = field(init=False, default="")


class Pair(NamedTuple):
    number: str
    note: str = ""


class Loose(TypedDict, total=False):
    number: str


class Tight(TypedDict):
    number: str


class Spoken(BaseModel):
    number: str = Field(alias="Number")


class OneField(BaseModel):
    value: str


@pytest.mark.parametrize(
    ("gives", "names"),
    [
        (None, []),
        (Invoice, ["number", "day"]),
        (Spoken, ["Number"]),
        (Row, ["number"]),
        (Pair, ["number"]),
        (Loose, []),
        (Tight, ["number"]),
        (dict[str, str], []),
        (str, ["value"]),
        (list[str], ["value"]),
        (OneField, ["value"]),
    ],
)
def test_what_a_type_requires(gives: Any, names: list[str]) -> None:
    assert required_names(gives) == names


def test_a_text_is_made_of_one_value_and_a_model_of_fields() -> None:
    assert is_bare(str)
    assert not is_bare(OneField)
    assert not is_bare(Invoice)


@pytest.mark.parametrize("sends", ["", "POST", "/invoices", "post /invoices", "POST invoices", "POST /a b", " POST /a"])
def test_a_request_that_is_not_written_as_one_is_refused(sends: str) -> None:
    with pytest.raises(WrongTask, match="isn't a request"):
        click([Supplier()], sends=sends)


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        ('internal:role=button[name="Post"i]', 'button "Post"'),
        ("internal:role=button", "button"),
        ('internal:label="Customer"i', 'field "Customer"'),
        ('form >> internal:text="Pay now"s >> nth=0', 'form in which text "Pay now" [0]'),
        ('internal:testid=[data-testid="go"s]', 'data-testid "go"'),
        ("#post > button", "#post > button"),
    ],
)
def test_a_target_is_named_as_a_person_would(selector: str, words: str) -> None:
    assert target_words(selector) == words


def test_only_the_expected_dialog_is_accepted() -> None:
    assert Accept(r"Really post \d+").matches("Really post 3 invoices?")
    assert not Accept(r"Really post \d+").matches("Delete everything?")
