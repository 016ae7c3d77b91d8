"""What the keeper's gate reports of a gesture in the model: the real report, made of the world's request."""

from __future__ import annotations

from functools import cache

from browser_agent.wire import NOTHING_SEEN, WireFact, WireReport
from tests.model.pages import RELEASED
from tests.model.world import Request

POST = ("POST", "https://shop.test/orders")
OTHER = ("POST", "https://other.test/orders")
STATUSES = {"ok": 200, "no": 404}
ERRORS = {"lost": "net::ERR_CONNECTION_RESET", "unreached": "net::ERR_NAME_NOT_RESOLVED"}


@cache
def report(request: Request, *, fresh: bool = True) -> WireReport:
    """The gate's report; nothing is known once its keeper has died. `fresh`: requests leave on fresh connections."""
    if not request.armed:
        return NOTHING_SEEN
    if request.via == "get":
        passed = ("GET https://shop.test/pay",) if request.at == "underway" else ()
        return WireReport(armed=True, declared=True, reads=len(passed), passed=passed)
    if request.at == "unsent":
        return WireReport(armed=True, declared=True)
    return WireReport(armed=True, declared=True, facts=_facts(request, fresh=fresh))


def _facts(request: Request, *, fresh: bool) -> tuple[WireFact, ...]:
    refused = "the browser is ended" if request.at == "refused" else None
    declared = WireFact(
        method=POST[0],
        address=POST[1],
        at=RELEASED,
        declared=True,
        fresh=fresh,
        released=request.at == "underway",
        refused=refused,
        status=STATUSES.get(request.answer),
        error=ERRORS.get(request.answer),
        ended=request.answer == "ok",
    )
    if request.via != "undeclared" or request.at != "underway":
        return (declared,)
    other = WireFact(method=OTHER[0], address=OTHER[1], at=RELEASED, released=True, status=200, ended=True)
    return (declared, other)
