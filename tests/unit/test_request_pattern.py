"""Which request a pattern names: the same for a gesture's `sends`, at the wire, and for a fault, in the proxy."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser_agent.testing.proxy import request_pattern as of_the_proxy
from browser_agent.testing.proxy.fault_kinds import Fault
from browser_agent.wire import is_among
from observers import request_pattern as of_the_agent
from observers.request_pattern import matches_request

REQUESTS = [
    ("POST /invoices", "POST", "/invoices", True),
    ("POST /invoices", "post", "/invoices?draft=1", True),
    ("POST /invoices", "GET", "/invoices", False),
    ("POST /invoices", "POST", "/invoices/7", False),
    ("POST /invoices", "POST", "/other/invoices", False),
    ("POST /invoices", "POST", "/invoicesX", False),
    ("POST /invoices", "POST", "/Invoices", False),
    ("POST /invoices/*", "POST", "/invoices/7", True),
    ("POST /invoices/*", "POST", "/invoices/", True),
    ("POST /invoices/*", "POST", "/invoices", False),
    ("POST /invoices/*", "POST", "/invoices/7/lines", False),
    ("POST /invoices/*/confirm", "POST", "/invoices/7/confirm", True),
    ("POST /*", "POST", "/invoices/7", False),
    ("POST /api/**", "POST", "/api/a/b/c", True),
    ("POST /**/lines", "POST", "/invoices/7/lines", True),
    ("* /invoices/*", "DELETE", "/invoices/7", True),
    ("* /**", "GET", "/", True),
    ("POST /save?step=*", "POST", "/save?step=2", True),
    ("POST /save?step=2", "POST", "/save?step=3", False),
    ("POST /save?step=2", "POST", "/save", False),
    ("POST /save?q=a%20b", "POST", "/save?q=a%20b", True),
    ("POST /a.b", "POST", "/aXb", False),
    ("POST /[ab]", "POST", "/a", False),
    ("POST /my%20invoices", "POST", "/my%20invoices", True),
    ("POST /Rechnungen/ü", "POST", "/Rechnungen/%C3%BC", True),
    ("POST /", "POST", "", True),
    ("nonsense", "POST", "/", False),
    ("post /", "POST", "/", False),
    ("POST invoices", "POST", "/invoices", False),
    ("POST *", "POST", "/invoices", False),
]
PATTERNS = [text for text, *_ in REQUESTS if of_the_agent.is_pattern(text)]


@pytest.mark.parametrize(("pattern", "method", "target", "fits"), REQUESTS)
def test_the_wire_knows_which_request_a_pattern_names(pattern: str, method: str, target: str, fits: bool) -> None:
    assert matches_request(pattern, method, f"https://books.example:8443{target}#top") is fits
    assert is_among(f"{method} https://books.example{target}", ["GET /nothing", pattern]) is fits


@pytest.mark.parametrize(("pattern", "method", "target", "fits"), [row for row in REQUESTS if row[0] in PATTERNS])
def test_a_fault_is_triggered_by_the_same_requests(pattern: str, method: str, target: str, fits: bool) -> None:
    assert Fault("status", pattern, None, 0, {"code": 500}).triggers(method, target) is fits


@pytest.mark.parametrize("text", sorted({text for text, *_ in REQUESTS} - set(PATTERNS)))
def test_a_fault_for_what_is_no_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="isn't a request: write a method and a path"):
        Fault("status", text, None, 0, {"code": 500})


def test_there_is_one_matcher() -> None:
    """Fixtures may not import the agent, nor the agent its tests: both see one file, by a link."""
    assert Path(of_the_agent.__file__).resolve() == Path(of_the_proxy.__file__).resolve()
