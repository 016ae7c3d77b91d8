"""Sites: a path never leads away from its site, and a site can be given another address at run time."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observers import Site


def site() -> Site:
    return Site("books", url="https://Books.example/app/", account="acme")


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("invoices", "https://books.example/app/invoices"),
        ("/invoices", "https://books.example/app/invoices"),
        ("invoices?customer=A%20B&page=2", "https://books.example/app/invoices?customer=A%20B&page=2"),
        ("", "https://books.example/app/"),
        ("a..b/c", "https://books.example/app/a..b/c"),
    ],
)
def test_a_path_is_joined_below_the_base(path: str, address: str) -> None:
    assert site() / path == address
    assert site().holds(address)


@pytest.mark.parametrize(
    "path",
    ["//evil.example", "https://evil.example/x", "javascript:alert(1)", "../x", "a/../../x", "%2e%2e/x", "a/..%2fx",
     "\\\\evil.example", "%5cevil", "a b", "a\nb", "\t//evil.example", "///evil.example"],
)  # fmt: skip
def test_a_path_that_leads_away_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="books"):
        site() / path


@settings(deadline=None, print_blob=True)
@given(st.text(max_size=20))
def test_whatever_the_path_it_stays_below_the_base_or_is_refused(path: str) -> None:
    try:
        address = site() / path
    except ValueError:
        return
    assert address.startswith("https://books.example/app/")
    assert ".." not in address.split("?")[0].split("/")


@pytest.mark.parametrize(
    "address",
    ["https://books.example/application", "http://books.example/app/x", "https://books.example.evil/app/x",
     "https://books.example/", "https://books.example:444/app/x", "about:blank"],
)  # fmt: skip
def test_an_address_elsewhere_is_not_the_sites(address: str) -> None:
    assert not site().holds(address)


def test_a_bound_site_has_the_new_address_everywhere_and_remembers_the_old() -> None:
    books = site()
    books.bind(url="http://127.0.0.1:8001", account="ann")
    assert (books / "x", books.account) == ("http://127.0.0.1:8001/x", "ann")
    assert tuple(books.declared) == ("https://books.example/app", "acme")
    assert books == site()
    books.bind()
    assert books.url == "http://127.0.0.1:8001"
    with pytest.raises(ValueError, match="must begin with http"):
        books.bind(url="ftp://x")
    assert books.url == "http://127.0.0.1:8001"


def test_the_mark_of_a_session_names_the_bound_account() -> None:
    books = Site("books", url="https://b.example", account="acme", signed_in="Signed in as {account}")
    books.bind(account="ann")
    assert books.mark == "Signed in as ann"


@pytest.mark.parametrize(
    "wrong",
    [{"name": "my books"}, {"url": "books.example"}, {"url": "https://u:p@books.example"}, {"decimal": ";"},
     {"url": "https://books.example/?a=1"}, {"late_commit": timedelta(seconds=-1)}],
)  # fmt: skip
def test_a_site_that_cant_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Site(**{"name": "books", "url": "https://books.example", "account": "acme", **wrong})  # type: ignore[arg-type]


def test_a_post_that_is_declared_to_read_may_be_repeated_and_sent_by_a_look_at_its_own_site_only() -> None:
    site = Site("shop", url="https://shop.test", account="ada", harmless=["POST /draft"], reads=["POST /search"])
    assert site.repeatable == ("POST /draft", "POST /search")
    assert site.reads_by("POST", "https://shop.test/search?q=1") and site.reads_by("GET", "https://else.test/")
    assert not site.reads_by("POST", "https://else.test/search") and not site.reads_by(
        "POST", "https://shop.test/draft"
    )
