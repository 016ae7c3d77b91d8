"""A site of somebody's own behind the fault proxy: TLS, a path of its own, strict about where a form comes from.

A real Chromium signs in there, through the proxy, as it would without it.
"""

from __future__ import annotations

import gzip
import secrets
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from browser_agent.testing import FaultProxy, Faults, serve
from fixtures.till.certificate import Certificate
from observers.site import Site

PASSWORD = "open sesame"
FORM = """<!doctype html><title>{title}</title><form method="post" action="{action}">
<input type="hidden" name="token" value="{token}"><label>{label} <input name="value"></label>
<button>{button}</button></form>"""


class Staging:
    """Invoices at https://localhost:PORT/app, for who has signed in; what it refuses, it keeps."""

    def __init__(self) -> None:
        self.url = ""
        self.tokens: set[str] = set()
        self.sessions: set[str] = set()
        self.invoices: list[str] = []
        self.refused: list[str] = []
        self.heard: list[dict[str, str]] = []
        routes = [
            Route("/", self.home),
            Route("/login", self.login_page),
            Route("/login", self.log_in, methods=["POST"]),
            Route("/invoices/new", self.form),
            Route("/invoices", self.post, methods=["POST"]),
            Route("/invoices/{number:int}", self.invoice),
            Route("/past", self.past),
            Route("/heard", self.say_heard),
        ]
        self.app = Starlette(routes=[Mount("/app", routes=routes)])

    @property
    def origin(self) -> str:
        return self.url.removesuffix("/app")

    def refusal(self, request: Request, token: str) -> str:
        """Why a POST is refused; empty if it comes from a form of ours."""
        headers = request.headers
        if headers["host"] != urlsplit(self.url).netloc:
            return f"Host {headers['host']}"
        if headers["origin"] != self.origin or not headers["referer"].startswith(f"{self.url}/"):
            return f"Origin {headers['origin']}, Referer {headers['referer']}"
        if token not in self.tokens or request.cookies.get("__Host-token") != token:
            return "token"
        return ""

    def page(self, title: str, action: str, label: str, button: str) -> Response:
        token = secrets.token_urlsafe(8)
        self.tokens.add(token)
        page = HTMLResponse(FORM.format(title=title, action=action, label=label, button=button, token=token))
        page.set_cookie("__Host-token", token, secure=True, httponly=True, samesite="strict")
        return page

    async def home(self, request: Request) -> Response:
        if request.cookies.get("session") not in self.sessions:
            return RedirectResponse(f"{self.url}/login", 302)
        return HTMLResponse("<!doctype html><p>Signed in</p><a href='invoices/new'>New</a>")

    async def login_page(self, request: Request) -> Response:
        return self.page("Sign in", "/app/login", "Password", "Sign in")

    async def log_in(self, request: Request) -> Response:
        values = await request.form()
        if why := self.refusal(request, str(values["token"])):
            self.refused.append(why)
            return PlainTextResponse(why, 403)
        if values["value"] != PASSWORD:
            return PlainTextResponse("Wrong password", 403)
        session = secrets.token_urlsafe(8)
        self.sessions.add(session)
        answer = RedirectResponse(f"{self.url}/", 303)
        answer.set_cookie("session", session, domain="localhost", path="/app", secure=True, httponly=True)
        answer.set_cookie("seen", "1", domain="localhost", secure=True, samesite="none")
        return answer

    async def form(self, request: Request) -> Response:
        return self.page("New invoice", "/app/invoices", "Reference", "Post")

    async def post(self, request: Request) -> Response:
        values = await request.form()
        why = self.refusal(request, str(values["token"]))
        if why or request.cookies.get("session") not in self.sessions or request.cookies.get("seen") != "1":
            self.refused.append(why or f"cookies {sorted(request.cookies)}")
            return PlainTextResponse("Refused", 403)
        self.invoices.append(str(values["value"]))
        return RedirectResponse(f"{self.url}/invoices/{len(self.invoices)}", 303)

    async def invoice(self, request: Request) -> Response:
        number = request.path_params["number"]
        return HTMLResponse(f"<!doctype html><p>Invoice {number} posted for {self.invoices[number - 1]}</p>")

    async def past(self, request: Request) -> Response:
        """A page that names the site by its whole address, compressed, and as other pages name themselves too."""
        html = f"""<!doctype html><link rel="canonical" href="{self.url}/past"><a href="/app/">Home</a>
        <form method="post" action="{self.url}/invoices"><button>Post</button></form><a href="https://other.example/">O</a>"""
        headers = {"content-encoding": "gzip", "content-type": "text/html", "connection": "keep-alive"}
        return Response(gzip.compress(html.encode(), mtime=0), headers=headers)

    async def say_heard(self, request: Request) -> Response:
        return JSONResponse(dict(request.headers))


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return Certificate()


@pytest.fixture
def ca_file(certificate: Certificate, tmp_path: Path) -> Path:
    file = tmp_path / "authority.pem"
    file.write_bytes(certificate.authority_pem)
    return file


@pytest.fixture
def staging(certificate: Certificate) -> Iterator[Staging]:
    staging = Staging()
    with serve(staging.app, tls=certificate.server_side("http/1.1")) as served:
        staging.url = f"{served.url.replace('127.0.0.1', 'localhost')}/app"
        yield staging


