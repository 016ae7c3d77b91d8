"""The fault proxy: for every fault, what the client sees and what the site's ledger holds."""

import asyncio
import re
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from browser_agent.testing import Books, FaultProxy, serve
from browser_agent.testing.proxy import fault_kinds
from browser_agent.testing.proxy.fault_kinds import NAMES

INVOICE = {"customer": "Northwind Traders", "amount": "10", "reference": "S-101"}
SHORT_SECONDS = 0.3


def plain_client(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, verify=False)  # loading certificates takes longer than a test


@pytest.fixture
def books() -> Iterator[Books]:
    with Books() as site:
        yield site


@pytest.fixture
def proxy(books: Books) -> Iterator[FaultProxy]:
    with FaultProxy(books.url) as road:
        yield road


@pytest.fixture
def client(proxy: FaultProxy) -> Iterator[httpx.Client]:
    with plain_client(proxy.url) as browser:
        yield browser


@pytest.fixture
def background() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as threads:
        yield threads


@pytest.fixture
def post(client: httpx.Client) -> Callable[..., httpx.Response]:
    """Post one invoice through the proxy; the form was opened before."""
    token = re.search(r'name="token" value="([^"]+)"', client.get("/invoices/new").text)
    assert token

    def posted(seconds: float = 10) -> httpx.Response:
        return client.post("/invoices", data={"token": token[1], **INVOICE}, timeout=seconds)

    return posted


Post = Callable[..., httpx.Response]


def events(proxy: FaultProxy, last: str) -> list[str]:
    """What happened to the POSTs up to the last thing, which the log may learn after the client."""
    proxy.wait_for(last)
    return [entry.event.value for entry in proxy.log if entry.method == "POST"]


# The road without a fault


def test_a_whole_road_changes_nothing(books: Books, proxy: FaultProxy, client: httpx.Client, post: Post) -> None:
    answer = post()
    assert (answer.status_code, answer.headers["location"]) == (303, "/invoices/INV-1")
    assert "Invoice INV-1 posted for S-101" in client.get("/invoices/INV-1").text
    assert "books_session" in client.cookies
    assert len(books.ledger.effects) == 1
    assert events(proxy, "answered") == ["came", "forwarded", "committed", "answered"]


def test_one_connection_carries_many_requests(proxy: FaultProxy) -> None:
    ask = b"GET /invoices HTTP/1.1\r\nHost: here\r\n\r\n"
    with socket.create_connection(("127.0.0.1", urlsplit(proxy.url).port or 0), timeout=5) as line:
        for _ in range(2):
            line.sendall(ask)
            page = b""
            while b"</html>" not in page:
                page += line.recv(65536)
            assert page.startswith(b"HTTP/1.1 200")


async def _echo(request: Request) -> Response:
    body = await request.body()
    return JSONResponse({"length": len(body), "sum": sum(body), "header": request.headers["x-odd"]})


async def _away(request: Request) -> Response:
    return RedirectResponse(str(request.base_url.replace(port=request.path_params["port"])) + "echo")


async def _drip(request: Request) -> Response:
    async def pieces() -> AsyncIterator[bytes]:
        for number in range(50):
            yield b"x" * number

    return StreamingResponse(pieces())


def test_bodies_headers_and_streams_pass_unchanged() -> None:
    app = Starlette(routes=[Route("/echo", _echo, methods=["POST"]), Route("/drip", _drip)])
    body = bytes(range(256)) * 20_000
    with serve(app) as site, FaultProxy(site.url) as proxy, plain_client(proxy.url) as client:
        for content in (body, iter([body])):  # with a length, and chunked
            answer = client.post("/echo", content=content, headers={"x-odd": "a, b"})
            assert answer.json() == {"length": len(body), "sum": sum(body), "header": "a, b"}
        assert len(client.get("/drip").content) == sum(range(50))
        assert client.head("/drip").content == b""


