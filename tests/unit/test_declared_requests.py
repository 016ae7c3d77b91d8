"""Which request is the declared one: method and path, with stars, and the query only where it is named."""

from __future__ import annotations

import pytest

from browser_agent.wire import matches_request


@pytest.mark.parametrize(
    ("sends", "method", "url", "is_it"),
    [
        ("POST /invoices", "POST", "https://books.example/invoices", True),
        ("POST /invoices", "post", "https://books.example:8443/invoices?draft=1#top", True),
        ("POST /invoices", "GET", "https://books.example/invoices", False),
        ("POST /invoices", "POST", "https://books.example/invoices/7", False),
        ("POST /invoices", "POST", "https://books.example/other/invoices", False),
        ("POST /invoices", "POST", "https://books.example/invoicesX", False),
        ("POST /invoices/*", "POST", "https://books.example/invoices/7", True),
        ("POST /invoices/*", "POST", "https://books.example/invoices/7/lines", False),
        ("POST /invoices/*/confirm", "POST", "https://books.example/invoices/7/confirm", True),
        ("POST /api/**", "POST", "https://books.example/api/a/b/c", True),
        ("POST /save?step=*", "POST", "https://books.example/save?step=2", True),
        ("POST /save?step=2", "POST", "https://books.example/save?step=3", False),
        ("POST /a.b", "POST", "https://books.example/aXb", False),
        ("POST /my invoices".replace(" i", "%20i"), "POST", "https://books.example/my%20invoices", True),
        ("POST /Rechnungen/ü", "POST", "https://books.example/Rechnungen/%C3%BC", True),
        ("POST /", "POST", "https://books.example", True),
        ("nonsense", "POST", "https://books.example/", False),
    ],
)
def test_which_request_is_the_declared_one(sends: str, method: str, url: str, is_it: bool) -> None:
    assert matches_request(sends, method, url) is is_it
