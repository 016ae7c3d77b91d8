"""The verdict: observations weighed into one outcome, with reasons and a count of effects. Pure.

Source of every rule here: the rules of what an observer may prove. What it needs to know of pages, stores and clocks
comes in `Circumstances`. It never concludes `happened` without a match, or `not_happened` while a condition of absence
doesn't hold; everything else is `unknown`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Self

from pydantic import Field, model_validator

from .absence import absence_missing, against_absence, may_be_late
from .baselines import new_matches, part_pairs
from .circumstances import Circumstances
from .evidence import Frozen, Match, Observation, Sight
from .normal import same
from .observer import Observer
from .outcome import Outcome


class Verdict(Frozen):
    """One outcome and its basis.

    count: effects seen (a lower bound if no counting observer decided). by: positions of the observers that decided.
    missing: conditions that a conclusion needs and that don't hold, in words. contradiction: one proof contradicts
    another. more_than_once: it happened at least twice. Both of these always go to a person.
    """

    outcome: Outcome
    count: int = 0
    values: dict[str, str] = Field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    matches: tuple[Match, ...] = ()
    by: tuple[int, ...] = ()
    missing: tuple[str, ...] = ()
    contradiction: bool = False
    more_than_once: bool = False

    @model_validator(mode="after")
    def _stands_on_something(self) -> Self:
        if self.outcome is Outcome.happened and not (self.matches and self.by and self.count):
            raise ValueError("'happened' needs what was seen: matches, a count, and who saw them")
        if self.outcome is Outcome.not_happened and (self.missing or self.matches or self.count):
            raise ValueError("'not_happened' can't stand beside a missing condition or a match")
        if self.contradiction and self.outcome is not Outcome.unknown:
            raise ValueError("a contradiction concludes nothing")
        if self.more_than_once and (self.outcome is not Outcome.happened or self.count < 2):
            raise ValueError("'more than once' means: happened, at least twice")
        return self


@dataclass(frozen=True)
class _Finding:
    """The result of one observer's new matches: proof of presence, or a sighting that proves nothing yet.

    `parts`: the parts' findings, if the effect has several parts.
    """

    position: int
    matches: tuple[Match, ...]
    seen: Observation
    doubt: str
    parts: "tuple[_Finding, ...]" = ()

    @property
    def count(self) -> int:
        """Effects seen. An observer that doesn't count may see one effect in several places of a page."""
        if self.parts:
            return max(part.count for part in self.parts)
        if self.seen.counts:
            return len(self.matches)
        return len({tuple(sorted(match.values.items())) or match.identity for match in self.matches})

    @property
    def words(self) -> str:
        if self.parts and not self.doubt:
            return "; ".join(part.words for part in self.parts)
        return self.doubt or f"{self.seen.observer} saw {'it' if self.seen.counts else self._quoted}"

    @property
    def _quoted(self) -> str:
        """What was seen, quoted from the page: an observer of a text knows nothing but the text."""
        return " and ".join(f"“{shorten(text, 200)}”" for text in dict.fromkeys(m.identity for m in self.matches))


def weigh(
    observations: Sequence[Observation],
    baselines: Sequence[Observation | None],
    proof: Sequence[Observer],
    circumstances: Circumstances,
) -> Verdict:
    """Weigh one observation of each observer of `proof` against what it saw before the step's FIRST gesture.

    One observer that proves is enough. An observer that cannot tell never changes the outcome.

    Args:
        observations: by position of the observer in `proof`.
        baselines: what each observer said before the gesture; None, or a shorter list, if there was no such look.
        proof: the observers, as they are stored with the intent.
        circumstances: what else is known.

    Raises:
        ValueError: there isn't one observation for each observer.
    """
    if len(observations) != len(proof):
        raise ValueError(f"{len(observations)} observations for {len(proof)} observers")
    findings = []
    absent = []
    for position, (seen, observer) in enumerate(zip(observations, proof, strict=True)):
        before = baselines[position] if position < len(baselines) else None
        if finding := _finding(position, seen, before, observer, circumstances):
            findings.append(finding)
        elif not absence_missing(seen, circumstances, before):
            absent.append(position)
    if findings:
        return _something_seen(
            findings,
            proven_absent=bool(absent) or circumstances.nothing_left,
            asks_a_list=any(observer.counts for observer in proof),
            told=circumstances,
        )
    if circumstances.nothing_left:
        return Verdict(outcome=Outcome.not_happened, reasons=("nothing was sent, and nothing can be any more",))
    if absent and (against := against_absence(observations, baselines, circumstances)):
        reasons = tuple(f"{observations[i].observer}: not there" for i in absent)
        return Verdict(outcome=Outcome.unknown, reasons=(*reasons, *against), contradiction=True)
    if absent and not any(seen.pending for seen in observations):
        reasons = tuple(f"{observations[i].observer} read the whole list, and it isn't there" for i in absent)
        return Verdict(outcome=Outcome.not_happened, reasons=reasons, by=tuple(absent))
    return _nothing_seen(observations, baselines, circumstances)