def test_a_redirect_to_the_sites_own_address_stays_on_the_road() -> None:
    app = Starlette(routes=[Route("/away/{port:int}", _away)])
    with serve(app) as site, FaultProxy(site.url) as proxy:
        answer = httpx.get(f"{proxy.url}/away/{urlsplit(site.url).port}")
        assert answer.headers["location"] == f"{proxy.url}/echo"
        answer = httpx.get(f"{proxy.url}/away/9")
        assert answer.headers["location"] == "http://127.0.0.1:9/echo"


def test_a_site_that_is_down_is_answered_with_502(books: Books, proxy: FaultProxy, post: Post) -> None:
    books.close()
    assert post().status_code == 502
    assert events(proxy, "answered") == ["came", "forwarded", "unreachable", "answered"]


def test_a_client_that_talks_nonsense_is_cut_off(proxy: FaultProxy) -> None:
    with socket.create_connection(("127.0.0.1", urlsplit(proxy.url).port or 0), timeout=5) as line:
        line.sendall(b"what?\r\n\r\n")
        with pytest.raises(ConnectionResetError):
            assert line.recv(100)
    assert proxy.log == []


# Faults


def test_refuse_shuts_the_door_until_it_is_opened(books: Books, proxy: FaultProxy, post: Post) -> None:
    proxy.fault("refuse")
    with pytest.raises(httpx.ConnectError):
        post()
    assert books.ledger.writes == []
    proxy.open()
    assert post().status_code == 303
    assert len(books.invoices) == 1


def test_refuse_can_wait_for_a_request_and_lets_that_one_be_answered(
    books: Books, proxy: FaultProxy, client: httpx.Client, post: Post
) -> None:
    proxy.fault("refuse", skip=1)
    assert client.get("/invoices").status_code == 200
    answer = post()
    assert (answer.status_code, answer.headers["connection"]) == (303, "close")
    with pytest.raises(httpx.ConnectError):
        client.get(answer.headers["location"])
    assert len(books.invoices) == 1


def test_a_site_can_commit_reset_and_go_away(books: Books, proxy: FaultProxy, client: httpx.Client, post: Post) -> None:
    proxy.fault("refuse", skip=1)
    proxy.fault("drop_after_commit")
    with pytest.raises(httpx.ReadError):
        post()
    with pytest.raises(httpx.ConnectError):
        post()
    assert len(books.invoices) == 1


def test_hang_commits_and_never_answers(books: Books, proxy: FaultProxy, post: Post) -> None:
    proxy.fault("hang")
    with pytest.raises(httpx.ReadTimeout):
        post(SHORT_SECONDS)
    assert events(proxy, "left") == ["came", "forwarded", "committed", "hanging", "left"]
    assert len(books.invoices) == 1


def test_hang_before_never_reaches_the_site(books: Books, proxy: FaultProxy, post: Post) -> None:
    proxy.fault("hang_before")
    with pytest.raises(httpx.ReadTimeout):
        post(SHORT_SECONDS)
    proxy.wait_for("left")
    assert books.ledger.writes == []


def test_answer_late_commits_first_and_answers_afterwards(
    books: Books, proxy: FaultProxy, post: Post, background: ThreadPoolExecutor
) -> None:
    proxy.fault("answer_late", seconds=SHORT_SECONDS)
    answer: Future[httpx.Response] = background.submit(post)
    proxy.wait_for("committed")
    assert (len(books.invoices), answer.done()) == (1, False)
    assert answer.result().status_code == 303


def test_cut_after_head_lets_the_head_out_and_no_body(books: Books, proxy: FaultProxy, client: httpx.Client) -> None:
    proxy.fault("cut_after_head", pattern="GET /invoices")
    with client.stream("GET", "/invoices") as answer:
        assert answer.status_code == 200
        assert int(answer.headers["content-length"]) > 0
        with pytest.raises(httpx.RemoteProtocolError):
            answer.read()


def test_cut_after_head_keeps_the_target_of_a_redirect(
    books: Books, proxy: FaultProxy, client: httpx.Client, post: Post
) -> None:
    proxy.fault("cut_after_head")
    with pytest.raises(httpx.RemoteProtocolError, match="peer closed connection without sending complete message"):
        post()
    assert len(books.invoices) == 1
    assert events(proxy, "cut") == ["came", "forwarded", "committed", "cut"]


