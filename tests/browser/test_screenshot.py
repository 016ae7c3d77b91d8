"""A picture never harms: it changes no page, holds no secret, keeps its deadline, and never raises."""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest
from PIL import Image
from playwright.sync_api import Dialog, Page, Playwright

from browser_agent.browser.deadline import DeadlinePassed, within
from browser_agent.browser.screenshot import MaskRules, NoPicture, Picture, capture
from browser_agent.errors import StoreUnusable
from browser_agent.secrets.secret import Secret

CONTROLS = {
    "a password": "<input type=password value='{}' style='-webkit-text-security: none'>",
    "a password that is shown": "<input type=text autocomplete=current-password value='{}'>",
    "a password known by its name": "<input type=text name=userPassword value='{}'>",
    "a card number": "<input autocomplete='billing cc-number' value='{}'>",
    "a security code": "<input name=cvc value='{}'>",
    "a one-time code": "<input autocomplete=one-time-code value='{}'>",
    "a field of no kind": "<input value='{}'>",
    "a search": "<input type=search value='{}'>",
    "a number": "<input type=number value='{}'>",
    "a date's field": "<input type=time value='12:{:.2}'>",
    "a placeholder": "<input placeholder='{}'>",
    "a field with a list": "<input list=l value='{0}'><datalist id=l><option value='{0}'></datalist>",
    "a text area": "<textarea>{}</textarea>",
    "a select": "<select style='width:200px'><option>{}</select>",
    "an open list": "<select size=3 style='width:200px'><option>one<option>{}</select>",
    "an edited text": "<div contenteditable>before <b>{}</b></div>",
    "an edited text that overflows": "<div contenteditable style='width:20px;white-space:nowrap'>{} {}</div>",
    "a text box by its role": "<div role=textbox>{}</div>",
    "an output": "<output>{}</output>",
    "a canvas": "<canvas data-draw='{}' width=200 height=50></canvas>",
    "a password below the fold": "<div style='height:4000px'></div><input type=text name=passwd value='{}' autofocus>",
    "a field that stays while the page scrolls": (
        "<input style='position:fixed;top:90px' value='{}'><div style='height:4000px'></div><a autofocus>end</a>"
    ),
    "a turned password": "<input name=passwd value='{}' style='transform: rotate(20deg); margin: 60px'>",
    "a password in a frame": '<iframe srcdoc="<input name=passwd value={}>"></iframe>',
    "a password in a frame with a wide border": (
        '<iframe style="border:9px solid;padding:7px 1px" srcdoc="<p>text<input value={}>"></iframe>'
    ),
    "a password in a turned frame": '<iframe style="transform:scale(1.7)" srcdoc="<input value={}>"></iframe>',
    "a password in a frame in a frame": (
        "<iframe srcdoc='<iframe srcdoc=\"<input name=passwd value={}>\"></iframe>'></iframe>"
    ),
    "a password in a shadow root": "<div><template shadowrootmode=open><input name=passwd value='{}'></template></div>",
    "a field in a closed shadow root": "<div><template shadowrootmode=closed><input value='{}'></template></div>",
    "a closed custom element": "<x-field data-value='{}'></x-field>",
    "a field in a dialog": "<dialog open data-modal><input value='{}'></dialog>",
    "a field in details": "<details open><summary>More</summary><input value='{}'></details>",
}
"""Covered whatever they hold."""
TEXTS = {
    "a paragraph": "<p>Your word is {}.</p>",
    "preformatted": "<pre>one\n  {}\nthree</pre>",
    "words in two parts": "<p>Your word is <b>{:.3}</b>{:.9999}</p>",
    "capitals": "<p style='text-transform:uppercase'>word {}</p>",
    "before": "<style>#b::before{{content:'word {} '}}</style><p id=b>text</p>",
    "after, from an attribute": "<style>#a::after{{content:attr(data-word)}}</style><p id=a data-word='{}'>text</p>",
    "a list's mark": "<style>li::marker{{content:'{} '}}</style><ul style='margin:90px'><li>one</ul>",
    "a drawing": "<svg><text y=20>word {}</text></svg>",
    "a closed shadow root": "<div><template shadowrootmode=closed>word {}</template></div>",
    "an open shadow root": "<div><template shadowrootmode=open>word {}</template></div>",
    "a frame": '<iframe srcdoc="<p>word {}</p>"></iframe>',
    "a dialog": "<dialog open data-modal>word {}</dialog>",
    "details": "<details open><summary>word {0}</summary>and {0}</details>",
    "a button": "<button style='width:200px'>{}</button>",
    "a button's value": "<input type=submit style='width:200px' value='{}'>",
    "a picture that isn't there": "<img src='data:,' alt='word {}' width=300 height=40>",
    "a legend": "<fieldset><legend>{}</legend></fieldset>",
    "a hint": "<p title='{}'>text</p>",
    "a table": "<table><tr><td>{}<td>S-101</table>",
    "a text that is turned": "<p style='transform:rotate(30deg);margin:100px;width:200px'>word {}</p>",
}
"""Covered because what they show is known to be secret."""
CLOSED = """
customElements.define('x-field', class extends HTMLElement {
  connectedCallback() { this.attachShadow({mode: 'closed'}).innerHTML = `<input value='${this.dataset.value}'>`; }
})"""
DRAWN = """for (const canvas of document.querySelectorAll('canvas'))
  canvas.getContext('2d').fillText(canvas.dataset.draw, 10, 20)"""
