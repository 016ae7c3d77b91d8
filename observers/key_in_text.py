"""What a text is worth: with the key of this very gesture it proves, without it it only supports.

Source: the rules of what an observer may prove. This module must not know pages or verdicts. What may never happen: a
text without the key becomes a match; a part of a longer key passes for the key ("S-7" in "S-70").
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
    """The half that observers have in common which prove with a key alone; what they read is named by their groups."""

    if TYPE_CHECKING:

        @property
        def key(self) -> str | None: ...

    @property
    def patterns(self) -> tuple[str | None, ...]:
        """The regular expressions whose named groups are the values."""
        return (getattr(self, "pattern", None),)

    @property
    def offers(self) -> frozenset[str]:
        """The names of the groups."""
        return frozenset().union(*(re.compile(pattern).groupindex for pattern in self.patterns if pattern))

    @property
    def proves(self) -> bool:
        """Only with a key."""
        return self.key is not None

    @property
    def supplies(self) -> frozenset[str]:
        """What it offers, if it can prove."""
        return self.offers if self.proves else frozenset()

    def with_key(self, key: str) -> "Observer":
        """The same with that key, unless it has one of its own."""
        return cast("Observer", replace(cast("Any", self), key=self.key or key))

    def said_of_recording(
        self,
        view: "View",
        what: str,
        hits: Callable[[Recording], Iterable["Hit"]],
        missing: Callable[[Recording], str],
    ) -> Observation:
        """As `said_of`, of what was recorded since the gesture's input; why there is nothing to read in, if so."""
        recorded, observer = view.recorded, cast("Observer", self)
        if recorded is None or not recorded.begun:
            return observer.cannot_tell(why_nothing(recorded), at=view.now())
        return said_of(observer, what, hits(recorded), view.now(), missing(recorded))


def of_one_key(proof: Iterable["Observer"]) -> tuple["Observer", ...]:
    """The proof, in which a text without a key takes the one by which the others look, if they all name the same."""
    proof = tuple(proof)
    keys = {key for observer in proof for key in _keys(observer)}
    return tuple(observer.with_key(*keys) for observer in proof) if len(keys) == 1 else proof


def _keys(observer: "Observer") -> Iterable[str]:
    """What the observer says that only this gesture's effect can hold; of a list, if one column alone says it."""
    for part in observer.parts:
        yield from _keys(part)
    key: object = getattr(observer, "key", None)
    if isinstance(key, Mapping) and len(key) == 1 and observer.unique:
        yield from key.values()
    elif isinstance(key, str):
        yield key


class Hit(NamedTuple):
    """Something that fits a pattern, what was seen of it, and whether it holds our key."""

    match: Match
    evidence: Evidence
    ours: bool


def holds(text: str, key: str | None) -> bool:
    """Does `text` hold the key, as a whole? Compared in normal form; no letter or digit may stand beside it."""
    if key is None:
        return False
    return re.search(rf"(?<![^\W_]){re.escape(normal(key))}(?![^\W_])(?![-./]\d)", normal(text)) is not None


def refuse_empty(*patterns: str | None, key: str | None = None) -> None:
    """Raise ValueError for a pattern or key that fits everything."""
    for pattern in filter(None, patterns):
        if re.compile(pattern).fullmatch(""):
            raise ValueError(f"the pattern {pattern!r} matches nothing at all: it would be seen on every page")
    if key is not None and not normal(key):
        raise ValueError("the key is empty: every text would hold it")


def said_of(observer: "Observer", what: str, hits: Iterable[Hit], at: datetime, missing: str) -> Observation:
    """What the hits come to: seen if they hold our key, else candidates, which prove nothing by themselves.

    Arguments:
        what: what was hit, as a person calls it: "the toast".
        missing: the sentence for no hit at all.
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