def test_cut_after_head_of_a_redirect_is_a_head_without_location(proxy: FaultProxy, client: httpx.Client) -> None:
    proxy.fault("cut_after_head", pattern="GET /")
    with client.stream("GET", "/") as answer:
        assert answer.status_code == 200
        assert "location" not in answer.headers


@pytest.mark.parametrize(("name", "invoices"), [("gateway_502_after_commit", 1), ("gateway_502_before_commit", 0)])
def test_a_502_looks_the_same_before_and_after_the_commit(
    books: Books, proxy: FaultProxy, post: Post, name: str, invoices: int
) -> None:
    proxy.fault(name)
    answer = post()
    assert (answer.status_code, "Bad Gateway" in answer.text) == (502, True)
    assert len(books.ledger.effects) == invoices
    assert len(books.ledger.writes) == invoices


@pytest.mark.parametrize(("name", "invoices"), [("drop_after_commit", 1), ("drop_before_commit", 0)])
def test_a_reset_looks_the_same_before_and_after_the_commit(
    books: Books, proxy: FaultProxy, post: Post, name: str, invoices: int
) -> None:
    proxy.fault(name)
    with pytest.raises(httpx.ReadError, match="reset"):
        post()
    assert len(books.ledger.effects) == invoices
    assert len(books.ledger.writes) == invoices


def test_commit_late_answers_504_and_commits_when_it_is_let_go(books: Books, proxy: FaultProxy, post: Post) -> None:
    proxy.fault("commit_late", seconds=3600)
    assert post().status_code == 504
    assert books.ledger.writes == []
    proxy.let_go()
    proxy.wait_for("committed")
    assert len(books.invoices) == 1


def test_commit_late_commits_by_itself_when_its_time_has_come(books: Books, proxy: FaultProxy, post: Post) -> None:
    proxy.fault("commit_late", seconds=0.05)
    assert post().status_code == 504
    proxy.wait_for("committed")
    assert len(books.invoices) == 1


def test_status_is_answered_by_the_proxy_and_never_forwarded(books: Books, proxy: FaultProxy, post: Post) -> None:
    proxy.fault("status", code=429)
    assert post().status_code == 429
    proxy.fault("status", code=299, text="odd")
    assert "odd" in post().text
    assert books.ledger.writes == []


# Which requests are bitten


def test_a_fault_skips_and_counts(books: Books, proxy: FaultProxy, post: Post) -> None:
    fault = proxy.fault("gateway_502_before_commit", count=2, skip=1)
    assert [post().status_code for _ in range(4)] == [303, 502, 502, 303]
    assert (fault.matched, fault.triggered) == (4, 2)
    assert len(books.invoices) == 2


def test_a_fault_without_a_count_bites_always_until_it_is_cleared(proxy: FaultProxy, post: Post) -> None:
    proxy.fault("status", code=503, count=None)
    assert [post().status_code for _ in range(3)] == [503, 503, 503]
    proxy.clear()
    assert post().status_code == 303


def test_faults_queue_up(proxy: FaultProxy, post: Post) -> None:
    proxy.fault("status", code=500)
    proxy.fault("status", code=503)
    assert [post().status_code for _ in range(3)] == [500, 503, 303]


def test_a_pattern_matches_method_and_path_and_not_the_query(proxy: FaultProxy, client: httpx.Client) -> None:
    proxy.fault("status", pattern="* /invoices/*", code=500, count=None)
    asked = ["/invoices/new?by=fetch", "/invoices?page=1", "/shipments"]
    assert [client.get(path).status_code for path in asked] == [500, 200, 200]
    assert client.post("/invoices/x").status_code == 500


def test_an_unknown_fault_is_refused_with_the_names_that_there_are(proxy: FaultProxy) -> None:
    with pytest.raises(ValueError, match="no such fault: explode; there are refuse, hang"):
        proxy.fault("explode")
    with pytest.raises(TypeError, match="seconds"):
        proxy.fault("answer_late")


def test_every_fault_is_in_the_docstrings_table() -> None:
    assert re.findall(r"^\| `(\w+)", fault_kinds.__doc__ or "", re.MULTILINE) == list(NAMES)


