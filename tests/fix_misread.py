"""A shop whose pages and answers say something else than what it did, and its ledger."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

FORM = """<h1>Order</h1><form method=post action="/orders">
<input type=hidden name=key value="{key}"><button>Order</button></form>
<a href="/link/{key}">Order by link</a>"""
OPTIMISTIC = """<h1>Order</h1><button onclick="go()">Order</button><p id=said></p><script>
function go() { fetch('/count', {method: 'POST'}); said.textContent = 'Order N-9 placed for KEY';
  setTimeout(async () => { const r = await fetch('/orders', {method: 'POST', body: 'key=KEY'});
    if (!r.ok) said.textContent = 'That did not work.' }, 300) }</script>"""


class MisreadShop:
    """The shop.

    Attributes:
        ledger: the keys of its orders, in order.
        commits: whether it carries an order out.
        status: how it answers an order.
        list_status: how it answers for its list, until `list_recovers` answers were given.
        says: what its list says besides.
        hides: its list shows another order, and never ours.
        optimistic: its page says that an order was placed before it has asked.
    """

    def __init__(self) -> None:
        self.ledger: list[str] = []
        self.commits, self.status = True, 303
        self.list_status, self.list_recovers = 200, 1_000
        self.hides = self.optimistic = False
        self.says = ""
        shop = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name, _, key = self.path.strip("/").partition("/")
                if name == "new":
                    page = OPTIMISTIC.replace("KEY", key) if shop.optimistic else FORM.format(key=key)
                    self.answer(page)
                elif name == "orders":
                    shop.list_recovers -= 1
                    self.answer(shop.list(), shop.list_status if shop.list_recovers >= 0 else 200)
                elif name == "link":
                    shop.ledger.append(key)
                    self.answer("<p>Thank you.</p>")
                else:
                    self.answer(f"<p>Order N-{len(shop.ledger)} placed for {key}</p>")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                key = body.partition("=")[2]
                if self.path == "/count":
                    self.answer("", 204)
                    return
                if shop.commits:
                    shop.ledger.append(key)
                time.sleep(0.2)
                self.answer("<p>No.</p>", shop.status, f"/done/{key}" if shop.status == 303 else "")

            def answer(self, body: str, status: int = 200, location: str = "") -> None:
                page = f"<!doctype html><body><header data-account=acme>acme</header>{body}"
                self.send_response(status)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(page) if status != 204 else 0))
                if location:
                    self.send_header("Location", location)
                self.end_headers()
                if status != 204:
                    self.wfile.write(page.encode())

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def list(self) -> str:
        listed = ["R-0"] if self.hides else self.ledger
        rows = "".join(f"<tr><td>N-{number}</td><td>{key}</td></tr>" for number, key in enumerate(listed, 1))
        head = "<thead><tr><th>Number</th><th>Reference</th></tr></thead>"
        return f"<table>{head}<tbody>{rows}</tbody></table><p>{len(listed)} orders</p><p>{self.says}</p>"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def misread() -> Iterator[MisreadShop]:
    shop = MisreadShop()
    yield shop
    shop.close()
