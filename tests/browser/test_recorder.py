"""The recorder: what is shown, opened or handed over after the mark is kept, what was there before is not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Page

from browser_agent.browser.recorder import Recorder
from browser_agent.browser.screenshot import Picture, capture
from browser_agent.browser.toasts import MOST_TOASTS
from observers import NOT_BEGUN, Recording
from observers.observer import RecordingKind

TOASTER = """<p id=old>Order S-1 placed</p><div id=host></div><button id=b>Order</button><script>
  const toast = (text, gone = 800, into = document.body) => {
    const div = document.createElement('div');
    div.textContent = text;
    into.append(div);
    setTimeout(() => div.remove(), gone);
    return div;
  };
  host.attachShadow({mode: 'open'});
</script>"""


class Site(ThreadingHTTPServer):
    """Pages of its own; `/slow.csv` stops in the middle until `go` is set, and `/cut.csv` ends there for good."""

    daemon_threads = True
    pages: dict[str, str]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.pages = {"/": TOASTER}
        self.go = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.elsewhere = f"http://localhost:{self.server_port}"


class _Answers(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        if self.path.endswith(".csv"):
            return self._file()
        body = self.server.pages.get(self.path.split("?")[0], "").encode()
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _file(self) -> None:
        self.send_response(200)
        self.send_header("content-disposition", "attachment")
        self.send_header("content-type", "text/csv")
        self.send_header("content-length", "20")
        self.end_headers()
        self.wfile.write(b"Order;S-7\n")
        self.wfile.flush()
        if self.path == "/slow.csv":
            self.server.go.wait()
            self.wfile.write(b"Total;9.00")

    def log_message(self, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield site
        site.go.set()
        site.shutdown()
        thread.join()


@contextmanager
def recording(page: Page, *kinds: RecordingKind) -> Iterator[Recorder]:
    with Recorder("g", page, frozenset(kinds), None, lambda: datetime.now(UTC), lambda _: "c" * 64) as recorder:
        yield recorder


def recorded_when(page: Page, recorder: Recorder, enough: Callable[[Recording], object]) -> Recording:
    """What was recorded, as soon as it is enough."""
    for _ in range(100):
        recorded = recorder.recorded()
        if enough(recorded):
            return recorded
        page.wait_for_timeout(50)
    raise AssertionError(f"not recorded: {recorder.recorded()}")


def shown(page: Page, recorder: Recorder, text: str) -> list[str]:
    """All that was recorded, as soon as `text` is among it."""
    recorded = recorded_when(page, recorder, lambda found: any(text in toast.text for toast in found.toasts))
    return [toast.text for toast in recorded.toasts]


@pytest.mark.parametrize(
    "shows",
    [
        "toast('Order S-7 placed', 200)",
        "toast('Order S-7 placed', 800, host.shadowRoot)",
        "toast('Order', 800).append(' S-7 ', 'placed')",
        "setTimeout(() => old.firstChild.data = 'Order S-7 placed')",
        "document.body.insertAdjacentHTML('beforeend', '<p style=\"animation: f 1s\">Order S-7 placed</p>"
        "<style>@keyframes f { from { opacity: 0 } }</style>')",
        "window.MutationObserver = window.Date = null; toast('Order S-7 placed')",
        "toast('Order S-7 placed', 80); location = '/?next'",
        "location = '/next'",
    ],
)
def test_a_text_is_recorded_however_it_comes_and_however_briefly_it_stays(page: Page, site: Site, shows: str) -> None:
    site.pages["/next"] = f"{TOASTER}<script>toast('Order S-7 placed', 100)</script>"
    page.goto(site.url)
    with recording(page, "toasts") as recorder:
        recorder.mark()
        page.evaluate(f"() => {{ {shows} }}")
        assert shown(page, recorder, "S-7") == ["Order S-7 placed"]


@pytest.mark.parametrize("where", ["url", "elsewhere"])
def test_a_text_in_a_frame_is_recorded(page: Page, site: Site, where: str) -> None:
    site.pages["/framed"] = f"<iframe src='{getattr(site, where)}'></iframe>"
    page.goto(f"{site.url}/framed")
    with recording(page, "toasts") as recorder:
        recorder.mark()
        page.frames[1].evaluate("() => { toast('Order S-7 placed') }")
        assert shown(page, recorder, "S-7") == ["Order S-7 placed"]


def test_what_was_shown_before_the_mark_never_counts(page: Page, site: Site) -> None:
    page.goto(site.url)
    page.evaluate("() => { window.hidden = toast('Order S-3 placed', 9000); hidden.style.display = 'none' }")
    with recording(page, "toasts") as recorder:
        page.evaluate("() => { window.early = toast('Order S-2 placed', 9000) }")
        assert recorder.recorded() == NOT_BEGUN
        recorder.mark()
        page.evaluate("() => { early.remove(); document.body.append(early); toast('Order S-1 placed') }")
        page.evaluate("() => { early.className = 'fading'; early.textContent = 'Order S-2 placed' }")
        page.goto(f"{site.url}/?again")  # the site shows the old one again
        page.evaluate("() => { toast('Order S-7 placed') }")
        assert shown(page, recorder, "S-7") == ["Order S-7 placed"]


def test_what_was_hidden_before_and_is_shown_after_counts(page: Page, site: Site) -> None:
    page.goto(site.url)
    page.evaluate("() => { window.later = toast('Order S-7 placed', 9000); later.hidden = true }")
    with recording(page, "toasts") as recorder:
        recorder.mark()
        page.evaluate("() => { later.hidden = false }")
        assert shown(page, recorder, "S-7") == ["Order S-7 placed"]


def test_what_is_typed_is_never_recorded(page: Page, site: Site) -> None:
    page.goto(site.url)
    with recording(page, "toasts") as recorder:
        recorder.mark()
        page.evaluate("""() => {
          document.body.insertAdjacentHTML('beforeend', `<div>Name <input value=secret-1><textarea>secret-2</textarea>
            <select><option>secret-3</select><p contenteditable>secret-4</p></div>`);
          document.querySelector('textarea').append('secret-5');
          document.querySelector('[contenteditable]').append('secret-6');
          setTimeout(() => toast('Order S-7 placed'), 100);
        }""")
        assert "secret" not in "".join(shown(page, recorder, "S-7"))


def test_the_page_sees_no_recorder_and_nothing_is_left_of_it(page: Page, site: Site) -> None:
    page.goto(site.url)
    globals_ = "() => Object.getOwnPropertyNames(globalThis).sort().join()"
    before = page.evaluate(globals_)
    with recording(page, "toasts") as recorder:
        recorder.mark()
        assert page.evaluate(globals_) == before
    page.evaluate("() => { toast('Order S-7 placed') }")
    page.goto(f"{site.url}/?later")
    page.evaluate("() => { toast('Order S-8 placed') }")
    page.wait_for_timeout(200)
    assert recorder.recorded().toasts == ()


def test_a_dialog_is_answered_by_whom_it_was_before_and_the_recorder_hears_on(page: Page, site: Site) -> None:
    page.goto(site.url)
    page.once("dialog", lambda dialog: dialog.accept())
    with recording(page, "toasts") as recorder:
        recorder.mark()
        assert page.evaluate("() => confirm('Really?')") is True
        page.evaluate("() => { toast('Order S-7 placed') }")
        assert shown(page, recorder, "S-7") == ["Order S-7 placed"]


def test_only_so_many_texts_are_kept_and_it_says_so(page: Page, site: Site) -> None:
    page.goto(site.url)
    with recording(page, "toasts") as recorder:
        recorder.mark()
        page.evaluate("() => { for (let i = 0; i < 300; i++) toast(`Order number ${i}`, 3000) }")
        recorded = recorded_when(page, recorder, lambda found: found.truncated)
    assert len(recorded.toasts) == MOST_TOASTS


def test_a_page_that_hangs_stops_the_recorder_and_raises_nothing(page: Page, site: Site) -> None:
    page.goto(site.url)
    with recording(page, "toasts") as recorder:
        page.evaluate("() => { setTimeout(() => { const end = Date.now() + 4000; while (Date.now() < end); }, 50) }")
        page.wait_for_timeout(100)
        recorder.mark()
        assert "text before the gesture could not be read" in recorder.recorded().toast_failure


def test_a_closed_page_costs_nothing_but_the_recording(page: Page) -> None:
    gone = page.context.new_page()
    gone.close()
    with recording(gone, "toasts", "pages", "downloads", "answers") as recorder:
        recorder.mark()
    assert recorder.recorded().toasts == ()


def test_a_page_that_opened_and_closed_itself_is_kept_with_its_text_and_picture(page: Page, site: Site) -> None:
    page.goto(site.url)
    early = page.context.new_page()
    with recording(page, "pages") as recorder:
        with page.expect_popup() as before:
            page.evaluate("() => { open('about:blank') }")
        recorder.mark()
        page.evaluate("""() => {
            const receipt = open('about:blank');
            receipt.document.write('<p>Receipt for S-7</p>');
            receipt.document.close();
            setTimeout(() => { receipt.document.body.append('Paid'); setTimeout(() => receipt.close(), 400) }, 400);
        }""")
        recorded = recorded_when(page, recorder, lambda found: any(each.closed for each in found.pages))
    early.close()
    before.value.close()
    assert [(each.text.splitlines()[0], each.blob) for each in recorded.pages] == [("Receipt for S-7", "c" * 64)]


def test_a_download_that_has_begun_is_not_complete(page: Page, site: Site) -> None:
    page.goto(site.url)
    with recording(page, "downloads") as recorder:
        recorder.mark()
        page.evaluate("() => { location = '/slow.csv' }")
        begun = recorded_when(page, recorder, lambda found: found.downloads).downloads[0]
        assert (begun.name, begun.size, begun.sha256, begun.failure) == ("slow.csv", None, None, "")
        site.go.set()
        done = recorded_when(page, recorder, lambda found: found.downloads[0].sha256).downloads[0]
    assert (done.size, done.text) == (20, "Order;S-7\nTotal;9.00")
    assert "S-7" not in repr(done)


def test_a_download_that_is_cut_off_never_counts(page: Page, site: Site) -> None:
    page.goto(site.url)
    with recording(page, "downloads") as recorder:
        recorder.mark()
        page.evaluate("() => { location = '/cut.csv' }")
        cut = recorded_when(page, recorder, lambda found: found.downloads and found.downloads[0].failure).downloads[0]
    assert (cut.sha256, cut.text) == (None, None)


def test_a_very_tall_page_costs_no_more_than_its_window(page: Page) -> None:
    page.set_content("<div style='height: 400000px; background: linear-gradient(red, blue)'>tall</div>")
    taken = capture(page, 5.0, lambda webp: "d" * 64)
    assert isinstance(taken, Picture), taken
    assert taken.height < 2000 and not taken.one_colour
