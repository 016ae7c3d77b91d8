"""Faults by name: what each does to a request, which requests it meets, and what is left when they are closed."""

import inspect
from collections.abc import Callable, Iterator

import httpx
import pytest

from browser_agent.testing import Books, Faults, Mail
from browser_agent.testing.faults import NAMES as FAULT_NAMES
from observers.site import Site
from tests.fix_sites import Visitor

SHORT_SECONDS = 0.3


@pytest.fixture
def books() -> Iterator[Books]:
    with Books() as site:
        yield site


@pytest.fixture
def site(books: Books) -> Site:
    return Site("books", url=books.url, account="acme")


@pytest.fixture
def faults(site: Site) -> Iterator[Faults]:
    with Faults(site) as faults:
        yield faults


@pytest.fixture
def visitor(faults: Faults, site: Site) -> Iterator[Visitor]:
    with Visitor(site.url) as visitor:
        yield visitor


# What the words mean: what the client sees, and what the site did


@pytest.mark.parametrize(("word", "invoices"), [("lose_answer", 1), ("lose_request", 0)])
def test_a_lost_answer_and_a_lost_request_look_the_same(
    books: Books, faults: Faults, visitor: Visitor, word: str, invoices: int
) -> None:
    getattr(faults, word)("POST /invoices")
    with pytest.raises(httpx.RemoteProtocolError, match="without sending complete message"):
        visitor.post_invoice()
    assert (len(books.ledger.writes), len(books.invoices)) == (invoices, invoices)


@pytest.mark.parametrize("committed", [True, False])
def test_a_dropped_connection_looks_the_same_before_and_after_the_commit(
    books: Books, faults: Faults, visitor: Visitor, committed: bool
) -> None:
    faults.drop_connection("POST /invoices", committed=committed)
    with pytest.raises(httpx.ReadError):
        visitor.post_invoice()
    assert len(books.ledger.writes) == int(committed)


def test_a_late_commit_is_504_at_once_and_done_when_its_time_comes_or_it_is_let_go(
    books: Books, faults: Faults, visitor: Visitor
) -> None:
    faults.late_commit("POST /invoices", seconds=0.05)
    faults.late_commit("POST /invoices", seconds=3600)
    assert visitor.post_invoice().status_code == 504
    faults.proxy().wait_for("committed")
    assert visitor.post_invoice().status_code == 504
    assert len(books.invoices) == 1
    faults.let_go()
    faults.proxy().wait_for("committed", count=2)
    assert len(books.invoices) == 2


def test_a_late_answer_is_the_true_one(books: Books, faults: Faults, visitor: Visitor) -> None:
    faults.answer_late("POST /invoices", seconds=0.05)
    assert visitor.post_invoice().headers["location"] == "/invoices/INV-1"


@pytest.mark.parametrize("committed", [True, False])
def test_an_answer_in_the_sites_place_has_its_code_and_text(
    books: Books, faults: Faults, visitor: Visitor, committed: bool
) -> None:
    faults.answer("POST /invoices", code=503, text="Come back later.", committed=committed)
    answer = visitor.post_invoice()
    assert (answer.status_code, "Come back later." in answer.text) == (503, True)
    assert len(books.invoices) == int(committed)


@pytest.mark.parametrize("committed", [True, False])
def test_what_hangs_is_never_answered(books: Books, faults: Faults, visitor: Visitor, committed: bool) -> None:
    token = visitor.token("/invoices/new")
    faults.hang("POST /invoices", committed=committed)
    values = {"token": token, "customer": "Contoso", "amount": "1", "reference": "R-1"}
    with pytest.raises(httpx.ReadTimeout):
        visitor.post("/invoices", data=values, timeout=SHORT_SECONDS)
    faults.proxy().wait_for("left")
    assert len(books.ledger.writes) == int(committed)


def test_a_site_is_down_until_it_is_healed(books: Books, faults: Faults, visitor: Visitor) -> None:
    faults.refuse()
    with pytest.raises(httpx.ConnectError):
        visitor.get("/invoices")
    faults.heal()
    assert visitor.get("/invoices").status_code == 200


def test_a_site_can_go_down_after_a_request_that_something_else_befalls(
    books: Books, faults: Faults, visitor: Visitor
) -> None:
    faults.refuse("POST /invoices")
    faults.drop_connection("POST /invoices")
    with pytest.raises(httpx.ReadError):
        visitor.post_invoice()
    with pytest.raises(httpx.ConnectError):
        visitor.get("/invoices")
    assert (len(books.invoices), faults.untriggered) == (1, [])


# Which requests


def test_times_and_after_choose_the_requests(faults: Faults, visitor: Visitor) -> None:
    faults.answer("POST /invoices", code=502, times=2, after=1)
    assert [visitor.post_invoice().status_code for _ in range(4)] == [303, 502, 502, 303]


def test_without_times_it_lasts_until_it_is_healed(faults: Faults, visitor: Visitor) -> None:
    faults.answer("GET /invoices", code=502, times=None)
    assert [visitor.get("/invoices").status_code for _ in range(3)] == [502] * 3
    faults.heal()
    assert visitor.get("/invoices").status_code == 200