@pytest.fixture
def site(staging: Staging) -> Site:
    return Site("staging", url=staging.url, account="acme")


@pytest.fixture
def faults(site: Site, ca_file: Path) -> Iterator[Faults]:
    with Faults(site, ca_file=ca_file) as faults:
        yield faults


def sign_in(page: Page, site: Site) -> None:
    page.goto(site / "/")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Signed in")).to_be_visible()
    assert page.url == site / "/"


def post(page: Page, site: Site, reference: str) -> None:
    page.goto(site / "invoices/new")
    page.get_by_label("Reference").fill(reference)
    page.get_by_role("button", name="Post").click(no_wait_after=True)


def test_a_login_and_a_form_that_is_checked_for_its_origin_work_through_the_proxy(
    page: Page, staging: Staging, site: Site, faults: Faults
) -> None:
    sign_in(page, site)
    post(page, site, "R-1")
    expect(page.get_by_text("Invoice 1 posted for R-1")).to_be_visible()
    assert page.url == site / "invoices/1"
    assert (staging.invoices, staging.refused) == (["R-1"], [])
    assert faults.bypasses == []


def test_the_session_can_be_kept_and_given_to_another_browser(
    page: Page, attached: Browser, site: Site, faults: Faults
) -> None:
    sign_in(page, site)
    context = attached.new_context(storage_state=page.context.storage_state())
    other = context.new_page()
    other.goto(site / "/")
    expect(other.get_by_text("Signed in")).to_be_visible()
    context.close()


def test_faults_befall_a_site_behind_tls(page: Page, staging: Staging, site: Site, faults: Faults) -> None:
    sign_in(page, site)
    faults.lose_request("POST /app/invoices")
    faults.lose_answer("POST /app/invoices")
    for reference in ("R-1", "R-2"):
        post(page, site, reference)
        page.wait_for_url("**/app/invoices", wait_until="commit")
        faults.proxy().wait_for("cut", pattern="POST /**", count=int(reference[-1]))
    assert (staging.invoices, faults.untriggered) == (["R-2"], [])


def test_a_page_that_leads_past_the_proxy_is_told(site: Site, faults: Faults, staging: Staging, page: Page) -> None:
    faults.lose_answer("POST /app/invoices")
    page.goto(site / "past")
    expect(page.get_by_role("button")).to_be_visible()
    assert faults.bypasses == [f'GET /app/past holds <form action="{staging.url}/invoices">']
    assert [laid.name for laid in faults.untriggered] == ["lose_answer"]


def test_a_compressed_body_passes_as_it_is_and_its_connection_stays(site: Site, faults: Faults) -> None:
    with httpx.Client(verify=False) as client, client.stream("GET", site / "past") as answer:
        body = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == "gzip"
        assert "connection" not in answer.headers
    assert gzip.decompress(body).startswith(b"<!doctype html>")
    assert body == gzip.compress(gzip.decompress(body), mtime=0)


def test_the_site_hears_its_own_address_and_another_one_as_it_is(site: Site, staging: Staging, faults: Faults) -> None:
    own, there = faults.proxy().origin, urlsplit(staging.url).netloc
    for origin, referer, heard in (
        (own, f"{own}/app/x?y=1", (staging.origin, f"{staging.origin}/app/x?y=1")),
        ("null", f"{own}0/x", ("null", f"{own}0/x")),
        ("https://other.example", "https://other.example/", ("https://other.example", "https://other.example/")),
    ):
        said = httpx.get(site / "heard", headers={"origin": origin, "referer": referer}).json()
        assert (said["host"], said["origin"], said["referer"]) == (there, *heard)


def test_a_certificate_that_nobody_here_trusts_is_refused_with_what_to_do(staging: Staging) -> None:
    told: list[str] = []
    with FaultProxy(staging.url, warn=told.append) as proxy:
        answer = httpx.get(f"{proxy.url}/login")
        assert [entry.event.value for entry in proxy.log] == ["came", "forwarded", "unreachable", "answered"]
    assert answer.status_code == 502
    assert "is not trusted here" in answer.text and "--ca-file" in answer.text
    assert told and staging.tokens == set()


def test_a_certificate_of_another_host_is_refused(staging: Staging, tmp_path: Path) -> None:
    other = Certificate("staging.example")
    ca_file = tmp_path / "other.pem"
    ca_file.write_bytes(other.authority_pem)
    with serve(staging.app, tls=other.server_side()) as served, FaultProxy(served.url, ca_file=ca_file) as proxy:
        assert "is not trusted here" in httpx.get(f"{proxy.url}/app/login").text
    assert staging.tokens == set()


def test_two_sites_dont_see_each_others_cookies(page: Page, staging: Staging, ca_file: Path) -> None:
    app = Site("app", url=staging.url, account="acme")
    other = Site("other", url=staging.url.replace("localhost", "127.0.0.1"), account="acme")
    with Faults([app, other], ca_file=ca_file):
        sign_in(page, app)
        page.goto(other / "heard")
        assert "session" not in page.inner_text("body")
        page.goto(app / "heard")
        assert "session" in page.inner_text("body")
