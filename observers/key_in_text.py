"""What a text is worth: with this gesture's key it proves, without the key it only supports.

Source: the rules of what an observer may prove. A text without the key never becomes a match, and a part of a longer
key never passes for the key ("S-7" in "S-70").
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .evidence import Evidence, Match, Observation
from .normal import normal
from .recording import Recording, why_nothing

if TYPE_CHECKING:
    from .observer import Observer
    from .view import View


class Keyed:
    """The common part of observers that prove only with a key; their patterns' named groups are the values."""

    if TYPE_CHECKING:

        @property
        def key(self) -> str | None: ...

    @property
    def patterns(self) -> tuple[str | None, ...]:
        """The regular expressions whose named groups are the values."""
        return (getattr(self, "pattern", None),)

    @property
    def offers(self) -> frozenset[str]:
        """The names of the patterns' named groups."""
        return frozenset().union(*(re.compile(pattern).groupindex for pattern in self.patterns if pattern))

    @property
    def proves(self) -> bool:
        """Only with a key."""
        return self.key is not None

    @property
    def supplies(self) -> frozenset[str]:
        """The values that it offers, if it can prove."""
        return self.offers if self.proves else frozenset()

    def with_key(self, key: str) -> "Observer":
        """The same observer with that key, unless it has its own."""
        return cast("Observer", replace(cast("Any", self), key=self.key or key))

    def said_of_recording(
        self,
        view: "View",
        what: str,
        hits: Callable[[Recording], Iterable["Hit"]],
        missing: Callable[[Recording], str],
    ) -> Observation:
        """`said_of` for what was recorded since the gesture's input; "cannot tell" if there is no recording."""
        recorded, observer = view.recorded, cast("Observer", self)
        if recorded is None or not recorded.begun:
            return observer.cannot_tell(why_nothing(recorded), at=view.now())
        return said_of(observer, what, hits(recorded), view.now(), missing(recorded))


def of_one_key(proof: Iterable["Observer"]) -> tuple["Observer", ...]:
    """The proof, with the key of its other observers given to texts without one, if all those keys are the same."""
    proof = tuple(proof)
    keys = {key for observer in proof for key in _keys(observer)}
    return tuple(observer.with_key(*keys) for observer in proof) if len(keys) == 1 else proof


def _keys(observer: "Observer") -> Iterable[str]:
    """The observer's own keys; for a list only if it has a single key column and the key is unique."""
    for part in observer.parts:
        yield from _keys(part)
    key: object = getattr(observer, "key", None)
    if isinstance(key, Mapping) and len(key) == 1 and observer.unique:
        yield from key.values()
    elif isinstance(key, str):
        yield key


class Hit(NamedTuple):
    """Something that fits a pattern, the evidence of it, and whether it contains our key."""

    match: Match
    evidence: Evidence
    ours: bool


def holds(text: str, key: str | None) -> bool:
    """Whether `text` contains the key as a whole, compared in normal form. No letter or digit may touch it, and no
    `-`, `.` or `/` with a digit may follow."""
    if key is None:
        return False
    return re.search(rf"(?<![^\W_]){re.escape(normal(key))}(?![^\W_])(?![-./]\d)", normal(text)) is not None


def refuse_empty(*patterns: str | None, key: str | None = None) -> None:
    """Raise ValueError for a pattern or key that matches everything."""
    for pattern in filter(None, patterns):
        if re.compile(pattern).fullmatch(""):
            raise ValueError(f"the pattern {pattern!r} matches nothing at all: it would be seen on every page")
    if key is not None and not normal(key):
        raise ValueError("the key is empty: every text would hold it")


def said_of(observer: "Observer", what: str, hits: Iterable[Hit], at: datetime, missing: str) -> Observation:
    """The observation from the hits: seen if they contain our key, otherwise candidates, which prove nothing alone.

    Args:
        observer: the observer that looked.
        what: a person's word for the thing that was hit, such as "the toast".
        hits: what fits its pattern.
        at: when it looked.
        missing: the sentence if there is no hit.
    """
    hits = list(hits)
    ours = [hit for hit in hits if hit.ours]
    if ours:
        said = observer.seen([hit.match for hit in ours], *(hit.evidence for hit in ours), at=at)
        return said.model_copy(update={"observer": what})
    if not hits:
        return observer.cannot_tell(missing, at=at)
    reasons = dict.fromkeys(
        f"{what} “{hit.match.identity}” doesn't hold our key, so it supports and proves nothing" for hit in hits
    )
    evidence = [hit.evidence for hit in hits]
    return observer.cannot_tell(*reasons, evidence=evidence, at=at, candidates=[hit.match for hit in hits])
