"""The names that tests use for the durable points of a gesture."""

from __future__ import annotations

from browser_agent.errors import Misuse
from browser_agent.states import Point

WORDS = {
    "before intent": Point.BEFORE_INTENT,
    "intent": Point.INTENT,
    "dispatch": Point.DISPATCHING,
    "input": Point.INPUT,
    "paused": Point.PAUSED,
    "released": Point.RELEASED,
    "answered": Point.ANSWERED,
    "settled": Point.SETTLED,
}
"""In the order in which a gesture reaches them."""

MEANING = {
    Point.BEFORE_INTENT: "nothing is stored yet",
    Point.INTENT: "the intent is stored, and the gesture not made",
    Point.DISPATCHING: "it may be made from now on",
    Point.INPUT: "the click or key has been made",
    Point.PAUSED: "its request is held at the gate",
    Point.RELEASED: "its request has been released",
    Point.ANSWERED: "the site has answered",
    Point.SETTLED: "its outcome is stored",
}


def point_of(word: str) -> Point:
    """The point with that test name, or with that own name.

    Raises:
        Misuse: there is none; lists all names.
    """
    if word in WORDS:
        return WORDS[word]
    try:
        return Point(word.replace("-", "_"))
    except ValueError:
        known = "; ".join(f"{name!r}: {MEANING[point]}" for name, point in WORDS.items())
        raise Misuse(f"There is no point {word!r} of a gesture to kill at. There are {known}.") from None


def word_of(point: Point) -> str:
    """The name of a point."""
    return next(word for word, named in WORDS.items() if named is point)


def in_words(point: Point, gesture: int = 1) -> str:
    """The point of a kill in words, such as "after dispatch of gesture 2"."""
    where = word_of(point) if point is Point.BEFORE_INTENT else f"after {word_of(point)}"
    return where if gesture == 1 else f"{where} of gesture {gesture}"
