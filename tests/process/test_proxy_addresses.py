"""What the fault proxy says differently on its two sides, and what of a page it can't bring home."""

import gzip
import socket
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from browser_agent.testing import FaultProxy, serve
from browser_agent.testing.proxy.address import SiteAddress
from browser_agent.testing.proxy.address_rewrite import AddressRewrite, proxied_cookie
from browser_agent.testing.proxy.http1 import Head
from browser_agent.testing.proxy.outside_links import bypassing_tags

SITE = SiteAddress.read("https://staging.example/app")
OWN, SISTER = "http://127.0.0.1:7001", "http://login.localhost:7002"


@pytest.fixture
def rewrite() -> AddressRewrite:
    rewrite = AddressRewrite()
    rewrite.add(SITE.origin, OWN)
    rewrite.add("https://login.example:8443", SISTER)
    return rewrite


def brought(rewrite: AddressRewrite, name: str, value: str) -> str:
    head = Head(200, b"OK", [(name.encode(), value.encode())])
    return rewrite.for_browser(head, SITE).headers[0][1].decode()


# Addresses


@pytest.mark.parametrize(
    ("said", "home"),
    [
        ("https://staging.example/app/x?a=https://staging.example/", f"{OWN}/app/x?a=https://staging.example/"),
        ("https://STAGING.example:443/app", f"{OWN}/app"),
        ("https://staging.example", OWN),
        ("//staging.example/app", f"{OWN}/app"),
        ("http://staging.example/app", f"{OWN}/app"),
        ("https://login.example:8443/in", f"{SISTER}/in"),
        ("/app/x", "/app/x"),
        ("x", "x"),
        ("", ""),
        ("https://staging.example.evil/", "https://staging.example.evil/"),
        ("https://staging.example:444/", "https://staging.example:444/"),
        ("https://staging.example:port/", "https://staging.example:port/"),
        ("https://login.example/in", "https://login.example/in"),
    ],
)
def test_a_redirect_to_a_site_with_a_proxy_stays_on_the_road(rewrite: AddressRewrite, said: str, home: str) -> None:
    assert brought(rewrite, "Location", said) == home


@pytest.mark.parametrize(
    ("name", "said", "home"),
    [
        ("Refresh", "0; url=https://staging.example/app", f"0; url={OWN}/app"),
        ("Refresh", "5", "5"),
        ("Access-Control-Allow-Origin", "https://staging.example", OWN),
        ("Access-Control-Allow-Origin", "*", "*"),
        (
            "Content-Security-Policy",
            "form-action https://staging.example; connect-src wss://staging.example wss://pay.example data:",
            f"form-action {OWN}; connect-src {OWN.replace('http', 'ws')} wss://pay.example data:",
        ),
        ("Link", "<https://staging.example/app.css>", "<https://staging.example/app.css>"),
    ],
)
def test_what_a_browser_takes_from_a_header_is_brought_home(
    rewrite: AddressRewrite, name: str, said: str, home: str
) -> None:
    assert brought(rewrite, name, said) == home


def test_what_holds_for_one_connection_is_not_said_of_another(rewrite: AddressRewrite) -> None:
    headers = [(b"Connection", b"close"), (b"Keep-Alive", b"timeout=5"), (b"ETag", b"x"), (b"etag", b"y")]
    assert rewrite.for_browser(Head(200, b"OK", headers), SITE).headers == [(b"ETag", b"x"), (b"etag", b"y")]
    assert rewrite.for_browser(Head(101, b"", headers[:1]), SITE).headers == headers[:1]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("a=1; Domain=staging.example; Path=/app; HttpOnly", "a=1; Path=/app; HttpOnly"),
        ("a=1;domain=.EXAMPLE;Secure", "a=1"),
        ("a=1; Domain=other.example", "a=1; Domain=other.example"),
        ("a=1; Secure; SameSite=Lax", "a=1; SameSite=Lax"),
        ("a=1; Secure; SameSite=None", "a=1; Secure; SameSite=None"),
        ("a=1; Secure; Partitioned", "a=1; Secure; Partitioned"),
        ("__Host-a=1; Secure; Path=/", "__Host-a=1; Secure; Path=/"),
        ("__Secure-a=1; Secure; Domain=example", "__Secure-a=1; Secure"),
        ("a=secure, domain=staging.example", "a=secure, domain=staging.example"),
        ("a=1", "a=1"),
    ],
)
def test_a_cookie_is_the_proxys_own(rewrite: AddressRewrite, said: str, kept: str) -> None:
    assert proxied_cookie(said.encode(), "staging.example").decode() == kept
    assert brought(rewrite, "set-cookie", said) == kept


