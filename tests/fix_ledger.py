"""A site whose pages write whatever a page can write, and its ledger of what arrived."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest

# What a page does: `to` is the address of a write, `socket` that of a web socket.
AT_ONCE = {
    "beacon": "navigator.sendBeacon(to)",
    "fetch": "fetch(to, {method: 'POST'})",
    "keepalive": "fetch(to, {method: 'POST', keepalive: true})",
    "request": "const x = new XMLHttpRequest(); x.open('PUT', to); x.send()",
    "form in a frame": "document.body.append(frame('')); post('named')",
    "form in a window": "post('_blank')",
    "window": "window.open('/sends?to=' + encodeURIComponent(to))",
    "socket in a window": "window.open('/sends?socket=' + encodeURIComponent(socket))",
    "ping": "const a = document.createElement('a'); a.href = '#'; a.ping = to; document.body.append(a); a.click()",
    "frame": "document.body.append(frame(`<script>navigator.sendBeacon('${to}')</` + 'script>'))",
    "foreign frame": "const f = frame(); f.src = elsewhere('/sends?to=' + encodeURIComponent(to));"
    "document.body.append(f)",
    "fetch later": "fetchLater(to, {method: 'POST', activateAfter: 0})",
    "worker": "new Worker('/worker.js?to=' + encodeURIComponent(to))",
    "blob worker": "new Worker(script(`fetch('${to}', {method: 'POST'})`))",
    "shared worker": "new SharedWorker('/worker.js?to=' + encodeURIComponent(to))",
    "shared blob worker": "new SharedWorker(script(`fetch('${to}', {method: 'POST'})`))",
    "service worker": "navigator.serviceWorker.register('/worker.js?to=' + encodeURIComponent(to))",
    "socket": "new WebSocket(socket)",
    "socket stream": "new WebSocketStream(socket)",
    "socket in a frame": "const f = frame(''); document.body.append(f); new f.contentWindow.WebSocket(socket)",
    "socket of a frame": "document.body.append(frame(`<script>new WebSocket('${socket}')</` + 'script>'))",
    "socket in a worker": "new Worker('/worker.js?socket=' + encodeURIComponent(socket))",
    "socket in a blob worker": "new Worker(script(`new WebSocket('${socket}')`))",
    "socket in a shared worker": "new SharedWorker('/worker.js?socket=' + encodeURIComponent(socket))",
    "socket in a worker of a frame": "document.body.append(frame(`<script>new Worker('/worker.js?socket="
    "${encodeURIComponent(socket)}')</` + 'script>'))",
    "policy report": "const f = frame(); f.src = '/reports?to=' + encodeURIComponent(to); document.body.append(f)",
}
AT_ITS_END = {
    "beacon": "navigator.sendBeacon(to)",
    "beacon of a frame": "document.getElementById('blank').contentWindow.navigator.sendBeacon(to)",
    "fetch": "fetch(to, {method: 'POST'})",
    "keepalive": "fetch(to, {method: 'POST', keepalive: true})",
    "fetch later": "fetchLater(to, {method: 'POST'})",
    "form": "post('_self')",
    "form in a window": "post('_blank')",
    "socket": "new WebSocket(socket)",
    "worker": "early.postMessage(to)",
    "shared worker": "shared.port.postMessage(to)",
}
HEAD = """<!doctype html><body><p>seen</p><iframe id=blank></iframe><script>
const elsewhere = (path) => location.origin.replace('127.0.0.1', 'localhost') + path;
const address = (kind, name) => `${location.origin}/${kind}/${encodeURIComponent(name)}`;
const ws = (url) => url.replace('http', 'ws');
const script = (text) => URL.createObjectURL(new Blob([text], {type: 'text/javascript'}));
const frame = (html) => { const f = document.createElement('iframe'); f.name = 'named';
  if (html) f.srcdoc = html; return f };
const poster = (to) => (target) => { const f = document.createElement('form');
  Object.assign(f, {method: 'post', action: to, target}); document.body.append(f); f.submit() };
const run = (name, act) => { const to = address('written', name), socket = ws(address('socket', name));
  try { Promise.resolve(act(to, socket, poster(to))).catch(() => 0) } catch {} };
"""
SENDS = """<script>const asked = new URLSearchParams(location.search);
if (asked.get('to')) navigator.sendBeacon(asked.get('to'));
if (asked.get('socket')) new WebSocket(asked.get('socket'));</script>"""
WORKER = """const asked = new URLSearchParams(location.search);
const write = (to) => fetch(to, {method: 'POST', keepalive: true}).catch(() => 0);
if (asked.get('to')) write(asked.get('to'));
if (asked.get('socket')) new WebSocket(asked.get('socket'));
self.onmessage = (told) => write(told.data);
self.onconnect = (told) => { told.ports[0].onmessage = (message) => write(message.data) };"""


def _acts(senders: Mapping[str, str]) -> str:
    return "\n".join(f"run({name!r}, (to, socket, post) => {{ {act} }});" for name, act in senders.items())


PAGES = {
    "/plain": "<p>plain</p>",
    "/acts": f"{HEAD}{_acts(AT_ONCE)}</script>",
    "/ends": f"""{HEAD}const early = new Worker('/worker.js'), shared = new SharedWorker('/worker.js?shared');
        shared.port.start(); const over = new Set(); const end = (event) => {{
        if (over.has(event.type)) return; over.add(event.type); {_acts(AT_ITS_END)} }};
        for (const type of ['pagehide', 'unload']) addEventListener(type, end);
        document.addEventListener('visibilitychange', end)</script><a rel=next href=/plain>Next</a>""",
    "/around": "<p>around</p><iframe src='/ends'></iframe><a rel=next href=/plain>Next</a>",
    "/sends": SENDS,
    "/reports": "<p style='color: red'>not as it wants to look</p>",
}


class Ledger(ThreadingHTTPServer):
    """A site that counts what is written to it, and every web socket that is opened."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.asked: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.elsewhere = f"http://localhost:{self.server_port}"

    @property
    def written(self) -> set[str]:
        """The names of what arrived."""
        paths = [line.partition(" ")[2] for line in self.asked]
        return {path.split("/")[2].replace("%20", " ") for path in paths if path.startswith(("/written/", "/socket/"))}

    def handle_error(self, *_: object) -> None:
        """A page that has gone doesn't wait for its answer."""


class _Answers(BaseHTTPRequestHandler):
    server: Ledger

    def _answer(self) -> None:
        """The address counts as it was asked, without its query."""
        path, _, query = self.path.partition("?")
        self.server.asked.append(f"{self.command} {path}")
        self.rfile.read(int(self.headers.get("content-length", 0)))
        body = WORKER if path == "/worker.js" else PAGES.get(path, "<p>done</p>")
        self.send_response(404 if path.startswith("/socket/") else 200)
        self.send_header("content-type", "text/javascript" if path == "/worker.js" else "text/html; charset=utf-8")
        self.send_header("content-length", str(len(body.encode())))
        if path == "/reports":
            self.send_header("content-security-policy", f"default-src 'none'; report-uri {parse_qs(query)['to'][0]}")
        self.end_headers()
        self.wfile.write(body.encode())

    do_GET = do_POST = do_PUT = _answer

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger() as ledger:
        thread = threading.Thread(target=ledger.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield ledger
        ledger.shutdown()
        thread.join()
