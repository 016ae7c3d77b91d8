"""The observer: a read-only routine that looks for proof; pure data, stored with the intent.

An observer can't act: the view that it gets can only read. A stored observer must never be read back as one that
looks for less: an unknown kind or field is an error and is never ignored.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, dataclass_transform

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from .evidence import Evidence, ListFacts, Match, Observation, Sight
from .site import Site

if TYPE_CHECKING:
    from .view import View

RecordingKind = Literal["toasts", "pages", "downloads", "answers"]
"""What can be recorded during a gesture, on the connection that makes it."""


class UnknownKind(LookupError):
    """A stored observer can't be read back: its kind is unknown here, or its fields differ from the stored ones."""


class KindTaken(TypeError):
    """Two observer classes have the same name, so one could be read back as the other."""


_kinds: dict[str, type["Observer"]] = {}
_UNLESS_DECLARED = {"site": None, "unique": True, "staleness": timedelta(0), "times": 1}


@dataclass_transform(frozen_default=True)
class Observer(ABC):
    """Base of all observers. A subclass becomes a frozen, validated dataclass and is registered under its name.

        class Paid(Observer):
            site: Site
            order: str

            def look(self, view: View) -> Observation:
                page = view.open(self.site / f"orders/{self.order}")
                if found := page.find(rf"Paid on (?P<day>\\S+) for {self.order}"):
                    return self.seen([hit.match() for hit in found], fresh=True)
                return self.cannot_tell("the order's page doesn't say that it is paid")

    `counts`: this kind counts effects; without it, what is seen proves "at least once". `opens`: this kind opens
    fresh pages, so the first quick looks after a gesture leave it out. `site`, `unique`, `staleness` and `times` (the
    matches that one effect makes) may be fields of the subclass.
    """

    counts: ClassVar[bool] = False
    opens: ClassVar[bool] = False
    if TYPE_CHECKING:

        @property
        def site(self) -> Site | None: ...
        @property
        def unique(self) -> bool: ...
        @property
        def staleness(self) -> timedelta: ...
        @property
        def times(self) -> int: ...

    else:  # no class attributes: a dataclass would take them as defaults of a subclass's fields

        def __getattr__(self, name: str) -> object:
            if name in _UNLESS_DECLARED:
                return _UNLESS_DECLARED[name]
            raise AttributeError(f"{type(self).__name__} has no {name!r}")

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        dataclass(frozen=True, config=ConfigDict(extra="forbid", arbitrary_types_allowed=False))(cls)
        _register(cls)

    @abstractmethod
    def look(self, view: "View") -> Observation:
        """Look once, by reading only, and say what was seen. May raise: `observe` turns that into "cannot tell"."""

    @property
    def supplies(self) -> frozenset[str]:
        """Names of the values that this observer can supply when it sees what it looks for."""
        return frozenset()

    @property
    def offers(self) -> frozenset[str]:
        """Names of the values that its candidates can have; more than `supplies` if it gives only support."""
        return self.supplies

    @property
    def proves(self) -> bool:
        """Whether it can ever prove anything; false if it only supports what other observers see."""
        return True

    @property
    def parts(self) -> "tuple[Observer, ...]":
        """The observers that must each see their part, where one effect has several parts."""
        return ()

    def with_key(self, key: str) -> "Observer":
        """The same observer, with the key of the rest of its proof if it can use one and has none."""
        return self

    @property
    def records(self) -> frozenset[RecordingKind]:
        """What must be recorded for it, starting before the gesture's input."""
        return frozenset()

    def observe(self, view: "View") -> Observation:
        """`look`, but never raise an Exception: a look that failed proves nothing."""
        try:
            return self.look(view)
        except Exception as error:
            return self.cannot_tell(f"the look ended with {type(error).__name__}: {_first_line(error)}")

    def seen(
        self,
        matches: Iterable[Match],
        *evidence: Evidence,
        at: datetime | None = None,
        reasons: Iterable[str] = (),
        **more: Any,
    ) -> Observation:
        """What it looks for is there; `more` = fresh, complete, partial, pending, and as in `not_seen`.

        Without matches: cannot tell.
        """
        matches = tuple(matches)
        if not matches:
            return self.cannot_tell(*reasons, evidence=evidence, at=at)
        return self._says(Sight.seen, matches, reasons, evidence, at, **more)

    def not_seen(
        self,
        *reasons: str,
        evidence: Iterable[Evidence] = (),
        at: datetime | None = None,
        complete: bool = False,
        fresh: bool = True,
        **more: Any,
    ) -> Observation:
        """The look finished without a match. It proves absence only if `complete` and other conditions hold (see
        `absence_missing`). `more`: rows, account and as_of of the list that was read (see `Observation`)."""
        return self._says(Sight.not_seen, (), reasons, evidence, at, complete=complete, fresh=fresh, **more)

    def cannot_tell(
        self,
        *reasons: str,
        evidence: Iterable[Evidence] = (),
        at: datetime | None = None,
        candidates: Iterable[Match] = (),
        login: bool = False,
        misfit: bool = False,
        listing: ListFacts | None = None,
    ) -> Observation:
        """Neither seen nor not seen; each reason is a sentence.

        `candidates`: possible matches, for another observer to verify. `login`: a login page came instead.
        `misfit`: the page loaded, but isn't what this observer was told to read. `listing`: how its list was read.
        """
        said = self._says(Sight.cannot_tell, (), reasons, evidence, at, login=login, misfit=misfit, listing=listing)
        return said.model_copy(update={"candidates": tuple(candidates)})

    def _says(
        self,
        sight: Sight,
        matches: tuple[Match, ...],
        reasons: Iterable[str],
        evidence: Iterable[Evidence],
        at: datetime | None,
        **more: Any,
    ) -> Observation:
        return Observation(
            kind=type(self).__name__,
            observer=str(self),
            sight=sight,
            matches=matches,
            counts=self.counts,
            reasons=tuple(reasons),
            evidence=tuple(evidence),
            at=at or datetime.now(UTC),
            staleness=self.staleness,
            **more,
        )

    def to_json(self) -> dict[str, Any]:
        """The observer as plain JSON data: `{"kind": ..., its fields}`; a site is its name."""
        fields = cast("dict[str, Any]", TypeAdapter(type(self)).dump_python(self, mode="json"))
        return {"kind": type(self).__name__, **fields}

    @staticmethod
    def from_json(data: Mapping[str, Any], sites: Mapping[str, Site] | None = None) -> "Observer":
        """Read back the observer that `to_json` wrote. `sites`: the declared sites by name. Raises UnknownKind."""
        fields = dict(data)
        kind = fields.pop("kind", None)
        found = _kinds.get(str(kind))
        if found is None:
            raise UnknownKind(f"no observer of the kind {kind!r} is known here; import the module that declares it")
        try:
            return TypeAdapter(found).validate_python(fields, context={"sites": dict(sites or {})})
        except ValidationError as error:
            words = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
            raise UnknownKind(f"the stored {kind} can't be read by the {kind} that is known here: {words}") from error

    @staticmethod
    def kinds() -> Mapping[str, type["Observer"]]:
        """All known kinds by name."""
        return dict(_kinds)

    def __str__(self) -> str:
        return type(self).__name__


def _register(cls: type[Observer]) -> None:
    other = _kinds.get(cls.__name__)
    if other is not None and not _same(cls, other):
        raise KindTaken(
            f"an observer named {cls.__name__} is declared twice: in {other.__module__} as {other.__qualname__} "
            f"and in {cls.__module__} as {cls.__qualname__}; give one of them another name"
        )
    _kinds[cls.__name__] = cls


def _same(one: type, other: type) -> bool:
    """Whether it is one class, declared again: its module was reloaded, or is both __main__ and imported."""
    return one.__qualname__ == other.__qualname__ and (
        one.__module__ == other.__module__ or _file(one) == _file(other) is not None
    )


def _file(cls: type) -> str | None:
    return getattr(sys.modules.get(cls.__module__), "__file__", None)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