# Hooks and holds


def test_a_committed_hook_runs_before_the_browser_knows(books: Books, proxy: FaultProxy, post: Post) -> None:
    seen: list[tuple[int, str]] = []
    proxy.when("committed", lambda: seen.append((len(books.invoices), proxy.log[-1].event.value)))
    post()
    assert seen == [(1, "committed")]


def test_a_came_hook_runs_before_the_site_knows(books: Books, proxy: FaultProxy, post: Post) -> None:
    seen: list[int] = []
    proxy.when("came", lambda: seen.append(len(books.ledger.writes)))
    post()
    assert seen == [0]


def test_a_hook_that_breaks_is_heard_when_the_proxy_is_closed(books: Books) -> None:
    proxy = FaultProxy(books.url)
    proxy.when("came", lambda: int("x"), pattern="GET /shipments")
    assert httpx.get(f"{proxy.url}/shipments").status_code == 200
    with pytest.raises(ValueError, match="invalid literal"):
        proxy.close()


def test_a_held_answer_waits_for_its_release(
    books: Books, proxy: FaultProxy, post: Post, background: ThreadPoolExecutor
) -> None:
    proxy.hold()
    answer = background.submit(post)
    assert proxy.wait_for("held").fault is None
    assert (len(books.invoices), answer.done()) == (1, False)
    proxy.release()
    assert answer.result().status_code == 303
    assert post().status_code == 303


def test_a_hold_works_under_a_fault_too(
    books: Books, proxy: FaultProxy, post: Post, background: ThreadPoolExecutor
) -> None:
    proxy.hold()
    proxy.fault("gateway_502_after_commit")
    answer = background.submit(post)
    assert proxy.wait_for("held").fault == "gateway_502_after_commit"
    proxy.release()
    assert answer.result().status_code == 502


def test_waiting_for_what_does_not_come_says_what_came_instead(proxy: FaultProxy, post: Post) -> None:
    post()
    with pytest.raises(TimeoutError, match=r"no 2\. committed of 'POST /invoices' in 0\.01 s"):
        proxy.wait_for("committed", 0.01, count=2)


@pytest.mark.parametrize("name", ["hang", "hang_before"])
def test_closing_does_not_wait_for_what_hangs(books: Books, background: ThreadPoolExecutor, name: str) -> None:
    proxy = FaultProxy(books.url)
    proxy.fault(name, pattern="GET /invoices")
    proxy.hold("GET /shipments")
    left = [background.submit(httpx.get, f"{proxy.url}{path}", timeout=60) for path in ("/invoices", "/shipments")]
    proxy.wait_for("hanging", pattern="GET /invoices")
    proxy.wait_for("held", pattern="GET /shipments")
    proxy.close()
    proxy.close()
    for answer in left:
        assert isinstance(answer.exception(10), httpx.ReadError)


def test_a_site_closes_with_a_request_still_in_its_hands() -> None:
    arrived, never = threading.Event(), threading.Event()

    async def stuck(request: Request) -> Response:
        arrived.set()
        while not never.is_set():
            await asyncio.sleep(0)
        return Response()

    with ThreadPoolExecutor() as threads:
        with serve(Starlette(routes=[Route("/", stuck)])) as site:
            answer = threads.submit(httpx.get, site.url, timeout=60)
            assert arrived.wait(10)
        assert isinstance(answer.exception(10), httpx.HTTPError)


def test_the_command_line_runs_a_proxy_with_a_fault(books: Books) -> None:
    command = [
        sys.executable,
        "-m",
        "browser_agent.testing",
        "proxy",
        "--to",
        books.url,
        "--fault",
        "status",
        "--code",
        "418",
    ]
    with subprocess.Popen([*command, "--match", "GET /invoices"], stdout=subprocess.PIPE, text=True) as proxy:
        assert proxy.stdout
        address = proxy.stdout.readline().removeprefix("proxy: ").strip()
        statuses = [httpx.get(f"{address}/invoices").status_code for _ in range(2)]
        proxy.terminate()
        assert proxy.wait(10) == 0
    assert statuses == [418, 200]
