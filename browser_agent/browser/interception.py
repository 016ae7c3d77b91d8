"""The interceptor: pauses the requests of one Chromium, from all senders: pages, frames, popups, workers, redirects.

It uses the `Fetch` domain of the DevTools protocol on a session of the browser itself, from the browser's first moment
on. A route on pages misses a beacon sent while its page is being left, `fetchLater`, shared workers and the second hop
of a redirect; this pauses all of them (measured, Chromium 156). It pauses neither WebSockets nor the requests of a
worker that existed before it was installed. So workers that outlive a page are counted.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from playwright.async_api import CDPSession, Error

EVERYTHING = "**/*"
"""Routing everything for a moment makes pages opened before the interceptor rebuild their URL loaders, so that their
requests are paused too."""
_ALL = {"patterns": [{"urlPattern": "*", "requestStage": "Request"}]}
_NONE = {"patterns": [{"urlPattern": "nothing:is-like-this", "requestStage": "Request"}]}
"""Enabled from the start although it matches nothing: a page opened before can't be paused later (measured)."""
_WORKERS = frozenset({"service_worker", "shared_worker"})
MAX_GONE_TARGETS = 10_000


@dataclass(frozen=True, eq=False)
class PausedRequest:
    """One paused request. Each hop of a redirect is a request of its own.

    `in_page` = a living page waits for it, so the page's own events report how it ends.
    """

    id: str
    method: str
    url: str
    resource_type: str
    frame: str
    in_page: bool


@dataclass(frozen=True)
class ResponseHead:
    """Status and headers of a response."""

    status: int
    headers: dict[str, str]


OnPaused = Callable[[PausedRequest], Coroutine[Any, Any, None]]
"""A request is paused. The listener releases or refuses it."""
OnEnded = Callable[[PausedRequest, ResponseHead | str], Coroutine[Any, Any, None]]
"""A request released with `report` has ended: with the head of its response, or with a network error such as
"net::ERR_CONNECTION_RESET". It is paused again; the listener releases it."""
OnWorker = Callable[[], None]
"""A service worker or shared worker was started."""


class Interceptor:
    """Pauses requests and passes them to its listeners. Create it with `install` as soon as the browser has started.

    Args:
        session: a session of the browser itself, on the keeper's own connection.
        context_id: the id of the browser context in which the task acts.
    """

    def __init__(self, session: CDPSession, context_id: str) -> None:
        self._session, self._context_id = session, context_id
        self._on_paused: OnPaused | None = None
        self._on_ended: OnEnded | None = None
        self._on_worker: OnWorker | None = None
        self._reported: dict[str, PausedRequest] = {}  # released; their end must be reported
        self._tasks: set[asyncio.Task[None]] = set()
        self._contexts: dict[str, str] = {}  # target -> its browser context
        self._gone: deque[str] = deque()  # destroyed targets, oldest first
        self._workers: set[str] = set()
        session.on("Fetch.requestPaused", self._request_paused)
        session.on("Target.targetCreated", self._target_created)
        session.on("Target.targetDestroyed", self._target_destroyed)

    @classmethod
    async def install(cls, session: CDPSession, context_id: str) -> Interceptor:
        """Install it in a browser, so that it can pause the requests of everything that is created from now on.

        Existing pages must rebuild their URL loaders: see `EVERYTHING`.

        Raises:
            Error: the browser doesn't answer.
        """
        interceptor = cls(session, context_id)
        await session.send("Target.setDiscoverTargets", {"discover": True})
        await session.send("Fetch.enable", _NONE)
        return interceptor

    async def remove(self) -> None:
        """Remove it; the browser releases the requests that are still paused."""
        await self._session.detach()

    def listen(self, paused: OnPaused, ended: OnEnded, worker: OnWorker) -> None:
        """Set the listeners. Call it before `pause_all`."""
        self._on_paused, self._on_ended, self._on_worker = paused, ended, worker

    async def pause_all(self) -> None:
        """Pause every request from now on. Raises Error if the browser doesn't answer."""
        await self._session.send("Fetch.enable", _ALL)

    async def pause_none(self) -> None:
        """Let requests pass from now on. Paused ones stay paused."""
        await self._session.send("Fetch.enable", _NONE)

    @property
    def workers(self) -> int:
        """How many service workers and shared workers are alive."""
        return len(self._workers)

    def is_foreign(self, paused: PausedRequest) -> bool:
        """Whether it belongs to a page of another browser context, such as an observer's."""
        return self._contexts.get(paused.frame, self._context_id) != self._context_id

    async def release(self, paused: PausedRequest, *, report: bool = False) -> None:
        """Release a request; with `report`, the listener learns how it ends."""
        if report:
            self._reported[paused.id] = paused
        await self._answer("Fetch.continueRequest", requestId=paused.id, interceptResponse=report)

    async def refuse(self, paused: PausedRequest) -> None:
        """Fail a paused request; it never leaves."""
        await self._answer("Fetch.failRequest", requestId=paused.id, errorReason="BlockedByClient")

    # events of the browser

    def _request_paused(self, event: dict[str, Any]) -> None:
        assert self._on_paused is not None and self._on_ended is not None, "requests were paused before `listen`"
        if "responseStatusCode" in event:
            headers = {each["name"].lower(): each["value"] for each in event.get("responseHeaders", [])}
            head = ResponseHead(event["responseStatusCode"], headers)
            work = self._on_ended(self._reported.pop(event["requestId"]), head)
        elif "responseErrorReason" in event:
            work = self._on_ended(self._reported.pop(event["requestId"]), _error_text(event["responseErrorReason"]))
        else:
            work = self._on_paused(_paused_request(event))
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _target_created(self, event: dict[str, Any]) -> None:
        target = event["targetInfo"]
        context = target.get("browserContextId", self._context_id)
        self._contexts[target["targetId"]] = context
        if target["type"] in _WORKERS and context == self._context_id:
            self._workers.add(target["targetId"])
            if self._on_worker is not None:
                self._on_worker()

    def _target_destroyed(self, event: dict[str, Any]) -> None:
        """Keep its context for a while, because a page sends its last requests after it has gone."""
        self._workers.discard(event["targetId"])
        self._gone.append(event["targetId"])
        if len(self._gone) > MAX_GONE_TARGETS:
            self._contexts.pop(self._gone.popleft(), None)

    async def _answer(self, command: str, **facts: Any) -> None:
        """Tell the browser what to do with a request; one that has gone meanwhile needs no answer."""
        try:
            await self._session.send(command, facts)
        except Error as error:
            if "closed" not in str(error) and "Invalid InterceptionId" not in str(error):
                raise


def browser_context_of(target: dict[str, Any]) -> str:
    """The id of a page's browser context, from the answer to `Target.getTargetInfo` on a session of the page."""
    return str(target["targetInfo"]["browserContextId"])


def _paused_request(event: dict[str, Any]) -> PausedRequest:
    request = event["request"]
    return PausedRequest(
        id=event["requestId"],
        method=request["method"],
        url=request["url"],
        resource_type=event["resourceType"].lower(),
        frame=event.get("frameId", ""),
        in_page="networkId" in event,
    )


def _error_text(reason: str) -> str:
    """The protocol's name for an error (ConnectionReset), in the form used elsewhere: net::ERR_CONNECTION_RESET."""
    return "net::ERR_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", reason).upper()