def test_what_has_met_no_request_is_told_after_the_end_too(site: Site) -> None:
    with Faults(site) as faults, Visitor(site.url) as visitor:
        faults.answer("GET /invoices", code=502)
        faults.lose_answer("POST /invoices", after=1)
        faults.hang("POST /orders")
        faults.refuse("POST /bookings")
        visitor.get("/invoices")
        visitor.post_invoice()
    assert [str(laid) for laid in faults.untriggered] == [
        'lose_answer("POST /invoices") at books let 1 requests pass (after=1) and was not triggered',
        'hang("POST /orders") at books was not triggered by any request',
        'refuse("POST /bookings") at books was not triggered by any request',
    ]


# Sites and their addresses


def test_a_site_is_reached_by_its_proxy_and_has_its_address_back_afterwards(books: Books, site: Site) -> None:
    with Faults([site]) as faults:
        assert site.url == faults.proxy(site).url != books.url
    assert site.url == books.url


def test_a_site_has_its_address_back_although_a_hook_broke(books: Books, site: Site) -> None:
    faults = Faults(site)
    faults.proxy().when("came", lambda: int("x"), pattern="GET /invoices")
    httpx.get(f"{site.url}/invoices")
    with pytest.raises(ValueError, match="invalid literal"):
        faults.close()
    assert site.url == books.url
    faults.close()


def test_the_addresses_come_back_when_a_proxy_cant_be_put_before_one_of_them(books: Books, site: Site) -> None:
    other = Site("staging", url="https://staging.example", account="acme")
    with pytest.raises(OSError, match="nowhere.pem"):
        Faults([site, other], ca_file="nowhere.pem")
    assert (site.url, other.url) == (books.url, "https://staging.example")


def test_among_several_sites_one_is_named(books: Books, site: Site) -> None:
    with Mail() as mail:
        post = Site("post", url=mail.url, account="ann")
        with Faults([site, post]) as faults, Visitor(post.url) as visitor:
            with pytest.raises(ValueError, match="which site. Say site=, one of: books, post"):
                faults.lose_answer("POST /messages")
            with pytest.raises(ValueError, match="no proxy stands before a site 'shop'; there are: books, post"):
                faults.lose_answer("POST /messages", site="shop")
            faults.answer("POST /messages", code=502, site="post")
            faults.answer("GET /sent", code=503, site=post)
            assert [visitor.send_mail().status_code, visitor.get("/sent").status_code] == [502, 503]


def test_sites_of_one_origin_have_one_proxy_and_keep_their_paths(books: Books) -> None:
    one = Site("one", url=f"{books.url}/invoices", account="acme")
    two = Site("two", url=f"{books.url}/shipments", account="acme")
    with Faults([one, two]) as faults:
        assert faults.proxy(one) is faults.proxy(two)
        assert [one.url, two.url] == [f"{faults.proxy(one).origin}{path}" for path in ("/invoices", "/shipments")]
        assert [httpx.get(each.url).status_code for each in (one, two)] == [200, 200]
    assert one.url == f"{books.url}/invoices"


def test_sites_on_different_hosts_have_proxies_of_different_names() -> None:
    sites = [
        Site(name, url=url, account="acme")
        for name, url in {
            "app": "https://app.example",
            "Log_In": "https://login.example/in",
            "old": "http://app.example",
        }.items()
    ]
    with Faults(sites):
        hosts = [httpx.URL(site.url).host for site in sites]
        assert sites[1].url.endswith("/in")
    assert hosts == ["127.0.0.1", "log-in.localhost", "127.0.0.1"]


# What can't be done


@pytest.mark.parametrize("pattern", ["/invoices", "post /invoices", "POST", "POST /a b", "POST invoices"])
def test_a_pattern_that_no_request_can_fit_is_refused(faults: Faults, pattern: str) -> None:
    with pytest.raises(ValueError, match="lose_answer: .* isn't a request: write a method and a path"):
        faults.lose_answer(pattern)


def test_an_unknown_option_is_told_with_those_that_there_are(faults: Faults) -> None:
    with pytest.raises(TypeError, match=r"'time'; it is written hang\(pattern: str, \*, committed: bool = True"):
        faults.hang("POST /invoices", time=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="seconds"):
        faults.late_commit("POST /invoices")  # type: ignore[call-arg]


def test_an_unknown_word_is_told_with_those_that_there_are(faults: Faults) -> None:
    with pytest.raises(AttributeError, match="no such fault: explode; there are lose_answer, lose_request"):
        faults.explode("POST /invoices")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "lay",
    [
        lambda faults: faults.hang("POST /x", times=0),
        lambda faults: faults.hang("POST /x", after=-1),
        lambda faults: faults.answer("POST /x", code=99),
        lambda faults: faults.refuse("POST /x", after=0),
    ],
)
def test_a_number_that_means_nothing_is_refused(faults: Faults, lay: Callable[[Faults], None]) -> None:
    with pytest.raises(ValueError, match="is 1 or more|from 200 to 599"):
        lay(faults)


def test_faults_stand_before_sites_of_different_names(site: Site) -> None:
    with pytest.raises(ValueError, match="each site needs a name of its own"):
        Faults([])
    with pytest.raises(ValueError, match="each site needs a name of its own"):
        Faults([site, site])


def test_every_word_takes_a_pattern_and_says_what_the_site_did() -> None:
    for word in FAULT_NAMES:
        lay = getattr(Faults, word)
        assert {"pattern", "site", "after"} <= set(inspect.signature(lay).parameters), word
        assert lay.__doc__, word
