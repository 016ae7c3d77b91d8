"""The world of the model: requests, the records that they make, and the moves that nobody controls. Plain values."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

LATE = 2
"""Ticks after its sender's death in which a request may still take effect, where the site declares it."""


class Fate(Enum):
    """What becomes of a request at the site."""

    OPEN = "open"  # it may still take effect
    COMMITTED = "committed"
    NEVER = "never"


class Request(NamedTuple):
    """What one gesture sent.

    at: "unsent", "held" at the gate, "refused" there, or "underway". via: "declared", "get" (a link that the gate
    doesn't hold) or "undeclared" (a write to another site). answer: "", "ok", "no", "lost" or "unreached". dead: ticks
    since its browser died; None = it lives. armed: the gate has stood since before the input. copies: how often the
    browser has sent it.
    """

    at: str = "unsent"
    via: str = "declared"
    fate: Fate = Fate.OPEN
    answer: str = ""
    dead: int | None = None
    armed: bool = True
    copies: int = 1


class Record(NamedTuple):
    """One record in the site's ledger. maker: the gesture's index; -1 = a person, by hand. age: in ticks."""

    maker: int
    age: int = 0


class World(NamedTuple):
    """The truth. crashes, hands: how many crashes and records made by hand may still come."""

    requests: tuple[Request, ...] = ()
    records: tuple[Record, ...] = ()
    crashes: int = 0
    hands: int = 0

    def changed(self, gesture: int, **facts: object) -> World:
        """The world in which one request is different."""
        requests = list(self.requests)
        requests[gesture] = requests[gesture]._replace(**facts)  # type: ignore[arg-type]
        return self._replace(requests=tuple(requests))

    def with_record(self, maker: int) -> World:
        """The world with one more record."""
        return self._replace(records=(*self.records, Record(maker)))

    def made_by(self, gesture: int) -> list[Record]:
        """The records that a gesture has made."""
        return [record for record in self.records if record.maker == gesture]

    def may_still_commit(self, gesture: int, *, late: bool) -> bool:
        """Whether a gesture can take effect from now on; `late`: the site declares how late that can be."""
        request = self.requests[gesture]
        if request.fate is not Fate.OPEN or request.at == "refused":
            return False
        if request.dead is None:
            return True
        return request.at == "underway" and (not late or request.dead < LATE)

    def absent_for_good(self, gesture: int, *, late: bool) -> bool:
        """Whether a gesture has made nothing, and never will."""
        return not self.made_by(gesture) and not self.may_still_commit(gesture, late=late)


def ended(request: Request) -> Request:
    """The request once its browser is dead: what was held at the gate died with it."""
    if request.dead is not None:
        return request
    if request.at == "held" and request.armed:
        return request._replace(dead=0, at="refused", fate=Fate.NEVER)
    if request.at == "unsent":
        return request._replace(dead=0, fate=Fate.NEVER)
    return request._replace(dead=0)


def older(ticks: int | None, most: int) -> int | None:
    """One tick later, counted up to `most`."""
    return None if ticks is None else min(ticks + 1, most)


def tick(world: World, old: int) -> World:
    """The world one tick later. old: records of this age are on every list, and get no older."""
    records = tuple(record._replace(age=min(record.age + 1, old)) for record in world.records)
    requests = tuple(request._replace(dead=older(request.dead, LATE)) for request in world.requests)
    return world._replace(records=records, requests=requests)


def moves(world: World, powers: frozenset[str], *, late: bool) -> Iterator[tuple[str, World]]:
    """What the network, the site and a person with a browser of their own may do next."""
    for gesture, request in enumerate(world.requests):
        if request.at == "held":
            yield "the keeper releases it", world.changed(gesture, at="underway")
        if request.at == "underway":
            yield from _at_the_site(world, gesture, request, powers, late=late)
    if "by hand" in powers and world.hands and not world.records:
        yield "a person makes one by hand", world.with_record(-1)._replace(hands=world.hands - 1)


def _at_the_site(
    world: World, gesture: int, request: Request, powers: frozenset[str], *, late: bool
) -> Iterator[tuple[str, World]]:
    # A site that has said no, or could not be reached, commits nothing afterwards.
    if world.may_still_commit(gesture, late=late) and request.answer not in {"no", "unreached"}:
        yield "the site commits", world.changed(gesture, fate=Fate.COMMITTED).with_record(gesture)
    if "never" in powers and request.fate is Fate.OPEN:
        yield "the site drops it", world.changed(gesture, fate=Fate.NEVER)
    if request.dead is None and not request.answer:
        for answer in _answers(request, powers):
            fate = Fate.NEVER if answer == "unreached" else request.fate
            yield f"answer: {answer}", world.changed(gesture, answer=answer, fate=fate)
    if "sent again" in powers and request.copies == 1 and request.fate is Fate.COMMITTED and request.dead is None:
        again = world.changed(gesture, copies=2)
        yield "the browser sends it again, which commits", again.with_record(gesture)
        if not request.answer:
            yield "the browser sends it again, which is answered no", again.changed(gesture, answer="no")


def _answers(request: Request, powers: frozenset[str]) -> Iterator[str]:
    if request.fate is not Fate.OPEN or "accepted" in powers:
        yield "ok"
    if "no" in powers and request.fate is not Fate.OPEN:
        yield "no"
    if "lost" in powers:
        yield "lost"
    if "unreached" in powers and request.fate is Fate.OPEN:
        yield "unreached"
