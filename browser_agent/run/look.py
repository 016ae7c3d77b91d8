"""A look: the proof's observers look through a read-only view; what they say is stored and weighed into a verdict.

The same code looks on a good day and after a crash. It makes no gesture, and writes nothing but what was seen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter

from browser_agent.run.attempt import Attempt
from browser_agent.run.shared_keys import are_shared, used_otherwise, window
from browser_agent.run.step_history import StepHistory
from browser_agent.secrets.scrubber import Scrubber
from browser_agent.store.records import GestureRow
from browser_agent.wire import WireReport, is_among
from observers import (
    Circumstances,
    Condition,
    Match,
    Observation,
    Observer,
    Outcome,
    Sight,
    Site,
    UnknownKind,
    Verdict,
    looks_agree,
    new_refusal,
    refusal_conditions,
    unmet,
    weigh,
)
from observers.request_pattern import matches_request
from observers.view import PageView

_LOGIN = "a login page came instead of what was to be read"
SPACING_SECONDS = 1.0
"""The least time between two looks that prove an absence."""

BASELINE = TypeAdapter(tuple[Observation | None, ...])
"""What each observer saw before the step's first gesture, as it is stored."""


@dataclass
class Case:
    """A gesture and the proof that settles it, with what has been seen of it so far.

    `baseline`: what each observer saw before it was made. `dead_at`: when its sender was confirmed dead. `written`: the
    sites that its released requests went to; None = one that isn't declared. `earlier_may_be_late`: an earlier gesture
    of the step may still take effect. `promises`: answers, seen by the gate of an earlier keeper, that contradict an
    absence. `early`: what stood on the page while the commit request was unanswered; None = nobody looked then.
    `refusal_shown`: a page has shown the site's refusal. `returned_form`: the errors of the form that came back as the
    answer, which is a refusal too.
    """

    gesture: str
    words: str
    proof: tuple[Observer, ...]
    baseline: tuple[Observation | None, ...]
    site: Site | None
    sends: str | None = None
    dead_at: datetime | None = None
    written: tuple[Site | None, ...] = ()
    earlier_may_be_late: bool = False
    promises: tuple[str, ...] = ()
    early: frozenset[str] | None = None
    refusal_shown: bool = False
    returned_form: tuple[str, ...] = ()

    @property
    def late_commit(self) -> timedelta | None:
        """How late a request may still take effect: the longest time that a site of this case declares.

        The sites are the step's, each observer's, and those that got a released request. None = one declares no time.
        """
        looked_at = (observer.site for observer in self.proof if observer.counts)
        sites = (self.site, *(site for site in looked_at if site is not None), *self.written)
        times = [site.late_commit if site is not None else None for site in sites]
        known = [time for time in times if time is not None]
        return max(known) if len(known) == len(times) else None

    @property
    def harmless(self) -> tuple[str, ...]:
        """Patterns of the writes that change nothing important at the case's site."""
        return tuple(self.site.harmless) if self.site is not None else ()

    @property
    def staleness(self) -> timedelta:
        """The longest lag of the lists that could prove an absence; the others aren't worth waiting for."""
        lags = (observer.staleness for observer in self.proof if getattr(observer, "complete", True))
        return max(lags, default=timedelta(0))

    @property
    def safe_from(self) -> datetime | None:
        """The time from which an absence may be proven; None while that isn't known."""
        if self.dead_at is None or self.late_commit is None:
            return None
        return self.dead_at + self.late_commit + self.staleness


def stored_case(attempt: Attempt, row: GestureRow) -> Case:
    """The case of a stored gesture.

    Raises:
        UnknownKind: an observer of its proof isn't known here, or a secret that its baseline shows isn't.
    """
    if lost := attempt.store.database.scrubber.covered_unknown(row.baseline or ""):
        raise UnknownKind(
            f"the secret {lost} isn't known here, so what was there before can't be told from what is new"
        )
    intent = json.loads(row.intent)
    proof = tuple(Observer.from_json(stored, sites=attempt.sites) for stored in intent["proof"])
    baseline = BASELINE.validate_json(row.baseline or "[]")
    site = attempt.sites.get(row.site or "")
    history = StepHistory.before(attempt.store, row)
    case = Case(row.id, row.words, proof, baseline, site, row.sends, dead_at=row.sender_dead_at)
    case.earlier_may_be_late = history.may_be_late
    if row.wire is not None:
        case.promises = WireReport.model_validate_json(row.wire).promises(case.harmless)
    return case


@dataclass(frozen=True)
class LookResult:
    """One look and its verdict; `ids` are those of the stored observations, by position ("" = not stored).

    `refusal`: the conditions for what was seen to agree with an answer of the site that says no.
    """

    verdict: Verdict
    observations: tuple[Observation, ...]
    ids: tuple[str, ...]
    refusal: tuple[Condition, ...]

    @property
    def agrees_with_refusal(self) -> bool:
        """Whether what was seen agrees with an answer of the site that says no."""
        return not unmet(self.refusal)

    @property
    def clear(self) -> bool:
        """Whether no proof contradicts another, and no more than one effect was seen."""
        return not self.verdict.contradiction and not self.verdict.more_than_once

    @property
    def happened(self) -> bool:
        """Whether it is proven that it happened, with nothing left for a person to decide."""
        return self.clear and self.verdict.outcome is Outcome.happened

    @property
    def proven_by(self) -> str:
        """JSON of the ids of the observations that decided."""
        return json.dumps([self.ids[position] for position in self.verdict.by])