EMPTY = "data:text/html,<input value=Miller><p>hello"


def digest(webp: bytes) -> str:
    return hashlib.sha256(webp).hexdigest()


def picture_of(page: Page, seconds: float = 5.0, mask_rules: MaskRules | None = None) -> Picture:
    taken = capture(page, seconds, digest, mask_rules)
    assert isinstance(taken, Picture), taken
    return taken


def show(page: Page, html: str) -> None:
    page.goto("about:blank")
    page.evaluate(CLOSED)
    page.evaluate("html => document.body.setHTMLUnsafe(html)", html)
    page.evaluate("document.querySelector('[data-modal]')?.close()")
    page.evaluate("document.querySelector('[data-modal]')?.showModal()")
    page.evaluate(DRAWN)
    page.evaluate("document.querySelector('[autofocus]')?.scrollIntoView()")
    for frame in page.frames:
        frame.wait_for_load_state()


def test_a_picture_is_a_webp_of_the_viewport(page):
    page.goto(EMPTY)
    taken = picture_of(page)
    image = Image.open(io.BytesIO(taken.webp))
    assert (image.format, image.size) == ("WEBP", (taken.width, taken.height))
    assert [taken.width, taken.height] == page.evaluate("[innerWidth, innerHeight]")
    assert (taken.digest, taken.how, taken.covered, taken.one_colour) == (digest(taken.webp), "chromium", 1, False)


@pytest.mark.parametrize("place", CONTROLS.values(), ids=CONTROLS.keys())
def test_two_secrets_in_a_control_give_the_same_picture(page, place):
    show(page, place.format("482915", "482915"))
    first = picture_of(page)
    show(page, place.format("739164", "739164"))
    second = picture_of(page)
    assert first.covered >= 1
    assert first.digest == second.digest


@pytest.mark.parametrize("place", TEXTS.values(), ids=TEXTS.keys())
def test_two_secrets_in_a_text_give_the_same_picture(page, place):
    pictures = []
    for secret in ("482915", "739164"):
        Secret(secret)
        show(page, place.format(secret) if "{:.3}" not in place else place.format(secret, secret[3:]))
        pictures.append(picture_of(page).digest)
    assert pictures[0] == pictures[1]


def test_what_is_no_secret_is_seen(page):
    kept = set()
    for customer, ticked in (("Contoso", ""), ("Fabrikam", ""), ("Fabrikam", "checked")):
        show(page, f"<h1>Invoice for {customer}</h1><input type=checkbox {ticked}><button>Post</button>")
        kept.add(picture_of(page).digest)
    assert len(kept) == 3


