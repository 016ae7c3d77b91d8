"""Lists as sites really show them: each is read to its end, or not vouched for, with the sentence that says why.

The order is in the site's own ledger in every case here, so an absence that is vouched for is a second order.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser

from observers import Observation, Record, Sight, Site, open_view

KEY = "R-60"
LEDGER = [(f"N-{number}", f"R-{number}") for number in range(1, 61)]
SIGN = '<header data-account="acme">acme</header>'


def table(rows: list[tuple[str, str]], more: str = "") -> str:
    lines = "".join(f"<tr><td>{number}</td><td>{key}</td></tr>" for number, key in rows)
    return f"{SIGN}<table><thead><tr><th>Number</th><th>Reference</th></tr></thead><tbody>{lines}</tbody></table>{more}"


ADD = """const add = (rows) => { for (const [number, key] of rows)
  document.querySelector('tbody').insertAdjacentHTML('beforeend', `<tr><td>${number}</td><td>${key}</td></tr>`) };
const all = ALL;""".replace("ALL", json.dumps(LEDGER))


def script(text: str) -> str:
    return f"<script>{ADD}{text}</script>"


def links(words: list[str]) -> str:
    return " ".join(f'<a href="?page={page}" title="p">{word}</a>' for page, word in enumerate(words, 1))


PAGES = {
    "by number": lambda page: table(LEDGER[(page - 1) * 20 : page * 20], links(["1", "2", "3"])),
    "by icon": lambda page: table(
        LEDGER[(page - 1) * 30 : page * 30], f'<a href="?page={page + 1}"><svg width="9"></svg></a>' * (page < 2)
    ),
    "next": lambda page: table(
        LEDGER[(page - 1) * 30 : page * 30], f'<a rel="next" href="?page={page + 1}">Next</a>' * (page < 2)
    ),
    "late": lambda page: table([], script("setTimeout(() => add(all), 150)")),
    "late, behind a word that there are none": lambda page: table(
        [],
        "<p id=none>No records found</p>" + script("setTimeout(() => { none.remove(); add(all) }, 1500)"),
    ),
    "after scrolling": lambda page: table(
        LEDGER[:20],
        "<div style='height: 3000px'></div>"
        + script("let n = 20; addEventListener('scroll', () => { add(all.slice(n, n + 20)); n += 20 })"),
    ),
    "read by post": lambda page: table(
        [], script("fetch('/rows', {method: 'POST'}).then((r) => r.json()).then(add).catch(() => 0)")
    ),
}
"""Lists that hold the order, all of which can be read: the page's number -> HTML."""

DOUBTED = {
    "1 of 3 by a button": (table(LEDGER[:20], "<button>Next</button>"), "isn't a link that could be opened"),
    "1 to 20 of 60": (table(LEDGER[:20], "<p>1 to 20 of 60</p>"), "says that it has 60 rows"),
    "page 1 of 3": (table(LEDGER[:20], "<p>page 1 of 3</p>"), "the list ends with 'page 1 of 3'"),
    "a failed fetch": (table(LEDGER[:20], script("fetch('/broken')")), "status 500"),
    "a refused post": (table(LEDGER[:20], script("fetch('/other', {method: 'POST'})")), "declare it as reads"),
    "a spinner": (table(LEDGER[:20], '<div class="spinner" style="width: 9px; height: 9px">x</div>'), "still loading"),
    "rows that never rest": (table(LEDGER[:20], script("setInterval(() => add(all.slice(0, 1)), 100)")), "loading"),
    "empty without a word": (table([]), "nothing shows that the list is empty"),
    "a number of something else": (table([], "<p>0 notifications</p>"), "nothing shows that the list is empty"),
    "rows by a socket": (
        table([], "<p>No records found</p>" + script("new WebSocket(`ws://${location.host}/rows?token=s3cret`)")),
        "through a WebSocket, which a look forbids (ws://127.0.0.1",
    ),
    "a shortened key": (table([("N-60", "R-6...")]), "can't be compared"),
    "more rows than are drawn": (
        table(LEDGER[:20]).replace("<table>", '<table aria-rowcount="60">'),
        "holds more rows than it shows",
    ),
    "another account": (table(LEDGER[:20]).replace("acme", "other"), "isn't on the page"),
    "rows that go when it is scrolled": (
        '<div style="height: 200px; overflow: auto" onscroll="window_()">'
        '<div style="height: 3000px">' + table(LEDGER[:5]).replace(SIGN, "") + "</div></div>" + SIGN
        + script("const window_ = () => { const b = document.querySelector('tbody'); b.replaceChildren();"
                 "add(all.slice(40, 45)) };"),
        "only a part of the list at once",
    ),
}  # fmt: skip
"""Pages that don't show the order, and why none of them proves that it isn't there."""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        address = urlsplit(self.path)
        name = parse_qs(address.query).get("list", [""])[0] or address.path.strip("/").replace("-", " ")
        page = int(parse_qs(address.query).get("page", ["1"])[0])
        if name in PAGES:
            self.answer(PAGES[name](page))
        elif name in DOUBTED:
            self.answer(DOUBTED[name][0])
        elif name == "live":
            self.answer(table(LEDGER[:20], script("new WebSocket(`ws://${location.host}/live`)")))
        elif name == "none":
            self.answer(table([], "<p>No records found</p>"))
        else:
            self.answer("", 500)

    def do_POST(self) -> None:
        self.answer(json.dumps(LEDGER), kind="application/json")

    def answer(self, body: str, status: int = 200, kind: str = "text/html") -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def read(browser: Browser, address: str, name: str, **site: Any) -> Observation:
    shop = Site("shop", url=address, account="acme", signed_in='[data-account="acme"]', **site)
    record = Record(shop, name.replace(" ", "-"), key={"Reference": KEY}, reads={"number": "Number"}, complete=True)
    with open_view(browser, deadline=4, sites=[shop]) as view:
        return record.look(view)


@pytest.mark.parametrize("name", [name for name in PAGES if name != "read by post"])
def test_a_list_is_read_to_its_end_whatever_leads_there(attached: Browser, address: str, name: str) -> None:
    said = read(attached, address, name)
    assert said.sight is Sight.seen, said.reasons
    assert said.matches[0].values == {"number": "N-60"}


def test_rows_that_are_read_by_post_are_missed_until_that_is_declared_to_read(attached: Browser, address: str) -> None:
    said = read(attached, address, "read by post")
    assert said.sight is not Sight.seen and not said.complete
    assert any("POST" in reason and "declare it as reads" in reason for reason in said.reasons)
    assert read(attached, address, "read by post", reads=["POST /rows"]).sight is Sight.seen


@pytest.mark.parametrize("name", DOUBTED)
def test_a_list_that_does_not_show_all_it_has_is_not_vouched_for(attached: Browser, address: str, name: str) -> None:
    said = read(attached, address, name)
    assert said.sight is not Sight.seen and not said.complete
    assert any(DOUBTED[name][1] in reason for reason in said.reasons), said.reasons


def test_a_socket_beside_rows_is_no_reason_to_doubt_them(attached: Browser, address: str) -> None:
    said = read(attached, address, "live")
    assert (said.sight, said.complete, said.reasons) == (Sight.not_seen, True, ())


def test_a_list_that_says_that_it_is_empty_is_vouched_for(attached: Browser, address: str) -> None:
    said = read(attached, address, "none")
    assert (said.sight, said.complete, said.reasons) == (Sight.not_seen, True, ())
