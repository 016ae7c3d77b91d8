"""Looking: the proof's observers look through a read-only view, what they say is kept, and it is weighed.

The same code on a good day and after a crash. Makes no gesture; writes nothing but what was seen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter

from browser_agent.run.attempt import Attempt
from browser_agent.run.shared_keys import are_shared, used_otherwise, window
from browser_agent.secrets.scrubber import Scrubber
from browser_agent.wire import WireReport
from observers import Circumstances, Match, Observation, Observer, Outcome, Site, Verdict, View, looks_agree, weigh

SPACING_SECONDS = 1.0
"""Two looks that are to prove an absence lie at least so far apart."""


BASELINE = TypeAdapter(tuple[Observation | None, ...])
"""What each observer saw before the step's first gesture, as it is stored."""


@dataclass
class Case:
    """A gesture and the proof that settles it.

    `baseline` = what each observer saw before the step's first gesture. `dead_at` = when its sender was seen dead.
    """

    gesture: str
    words: str
    proof: tuple[Observer, ...]
    baseline: tuple[Observation | None, ...]
    site: Site | None
    dead_at: datetime | None = None

    @property
    def late_commit(self) -> timedelta | None:
        """How late a request may still take effect, as the site declares it."""
        return self.site.late_commit if self.site is not None else None

    @property
    def staleness(self) -> timedelta:
        """How far the lists may lag behind that could prove an absence; the others are not worth waiting for."""
        lags = (observer.staleness for observer in self.proof if getattr(observer, "complete", True))
        return max(lags, default=timedelta(0))

    @property
    def safe_from(self) -> datetime | None:
        """From when on an absence may prove something; None while that is not known."""
        if self.dead_at is None or self.late_commit is None:
            return None
        return self.dead_at + self.late_commit + self.staleness


@dataclass(frozen=True)
class Looked:
    """One look and its verdict; `ids` name the kept observations by position."""

    verdict: Verdict
    observations: tuple[Observation, ...]
    ids: tuple[str, ...]

    @property
    def clear(self) -> bool:
        """Whether no proof stands against another, and no more than one effect was seen."""
        return not self.verdict.contradiction and not self.verdict.more_than_once

    @property
    def happened(self) -> bool:
        """Whether it is proven, with nothing left for a person to decide."""
        return self.clear and self.verdict.outcome is Outcome.happened

    @property
    def proven_by(self) -> str:
        """JSON of the ids that decided."""
        return json.dumps([self.ids[position] for position in self.verdict.by])


class Looker:
    """Looks at one case, and remembers the last look, since two that are to prove an absence must agree.

    Args:
        attempt: the attempt that looks.
        case: what it looks for.
        made: the case's gesture has been made, or may have been.
    """

    def __init__(self, attempt: Attempt, case: Case, *, made: bool = True) -> None:
        self._attempt, self._case, self._made = attempt, case, made
        self._earlier: tuple[datetime, tuple[Observation, ...]] | None = None  # the first look of those that agree
        self._said: tuple[str, ...] = ()

    def look(self, wire: WireReport, *, fresh: bool = True) -> Looked:
        """Look once.

        Args:
            wire: what the gate saw of the gesture.
            fresh: open fresh pages too; otherwise only observers that read the page as it stands look.
        """
        made = self._case.gesture if self._made else None
        observations = observe(self._attempt, self._case.proof, fresh=fresh, gesture=made)
        verdict = weigh(observations, self._case.baseline, self._case.proof, self._circumstances(observations, wire))
        return Looked(verdict, observations, self._kept(observations, verdict))

    def _kept(self, observations: tuple[Observation, ...], verdict: Verdict) -> tuple[str, ...]:
        """Keep what was said if it decides something or says something new; the log need not tell each empty look."""
        said = tuple(f"{seen.sight} {len(seen.matches)} {seen.reasons}" for seen in observations)
        if verdict.outcome is Outcome.unknown and not verdict.matches and said == self._said:
            return ("",) * len(observations)
        self._said = said
        texts = [observation.model_dump_json() for observation in observations]
        return tuple(self._attempt.store.journal.observe(self._attempt.lease, self._case.gesture, texts)[1])

    def _circumstances(self, observations: tuple[Observation, ...], wire: WireReport) -> Circumstances:
        now, dead_at = self._attempt.clock.now(), self._case.dead_at
        shared = self._of_shared_keys(now) if self._made and are_shared(self._case.proof) else {}
        return Circumstances(
            sender_dead=dead_at is not None and self._attempt.senders_seen,
            waited=now - dead_at if dead_at is not None else None,
            late_commit=self._case.late_commit,
            spaced_looks_agree=self._agree(observations, now),
            guarded=wire.guarded,
            restarts=wire.restarts,
            timed_out=not wire.answered,
            **shared,
        )

    def _of_shared_keys(self, now: datetime) -> dict[str, Any]:
        case, store = self._case, self._attempt.store
        return {
            "window": window(store.journal.gesture(case.gesture), case.late_commit, case.dead_at, now),
            "key_used_otherwise": used_otherwise(store, case.gesture, case.site, case.proof),
        }

    def _agree(self, observations: tuple[Observation, ...], now: datetime) -> bool:
        """Whether an earlier look, far enough back and after the sender's death, said the same as this one."""
        if self._case.dead_at is None:
            return False
        if self._earlier is None or not looks_agree(self._earlier[1], observations):
            self._earlier = (now, observations)
        return now - self._earlier[0] >= timedelta(seconds=SPACING_SECONDS)


def observe(
    attempt: Attempt, proof: Sequence[Observer], *, fresh: bool = True, gesture: str | None = None
) -> tuple[Observation, ...]:
    """What each observer says now; without `fresh`, those that would open pages say that they did not look.

    `gesture`: the one that was made, whose recording may be looked through; None before it.
    """
    state = attempt.session() if fresh else None
    with attempt.acting.view(attempt.clock.now, state, attempt.recorded(gesture)) as view:
        seen = tuple(_said(attempt, observer, view, fresh=fresh) for observer in proof)
    return tuple(without_secrets(observation, attempt.store.database.scrubber) for observation in seen)


def _said(attempt: Attempt, observer: Observer, view: View, *, fresh: bool) -> Observation:
    if not fresh and (observer.counts or observer.opens):
        return observer.cannot_tell("did not look yet")
    attempt.restart_step_limit(attempt.options.look_seconds)
    return observer.observe(view)


def without_secrets(seen: Observation, scrubber: Scrubber) -> Observation:
    """The observation as it may be stored, weighed like that from the start, so that later looks compare with it.

    A value that may not be kept is left out and the reasons say so: a changed one would pass for what was proven.
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
    reasons += [f"the value {name!r} was read, and is not kept: it holds {why}" for name, why in unfit.items()]
    return seen.model_copy(
        update={
            "matches": tuple(map(kept_of, seen.matches)),
            "candidates": tuple(map(kept_of, seen.candidates)),
            "parts": tuple(without_secrets(part, scrubber) for part in seen.parts),
            "evidence": tuple(evidence),
            "reasons": tuple(reasons),
        }
    )