def test_only_what_the_site_lets_be_seen_is_seen_in_a_field(page):
    mask_rules, pictures = MaskRules(shown=("[name=amount]", "[name=pin]")), []
    for amount, note in (("380.00", "4711"), ("380.00", "8932"), ("9.90", "8932")):
        show(page, f"<input name=amount value={amount}><input name=note value={note}><input type=password name=pin>")
        pictures.append(picture_of(page, mask_rules=mask_rules))
    assert pictures[0].digest == pictures[1].digest != pictures[2].digest
    assert pictures[0].covered == 2  # a password is never shown, whatever the site says


def test_a_field_that_may_be_seen_is_covered_when_it_holds_a_card_number(page):
    mask_rules = MaskRules(shown=("[name=note]",))
    show(page, "<input name=note value='4111 1111 1111 1111'>")
    assert picture_of(page, mask_rules=mask_rules).covered == 1


def test_a_card_number_an_address_and_a_token_are_covered_and_the_rest_of_their_line_is_not(page):
    kept = set()
    for card, mail, token, reference in (
        ("4111 1111 1111 1111", "ann@books.example", "eyJhbGciOiJIUzI1.eyJzdWIiOiIx", "S-101"),
        ("5500 0000 0000 0004", "bob@books.example", "eyJhbGciOiJIUzI2.eyJzdWIiOiIy", "S-101"),
        ("5500 0000 0000 0004", "bob@books.example", "eyJhbGciOiJIUzI2.eyJzdWIiOiIy", "S-102"),
    ):
        mono = "<style>p{font-family:monospace}</style>"
        show(page, f"{mono}<p>Paid by {card} for {reference}<p>{mail} wrote<p>token {token} of {reference}</p>")
        kept.add(picture_of(page).digest)
    assert len(kept) == 2


def test_a_frame_of_another_origin_is_covered(page, hanging_site):
    kept = set()
    for secret in ("482915", "739164"):
        elsewhere = hanging_site.replace("127.0.0.1", "localhost")
        page.goto(hanging_site, wait_until="commit")
        page.set_content(f"<p>pay here</p><iframe src='{elsewhere}?{secret}'></iframe>", wait_until="commit")
        page.frame_locator("iframe").locator("input").fill(secret, timeout=5000)
        kept.add(picture_of(page).digest)
    assert len(kept) == 1


def test_secrets_are_covered_on_a_dense_screen(start_chromium, playwright: Playwright):
    chromium = start_chromium(extra=["--force-device-scale-factor=2"])
    page = playwright.chromium.connect_over_cdp(chromium.endpoint).contexts[0].pages[0]
    pictures = []
    for secret in ("Ab12", "Zy98"):
        show(page, f"<div style='height:200px'></div><input name=passwd value={secret}>")
        pictures.append(picture_of(page))
    assert pictures[0].width == 2 * page.evaluate("innerWidth")
    assert pictures[0].digest == pictures[1].digest


def test_a_page_seen_through_a_lens_gets_no_picture(page):
    page.goto(EMPTY)
    page.context.new_cdp_session(page).send("Emulation.setPageScaleFactor", {"pageScaleFactor": 2})
    assert page.evaluate("visualViewport.scale") == 2
    taken = capture(page, 3, digest)
    assert isinstance(taken, NoPicture)
    assert "can't be masked" in taken.reason


def test_the_page_is_not_changed(page):
    page.goto(EMPTY)
    page.focus("input")
    page.evaluate("""() => {
        window.seen = [];
        new MutationObserver(records => seen.push(...records.map(each => each.type)))
            .observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
        for (const kind of ['scroll', 'blur', 'focus', 'resize', 'input', 'mousemove'])
            addEventListener(kind, event => seen.push(event.type), true);
    }""")
    picture_of(page)
    assert page.evaluate("seen") == []


def test_a_page_whose_secrets_move_gets_no_picture(page):
    page.goto("data:text/html,<input name=passwd value=x style='position:absolute'>")
    page.evaluate("setInterval(() => document.querySelector('input').style.left = `${performance.now() % 300}px`, 1)")
    taken = capture(page, 5, digest)
    assert isinstance(taken, NoPicture)
    assert "moved" in taken.reason


