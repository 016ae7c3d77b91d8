"""Where every request of one Chromium can be made to stand still: pages, frames, popups, workers, beacons, redirects.

It pauses for the browser as a whole, by the `Fetch` domain of Chromium's own protocol on a session of the browser
itself, and is laid from the browser's first moment on. A route on pages misses a beacon sent while its page is left,
`fetchLater`, shared workers and the second hop of a redirect; this one holds them all (measured, Chromium 156). It
does not hold WebSockets, nor a worker that was there before it was laid; so workers that outlive a page are counted.

Knows nothing of gestures: it says what came and what was answered, and does as it is told. What may never happen: a
request that is let go before somebody said so, while it stands.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from playwright.async_api import CDPSession, Error

EVERYTHING = "**/*"
"""What a route is laid on for a moment, so that pages which are older than the pause ask anew for their way out."""
_ALL = {"patterns": [{"urlPattern": "*", "requestStage": "Request"}]}
_NONE = {"patterns": [{"urlPattern": "nothing:is-like-this", "requestStage": "Request"}]}
"""Laid from the first moment, though it pauses nothing: what is made without it would not be held later (measured)."""
_WORKERS = frozenset({"service_worker", "shared_worker"})


@dataclass(frozen=True, eq=False)
class Paused:
    """One request that stands still. Each hop of a redirect is one of its own.

    `in_page` = a living page waits for it, so that the page's own events tell how it ends.
    """

    id: str
    method: str
    url: str
    resource_type: str
    frame: str
    in_page: bool
    failure: str | None = None


@dataclass(frozen=True)
class Answer:
    """The head of the network's answer to a request."""

    status: int
    headers: dict[str, str]


Came = Callable[[Paused], Coroutine[Any, Any, None]]
"""A request stands still; whoever is told lets it go or refuses it."""
Ended = Callable[[Paused, Answer | str], Coroutine[Any, Any, None]]
"""How a request that was let go with `tell` ended: the head of its answer, or an error in the browser's words. It
stands still again; whoever is told lets it go."""
WorkerMade = Callable[[], None]
"""A service worker or a shared worker has come to life."""


class Pause:
    """Lay it by `Pause.lay`, as soon as the browser is there.

    Args:
        session: a session of the browser itself, on the keeper's own connection.
        home: the id of the browser context that is acted in.
    """

    def __init__(self, session: CDPSession, home: str) -> None:
        self._session, self._home = session, home
        self._came: Came | None = None
        self._ended: Ended | None = None
        self._worker_made: WorkerMade | None = None
        self._told: dict[str, Paused] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._contexts: dict[str, str] = {}
        self._workers: set[str] = set()
        session.on("Fetch.requestPaused", self._paused)
        session.on("Target.targetCreated", self._made)
        session.on("Target.targetDestroyed", self._gone)

    @classmethod
    async def lay(cls, session: CDPSession, home: str) -> Pause:
        """Lay it over a browser, so that it can hold whatever is made from now on.

        The pages that are there already must be made to ask anew for their way out: see `EVERYTHING`.

        Raises:
            Error: the browser does not answer.
        """
        pause = cls(session, home)
        await session.send("Target.setDiscoverTargets", {"discover": True})
        await session.send("Fetch.enable", _NONE)
        return pause

    async def lift(self) -> None:
        """Take it away; what stands still is let go by the browser."""
        await self._session.detach()

    def tell(self, came: Came, ended: Ended, worker_made: WorkerMade) -> None:
        """Who is told from now on; before that nothing may stand."""
        self._came, self._ended, self._worker_made = came, ended, worker_made

    async def stand(self) -> None:
        """From now on every request stands still. Raises Error if the browser does not answer."""
        await self._session.send("Fetch.enable", _ALL)

    async def rest(self) -> None:
        """From now on requests pass. Those that stand still go on standing."""
        await self._session.send("Fetch.enable", _NONE)

    @property
    def workers(self) -> int:
        """Living senders beside the pages: service workers and shared workers."""
        return len(self._workers)

    def is_foreign(self, paused: Paused) -> bool:
        """Whether it belongs to a page of another browser context, such as an observer's."""
        return self._contexts.get(paused.frame, self._home) != self._home

    async def let_go(self, paused: Paused, *, tell: bool = False) -> None:
        """Let a request go; with `tell`, how it ends is told."""
        if tell:
            self._told[paused.id] = paused
        await self._say("Fetch.continueRequest", requestId=paused.id, interceptResponse=tell)

    async def refuse(self, paused: Paused) -> None:
        """End a request that stands still; it never leaves."""
        await self._say("Fetch.failRequest", requestId=paused.id, errorReason="BlockedByClient")

    # What the browser says

    def _paused(self, event: dict[str, Any]) -> None:
        assert self._came is not None and self._ended is not None, "nobody was there to be told"
        if "responseStatusCode" in event:
            headers = {each["name"].lower(): each["value"] for each in event.get("responseHeaders", [])}
            work = self._ended(self._told.pop(event["requestId"]), Answer(event["responseStatusCode"], headers))
        elif "responseErrorReason" in event:
            work = self._ended(self._told.pop(event["requestId"]), _words(event["responseErrorReason"]))
        else:
            work = self._came(_read(event))
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _made(self, event: dict[str, Any]) -> None:
        target = event["targetInfo"]
        context = target.get("browserContextId", self._home)
        self._contexts[target["targetId"]] = context  # for good: a page sends its last requests when it is gone
        if target["type"] in _WORKERS and context == self._home:
            self._workers.add(target["targetId"])
            if self._worker_made is not None:
                self._worker_made()

    def _gone(self, event: dict[str, Any]) -> None:
        self._workers.discard(event["targetId"])

    async def _say(self, method: str, **facts: Any) -> None:
        """Tell the browser what becomes of a request; it may be gone meanwhile, and then there is nothing to tell."""
        try:
            await self._session.send(method, facts)
        except Error as error:
            if "closed" not in str(error) and "Invalid InterceptionId" not in str(error):
                raise


def home_of(target: dict[str, Any]) -> str:
    """The id of the browser context of a page, by what `Target.getTargetInfo` says on a session of the page."""
    return str(target["targetInfo"]["browserContextId"])


def _read(event: dict[str, Any]) -> Paused:
    request = event["request"]
    return Paused(
        id=event["requestId"],
        method=request["method"],
        url=request["url"],
        resource_type=event["resourceType"].lower(),
        frame=event.get("frameId", ""),
        in_page="networkId" in event,
    )


def _words(reason: str) -> str:
    """The protocol's name of an error as the browser says it elsewhere: ConnectionReset, net::ERR_CONNECTION_RESET."""
    return "net::ERR_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", reason).upper()