@pytest.mark.parametrize(
    "url", ["staging.example", "ftp://staging.example", "https://", "https://a:b@x.example", "https://x/?y"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="the site's address must be"):
        FaultProxy(url)


def test_a_proxy_is_called_by_a_name_of_this_machine() -> None:
    with pytest.raises(ValueError, match=r"127\.0\.0\.1 or a name that ends in \.localhost, not 'staging.example'"):
        FaultProxy("http://127.0.0.1:1", host="staging.example")


def test_a_file_without_certificates_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("no certificate", encoding="utf-8")
    with pytest.raises(ValueError, match="ca.pem holds no certificates"):
        FaultProxy("https://staging.example", ca_file=tmp_path / "ca.pem")


# Pages that lead past the proxy

PAGE = """<base href="https://staging.example/app/"><A HREF='https://staging.example/x?a=1&amp;b=2'>x</a>
<a href="/y">y</a><a href="https://other.example/">z</a><a>w</a><button formaction="//staging.example/p">P</button>
<link rel="canonical" href="https://staging.example/app/"><a href='https://staging.example/x?a=1&amp;b=2'>x</a>"""
PAST = [
    '<base href="https://staging.example/app/">',
    '<a href="https://staging.example/x?a=1&b=2">',
    '<button formaction="//staging.example/p">',
]


@pytest.mark.parametrize(
    ("body", "encoding", "found"),
    [
        (PAGE.encode(), "", PAST),
        (gzip.compress(PAGE.encode()), "gzip", PAST),
        (zlib.compress(PAGE.encode()), "deflate", PAST),
        (PAGE.encode(), "gzip", []),
        (PAGE.encode(), "br", []),
        (b"\xff<![x<!", "", []),
        (b"staging.example <![x[ <!DOCTYPE [<!", "", []),
    ],
)
def test_the_tags_that_lead_past_the_proxy_are_found(
    rewrite: AddressRewrite, body: bytes, encoding: str, found: list[str]
) -> None:
    assert bypassing_tags(body, encoding, rewrite.hosts, lambda address: rewrite.bypasses(address, SITE)) == found


async def _to_tls(request: Request) -> Response:
    return RedirectResponse("https://127.0.0.1/login")


async def _heard(request: Request) -> Response:
    return JSONResponse(dict(request.headers))


def test_a_site_that_moves_to_https_is_told_once() -> None:
    told: list[str] = []
    with serve(Starlette(routes=[Route("/", _to_tls)])) as site, FaultProxy(site.url, warn=told.append) as proxy:
        answers = [httpx.get(proxy.url) for _ in range(2)]
        assert proxy.bypasses == ["GET / redirects to https://127.0.0.1/login"]
    assert [answer.headers["location"] for answer in answers] == ["https://127.0.0.1/login"] * 2
    assert told == [f"{proxy.bypasses[0]}, which leads past the proxy: no fault applies there."]


def test_a_document_is_asked_for_in_an_encoding_that_can_be_read() -> None:
    with serve(Starlette(routes=[Route("/", _heard)])) as site, FaultProxy(site.url) as proxy:
        encodings = [
            httpx.get(proxy.url, headers={"accept": accept, "accept-encoding": "gzip, br"}).json()["accept-encoding"]
            for accept in ("text/html,*/*", "*/*")
        ]
    assert encodings == ["gzip, deflate", "gzip, br"]


# Other protocols


class Echo:
    """A server that agrees to speak another protocol, and says again what it hears; it greets with its answer."""

    def __init__(self) -> None:
        self.heads: list[bytes] = []
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        line, _ = self._door.accept()
        with line:
            self.heads.append(line.recv(65536))
            line.sendall(b"HTTP/1.1 101 Switching\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nhello ")
            while piece := line.recv(65536):
                line.sendall(piece)

    def close(self) -> None:
        self._thread.join(10)
        self._door.close()


@pytest.fixture
def echo() -> Iterator[Echo]:
    echo = Echo()
    yield echo
    echo.close()


def switched(proxy: FaultProxy) -> socket.socket:
    line = socket.create_connection(("127.0.0.1", urlsplit(proxy.url).port or 0), timeout=10)
    origin = f"Origin: {proxy.origin}\r\nHost: {urlsplit(proxy.origin).netloc}\r\n"
    line.sendall(f"GET /live HTTP/1.1\r\n{origin}Upgrade: echo\r\nConnection: Upgrade\r\n\r\n".encode())
    heard = b""
    while b"hello " not in heard:
        heard += line.recv(65536)
    assert heard.startswith(b"HTTP/1.1 101 ") and b"Connection: Upgrade" in heard
    return line


def test_another_protocol_passes_both_ways_until_the_browser_leaves(echo: Echo) -> None:
    with FaultProxy(echo.url) as proxy, switched(proxy) as line:
        for said in (b"one", b"two"):
            line.sendall(said)
            assert line.recv(65536) == said
        assert f"Origin: {echo.url}".encode() in echo.heads[0]
        assert [entry.status for entry in proxy.log if entry.event.value == "answered"] == [101]


def test_another_protocol_ends_when_the_site_goes_down(echo: Echo) -> None:
    with FaultProxy(echo.url) as proxy, switched(proxy) as line:
        proxy.fault("refuse")
        assert line.recv(65536) == b""


def test_a_fault_keeps_another_protocol_from_beginning(echo: Echo) -> None:
    with FaultProxy(echo.url) as proxy:
        proxy.fault("status", "GET /live", code=503)
        assert httpx.get(f"{proxy.url}/live", headers={"upgrade": "echo", "connection": "upgrade"}).status_code == 503
        switched(proxy).close()
