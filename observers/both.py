"""Two effects that one gesture has together: an order AND the mail about it.

This module only combines what its parts say. If one part is there and the other isn't, the effect is partial and a
person is asked; if both are absent, the effect is absent. One part never stands in for the other.
"""

from dataclasses import KW_ONLY
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import PlainSerializer, PlainValidator, ValidationInfo

from .evidence import Observation, Sight
from .observer import Observer, RecordingKind

if TYPE_CHECKING:
    from .view import View


def _nested(value: Any, info: ValidationInfo) -> Observer:
    if isinstance(value, Observer):
        return value
    if not isinstance(value, dict):
        raise ValueError("not an observer")
    return Observer.from_json(value, (info.context or {}).get("sites"))


Nested = Annotated[Observer, PlainValidator(_nested), PlainSerializer(Observer.to_json)]
"""An observer as a field of another, stored as it stores itself."""


class Both(Observer):
    """Two observers that must both see what they look for. Nest it for three: `Both(a, Both(b, c))`.

        proof=[Both(Record(shop, "orders", key={"Reference": order}), SentMail(mail, to=..., subject=order))]

    Only for what ONE gesture does as a whole. In a plain `proof=[a, b]`, one observer that proves is enough; that is
    right for two views of the same effect.
    """

    counts: ClassVar[bool] = True
    opens: ClassVar[bool] = True

    one: Nested
    other: Nested
    _: KW_ONLY

    @property
    def parts(self) -> tuple[Observer, ...]:
        """The two."""
        return self.one, self.other

    @property
    def unique(self) -> bool:
        """Whether both keys are unique."""
        return self.one.unique and self.other.unique

    @property
    def staleness(self) -> timedelta:
        """The longer staleness of the two."""
        return max(self.one.staleness, self.other.staleness)

    @property
    def supplies(self) -> frozenset[str]:
        """The values of both."""
        return self.one.supplies | self.other.supplies

    @property
    def proves(self) -> bool:
        """Only if both prove."""
        return self.one.proves and self.other.proves

    @property
    def records(self) -> frozenset[RecordingKind]:
        """What either needs."""
        return self.one.records | self.other.records

    def with_key(self, key: str) -> Observer:
        """Both of them with that key."""
        return Both(self.one.with_key(key), self.other.with_key(key))

    def look(self, view: "View") -> Observation:
        """Ask both."""
        return self.together(tuple(part.observe(view) for part in self.parts))

    def together(self, parts: tuple[Observation, ...]) -> Observation:
        """Combine what the parts say. Each part's own baseline decides what is new."""
        seen = [part.sight is Sight.seen for part in parts]
        blind = any(part.sight is Sight.cannot_tell for part in parts) and not any(seen)
        return Observation(
            kind=type(self).__name__,
            observer=str(self),
            sight=Sight.seen if any(seen) else Sight.cannot_tell if blind else Sight.not_seen,
            matches=tuple(match for part in parts for match in part.matches),
            candidates=tuple(match for part in parts if part.counts for match in part.candidates),
            complete=not blind and all(part.complete for part in parts),
            fresh=all(part.fresh for part in parts),
            counts=any(part.counts for part in parts),
            partial=not blind and (any(part.partial for part in parts) or (any(seen) and not all(seen))),
            pending=not blind and any(part.pending for part in parts),
            reasons=tuple(dict.fromkeys(f"{part.observer}: {reason}" for part in parts for reason in part.reasons)),
            evidence=tuple(kept for part in parts for kept in part.evidence),
            at=max(part.at for part in parts),
            staleness=self.staleness,
            parts=parts,
        )

    def __str__(self) -> str:
        return f"{self.one}, and {self.other}"
