"""The traffic of one gesture: which of its requests are held, and what became of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from browser_agent.browser.interception import PausedRequest, ResponseHead
from browser_agent.browser.netlog import LogSpan
from browser_agent.wire import NO_SITE, SiteWrites, WireFact, WireReport
from observers.evidence import plain_address
from observers.request_pattern import matches_request

_PASSED_AT_MOST = 5
_MAY_WRITE = frozenset({"document", "xhr", "fetch"})
"""Resource types with which a GET may change something on a site; images and styles are not among them."""


@dataclass
class GestureTraffic:
    """What was seen of one gesture's requests.

    `site` = the site that the gesture changes; `passed_documents` = the first documents loaded without being held;
    `guarded` = the browser's pooled connections can be closed, so that the browser sends nothing twice; `span` = the
    gesture's part of the network log, if one is read.
    """

    gesture: str
    sends: str | None
    site: SiteWrites = NO_SITE
    armed: bool = True
    guarded: bool = True
    sockets: int = 0
    workers: int = 0
    reads: int = 0
    passed_documents: list[str] = field(default_factory=list)
    facts: dict[PausedRequest, WireFact] = field(default_factory=dict)
    span: LogSpan | None = None

    @property
    def pending(self) -> bool:
        """Whether a released request is still waiting for its response."""
        return any(fact.released and fact.status is None and fact.error is None for fact in self.facts.values())

    def is_declared(self, request: PausedRequest) -> bool:
        """Whether it is the commit request that the gesture declares."""
        return self.sends is not None and matches_request(self.sends, request.method, request.url)

    def holds(self, request: PausedRequest) -> bool:
        """Whether the request is held: it is a write, or the declared commit request."""
        return self.is_declared(request) or not self.site.is_read(request.method, request.url)

    def waits_for_commit(self, request: PausedRequest) -> bool:
        """Whether a write may leave only after the declared commit request.

        Such a write goes to the site's own origin, and is neither that request nor harmless.
        """
        undeclared = self.sends is not None and not self.is_declared(request)
        return undeclared and self.site.holds_back(request.method, request.url)

    @property
    def commit_left(self) -> bool:
        """Whether the declared commit request was released."""
        return any(fact.declared and fact.released for fact in self.facts.values())

    def passed(self, request: PausedRequest) -> None:
        """Record a request that was not held."""
        if request.resource_type in _MAY_WRITE:
            self.reads += 1
        if request.resource_type == "document" and len(self.passed_documents) < _PASSED_AT_MOST:
            self.passed_documents.append(f"{request.method} {plain_address(request.url)}")

    def held(self, request: PausedRequest, at: datetime) -> str:
        """Record a held request, and return its plain address."""
        address = plain_address(request.url)
        self.facts[request] = WireFact(
            method=request.method, address=address, at=at, declared=self.is_declared(request)
        )
        return address

    def update(self, request: PausedRequest, **facts: object) -> None:
        """Add to what is known of a held request."""
        if self.span is not None:
            self.span.invalidate()
        self.facts[request] = self.facts[request].model_copy(update=facts)

    def answered(self, request: PausedRequest, response: ResponseHead) -> bool:
        """Record the response to a held request; False if it isn't the first one."""
        if request not in self.facts or self.facts[request].status is not None:
            return False
        location = response.headers.get("location")
        self.update(
            request,
            status=response.status,
            location=plain_address(location) if location else None,
            ended=300 <= response.status < 400,
        )
        return True

    def ended(self, request: PausedRequest) -> None:
        """Record that the whole response to a released request has arrived."""
        fact = self.facts.get(request)
        if fact is not None and fact.released and fact.status is not None:
            self.facts[request] = fact.model_copy(update={"ended": True})

    def report(self) -> WireReport:
        """Everything seen so far."""
        return WireReport(
            armed=self.armed and self.guarded,
            facts=tuple(self.facts.values()),
            sockets=self.sockets,
            workers=self.workers,
            declared=self.sends is not None,
            reads=self.reads,
            passed=tuple(self.passed_documents),
            restarts=self.span.restarts(pending=self.pending) if self.span is not None else None,
            resent=self.span.resent if self.span is not None else (),
        )
