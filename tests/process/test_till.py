"""The till takes every order that arrives, whatever its answer says; its ledger is what the guard's tests count by."""

from __future__ import annotations

import gc
import hashlib
import socket
import ssl
import sys
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx
import pytest

from fixtures.till.certificate import Certificate
from fixtures.till.till import Ending, Till

LOST = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError, httpx.ReadTimeout)


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return Certificate()


def client(http2: bool = False) -> httpx.Client:
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    return httpx.Client(verify=trusting, http2=http2, timeout=2, trust_env=False)


@pytest.mark.parametrize("ending", ["fin", "rst", "hang", 408, 421])
@pytest.mark.parametrize("protocol", ["HTTP/1.1", "HTTPS", "HTTP/2"])
def test_an_order_is_taken_though_its_answer_is_lost(certificate: Certificate, protocol: str, ending: Ending) -> None:
    http2 = protocol == "HTTP/2"
    with Till(None if protocol == "HTTP/1.1" else certificate, http2=http2) as till, client(http2) as browser:
        till.end(ending)
        if isinstance(ending, int):
            assert browser.post(f"{till.url}/orders", content=b"item=tea").status_code == ending
        else:
            with pytest.raises(LOST):
                browser.post(f"{till.url}/orders", content=b"item=tea")
        assert browser.post(f"{till.url}/orders", content=b"item=tea").status_code == 200
        first, second = till.orders
        assert (first.length, first.sha256) == (8, hashlib.sha256(b"item=tea").hexdigest())
        assert first.protocol == second.protocol == ("HTTP/2" if http2 else "HTTP/1.1")


@pytest.mark.parametrize("ending", ["goaway", "refused_stream"])
def test_over_http2_it_can_claim_to_have_done_nothing(certificate: Certificate, ending: Ending) -> None:
    with Till(certificate, http2=True) as till, client(http2=True) as browser:
        till.end(ending)
        with pytest.raises(LOST):
            browser.post(f"{till.url}/orders", content=b"item=tea")
        assert len(till.orders) == 1


def test_a_no_takes_nothing_but_is_in_the_ledger() -> None:
    with Till() as till, client() as browser:
        till.end(422)
        assert browser.post(f"{till.url}/orders").status_code == 422
        assert (len(till.arrived), till.orders) == (1, [])


def test_of_an_upload_the_file_is_weighed() -> None:
    with Till() as till, client() as browser:
        browser.post(f"{till.url}/orders", files={"file": ("scan.bin", b"\r\n--scan\r\n\r\n")})
        assert till.orders[0].sha256 == hashlib.sha256(b"\r\n--scan\r\n\r\n").hexdigest()


def test_connections_stay_warm() -> None:
    with Till() as till, client() as browser:
        for _ in range(2):
            browser.post(f"{till.url}/orders")
        assert [order.connection for order in till.orders] == [1, 1]


def test_an_ending_that_is_not_known_is_refused() -> None:
    with Till() as till, pytest.raises(ValueError, match="no such ending: vanish"):
        till.end("vanish")


def test_whoever_comes_while_it_closes_is_let_go_too(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: left.append(told.object))
    for _ in range(10):
        with ExitStack() as browsers:
            till = Till()
            for _ in range(20):
                browsers.enter_context(socket.create_connection(("127.0.0.1", urlsplit(till.url).port)))
            till.close()
        del till
        gc.collect()
    assert not left