def _finding(
    position: int,
    seen: Observation,
    before: Observation | None,
    observer: Observer,
    circumstances: Circumstances,
) -> _Finding | None:
    """The new matches of an observation; None if there are none. Each part of an effect has its own baseline."""
    if seen.parts:
        pairs = zip(part_pairs(seen, before), observer.parts, strict=True)
        found = [_finding(position, part, then, watch, circumstances) for (part, then), watch in pairs]
        return _of_parts(position, seen, found)
    new = new_matches(seen, before)
    return _Finding(position, new, seen, _doubt(seen, new, before, observer, circumstances)) if new else None


def _of_parts(position: int, seen: Observation, found: Sequence[_Finding | None]) -> _Finding | None:
    there = tuple(finding for finding in found if finding)
    if not there:
        return None
    lacking = [part.observer for part, finding in zip(seen.parts, found, strict=True) if not finding]
    doubts = [finding.doubt for finding in there if finding.doubt]
    if lacking:
        doubts.append(f"{'; '.join(f.words for f in there)}, but nothing new is seen of {' and '.join(lacking)}")
        seen = seen.model_copy(update={"partial": True})
    matches = tuple(match for finding in there for match in finding.matches)
    return _Finding(position, matches, seen, "; ".join(doubts), there)


def _doubt(
    seen: Observation,
    new: tuple[Match, ...],
    before: Observation | None,
    observer: Observer,
    circumstances: Circumstances,
) -> str:
    """Why new matches prove nothing yet; empty if they prove."""
    if seen.pending:
        return f"{seen.observer} saw it, but the site isn't done with it yet"
    if seen.partial:
        return f"{seen.observer} saw only a part of it"
    if len(new) == 1 and new[0].ours:
        return ""
    if observer.unique:
        return _doubt_of_the_baseline(seen, before)
    return _doubt_of_a_shared_key(seen, new, before, observer, circumstances)


def _doubt_of_a_shared_key(
    seen: Observation,
    new: tuple[Match, ...],
    before: Observation | None,
    observer: Observer,
    circumstances: Circumstances,
) -> str:
    if len(new) > 1:
        return f"{seen.observer} saw {len(new)} new matches of a key that isn't unique"
    if before is None or before.sight is Sight.cannot_tell:
        return f"{seen.observer} saw a match of a key that isn't unique, and nobody looked before the gesture"
    if whose := _whose_else(new[0], observer, circumstances):
        return f"{seen.observer} saw a match of a key that isn't unique: {whose}"
    return ""


def _doubt_of_the_baseline(seen: Observation, before: Observation | None) -> str:
    """Why a unique match of an observer that counts may be older than the gesture; empty if a look before it could
    tell."""
    if not seen.counts or (before is not None and before.sight is not Sight.cannot_tell):
        return ""
    why = "nobody looked before the gesture" if before is None else "the look before the gesture could not tell"
    return f"{seen.observer} saw it, and {why}: it may have been there already"


def _whose_else(match: Match, observer: Observer, circumstances: Circumstances) -> str:
    """Why a match of a shared key may not be this gesture's; empty if it must be."""
    site, window = observer.site, circumstances.window
    if site is None or not site.sole_user:
        return "it may be somebody else's"
    if circumstances.key_used_otherwise:
        return "another gesture of ours may have made it"
    if match.at is None or window is None:
        return "when it was made isn't known"
    if not window[0] - site.clock_skew <= match.at <= window[1] + site.clock_skew:
        return f"it was made at {match.at:%Y-%m-%d %H:%M:%S} UTC, when the gesture can't have made it"
    return ""