class Looker:
    """Looks at one case, and remembers the last look, since an absence is proven by two looks that agree.

    Args:
        attempt: the attempt that looks.
        case: what it looks for.
        made: whether the case's gesture has been made, or may have been.
    """

    def __init__(self, attempt: Attempt, case: Case, *, made: bool = True) -> None:
        self._attempt, self._case, self._made = attempt, case, made
        self._earlier: tuple[datetime, tuple[Observation, ...]] | None = None  # the first of the looks that agree
        self._stored: tuple[str, ...] = ()  # what the last stored look said
        self._began = attempt.clock.now(), attempt.clock.monotonic()

    def look(self, wire: WireReport, *, fresh: bool = True) -> LookResult:
        """Look once.

        Args:
            wire: what the gate saw of the gesture.
            fresh: open fresh pages too; without it, only observers of the page as it stands look.
        """
        made = self._case.gesture if self._made else None
        unanswered = bool(wire.released) and not wire.commit_answered
        observations = observe(self._attempt, self._case.proof, fresh=fresh, gesture=made)
        if unanswered and not self._attempt.wire(self._case.gesture).commit_answered:  # it was so all the time
            shown = (match for seen in observations if not seen.counts for match in (*seen.matches, *seen.candidates))
            self._case.early = (self._case.early or frozenset()) | {match.identity for match in shown}
        return self.weigh(observations, wire)

    def weigh(self, observations: tuple[Observation, ...], wire: WireReport) -> LookResult:
        """Weigh and store what was seen; `wire`: what the gate saw of the gesture."""
        self._case.refusal_shown |= new_refusal(observations, self._case.baseline)
        told = self._circumstances(observations, wire)
        verdict = weigh(observations, self._case.baseline, self._case.proof, told)
        refusal = refusal_conditions(observations, self._case.baseline, told)
        return LookResult(verdict, observations, self._store(observations, verdict), refusal)

    def _store(self, observations: tuple[Observation, ...], verdict: Verdict) -> tuple[str, ...]:
        """Store the observations if they decide something or say something new; the log needs no line an empty look."""
        said = tuple(f"{seen.sight} {len(seen.matches)} {seen.reasons}" for seen in observations)
        if verdict.outcome is Outcome.unknown and not verdict.matches and said == self._stored:
            return ("",) * len(observations)
        self._stored = said
        texts = [observation.model_dump_json() for observation in observations]
        return tuple(self._attempt.store.journal.observe(self._attempt.lease, self._case.gesture, texts)[1])

    def _circumstances(self, observations: tuple[Observation, ...], wire: WireReport) -> Circumstances:
        now, dead_at, case = self._attempt.clock.now(), self._case.dead_at, self._case
        case.written = tuple(self._written_to(wire))
        shared = self._of_shared_keys(now) if self._made and are_shared(self._case.proof) else {}
        return Circumstances(
            sender_dead=dead_at is not None and self._attempt.senders_seen,
            waited=now - dead_at if dead_at is not None else None,
            late_commit=self._case.late_commit,
            spaced_looks_agree=self._agree(observations, now),
            guarded=wire.guarded,
            restarts=wire.restarts,
            unanswered=not wire.commit_answered,
            released_at=wire.commit.at if wire.commit is not None else None,
            early=case.early,
            promises=tuple(dict.fromkeys((*case.promises, *wire.promises(case.harmless)))),
            refusal_shown=case.refusal_shown or bool(case.returned_form),
            clock_jumped=self._clock_jumped(now),
            untried=self._untried(),
            earlier_may_be_late=case.earlier_may_be_late,
            **shared,
        )

    def _written_to(self, wire: WireReport) -> Iterator[Site | None]:
        """The sites that got a released request which may have changed something; None for one that isn't declared."""
        harmless = self._case.harmless
        stored = self._attempt.store.journal.releases(self._case.gesture) if self._made else []
        requests = {(fact.method, fact.address) for fact in wire.released} | {
            (row.method, row.address) for row in stored
        }
        for method, address in sorted(requests):
            declared = self._case.sends is not None and matches_request(self._case.sends, method, address)
            if declared or not is_among(f"{method} {address}", harmless):
                yield next((site for site in self._attempt.sites.values() if site.is_of_origin(address)), None)

    def _clock_jumped(self, now: datetime) -> bool:
        """Whether the clock was set since this look began: it and the monotonic clock disagree by more than the site's
        clock may be wrong."""
        went = (now - self._began[0]).total_seconds() - (self._attempt.clock.monotonic() - self._began[1])
        allowed = self._case.site.clock_skew if self._case.site is not None else timedelta(minutes=2)
        return abs(went) > allowed.total_seconds()

    def _untried(self) -> frozenset[str]:
        """The kinds of the user's own observers that have never proven a presence at the case's site."""
        return untried(self._case.proof, self._case.site, self._attempt.store.journal.proven_kinds)

    def _of_shared_keys(self, now: datetime) -> dict[str, Any]:
        case, store = self._case, self._attempt.store
        return {
            "window": window(store.journal.gesture(case.gesture), case.late_commit, case.dead_at, now),
            "key_used_otherwise": used_otherwise(store, case.gesture, case.site, case.proof),
        }

    def _agree(self, observations: tuple[Observation, ...], now: datetime) -> bool:
        """Whether a look after the sender's death, made long enough before this one, said the same."""
        if self._case.dead_at is None:
            return False
        if self._earlier is None or not looks_agree(self._earlier[1], observations):
            self._earlier = (now, observations)
        return now - self._earlier[0] >= timedelta(seconds=SPACING_SECONDS)


