"""The door to a page: it reads what a person would see, and nothing that it does is written at the site."""

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from observers import LookFailed, PageView, open_view

PAGES: dict[str, str] = {
    "/plain": "<h1>Invoice  <b>INV-7</b>\u00a0posted</h1><p>for S-101<br>by acme</p><p style='display:none'>hidden</p>",
    "/form": """<label>Name <input id=name value=typed-secret></label><textarea>area-secret</textarea>
        <select><option>choice-secret</select><div contenteditable>edit-secret</div><button>Post</button>""",
    "/tables": """<table><thead><tr><th>Number<th>Amount<th>Note</thead><tbody>
        <tr><td><a href='/invoices/1'>INV-1</a><td>1,200.00<td rowspan=2>both
        <tr><td>INV-2<td><input value=secret>
        <tr style='display:none'><td>INV-3<td>3<td>x
        <tr><td colspan=3>No more invoices</tbody><tfoot><tr><td>Sum<td>9<td></tfoot></table>
        <div role=table aria-rowcount=90><div role=row><b role=columnheader>Id</b><b role=columnheader>To</b></div>
        <div role=row><span role=cell>7</span><span role=cell>Ann</span></div></div>""",
    "/shadow": """<div id=host></div><iframe srcdoc='<p>in a frame'></iframe><script>
        document.getElementById('host').attachShadow({mode: 'open'}).innerHTML = '<p>in the shadow</p>'</script>""",
    "/late": """<table><tr><th>Number<tbody id=rows></tbody></table><script>
        fetch('/rows').then(r => r.text()).then(t => { document.getElementById('rows').innerHTML = t })</script>""",
    "/rows": "<tr><td>INV-9</tr>",
    "/acts": """<p>acts</p><form id=f method=post action=/written></form><script>
        navigator.sendBeacon('/written', 'b'); fetch('/written', {method: 'POST', keepalive: true}).catch(() => 0);
        new Image().src = '/pixel'; new WebSocket('ws://' + location.host + '/socket').onopen = e => e.target.send('x');
        const x = new XMLHttpRequest(); x.open('PUT', '/written'); try { x.send() } catch {}
        addEventListener('pagehide', () => { navigator.sendBeacon('/written', 'end');
          fetch(new Request('/written', {method: 'POST', keepalive: true}));
          if (window.fetchLater) fetchLater('/written', {method: 'POST'});
          fetch('/written', {method: 'POST', keepalive: true}) });
        addEventListener('beforeunload', e => e.preventDefault());
        confirm('really?'); if (!location.search) document.getElementById('f').submit()</script>""",
    "/hangs": "<p>hangs</p><script>setTimeout(() => { while (true) {} }, 300)</script>",
    "/next1": "<p>one</p><a href='/next2'>Next</a>",
    "/next2": "<p>two</p><a rel=next class=disabled href='/next3'>Next</a>",
    "/button": "<p>one</p><button>Load more</button>",
}


