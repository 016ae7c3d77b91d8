"""What a look before a gesture says about its proof: what each observer could read, and what it could prove. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from observers import Circumstances, Match, Observation, Observer, Outcome, Sight, Site, absence_missing, weigh
from observers.baselines import there_before
from observers.evidence import ListFacts

_LONG_ENOUGH = timedelta(days=36_500)
_A_MOMENT = timedelta(seconds=1)


class Sees(StrEnum):
    """Whether an observer can see what it looks for.

    yes: it could tell. no: it could not, so no gesture would be made. later: it sees something only after the
    gesture, such as a confirmation.
    """

    YES = "yes"
    NO = "no"
    LATER = "later"


class Obstacle(StrEnum):
    """Why a run would not make a step's gesture."""

    PAGE = "page"
    LOGIN_PAGE = "login_page"
    WRONG_PAGE = "wrong_page"
    UNREADABLE = "unreadable"
    THIN_PROOF = "thin_proof"
    CONTROL = "control"
    OTHER_REQUEST = "other_request"


@dataclass(frozen=True)
class ListRead:
    """What was read of one list.

    Args:
        observer: who read it, in words.
        facts: how it was read.
        empty: the declared text of the empty list; "" = none is declared.
    """

    observer: str
    facts: ListFacts
    empty: str = ""


@dataclass(frozen=True)
class ObserverCheck:
    """What one observer of a proof could see before the gesture.

    Args:
        observer: the observer in words.
        kind: its kind.
        sees: see `Sees`.
        counts: it counts effects.
        lists: the lists that it read.
        there: what it already sees of the gesture's effect, each as the page shows it.
        reasons: what it could not tell or doubts, in sentences.
        presence: what is missing for it to prove a presence, in sentences; empty = it could prove one.
        absence: what is missing for it to prove an absence; empty if nothing is.
        on_your_word: what it declares and no look has shown: name -> in words.
    """

    observer: str
    kind: str
    sees: Sees
    counts: bool
    lists: tuple[ListRead, ...] = ()
    there: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    presence: tuple[str, ...] = ()
    absence: tuple[str, ...] = ()
    on_your_word: Mapping[str, str] = field(default_factory=dict)


def check_proof(
    proof: Sequence[Observer], seen: Sequence[Observation], late_commit: timedelta | None, untried: frozenset[str]
) -> tuple[ObserverCheck, ...]:
    """What each observer of a proof could see.

    Args:
        proof: the observers.
        seen: what each of them saw before the gesture.
        late_commit: how late a request may still take effect; None = a site doesn't declare it.
        untried: the kinds of the user's own observers that have never proven a presence at the site.
    """
    dead = Circumstances(
        sender_dead=True, waited=_LONG_ENOUGH, late_commit=late_commit, spaced_looks_agree=True, untried=untried
    )
    return tuple(_checked(watch, said, dead) for watch, said in zip(proof, seen, strict=True))


def obstacles(seen: Sequence[Observation]) -> Iterator[tuple[Obstacle, str]]:
    """Why a run would not make the gesture, by what its observers saw; a login page is the caller's to report."""
    for said in seen:
        if said.counts and said.sight is Sight.cannot_tell and not said.candidates and not said.login:
            kind = Obstacle.WRONG_PAGE if said.misfit else Obstacle.UNREADABLE
            yield kind, f"{said.observer}: {'; '.join(said.reasons)}"


def nearest(lacks: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """What the observer lacks that is nearest to a proof: one observer that proves is enough."""
    return min(lacks, key=len, default=("nobody looks",))


def _checked(watch: Observer, said: Observation, dead: Circumstances) -> ObserverCheck:
    could_tell = said.sight is not Sight.cannot_tell or bool(said.candidates)
    return ObserverCheck(
        observer=said.observer,
        kind=said.kind,
        sees=(Sees.YES if could_tell else Sees.NO) if said.counts else Sees.LATER,
        counts=said.counts,
        lists=tuple(_lists(watch, said)),
        there=tuple(match.identity for match in there_before(said)),
        reasons=said.reasons if said.counts else (),
        presence=_presence_missing(watch, said),
        absence=absence_missing(said, dead),
        on_your_word=dict(_on_your_word(watch)),
    )


def _presence_missing(watch: Observer, said: Observation) -> tuple[str, ...]:
    """What is missing, although everything goes well, once the observer sees one new match."""
    if not watch.proves:
        return (f"{said.observer} without a key only supports what other observers see",)
    answered = Circumstances(
        guarded=True,
        released_at=said.at,
        early=frozenset(),
        key_used_otherwise=False,
        window=(said.at - _A_MOMENT, said.at + _A_MOMENT),
    )
    verdict = weigh([_as_if_seen(watch, said)], [said], [watch], answered)
    return () if verdict.outcome is Outcome.happened else (*verdict.missing, *verdict.reasons)


def _as_if_seen(watch: Observer, said: Observation) -> Observation:
    """The observation of a look that sees what the observer looks for, where there was none of it before."""
    parts = tuple(_as_if_seen(part, seen) for part, seen in zip(watch.parts, said.parts, strict=False))
    at = said.at if getattr(watch, "created", "") else None
    new = Match(identity="what the gesture makes", at=at, since=said.at + _A_MOMENT)
    more = {"pending": False, "partial": False, "parts": parts, "matches": (*said.matches, new)}
    return said.model_copy(update={"sight": Sight.seen, **more})


def _lists(watch: Observer, said: Observation) -> Iterator[ListRead]:
    for part, seen in zip(watch.parts, said.parts, strict=False):
        yield from _lists(part, seen)
    if said.listing is not None:
        yield ListRead(said.observer, said.listing, getattr(watch, "empty", ""))


def _on_your_word(watch: Observer) -> Iterator[tuple[str, str]]:
    """What an observer declares and no look can show."""
    for part in watch.parts:
        yield from _on_your_word(part)
    if watch.counts and getattr(watch, "complete", False):
        yield "complete", "the list holds every record of its kind"
        lag = watch.staleness.total_seconds()
        yield "staleness", f"the list lags by at most {lag:g} s" if lag else "the list has no lag"
    if "unique" in getattr(watch, "__dataclass_fields__", ()) and watch.unique:
        yield "unique", "no other record can ever have this key"


def site_on_your_word(site: Site) -> Mapping[str, str]:
    """What a site declares and no look can show: name -> in words."""
    requests = {"accepts": site.accepts, "rejects": site.rejects, "harmless": site.harmless, "reads": site.reads}
    late = {} if site.late_commit is None else {"late_commit": f"{site.late_commit.total_seconds():g} s"}
    sole = {"sole_user": "nobody else makes records in this account"} if site.sole_user else {}
    return late | {name: ", ".join(map(str, value)) for name, value in requests.items() if value} | sole