def observe(
    attempt: Attempt, proof: Sequence[Observer], *, fresh: bool = True, gesture: str | None = None
) -> tuple[Observation, ...]:
    """What each observer says now.

    Args:
        attempt: the attempt that looks.
        proof: the observers.
        fresh: open fresh pages; without it, observers that need them say that they did not look.
        gesture: the gesture that was made, whose recording they may read; None before it.
    """
    state = attempt.session() if fresh else None
    with attempt.task_page.view(attempt.clock.now, state, attempt.recorded(gesture), attempt.sites.values()) as view:
        seen = tuple(_said(attempt, observer, view, fresh=fresh) for observer in proof)
    return tuple(without_secrets(observation, attempt.store.database.scrubber) for observation in seen)


def _said(attempt: Attempt, observer: Observer, view: PageView, *, fresh: bool) -> Observation:
    if not fresh and (observer.counts or observer.opens):
        return observer.cannot_tell("did not look yet")
    attempt.restart_step_limit(attempt.options.look_timeout)
    before = len(view.looks)
    seen = observer.observe(view)
    looks = view.looks[before:]
    if seen.sight is Sight.seen:
        return seen
    if any(look.fresh for look in looks) and not any(kept.blob for kept in seen.evidence):
        picture = view.last_opened()
        seen = seen.model_copy(update={"evidence": (*seen.evidence, *([picture] if picture else []))})
    if not any(look.login for look in looks):
        return seen
    reasons = seen.reasons or (_LOGIN,)
    return observer.cannot_tell(*reasons, evidence=seen.evidence, at=seen.at, login=True, listing=seen.listing)


def untried(
    proof: Sequence[Observer], site: Site | None, proven_kinds: Callable[[str | None], frozenset[str]]
) -> frozenset[str]:
    """The kinds of the user's own observers that have never proven a presence at a site.

    Args:
        proof: the observers.
        site: the site of their gesture.
        proven_kinds: the kinds that have proven one at the site of a name.
    """
    own = {type(each).__name__: kinds for each in proof if (kinds := _own_kinds(each))}
    proven = proven_kinds(site.name if site is not None else None) if own else frozenset()
    return frozenset(kind for kind, kinds in own.items() if not kinds <= proven)


def _own_kinds(observer: Observer) -> frozenset[str]:
    """The kinds, in an observer and its parts, that the user has written."""
    parts = frozenset[str]().union(*map(_own_kinds, observer.parts))
    ready = type(observer).__module__.partition(".")[0] == Observer.__module__.partition(".")[0]
    return parts if ready else parts | {type(observer).__name__}


def without_secrets(seen: Observation, scrubber: Scrubber) -> Observation:
    """The observation as it may be stored. It is weighed in this form, so that later looks compare equal to it.

    A value that holds a secret is left out, and the reasons say so: a masked one would pass for what was proven.
    """
    texts, facts = scrubber.text, scrubber.facts
    read = [(name, said) for match in (*seen.matches, *seen.candidates) for name, said in match.values.items()]
    unfit = {name: why for name, said in read if (why := scrubber.unfit(said))}

    def kept_of(match: Match) -> Match:
        values = {name: said for name, said in match.values.items() if name not in unfit}
        return match.model_copy(update={"values": values, "identity": texts(match.identity), "note": texts(match.note)})

    evidence = [
        kept.model_copy(update={"words": texts(kept.words), "text": facts(kept.text), "rows": facts(kept.rows)})
        for kept in seen.evidence
    ]
    reasons = [texts(reason) for reason in seen.reasons]
    reasons += [f"the value {name!r} was read, and is not stored: it holds {why}" for name, why in unfit.items()]
    return seen.model_copy(
        update={
            "matches": tuple(map(kept_of, seen.matches)),
            "candidates": tuple(map(kept_of, seen.candidates)),
            "parts": tuple(without_secrets(part, scrubber) for part in seen.parts),
            "evidence": tuple(evidence),
            "reasons": tuple(reasons),
            "without_effect": tuple(map(kept_of, seen.without_effect)),
            "account": texts(seen.account),
        }
    )
