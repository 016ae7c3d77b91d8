"""The verdict: observations weighed into one outcome, with reasons and a count of effects. Pure.

Source of every rule here: the rules of what an observer may prove. What it needs to know of pages, stores and clocks
comes in `Circumstances`. It never concludes `happened` without a match, or `not_happened` while a condition of absence
doesn't hold; everything else is `unknown`.
"""

from collections.abc import Sequence
from typing import Self

from pydantic import Field, model_validator

from .absence import absence_conditions, absence_missing, against_absence, uncontradicted
from .circumstances import Circumstances
from .condition import Condition, unmet
from .evidence import Frozen, Match, Observation
from .normal import same
from .observer import Observer
from .outcome import Outcome
from .presence import Finding, conditions_of_all, finding_of


class Verdict(Frozen):
    """One outcome and its basis.

    count: effects seen (a lower bound if no counting observer decided). by: positions of the observers that decided.
    missing: conditions that a conclusion needs and that don't hold, in words. contradiction: one proof contradicts
    another. more_than_once: it happened at least twice. Both of these always go to a person. conditions: those that
    were checked, met or not.
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
    conditions: tuple[Condition, ...] = ()

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
    findings, absences = [], dict[int, tuple[Condition, ...]]()
    for position, (seen, observer) in enumerate(zip(observations, proof, strict=True)):
        before = baselines[position] if position < len(baselines) else None
        if finding := finding_of(position, seen, before, observer, circumstances):
            findings.append(finding)
        else:
            absences[position] = absence_conditions(seen, circumstances, before)
    absent = [position for position, conditions in absences.items() if not unmet(conditions)]
    if findings:
        asks_a_list = any(observer.counts for observer in proof)
        verdict = _something_seen(findings, proven_absent=absent, asks_a_list=asks_a_list, told=circumstances)
        checked = [*(finding.conditions for finding in findings), *(absences[position] for position in absent)]
    else:
        verdict = _nothing_new(absent, observations, baselines, circumstances)
        counting = [conditions for position, conditions in absences.items() if observations[position].counts]
        checked = counting or list(absences.values())
    return verdict.model_copy(update={"conditions": _each_once(*checked, verdict.conditions)})


def _each_once(*conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """All of them, each once; those of no single observer stand at the end."""
    every = dict.fromkeys(each for group in conditions for each in group)
    return tuple(sorted(every, key=lambda each: not each.observer))


def _nothing_new(
    absent: list[int],
    observations: Sequence[Observation],
    baselines: Sequence[Observation | None],
    circumstances: Circumstances,
) -> Verdict:
    """The verdict if no observer saw anything new; `absent`: positions of those that prove an absence."""
    if circumstances.nothing_left:
        return Verdict(outcome=Outcome.not_happened, reasons=("nothing was sent, and nothing can be any more",))
    against = against_absence(observations, baselines, circumstances) if absent else ()
    conditions = (uncontradicted(against),) if absent else ()
    if against:
        reasons = (*(f"{observations[i].observer}: not there" for i in absent), *against)
        return Verdict(outcome=Outcome.unknown, reasons=reasons, contradiction=True, conditions=conditions)
    if absent and not any(seen.pending for seen in observations):
        reasons = tuple(f"{observations[i].observer} read the whole list, and it isn't there" for i in absent)
        return Verdict(outcome=Outcome.not_happened, reasons=reasons, by=tuple(absent), conditions=conditions)
    return _nothing_seen(observations, baselines, circumstances)


def _something_seen(
    findings: list[Finding], *, proven_absent: list[int], asks_a_list: bool, told: Circumstances
) -> Verdict:
    """The verdict if observers saw something new; `proven_absent`: positions of those that prove an absence."""
    present = [finding for finding in findings if not finding.doubt]
    reasons = tuple(finding.words for finding in findings)
    unknown = Verdict(
        outcome=Outcome.unknown,
        reasons=reasons,
        matches=tuple(match for finding in findings for match in finding.matches),
        by=tuple(finding.position for finding in present),
    )
    absence_proven = bool(proven_absent) or told.nothing_left
    if not present or (not absence_proven and any(finding.seen.partial for finding in findings)):
        return unknown
    if absence_proven:
        return _against(unknown, "what was seen stands against the proof that it can't be there")
    values, conflict = _values(present)
    count = max(finding.count for finding in present)
    if conflict and count == 1:
        return _against(unknown, f"the observers give different values: {conflict}")
    conditions = conditions_of_all(present, told, asks_a_list=asks_a_list)
    if missing := unmet(conditions):
        return unknown.model_copy(update={"missing": missing[:1], "conditions": conditions})
    more = f"it happened more than once: {count} new matches" if count > 1 else ""
    once = Condition(of="presence", needs="it happened once", holds=not more, seen=more or "one effect was seen")
    return Verdict(
        outcome=Outcome.happened,
        count=count,
        values=values,
        reasons=(*reasons, more) if more else reasons,
        matches=tuple(match for finding in present for match in finding.matches),
        by=unknown.by,
        more_than_once=count > 1,
        conditions=(*conditions, once),
    )


def _against(unknown: Verdict, words: str) -> Verdict:
    agree = Condition(of="presence", needs="nothing contradicts it", holds=False, seen=words)
    told = {"contradiction": True, "reasons": (*unknown.reasons, words), "conditions": (agree,)}
    return unknown.model_copy(update=told)


def _values(present: list[Finding]) -> tuple[dict[str, str], str]:
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
    """Unknown, with the missing conditions of the observer that is nearest to proving absence; only one that counts
    can, if there is one."""
    pending = tuple(f"{seen.observer}: the site isn't done with something" for seen in observations if seen.pending)
    befores = [*baselines, *([None] * len(observations))]
    counting = any(seen.counts for seen in observations)
    pairs = [(seen, then) for seen, then in zip(observations, befores, strict=False) if seen.counts or not counting]
    lacks = [missing for seen, before in pairs if (missing := absence_missing(seen, circumstances, before))]
    nearest = min(lacks, key=len, default=("nobody has looked",))
    missing = pending or nearest
    reasons = dict.fromkeys(reason for seen in observations for reason in seen.reasons)
    told_there = {reason for reason in reasons if any(reason in words for words in missing)}
    return Verdict(outcome=Outcome.unknown, reasons=tuple(r for r in reasons if r not in told_there), missing=missing)