def test_a_document_without_an_element_has_a_picture(page):
    page.goto("about:blank")
    page.evaluate("document.documentElement.remove()")
    assert picture_of(page).one_colour


def test_an_open_dialog_costs_the_picture_and_no_more_than_the_deadline(page):
    opened: list[Dialog] = []
    page.on("dialog", lambda dialog: opened.append(dialog))  # noqa: PLW0108 - Playwright marks the listener
    page.goto(EMPTY)
    page.evaluate("setTimeout(() => window.answer = confirm('Really?'), 0)")
    page.wait_for_timeout(200)
    started = time.monotonic()
    taken = capture(page, 1, digest)
    assert isinstance(taken, NoPicture)
    assert time.monotonic() - started < 3

    opened[0].accept()
    assert page.evaluate("answer") is True
    assert picture_of(page)


def test_a_busy_page_costs_the_picture_and_no_more(page):
    page.goto(EMPTY)
    page.evaluate("setTimeout(() => { const start = Date.now(); while (Date.now() - start < 3000); }, 0)")
    assert isinstance(capture(page, 0.8, digest), NoPicture)
    assert picture_of(page, 10)


def test_a_stopped_answer_does_not_stop_us(page):
    page.goto(EMPTY)
    with pytest.raises(DeadlinePassed):
        within(0.2, lambda: page.evaluate("new Promise(() => {})"))
    assert within(5, lambda: page.evaluate("1 + 1")) == 2


def test_a_listener_of_the_page_keeps_its_own_call_when_ours_is_cut(page):
    page.on("dialog", lambda dialog: (page.wait_for_timeout(400), dialog.accept()))
    page.goto(EMPTY)
    page.evaluate("setTimeout(() => window.answer = confirm('Really?'), 0)")
    with pytest.raises(DeadlinePassed):
        within(0.2, lambda: page.evaluate("new Promise(() => {})"))
    page.wait_for_function("window.answer === true")


def test_a_closed_page_costs_the_picture(page):
    other = page.context.new_page()
    other.close()
    assert isinstance(capture(other, 1, digest), NoPicture)


def test_a_crashed_page_costs_the_picture(chromium, playwright: Playwright):
    page = playwright.chromium.connect_over_cdp(chromium.endpoint).contexts[0].pages[0]
    session = page.context.new_cdp_session(page)
    with pytest.raises(DeadlinePassed):
        within(0.5, lambda: session.send("Page.crash"))
    assert isinstance(capture(page, 1, digest), NoPicture)


def test_a_dead_chromium_costs_the_picture(chromium, playwright: Playwright):
    page = playwright.chromium.connect_over_cdp(chromium.endpoint).contexts[0].pages[0]
    chromium.end()
    assert isinstance(capture(page, 1, digest), NoPicture)


def test_a_full_disk_costs_the_picture(page):
    def keep(webp: bytes) -> str:
        raise OSError("No space left on device")

    page.goto(EMPTY)
    assert capture(page, 5, keep) == NoPicture("OSError: No space left on device")


def test_a_picture_that_the_store_cannot_keep_is_told_from_one_that_could_not_be_taken(page):
    def keep(content: bytes) -> str:
        raise StoreUnusable("A picture could not be stored in s3://pictures: it can't be reached.")

    page.goto(EMPTY)
    unsaved = NoPicture("A picture could not be stored in s3://pictures: it can't be reached.", unsaved=True)
    assert capture(page, 5, keep) == unsaved


@pytest.fixture
def hanging_site() -> Iterator[str]:
    """A page whose web font never comes."""
    over = Event()

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/font":
                over.wait()
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<style>@font-face{font-family:f;src:url(/font)}p{font-family:f}</style><p>hello<input>")

        def log_message(self, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    serving = Thread(target=server.serve_forever, args=(0.05,))
    serving.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    over.set()
    server.shutdown()
    serving.join()
    server.server_close()


def test_a_hung_web_font_costs_nothing(page, hanging_site):
    page.goto(hanging_site, wait_until="commit")
    page.locator("input").wait_for()
    assert picture_of(page, 3).how == "chromium"
