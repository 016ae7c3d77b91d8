"""What the wire told, in words for a person who has to judge it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from browser_agent.wire import Restart, WireFact, WireReport

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def sent(**more: Any) -> WireFact:
    return WireFact(method="POST", address="https://books.example/invoices", at=NOON, **{"released": True, **more})


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        (sent(status=202), "the site answered POST /invoices with 202; an answer alone proves nothing here"),
        (
            sent(status=303, location="/invoices/INV-2"),
            "the site answered POST /invoices with 303 to /invoices/INV-2; an answer alone proves nothing here",
        ),
        (
            sent(error="net::ERR_EMPTY_RESPONSE"),
            "POST /invoices was released, and no answer came (net::ERR_EMPTY_RESPONSE); it may have been carried out",
        ),
        (sent(), "POST /invoices was released, and no answer was seen; it may have been carried out"),
    ],
)
def test_each_request_that_was_let_go_is_told_with_its_answer(fact: WireFact, words: str) -> None:
    assert WireReport(facts=(fact, sent(released=False, refused="the fence"))).in_words == (words,)


def test_the_network_log_is_told_if_one_was_kept() -> None:
    assert WireReport(restarts=None).in_words == ()
    assert WireReport(restarts=0).in_words == (
        "the network log shows nothing that the browser sent a second time by itself",
    )
    again = Restart(method="POST", address="https://books.example/invoices", error="net::ERR_EMPTY_RESPONSE", at=NOON)
    assert WireReport(restarts=1, resent=(again,)).in_words == (str(again),)
