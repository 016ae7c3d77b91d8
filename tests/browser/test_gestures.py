"""Gestures on a real page: waiting for a control touches nothing, and making one is one input."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, Page

from browser_agent.errors import Refused
from browser_agent.script.gestures import Gesture
from browser_agent.script.kinds import Check, Click, Press, Select, Upload
from browser_agent.script.pointer_kinds import DoubleClick, DragTo, Hold, RightClick
from observers import ConfirmationText

# Every input that a page can see, the ones that come from a mouse over it included.
WITNESS = """<script>
window.seen = [];
for (const kind of ['pointerdown', 'pointermove', 'mousemove', 'mouseover', 'mousedown', 'click', 'focusin', 'keydown'])
    addEventListener(kind, event => seen.push(kind), true);
</script>"""


def click(target: Locator) -> Click[None]:
    made = Click(target, intent="post it", proof=[ConfirmationText("posted")])
    made.take()
    return made


def seen(page: Page) -> list[str]:
    found: list[str] = page.evaluate("seen")
    return found


LATE = "<button disabled>Post</button><script>setTimeout(() => document.querySelector('button').%s, 200)</script>"


@pytest.mark.parametrize(
    "html",
    [
        "<button>Post</button>",
        LATE % "disabled = false",
        LATE % "outerHTML = '<button>Post</button>'",  # drawn anew while it is waited for
    ],
)
def test_waiting_for_a_control_until_it_is_ready_touches_nothing(page: Page, html: str) -> None:
    page.set_content(WITNESS + html)
    click(page.get_by_role("button")).wait_actionable(5000)
    assert page.get_by_role("button").is_enabled()
    assert seen(page) == []


@pytest.mark.parametrize(
    ("html", "because"),
    [
        ("<button disabled>Post</button>", "button was not ready within 1.5 s"),
        ("<button style='display: none'>Post</button>", "was not ready within 1.5 s"),
        ("<button>Post</button><button>Save</button>", "button can't be used: strict mode violation"),
    ],
)
def test_a_control_that_can_not_be_used_is_refused_and_untouched(page: Page, html: str, because: str) -> None:
    page.set_content(WITNESS + html)
    with pytest.raises(Refused, match=because):
        click(page.locator("button")).wait_actionable(1500)
    assert seen(page) == []


def test_a_refusal_does_not_quote_what_the_fields_hold(page: Page) -> None:
    page.set_content("<label>Name<input value=hunter2></label><label>Name<input value=hunter2></label>")
    with pytest.raises(Refused) as refused:
        click(page.get_by_label("Name")).wait_actionable(1500)
    assert "hunter2" not in str(refused.value)


def test_a_page_that_is_gone_refuses_the_gesture(page: Page) -> None:
    gone = page.context.new_page()
    gone.close()
    with pytest.raises(Refused, match="closed"):
        click(gone.locator("button")).wait_actionable(1500)


def test_making_a_click_is_one_click(page: Page) -> None:
    page.set_content(WITNESS + "<button>Post</button>")
    click(page.get_by_role("button")).make(5000)
    assert (seen(page).count("mousedown"), seen(page).count("click"), seen(page).count("keydown")) == (1, 1, 0)


def test_making_a_press_is_one_key(page: Page) -> None:
    page.set_content(WITNESS + "<input aria-label=Search>")
    press = Press(page.get_by_label("Search"), "Enter", intent="search", proof=[ConfirmationText("posted")])
    press.take()
    press.make(5000)
    assert (seen(page).count("keydown"), seen(page).count("click")) == (1, 0)


# The kinds that came later. `WITNESS` counts what a mouse or a key does; a list and a file field know neither.

CHANGED = "<script>window.changes = []; addEventListener('change', e => changes.push(e.target.value), true)</script>"


def changes(page: Page) -> list[str]:
    found: list[str] = page.evaluate("changes")
    return found


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    path = tmp_path / "contract.pdf"
    path.write_bytes(b"%PDF-1.7 signed")
    return path


def taken(gesture: Gesture[None]) -> Gesture[None]:
    gesture.take()
    return gesture


def check(target: Locator, on: bool = True) -> Gesture[None]:
    return taken(Check(target, on, intent="post it", proof=[ConfirmationText("posted")]))


def select(target: Locator, option: str, by: Literal["label", "value"] = "label") -> Gesture[None]:
    return taken(Select(target, option, by, intent="post it", proof=[ConfirmationText("posted")]))


def upload(target: Locator, files: Path | list[Path]) -> Gesture[None]:
    return taken(Upload(target, files, intent="attach it", proof=[ConfirmationText("posted")]))


@pytest.mark.parametrize(("state", "on"), [("", True), ("checked", False)])
def test_a_box_is_set_by_one_click(page: Page, state: str, on: bool) -> None:
    page.set_content(f"{WITNESS}<label>Posted<input type=checkbox {state}></label>")
    made = check(page.get_by_label("Posted"), on)
    made.wait_actionable(5000)
    assert seen(page) == []
    made.make(5000)
    assert page.get_by_label("Posted").is_checked() is on
    assert seen(page).count("mousedown") == 1


@pytest.mark.parametrize(("state", "on", "words"), [("checked", True, "is on already"), ("", False, "is off already")])
def test_a_box_that_stands_as_wanted_already_is_refused(page: Page, state: str, on: bool, words: str) -> None:
    page.set_content(f"{WITNESS}<label>Posted<input type=checkbox {state}></label>")
    with pytest.raises(Refused, match=f'field "Posted" {words}'):
        check(page.get_by_label("Posted"), on).wait_actionable(1500)
    assert seen(page) == []


STATUS = "<select aria-label=Status><option value=d>draft</option><option value=p> posted \n now</option>%s</select>"


@pytest.mark.parametrize(("option", "by"), [("posted now", "label"), ("p", "value")])
def test_an_option_is_chosen_once_by_its_label_or_its_value(page: Page, option: str, by: Any) -> None:
    page.set_content(CHANGED + STATUS % "")
    made = select(page.get_by_label("Status"), option, by)
    made.wait_actionable(5000)
    assert changes(page) == []
    made.make(5000)
    assert changes(page) == ["p"]


@pytest.mark.parametrize("more", ["", "<option disabled>void</option>"])
def test_an_option_that_can_not_be_chosen_is_refused_before_anything_is_touched(page: Page, more: str) -> None:
    page.set_content(CHANGED + STATUS % more)
    with pytest.raises(Refused, match="has no option of the label “void” that can be chosen"):
        select(page.get_by_label("Status"), "void").wait_actionable(1500)
    assert changes(page) == []


def test_an_option_that_comes_late_is_waited_for(page: Page) -> None:
    page.set_content(CHANGED + STATUS % "")
    page.evaluate("setTimeout(() => document.querySelector('select').add(new Option('void')), 200)")
    made = select(page.get_by_label("Status"), "void")
    made.wait_actionable(5000)
    made.make(5000)
    assert changes(page) == ["void"]


FILES = "<label>Contract<input type=file style='display: none' %s></label>"
CONTENT = "Promise.all([...document.querySelector('input').files].map(async f => [f.name, f.type, await f.text()]))"


@pytest.mark.parametrize("by_label", [True, False])
def test_a_hidden_field_takes_the_file_with_its_name_and_type(page: Page, pdf: Path, by_label: bool) -> None:
    page.set_content(CHANGED + FILES % "")
    made = upload(page.locator("label" if by_label else "input"), pdf)
    made.wait_actionable(5000)
    assert changes(page) == []
    made.make(5000)
    assert page.evaluate(CONTENT) == [["contract.pdf", "application/pdf", "%PDF-1.7 signed"]]
    assert len(changes(page)) == 1


@pytest.mark.parametrize(
    ("html", "because"),
    [
        (FILES % "disabled", "was not ready within 1.5 s"),
        (FILES % "" + "<script>document.querySelector('input').type = 'text'</script>", "not a field that takes"),
        (FILES % "", "is not a field that takes several files"),
        ("<p>nothing", "was not ready"),
    ],
)
def test_a_field_that_can_not_take_the_files_is_refused(page: Page, pdf: Path, html: str, because: str) -> None:
    page.set_content(html)
    with pytest.raises(Refused, match=because):
        upload(page.locator("input"), [pdf, pdf]).wait_actionable(1500)


@pytest.mark.parametrize("change", ["grown", "gone"])
def test_a_file_that_is_no_longer_what_was_written_down_is_not_given_away(page: Page, pdf: Path, change: str) -> None:
    page.set_content(CHANGED + FILES % "")
    made = upload(page.locator("input"), pdf)
    pdf.write_bytes(b"%PDF-1.7 forged") if change == "grown" else pdf.unlink()
    with pytest.raises(Refused, match="has changed since" if change == "grown" else "can't be read: No such file"):
        made.make(5000)
    assert (page.evaluate(CONTENT), changes(page)) == ([], [])


# The pointer's other inputs. `EVENTS` lists what the page was told, and for how long the button was down.

EVENTS = """<script>
window.told = [];
const at = performance.now();
for (const kind of ['mousedown', 'mouseup', 'click', 'dblclick', 'contextmenu', 'dragstart', 'drop'])
    addEventListener(kind, event => told.push([kind, event.button, performance.now() - at]), true);
