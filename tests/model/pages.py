"""The pages that a look may be shown, and what each observer says of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import ClassVar, NamedTuple

from observers import ConfirmationText, Match, Observation, Observer, Record, Site, View
from observers.listing import Listing, ListReader
from tests.model.world import LATE, Fate, Request, World

NOW = datetime(2026, 12, 3, 12, tzinfo=UTC)
TICK = timedelta(seconds=10)
RELEASED = NOW - timedelta(hours=1)
KEY = {"Reference": "S-101"}


class OwnList(Observer):
    """An observer of the user's own that has never seen anything yet."""

    counts: ClassVar[bool] = True

    def look(self, view: View) -> Observation:
        """Not used: the model says what it sees."""
        raise NotImplementedError


class Scenario(NamedTuple):
    """One small world: its proof, and what may go wrong in it.

    proof: "list", "text", "both", "own" or "shared" (a list by a key that others have too). late: the site declares
    late_commit. stale: ticks by which the list may lag, as declared. rows: other rows in the list. via: how the
    gesture's request leaves.
    """

    name: str
    powers: frozenset[str]
    proof: str = "list"
    late: bool = True
    stale: int = 0
    rows: int = 1
    via: str = "declared"
    crashes: int = 0

    @property
    def lists(self) -> bool:
        """Whether the proof has an observer that counts."""
        return self.proof != "text"


class Page(NamedTuple):
    """One look's pages. kind: of the list. ids: of the records on it. text: "", "shown", "early" or "candidate"."""

    kind: str = "list"
    ids: tuple[int, ...] = ()
    text: str = ""
    refusal: bool = False


@cache
def site_of(scenario: Scenario) -> Site:
    """The site as the task declares it."""
    late = LATE * TICK if scenario.late else None
    return Site("shop", url="https://shop.test", account="ada", late_commit=late, signed_in="{account}")


@cache
def proof_of(scenario: Scenario) -> tuple[Observer, ...]:
    """The observers of the gesture."""
    site, stale = site_of(scenario), scenario.stale * TICK
    listed = Record(site, "orders", key=KEY, complete=True, staleness=stale, unique=scenario.proof != "shared")
    text = ConfirmationText(r"Order (?P<number>\S+) for S-101", key="S-101")
    kinds: dict[str, tuple[Observer, ...]] = {"text": (text,), "both": (text, listed), "own": (OwnList(),)}
    return kinds.get(scenario.proof, (listed,))


@cache
def observations(scenario: Scenario, page: Page) -> tuple[Observation, ...]:
    """What the observers of the proof say of a page."""
    return tuple(
        _of_text(observer, page) if isinstance(observer, ConfirmationText) else _of_list(scenario, observer, page)
        for observer in proof_of(scenario)
    )


def _match(number: int, since: datetime | None = None) -> Match:
    return Match(values={"number": f"O-{number}"}, identity=f"S-101 O-{number}", at=RELEASED, since=since)


def _of_text(observer: Observer, page: Page) -> Observation:
    more = {"refusal": page.refusal}
    if page.text in {"shown", "early"}:
        since = RELEASED + TICK if page.text == "shown" else RELEASED - TICK
        return observer.seen([_match(7, since)], at=NOW).model_copy(update=more)
    candidates = [_match(7)] if page.text == "candidate" else []
    return observer.cannot_tell(at=NOW, candidates=candidates).model_copy(update=more)


def _of_list(scenario: Scenario, observer: Observer, page: Page) -> Observation:
    if page.kind == "blind":
        return observer.cannot_tell("the list can't be read", at=NOW)
    rows = scenario.rows + len(page.ids)
    more: dict[str, object] = {"fresh": True, "complete": True, "account": "ada", "rows": rows}
    match page.kind:
        case "short":
            more["rows"] = scenario.rows - 1
        case "foreign":
            more["account"] = "eve"
        case "bare":
            more |= {"rows": 0, "complete": is_controlled(scenario, rows=0, told_empty=False)}
        case "failed":
            more |= {"rows": rows + 1, "without_effect": (_match(7),)}
        case _:
            more["complete"] = scenario.proof == "own" or is_controlled(scenario, rows=rows, told_empty=not rows)
    if not page.ids:
        return observer.not_seen(at=NOW).model_copy(update=more)
    return observer.seen(map(_match, page.ids), at=NOW).model_copy(update=more)


def is_controlled(scenario: Scenario, *, rows: int, told_empty: bool) -> bool:
    """Whether a list has shown that it can see, by the rule of the real reader of lists."""
    listing = Listing(headers=("reference",), rows_read=rows, rows_with_key=rows, told_empty=told_empty)
    ListReader(site_of(scenario), KEY, empty="No orders yet")._check_control(listing, set())
    return not listing.why_not_whole


def pages(scenario: Scenario, world: World, gesture: int | None, *, fresh: bool = True) -> Iterator[Page]:
    """Every page that a look may be shown now.

    Args:
        scenario: the small world's declarations and powers.
        world: the truth.
        gesture: index of the gesture that was made; None before one is made.
        fresh: the list is opened, too.
    """
    request = world.requests[gesture] if gesture is not None else None
    texts = set(_texts(scenario, world, gesture, request)) if scenario.proof in {"text", "both"} else {""}
    refusal = request is not None and request.answer == "no" and request.dead is None and request.fate is Fate.NEVER
    lists = set(_lists(scenario, world, request)) if fresh and scenario.lists else {Page("blind")}
    for text in texts:
        for page in lists:
            yield page._replace(text=text, refusal=refusal)


def _lists(scenario: Scenario, world: World, request: Request | None) -> Iterator[Page]:
    sure = tuple(number for number, record in enumerate(world.records) if record.age >= scenario.stale)
    if scenario.proof == "own":
        yield Page()  # it never sees anything
        return
    yield Page(ids=sure)
    yield Page(ids=tuple(range(len(world.records))))
    if "blind" in scenario.powers:
        yield Page("blind")
    if request is None:
        return
    for kind in ("short", "foreign", "bare"):
        if kind in scenario.powers:
            yield Page(kind)
    # A list that lags behind more than it declares: only what else was seen of the gesture can speak against it.
    if "yesterday" in scenario.powers and request.answer == "ok":
        yield Page()
    if "failed row" in scenario.powers and request.fate is Fate.COMMITTED:
        yield Page("failed")


def _texts(scenario: Scenario, world: World, gesture: int | None, request: Request | None) -> Iterator[str]:
    """What the task's page says; nothing once its browser is dead."""
    if request is None or request.dead is not None or gesture is None or request.at == "unsent":
        yield ""
        return
    if "optimistic" in scenario.powers:
        yield "early"
        return
    posted = request.answer == "ok" and bool(world.made_by(gesture))
    if posted and "candidate" in scenario.powers:
        yield "candidate"
    else:
        yield "shown" if posted else ""
