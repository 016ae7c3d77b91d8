"""The interceptor knows whose page a request came from, also shortly after the page has gone. Its memory is bounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from playwright.async_api import CDPSession

from browser_agent.browser import interception
from browser_agent.browser.interception import Interceptor, PausedRequest


class Session:
    """Hands events of a browser to its listeners."""

    def __init__(self) -> None:
        self._listeners: dict[str, Callable[[dict[str, Any]], None]] = {}

    def on(self, event: str, listener: Callable[[dict[str, Any]], None]) -> None:
        self._listeners[event] = listener

    def look(self, target: str) -> None:
        """A page of another browser context comes and goes."""
        info = {"targetId": target, "type": "page", "browserContextId": "of an observer"}
        self._listeners["Target.targetCreated"]({"targetInfo": info})
        self._listeners["Target.targetDestroyed"]({"targetId": target})


def a_beacon(frame: str) -> PausedRequest:
    return PausedRequest(id="1", method="POST", url="http://a.test/", resource_type="ping", frame=frame, in_page=False)


def test_the_last_request_of_a_page_that_has_gone_is_still_foreign() -> None:
    session = Session()
    interceptor = Interceptor(cast("CDPSession", session), "of the task")
    session.look("page")
    assert interceptor.is_foreign(a_beacon("page"))


def test_pages_that_have_gone_are_forgotten_after_many_more(monkeypatch) -> None:
    monkeypatch.setattr(interception, "MAX_GONE_TARGETS", 10)
    session = Session()
    interceptor = Interceptor(cast("CDPSession", session), "of the task")
    for number in range(1000):
        session.look(f"page {number}")
    assert not interceptor.is_foreign(a_beacon("page 0")), "unknown counts as the task's own, so it is held"
    assert interceptor.is_foreign(a_beacon("page 999"))
    assert len(interceptor._contexts) == 10