</script>"""


def told(page: Page) -> list[str]:
    """The events that the page was told, in order."""
    return [kind for kind, _, _ in page.evaluate("told")]


def test_a_double_click_is_one(page: Page) -> None:
    page.set_content(EVENTS + "<button>Book</button>")
    taken(DoubleClick(page.get_by_role("button"), intent="book", proof=[ConfirmationText("booked")])).make(5000)
    assert told(page) == ["mousedown", "mouseup", "click", "mousedown", "mouseup", "click", "dblclick"]


def test_a_right_click_is_one_by_the_right_button(page: Page) -> None:
    page.set_content(EVENTS + "<button>Flag</button>")
    taken(RightClick(page.get_by_role("button"), intent="flag", proof=[ConfirmationText("flagged")])).make(5000)
    assert sorted(told(page)) == ["contextmenu", "mousedown", "mouseup"]
    assert {button for _, button, _ in page.evaluate("told")} == {2}


def hold(target: Locator, ms: float) -> Gesture[None]:
    return taken(Hold(target, ms, intent="approve", proof=[ConfirmationText("approved")]))


def test_a_control_is_held_for_as_long_as_it_is_told(page: Page) -> None:
    page.set_content(EVENTS + "<button>Approve</button>")
    hold(page.get_by_role("button"), 300).make(5000)
    (down, _, pressed), (up, _, let_go), (click, _, _) = page.evaluate("told")
    assert (down, up, click) == ("mousedown", "mouseup", "click") and let_go - pressed >= 300


def test_a_hold_that_is_longer_than_its_input_may_take_touches_nothing(page: Page) -> None:
    page.set_content(EVENTS + "<button>Approve</button>")
    with pytest.raises(Refused, match="To hold it for 2 s doesn't fit in the input's 2 s"):
        hold(page.get_by_role("button"), 2000).make(2000)
    assert told(page) == []


CARD = "<div id=card draggable=true>Card</div><div id=done style='height: 9em' ondragover='event.preventDefault()'>%s"
MOVED = """<div id=card>Card</div><div id=done style="height: 9em">Done</div><script>
let from = null, moves = 0;
card.onpointerdown = event => { from = event; };
onpointermove = () => { moves += from !== null; };
onpointerup = event => { window.dropped = moves > 2 && document.elementFromPoint(event.x, event.y) === done; };
</script>"""
"""A page that drags by pointer events, and begins after three moves."""


def drag(page: Page) -> Gesture[None]:
    about: Any = {"intent": "finish the card", "proof": [ConfirmationText("done")]}
    return taken(DragTo(page.locator("#card"), page.locator("#done"), **about))


def test_a_drag_is_one_drop_on_its_goal(page: Page) -> None:
    page.set_content(EVENTS + CARD % "Done")
    made = drag(page)
    made.wait_actionable(5000)
    assert told(page) == []
    made.make(5000)
    assert told(page) == ["mousedown", "dragstart", "drop"]


def test_a_page_that_drags_by_pointer_events_is_dragged_as_well(page: Page) -> None:
    page.set_content(MOVED)
    drag(page).make(5000)
    assert page.evaluate("dropped")


def test_a_drag_whose_goal_is_not_there_is_refused_before_the_button_goes_down(page: Page) -> None:
    page.set_content(EVENTS + "<div id=card draggable=true>Card</div>")
    with pytest.raises(Refused, match="#done was not ready"):
        drag(page).wait_actionable(1500)
    assert told(page) == []


def test_a_drag_reads_again_what_it_drags_and_where_it_drops_it(page: Page) -> None:
    page.set_content(CARD % "Done")
    made = drag(page)
    before = made.read_target()
    page.locator("#done").evaluate("element => element.textContent = 'Deleted'")
    assert before is not None and "Done" in before
    assert (now := made.read_target()) is not None and "Card" in now and "Deleted" in now