class Site(ThreadingHTTPServer):
    """Serves PAGES and remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.asked: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    @property
    def written(self) -> list[str]:
        return [line for line in self.asked if not line.startswith("GET") or "/socket" in line]


class _Answers(BaseHTTPRequestHandler):
    server: Site

    def _answer(self) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        self.rfile.read(int(self.headers.get("content-length", 0)))
        path = self.path.split("?")[0]
        if path == "/rows":
            time.sleep(0.7)  # a slow site: the list stands there empty meanwhile
        cookie = self.headers.get("cookie", "")
        body = {"/cookie": f"<p>cookie {cookie}", "/posted": "<p>answer of a POST"}.get(path, PAGES.get(path, ""))
        self.send_response(200 if body else 404)
        self.send_header("content-type", "text/html; charset=utf-8")
        if path == "/cookie":
            self.send_header("set-cookie", "look=leaked; Path=/")
        data = body.encode()
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = _answer

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield site
        site.shutdown()
        thread.join()


@pytest.fixture
def kept() -> dict[str, bytes]:
    return {}


@pytest.fixture
def view(attached: Browser, page: Page, kept: dict[str, bytes]) -> Iterator[PageView]:
    def keep(picture: bytes, media_type: str) -> str:
        assert media_type == "image/png"
        kept["a" * 64] = picture
        return "a" * 64

    with open_view(attached, page, deadline=3, save=keep) as view:
        yield view


def test_the_text_is_what_a_person_sees(view: PageView, site: Site) -> None:
    reading = view.open(f"{site.url}/plain")
    assert reading.text == "Invoice INV-7 posted\nfor S-101\nby acme"
    assert reading.status == 200
    (hit,) = reading.find(r"Invoice (?P<number>\S+) posted")
    assert hit.groups == {"number": "INV-7"}
    assert hit.box is not None
    assert hit.box[2] > 50
    assert reading.has("posted\nfor")
    assert reading.has("h1 > b")
    assert not reading.has("p:empty")
    assert not reading.has("nothing [of that")


def test_what_stands_in_form_controls_is_never_read(view: PageView, site: Site, page: Page) -> None:
    page.goto(f"{site.url}/form")
    page.locator("#name").fill("filled-secret")
    for reading in (view.current, view.open(f"{site.url}/form")):
        assert reading is not None
        assert "secret" not in reading.text
        assert "Post" in reading.text


def test_tables_are_rows_of_named_cells(view: PageView, site: Site) -> None:
    table, roles = view.open(f"{site.url}/tables").tables()
    assert table.headers == ("Number", "Amount", "Note")
    assert [dict(row) for row in table] == [
        {"Number": "INV-1", "Amount": "1,200.00", "Note": "both"},
        {"Number": "INV-2", "Amount": "", "Note": "both"},
        {"Number": "", "Amount": "", "Note": ""},  # nobody can see it
    ]
    assert [row.opaque for row in table] == [set(), {"Amount"}, set()]
    assert [row.shown for row in table] == [True, True, False]
    assert table[0].link == f"{site.url}/invoices/1"
    assert table[0].box is not None
    assert [dict(row) for row in roles] == [{"Id": "7", "To": "Ann"}]
    assert roles.virtual


def test_shadow_roots_and_frames_are_read(view: PageView, site: Site) -> None:
    text = view.open(f"{site.url}/shadow").text
    assert "in the shadow" in text
    assert "in a frame" in text


def test_a_list_that_loads_its_rows_itself_is_read_when_they_are_there(view: PageView, site: Site) -> None:
    (table,) = view.open(f"{site.url}/late").tables()
    assert [row["Number"] for row in table] == ["INV-9"]


def test_a_fresh_page_writes_nothing_at_the_site(view: PageView, site: Site) -> None:
    view.open(f"{site.url}/acts?stay")
    view.close()
    assert "GET /acts?stay" in site.asked
    assert "GET /pixel" in site.asked
    assert site.written == []
    assert any(line.startswith("PUT ") for line in view.looks[0].refused)


def test_a_page_that_submits_itself_writes_nothing_either(view: PageView, site: Site) -> None:
    reading = view.open(f"{site.url}/acts")
    assert reading.next_page() is None
    view.close()
    assert site.written == []
    assert f"POST {site.url}/written" in view.looks[0].refused


def test_the_answer_of_a_post_is_read_without_asking_the_site_again(attached: Browser, page: Page, site: Site) -> None:
    page.goto(f"{site.url}/form")
    page.set_content(f"<form method=post action='{site.url}/posted'><button>Post</button></form>")
    page.get_by_role("button").click()
    page.wait_for_url("**/posted")
    before = list(site.asked)
    with open_view(attached, page, answer_of_post=True, deadline=3) as view:
        reading = view.current
        assert reading is not None
        assert reading.answer_of_post
        assert reading.text == "answer of a POST"
        assert reading.status is None
        view.open(f"{site.url}/plain")
        assert view.current is not None
    assert site.asked == [*before, "GET /plain"]
    assert page.url == f"{site.url}/posted"


def test_the_session_is_copied_and_nothing_leaks_back(attached: Browser, page: Page, site: Site) -> None:
    context = page.context
    context.add_cookies([{"name": "session", "value": "ours", "url": site.url}])
    with open_view(attached, page, deadline=3) as view:
        assert view.open(f"{site.url}/cookie").text == "cookie session=ours"
        assert view.open(f"{site.url}/cookie").text == "cookie session=ours", "each look begins from the copy"
    assert [cookie.get("value") for cookie in context.cookies(site.url)] == ["ours"]
    assert attached.contexts == [context]


def test_a_page_that_hangs_is_given_up_at_the_deadline(attached: Browser, page: Page, site: Site) -> None:
    page.goto(f"{site.url}/hangs")
    page.wait_for_timeout(600)
    with open_view(attached, page, deadline=0.5) as view:
        assert view.current is None
        assert "Timeout 500ms" in view.looks[0].note
        with pytest.raises(LookFailed, match="couldn't be read"):
            view.open("http://127.0.0.1:1/")
        with pytest.raises(LookFailed, match="only http"):
            view.open("file:///etc/passwd")


def test_a_lost_page_is_none(attached: Browser, page: Page) -> None:
    lost = page.context.new_page()
    lost.close()
    assert open_view(attached, lost).current is None
    assert open_view(attached, None).current is None


def test_the_next_page_is_followed_by_get_until_the_end(view: PageView, site: Site) -> None:
    first = view.open(f"{site.url}/next1")
    second = first.next_page()
    assert second is not None
    assert (second.text, second.address) == ("two\nNext", f"{site.url}/next2")
    assert second.next_page() is None
    assert second.more_behind is None
    assert first.picture() is None, "the page has gone on: a picture would show the second"
    assert view.open(f"{site.url}/button").more_behind == "Load more"


def test_a_picture_is_kept_and_shows_no_form_values(
    view: PageView, site: Site, kept: dict[str, bytes], attached: Browser
) -> None:
    assert view.open(f"{site.url}/form").picture() == "a" * 64
    first = kept["a" * 64]
    PAGES["/form-b"] = PAGES["/form"].replace("secret", "tecres")
    assert view.open(f"{site.url}/form-b").picture() == "a" * 64
    assert kept["a" * 64] == first
    with open_view(attached, deadline=3) as without:
        assert without.open(f"{site.url}/plain").picture() is None


def test_scripts_can_be_switched_off(view: PageView, site: Site) -> None:
    view.open(f"{site.url}/acts", scripts=False)
    assert site.asked == ["GET /acts"]


def test_every_look_is_remembered_without_the_values_of_its_query(view: PageView, site: Site, tmp_path: Path) -> None:
    view.open(f"{site.url}/plain?token=secret")
    (look,) = view.looks
    assert (look.address, look.status, look.refused) == (f"{site.url}/plain?token", 200, ())
