"""Steps and step calls: what a decorated function declares and may return, and that a dropped call is noticed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import pytest
from pydantic import BaseModel, ValidationError

from browser_agent.errors import NeverRun, WrongArguments, WrongTask
from browser_agent.script.gestures import Done, Gesture
from browser_agent.script.kinds import Click
from browser_agent.script.steps import Step, StepCall, StepMaker, raise_if_dropped, step
from observers import ConfirmationText, Site

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


books = Site("books", url="https://books.example", account="acme")


class Invoice(BaseModel):
    number: str
    note: str = ""


class Button:
    """As much of a locator as making a gesture asks of one."""

    def __repr__(self) -> str:
        return "<Locator frame=<Frame name= url='about:blank'> selector='button'>"


class Paper:
    """A page with one button."""

    button = cast("Locator", Button())


PAGE = cast("Page", Paper())


def a_click(page: Page) -> Click[Invoice]:
    return Click(cast("Paper", page).button, intent="post", proof=[ConfirmationText("posted")], gives=Invoice)


@step(site=books, version=2)
def post(page: Page, order: str, amount: Decimal = Decimal("1.50"), *, note: str = "") -> Gesture[Invoice]:
    """Post an invoice."""
    return a_click(page)


@step
def post_once(page: Page, order: str) -> Gesture[Invoice] | Done[Invoice]:
    return Done(Invoice(number="7")) if order == "there" else a_click(page)


@step
def perhaps(page: Page) -> Gesture[Invoice] | Done[Invoice] | None:
    return None


@step
def count(page: Page, what: str, *more: str) -> int:
    return len(what) + len(more)


@step
def reset(page: Page) -> Gesture[None]:
    return Click(cast("Paper", page).button, intent="reset", proof=[ConfirmationText("posted")])


@step
def rename(page: Page) -> Gesture[str]:
    return Click(cast("Paper", page).button, intent="rename", proof=[ConfirmationText("posted")], gives=str)


@pytest.fixture(autouse=True)
def nothing_is_left_over() -> Iterator[None]:
    yield
    raise_if_dropped()


def taken(call: StepCall[Any]) -> StepCall[Any]:
    call.take()
    return call


def test_a_step_says_what_its_function_and_its_options_say() -> None:
    assert (post.name, post.version, post.site, post.again, post.refusals) == ("post", "2", books, 1, 3)
    assert (post.preparation, post.writes, post.gives, post.__doc__) == ("marked", True, Invoice, "Post an invoice.")
    assert post.where.startswith("test_steps.py:")


def test_a_name_survives_a_rename_of_the_function() -> None:
    named: Step[..., Invoice] = step(name="post", again=0, refusals=1, preparation="repeatable")(post_once.fn)
    assert (named.name, named.again, named.refusals, named.preparation) == ("post", 0, 1, "repeatable")


def test_a_read_writes_nothing_and_gives_its_type() -> None:
    assert (count.writes, count.gives, perhaps.writes, perhaps.gives) == (False, int, True, Invoice | None)
    assert (reset.writes, reset.gives) == (True, None)


def test_a_call_holds_every_argument_in_the_order_of_the_signature() -> None:
    call = taken(post(note="n", order="S-102"))
    assert list(call.arguments.items()) == [("order", "S-102"), ("amount", Decimal("1.50")), ("note", "n")]


def test_equal_arguments_are_one_canonical_text_however_they_were_given() -> None:
    one, other = taken(post("S-102", Decimal("1.5"))), taken(post(amount=Decimal("1.50"), order="S-102", note=""))
    assert one == other
    assert hash(one) == hash(other)
    assert one.canonical == '{"amount":{"$decimal":"1.5"},"note":"","order":"S-102"}'


def test_a_call_keeps_what_was_asked_when_the_argument_changes_later() -> None:
    @step
    def keep(page: Page, rows: list[str]) -> int:
        return len(rows)

    rows = ["a"]
    call = taken(keep(rows))
    rows.append("b")
    assert call.canonical == '{"rows":["a"]}'


@pytest.mark.parametrize("wrong", [{}, {"order": "a", "colour": "red"}, {"page": PAGE, "order": "a"}])
def test_a_wrong_call_is_refused_where_it_is_written(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        cast(Any, post)(**wrong)


def test_an_argument_without_a_canonical_form_is_named() -> None:
    with pytest.raises(WrongArguments, match="post: order is a object"):
        cast(Any, post)(object())


def test_a_call_reads_as_it_was_written_and_no_longer_than_a_line() -> None:
    assert taken(post("S-102")).words == "post(order='S-102', amount=Decimal('1.50'), note='')"
    assert len(taken(post("S" * 500)).words) == 120


def test_a_call_prepares_the_page_with_its_arguments() -> None:
    assert taken(count("abc", "d", "e")).prepare(PAGE) == 5
    assert taken(post_once("there")).prepare(PAGE) == Done(Invoice(number="7"))
    assert isinstance(taken(post("S-102")).prepare(PAGE), Click)
    assert taken(perhaps()).prepare(PAGE) is None


def test_a_unit_test_gets_the_gesture_of_a_step() -> None:
    assert post.prepare(PAGE, "S-102").intent == "post"
    with pytest.raises(WrongTask, match="returned no gesture, but Done"):
        post_once.prepare(PAGE, "there")


def test_a_call_that_nobody_took_is_named_with_its_line() -> None:
    with pytest.warns(RuntimeWarning, match="never run"):
        post("S-102")
    with pytest.raises(NeverRun, match=r"post\(order='S-102'.*was made at test_steps\.py:\d+ and never run"):
        raise_if_dropped()
    raise_if_dropped()  # named once


def test_every_dropped_call_is_named() -> None:
    with pytest.warns(RuntimeWarning):
        count("a")
        count("b")
    with pytest.raises(NeverRun, match=r"count\(what='a'.*count\(what='b'"):
        raise_if_dropped()


def test_a_gesture_that_a_step_made_and_did_not_return_is_named() -> None:
    @step
    def forgetful(page: Page) -> int:
        a_click(page)
        return 1

    with pytest.warns(RuntimeWarning):
        taken(forgetful()).prepare(PAGE)
    with pytest.raises(NeverRun, match=r"Click \(post\) was made at test_steps\.py"):
        raise_if_dropped()


def test_a_call_that_was_refused_while_it_was_made_is_not_called_dropped() -> None:
    with pytest.raises(TypeError):
        cast(Any, post)()
    gc.collect()
    raise_if_dropped()


async def an_async_step(page: Page) -> int:
    return 1


def a_generator_step(page: Page) -> Iterator[int]:
    yield 1


def no_page(order: str) -> int:
    return 1


def nothing_at_all() -> int:
    return 1


def only_by_keyword(*, page: Page) -> int:
    return 1


def no_annotation(page: Page):
    return 1


@pytest.mark.parametrize(
    ("fn", "because"),
    [
        (an_async_step, "is an async def"),
        (a_generator_step, "is a generator"),
        (no_page, "must take `page: Page` as its first parameter"),
        (nothing_at_all, "must take `page: Page` as its first parameter"),
        (only_by_keyword, "must take `page: Page` as its first parameter"),
        (no_annotation, "must say what it returns"),
        (3, "decorates a function"),
    ],
)
def test_a_function_that_can_not_be_a_step_is_refused_at_once(fn: Any, because: str) -> None:
    with pytest.raises(WrongTask, match=because):
        step(fn)


def test_the_page_may_have_another_name_if_it_is_annotated() -> None:
    def read(tab: Page) -> int:
        return 1

    assert step(read).name == "read"


def mixed(page: Page) -> Gesture[Invoice] | int:
    return 1


def two_values(page: Page) -> Gesture[Invoice] | Done[int]:
    return Done(1)


def unknown(page: Page) -> Nowhere:  # type: ignore[name-defined]  # noqa: F821
    return 1


@pytest.mark.parametrize(
    ("fn", "because"),
    [(mixed, "nothing else"), (two_values, "one T"), (unknown, "return annotation of unknown .* can't be read")],
)
def test_an_annotation_that_promises_two_things_is_refused(fn: Any, because: str) -> None:
    with pytest.raises(WrongTask, match=because):
        _ = Step(fn, StepMaker()).writes


def a_hidden_gesture(page: Page) -> object:
    return a_click(page)


def a_forgotten_return(page: Page) -> Gesture[Invoice] | Done[Invoice]:  # type: ignore[empty-body]
    pass


def a_bare_value(page: Page) -> Gesture[Invoice]:
    return cast(Any, Invoice(number="7"))  # type: ignore[no-any-return]


def an_undeclared_done(page: Page) -> Gesture[Invoice]:
    return cast(Any, Done(Invoice(number="7")))  # type: ignore[no-any-return]


def without_gives(page: Page) -> Gesture[Invoice]:
    return cast(Any, Click(cast("Paper", page).button, intent="post", proof=[ConfirmationText("posted")]))  # type: ignore[no-any-return]


def a_coroutine(page: Page) -> int:
    return cast(Any, an_async_step(page))  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("fn", "because"),
    [
        (a_hidden_gesture, "returned a gesture without saying so"),
        (a_forgotten_return, "Is a `return` missing"),
        (a_bare_value, "doesn't announce"),
        (an_undeclared_done, "doesn't announce"),
        (without_gives, "has no `gives=`"),
        (a_coroutine, "returned a coroutine"),
    ],
)
def test_a_result_that_the_annotation_does_not_announce_is_refused(fn: Any, because: str) -> None:
    with pytest.raises(WrongTask, match=because):
        taken(step(fn)()).prepare(PAGE)


def test_the_value_of_a_step_is_made_of_what_was_proven_and_known() -> None:
    assert post.proven({"number": "INV-1", "other": "x"}) == Invoice(number="INV-1")
    assert perhaps.proven({"number": "INV-1"}) == Invoice(number="INV-1")
    assert reset.proven({"number": "INV-1"}) is None
    assert rename.proven({"value": "Ada", "number": "INV-1"}) == "Ada"
    with pytest.raises(ValidationError):
        post.proven({"other": "x"})


class Strict(BaseModel, extra="forbid"):
    value: int


def gives_a_field_named_value(page: Page) -> Gesture[Strict]:
    raise AssertionError


def gives_a_dict(page: Page) -> Gesture[dict[str, str]]:
    raise AssertionError


def test_a_model_may_have_a_field_named_value() -> None:
    assert step(gives_a_field_named_value).proven({"value": "3", "other": "x"}) == Strict(value=3)


def test_a_dict_takes_every_proven_value() -> None:
    assert step(gives_a_dict).proven({"a": "1", "b": "2"}) == {"a": "1", "b": "2"}


def test_a_value_comes_back_from_its_text_as_it_was() -> None:
    assert post.load(post.dump(Invoice(number="7"))) == Invoice(number="7")
    assert perhaps.load(perhaps.dump(None)) is None


def test_a_value_that_is_not_what_was_promised_is_refused() -> None:
    with pytest.raises(WrongTask, match="not what its annotation promises"):
        count.dump(cast(Any, "many"))


class Opaque:
    """No pydantic schema."""


def reads_opaque(page: Page) -> Opaque:
    return Opaque()


def test_a_value_that_can_not_be_stored_is_refused_by_name() -> None:
    with pytest.raises(WrongTask, match=r"The step reads_opaque .* gives a value that can't be stored"):
        _ = step(reads_opaque).adapter


@dataclass
class Shipment:
    id: str


def test_a_model_among_the_arguments_is_bound_by_its_fields() -> None:
    @step
    def send(page: Page, shipment: Shipment) -> int:
        return 1

    assert taken(send(Shipment("S-1"))) == taken(send(Shipment("S-1"))) != taken(send(Shipment("S-2")))