def _may_be_early(finding: _Finding, told: Circumstances, *, asks_a_list: bool) -> bool:
    """Whether a text may have been shown before the site answered (an optimistic page).

    It wasn't if its document arrived after the request was released, or if a look while the request was unanswered
    did not see it. If nobody looked then, a list decides, if the proof has one.
    """
    since = (match.since for match in finding.matches)
    if told.released_at is not None and all(at is not None and at > told.released_at for at in since):
        return False
    if told.early is None:
        return asks_a_list
    return any(match.identity in told.early for match in finding.matches)


def _something_seen(
    findings: list[_Finding], *, proven_absent: bool, asks_a_list: bool, told: Circumstances
) -> Verdict:
    present = [finding for finding in findings if not finding.doubt]
    reasons = tuple(finding.words for finding in findings)
    unknown = Verdict(
        outcome=Outcome.unknown,
        reasons=reasons,
        matches=tuple(match for finding in findings for match in finding.matches),
        by=tuple(finding.position for finding in present),
    )
    if not present or (not proven_absent and any(finding.seen.partial for finding in findings)):
        return unknown
    if proven_absent:
        return _against(unknown, "what was seen stands against the proof that it can't be there")
    values, conflict = _values(present)
    count = max(finding.count for finding in present)
    if conflict and count == 1:
        return _against(unknown, f"the observers give different values: {conflict}")
    missing = _missing_of_the_second(present, told) or _missing_of_a_text(present, told, asks_a_list=asks_a_list)
    if missing:
        return unknown.model_copy(update={"missing": (missing,)})
    return Verdict(
        outcome=Outcome.happened,
        count=count,
        values=values,
        reasons=(*reasons, f"it happened more than once: {count} new matches") if count > 1 else reasons,
        matches=tuple(match for finding in present for match in finding.matches),
        by=unknown.by,
        more_than_once=count > 1,
    )


def _missing_of_the_second(present: list[_Finding], told: Circumstances) -> str:
    """Why what was seen may be the effect of an earlier gesture of the step while this one's may still come; empty if
    it can't be."""
    if not told.earlier_may_be_late or not told.unanswered:
        return ""
    if any(match.ours for finding in present for match in finding.matches):
        return ""
    late = "" if told.sender_dead else "the browser that made the gesture isn't confirmed dead"
    late = late or next((words for one in present if (words := may_be_late(one.seen, told))), "")
    return (
        f"an earlier gesture of this step may have made it, and this one's effect may still come: {late}"
        if late
        else ""
    )


def _missing_of_a_text(present: list[_Finding], told: Circumstances, *, asks_a_list: bool) -> str:
    """Why the page's text alone doesn't prove; empty if it does, or if an observer that counts saw the effect too."""
    if any(finding.seen.counts for finding in present):
        return ""
    if not told.once_at_most:
        return (
            "an observer that counts must have seen it: the request may have been sent more than once, or not answered"
        )
    early = [finding for finding in present if _may_be_early(finding, told, asks_a_list=asks_a_list)]
    return f"{early[0].words}, and that may have stood there before the site answered" if early else ""


def _against(unknown: Verdict, words: str) -> Verdict:
    return unknown.model_copy(update={"contradiction": True, "reasons": (*unknown.reasons, words)})


def _values(present: list[_Finding]) -> tuple[dict[str, str], str]:
    """The values on which all matches agree, and the names of those that conflict."""
    values: dict[str, str] = {}
    conflicts: dict[str, None] = {}
    for match in (match for finding in present for match in finding.matches):
        for name, text in match.values.items():
            if not same(values.setdefault(name, text), text):
                conflicts[name] = None
    return {name: text for name, text in values.items() if name not in conflicts}, ", ".join(conflicts)


def _nothing_seen(
    observations: Sequence[Observation], baselines: Sequence[Observation | None], circumstances: Circumstances
) -> Verdict:
    """Unknown, with the missing conditions of the observer that is nearest to proving absence."""
    pending = tuple(f"{seen.observer}: the site isn't done with something" for seen in observations if seen.pending)
    befores = [*baselines, *([None] * len(observations))]
    pairs = zip(observations, befores, strict=False)
    lacks = [missing for seen, before in pairs if (missing := absence_missing(seen, circumstances, before))]
    nearest = min(lacks, key=len, default=("nobody has looked",))
    missing = pending or nearest
    reasons = dict.fromkeys(reason for seen in observations for reason in seen.reasons)
    told_there = {reason for reason in reasons if any(reason in words for words in missing)}
    return Verdict(outcome=Outcome.unknown, reasons=tuple(r for r in reasons if r not in told_there), missing=missing)
