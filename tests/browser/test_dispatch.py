"""Was it dispatched? Each kind in each situation on a real page, and the words of the call log that the rules read.

The words are Playwright's own and belong to no promise of its: where one of these facts breaks with a new version,
`rules.was_performed` and `rules.was_refused` must be looked at before anything else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Error, Locator, Page

from browser_agent.browser.input_witness import Witness
from browser_agent.rules import was_performed, was_refused
from browser_agent.script.gestures import Gesture
from browser_agent.script.kinds import Check, Click, Press, Select, Upload
from browser_agent.script.pointer_kinds import DoubleClick, DragTo, Hold, RightClick
from browser_agent.testing.proxy.fault_proxy import FaultProxy
from browser_agent.testing.sites.books import Books
from observers import ConfirmationText
from tests.fix_matrix import crossed

SHORT_MS, LONG_MS = 400, 8000
CONTROLS = {
    "click": "<button id=x>Post</button>",
    "check": "<input type=checkbox id=x>",
    "double click": "<button id=x>Book</button>",
    "right click": "<button id=x>Flag</button>",
    "hold": "<button id=x>Approve</button>",
    "drag": "<button id=x>Card</button><p id=y>Done</p>",
    "press": "<input id=x>",
    "select": "<select id=x><option>draft</option><option>posted</option></select>",
    "upload": "<input type=file id=x>",
}
EVENT = {
    "click": "onclick",
    "check": "onchange",
    "double click": "ondblclick",
    "right click": "oncontextmenu",
    "hold": "onpointerdown",
    "drag": "onpointermove",
    "press": "onkeydown",
    "select": "onchange",
    "upload": "onchange",
}
COVER = "<div style='position: fixed; inset: 0; background: #ccc'></div>"
MOVES = "<style>#x { animation: m 1s infinite alternate linear } @keyframes m { to { margin-left: 300px } }</style>"
Ended = Literal["made", "refused", "in doubt"]


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    path = tmp_path / "contract.pdf"
    path.write_bytes(b"%PDF-1.7 signed")
    return path


def gesture(kind: str, target: Locator, pdf: Path) -> Gesture[None]:
    """A gesture of that kind."""
    proof = [ConfirmationText("posted")]
    made: Gesture[None] = {
        "click": lambda: Click(target, intent="post", proof=proof),
        "check": lambda: Check(target, intent="post", proof=proof),
        "double click": lambda: DoubleClick(target, intent="post", proof=proof),
        "right click": lambda: RightClick(target, intent="post", proof=proof),
        "hold": lambda: Hold(target, 100, intent="post", proof=proof),
        "drag": lambda: DragTo(target, target.locator("xpath=../*[@id='y']"), intent="post", proof=proof),
        "press": lambda: Press(target, "Enter", intent="post", proof=proof),
        "select": lambda: Select(target, "posted", intent="post", proof=proof),
        "upload": lambda: Upload(target, pdf, intent="post", proof=proof),
    }[kind]()
    made.take()
    return made


def ended(page: Page, gesture: Gesture[None], timeout_ms: float) -> tuple[Ended, str]:
    """How the input call ended, as the rules conclude it, and its call log."""
    witness = Witness(page)
    witness.arm()
    try:
        gesture.make(timeout_ms)
    except Error as error:
        answers, seen = witness.answers(), witness.seen()
        log = error.message
    else:
        return "made", ""
    refused = was_refused(gesture.kind, log, seen_in_page=seen, page_answers=answers, processes_alive=True)
    return "refused" if refused else "in doubt", log


POINTER = ("click", "check", "double click", "right click", "hold", "drag")
REFUSED: tuple[str, ...] = (*POINTER, "press", "select", "upload")


@pytest.mark.parametrize(("html", "kind"), crossed(["<p>nothing</p>", "%s%s"], REFUSED))
def test_a_control_that_is_not_one_is_refused_whatever_the_kind(page: Page, html: str, kind: str, pdf: Path) -> None:
    page.set_content(html.replace("%s", CONTROLS[kind]))
    assert ended(page, gesture(kind, page.locator("#x"), pdf), SHORT_MS)[0] == "refused"


WAYS = [*crossed(["hidden", "moving", "covered", "vanishing"], POINTER), *crossed(["disabled"], POINTER[:-1])]


@pytest.mark.parametrize(("way", "kind"), WAYS)  # a drag does not ask whether its control is enabled: it is waited for
def test_a_pointer_that_never_came_to_the_control_is_refused(page: Page, way: str, kind: str, pdf: Path) -> None:
    page.set_content(in_the_way(way, CONTROLS[kind]))
    if way == "vanishing":
        page.evaluate("setTimeout(() => document.querySelector('#x').remove(), 200)")
    assert ended(page, gesture(kind, page.locator("#x"), pdf), SHORT_MS)[0] == "refused"


def in_the_way(way: str, control: str) -> str:
    """The control, with something in the way of whoever wants to use it."""
    return {
        "hidden": f"<div style='display: none'>{control}</div>",
        "disabled": control.replace("id=x", "id=x disabled"),
        "moving": MOVES + control,
        "covered": control + COVER,
        "vanishing": control.replace("id=x", "id=x style=visibility:hidden"),
    }[way]


@pytest.mark.parametrize("way", ["hidden", "disabled"])
def test_a_list_that_was_found_and_not_used_is_in_doubt(page: Page, way: str, pdf: Path) -> None:
    page.set_content(in_the_way(way, CONTROLS["select"]))
    assert ended(page, gesture("select", page.locator("#x"), pdf), 1500)[0] == "in doubt"


@pytest.mark.parametrize(("kind", "way"), crossed(["press", "upload"], ["hidden", "disabled", "covered"]))
def test_keys_and_files_go_in_whatever_is_in_the_way_so_it_is_waited_for_before(
    page: Page, kind: str, way: str, pdf: Path
) -> None:
    page.set_content(in_the_way(way, CONTROLS[kind]))
    assert ended(page, gesture(kind, page.locator("#x"), pdf), LONG_MS)[0] == "made"


@pytest.mark.parametrize(("where", "kind"), crossed(["frame", "shadow"], REFUSED))
def test_frames_and_open_shadow_roots_take_every_kind(page: Page, where: str, kind: str, pdf: Path) -> None:
    control = CONTROLS[kind]
    inside = f'<iframe srcdoc="{control}"></iframe>' if where == "frame" else ""
    page.set_content(inside or f"<div><template shadowrootmode=open>{control}</template></div>")
    target = page.frame_locator("iframe").locator("#x") if inside else page.locator("#x")
    assert ended(page, gesture(kind, target, pdf), LONG_MS)[0] == "made"


# The road to the site, with an answer that comes too late for the input call.


@pytest.fixture
def slow_books(page: Page) -> Iterator[Books]:
    with Books() as books, FaultProxy(books.url) as road:
        road.fault("answer_late", "POST /invoices", seconds=2.0)
        page.goto(road.url)
        yield books


POST_AND_WAIT = "let r = new XMLHttpRequest(); r.open('POST', '/invoices', false); r.send()"
"""What a page does that stands still until its answer is there."""

CALL_LOGS = {
    "click": [
        "waiting for locator('#x')",
        "locator resolved to <button …",
        "attempting click action",
        "waiting for element to be visible, enabled and stable",
        "element is visible, enabled and stable",
        "scrolling into view if needed",
        "done scrolling",
        "performing click action",
    ],
    "press": ["waiting for locator('#x')", "locator resolved to <input …", 'elementHandle.press("Enter")'],
    "select": [
        "waiting for locator('#x')",
        "locator resolved to <select …",
        "attempting select option action",
        "waiting for element to be visible and enabled",
    ],
    "upload": ["waiting for locator('#x')", "locator resolved to <input …"],
}
CALL_LOGS["check"] = [line.replace("<button", "<input") for line in CALL_LOGS["click"]]
CALL_LOGS["right click"] = CALL_LOGS["hold"] = CALL_LOGS["click"]
CALL_LOGS["double click"] = [line.replace("click action", "dblclick action") for line in CALL_LOGS["click"]]
CALL_LOGS["drag"] = [
    line.replace("click action", "move and down action").replace(", enabled", "") for line in CALL_LOGS["click"]
]


@pytest.mark.parametrize("kind", REFUSED)
def test_an_input_that_writes_and_does_not_come_back_is_in_doubt_with_one_write(
    page: Page, slow_books: Books, kind: str, pdf: Path
) -> None:
    page.set_content(CONTROLS[kind].replace("id=x", f'id=x {EVENT[kind]}="{POST_AND_WAIT}"'))
    conclusion, log = ended(page, gesture(kind, page.locator("#x"), pdf), 1500)
    assert (conclusion, len(slow_books.ledger.writes)) == ("in doubt", 1)
    assert told(log) == CALL_LOGS[kind]
    assert was_performed(log) is (kind in POINTER)


def told(log: str) -> list[str]:
    """The lines of the call log, without what they quote of the page."""
    lines = log.partition("Call log:")[2].replace('locator("#x")', "locator('#x')").splitlines()
    return [line.partition(" id=")[0].strip(" -") + (" …" if " id=" in line else "") for line in lines if line.strip()]


@pytest.mark.parametrize("kind", ["select", "upload"])
def test_no_witness_sees_what_the_driver_does_by_script(page: Page, kind: str, pdf: Path) -> None:
    page.set_content(CONTROLS[kind])
    witness = Witness(page)
    witness.arm()
    gesture(kind, page.locator("#x"), pdf).make(LONG_MS)
    assert witness.seen() is False


# Pages that do not answer.


def test_a_page_that_stands_still_is_never_a_refusal(page: Page, pdf: Path) -> None:
    page.set_content(CONTROLS["click"])
    page.evaluate("setTimeout(() => { const end = Date.now() + 6000; while (Date.now() < end); }, 300)")
    witness = Witness(page)
    witness.arm()
    page.wait_for_timeout(400)
    with pytest.raises(Error) as raised:
        gesture("click", page.locator("#x"), pdf).make(SHORT_MS)
    log = raised.value.message
    assert told(log) == ["waiting for locator('#x')"]
    answers, seen = witness.answers(), witness.seen()
    assert not answers
    assert not was_refused("click", log, seen_in_page=seen, page_answers=answers, processes_alive=True)


def test_input_that_was_queued_by_a_page_that_stood_still_fires_after_the_call_has_ended(page: Page, pdf: Path) -> None:
    busy = "addEventListener('mousemove', () => { const end = Date.now() + 2500; while (Date.now() < end); })"
    page.set_content(f"<button id=x onclick='window.clicked = true'>Post</button><script>{busy}</script>")
    witness = Witness(page)
    witness.arm()
    with pytest.raises(Error) as raised:
        gesture("click", page.locator("#x"), pdf).make(1500)
    assert was_performed(raised.value.message)
    assert witness.answers() and witness.seen()
    assert page.evaluate("window.clicked")


@pytest.mark.parametrize("kind", POINTER)
def test_a_page_that_is_closed_meanwhile_is_in_doubt(page: Page, kind: str, pdf: Path) -> None:
    with page.expect_popup() as opened:
        page.evaluate("window.open('about:blank')")
    popup = opened.value
    popup.set_content(in_the_way("hidden", CONTROLS[kind]))
    popup.evaluate("setTimeout(() => close(), 300)")
    conclusion, log = ended(popup, gesture(kind, popup.locator("#x"), pdf), LONG_MS)
    assert (conclusion, popup.is_closed()) == ("in doubt", True)
    assert "has been closed" in log and not was_performed(log)


@pytest.mark.parametrize(("does", "kind"), crossed(["confirm('a')", "open('about:blank')"], REFUSED))
def test_an_input_that_opens_a_dialog_or_a_popup_is_no_refusal(page: Page, does: str, kind: str, pdf: Path) -> None:
    page.set_content(CONTROLS[kind].replace("id=x", f'id=x {EVENT[kind]}="{does}"'))
    pages = len(page.context.pages)
    # A popup comes to the front before the mouse is let go, and then the call may end by its time limit (measured).
    assert ended(page, gesture(kind, page.locator("#x"), pdf), 2500)[0] in {"made", "in doubt"}
    for popup in page.context.pages[pages:]:
        popup.close()
