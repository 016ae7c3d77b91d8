"""Presence: when what was seen proves "happened", and what is missing where it proves nothing yet. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from textwrap import shorten

from .absence import may_be_late
from .baselines import new_matches, part_pairs
from .circumstances import Circumstances
from .condition import Condition, unmet
from .evidence import Match, Observation, Sight
from .observer import Observer


@dataclass(frozen=True)
class Finding:
    """The result of one observer's new matches: proof of presence, or a sighting that proves nothing yet.

    `position`: of the observer in the proof. `conditions`: those for its matches to prove. `parts`: the parts'
    findings, if the effect has several parts. `times`: the matches that one effect makes.
    """

    position: int
    matches: tuple[Match, ...]
    seen: Observation
    conditions: tuple[Condition, ...]
    parts: "tuple[Finding, ...]" = ()
    times: int = 1

    @property
    def doubt(self) -> str:
        """Why it proves nothing yet; empty if it proves."""
        return "; ".join(unmet(self.conditions))

    @property
    def count(self) -> int:
        """Effects seen. An observer that doesn't count may see one effect in several places of a page."""
        if self.parts:
            return max(part.count for part in self.parts)
        if self.seen.counts:
            return ceil(len(self.matches) / self.times)
        return len({tuple(sorted(match.values.items())) or match.identity for match in self.matches})

    @property
    def words(self) -> str:
        """What was seen, or why it proves nothing yet."""
        if self.parts and not self.doubt:
            return "; ".join(part.words for part in self.parts)
        return self.doubt or f"{self.seen.observer} saw {'it' if self.seen.counts else self._quoted}"

    @property
    def _quoted(self) -> str:
        """What was seen, quoted from the page: an observer of a text knows nothing but the text."""
        return " and ".join(quoted(self.matches))


def quoted(matches: Sequence[Match]) -> list[str]:
    """What was seen, each text once and in quotation marks."""
    return [f"“{shorten(text, 200)}”" for text in dict.fromkeys(match.identity for match in matches)]


def finding_of(
    position: int,
    seen: Observation,
    before: Observation | None,
    observer: Observer,
    circumstances: Circumstances,
) -> Finding | None:
    """The new matches of an observation; None if there are none. Each part of an effect has its own baseline."""
    if seen.parts:
        pairs = zip(part_pairs(seen, before), observer.parts, strict=True)
        found = [finding_of(position, part, then, watch, circumstances) for (part, then), watch in pairs]
        return _of_parts(position, seen, found)
    new = new_matches(seen, before)
    if not new:
        return None
    if observer.times > 1 and len(new) % observer.times:
        seen = seen.model_copy(update={"partial": True})
    conditions = tuple(_conditions(seen, new, before, observer, circumstances))
    return Finding(position, new, seen, conditions, times=observer.times)


def _of_parts(position: int, seen: Observation, found: Sequence[Finding | None]) -> Finding | None:
    there = tuple(finding for finding in found if finding)
    if not there:
        return None
    lacking = [part.observer for part, finding in zip(seen.parts, found, strict=True) if not finding]
    conditions = [condition for finding in there for condition in finding.conditions]
    if lacking:
        words = f"{'; '.join(f.words for f in there)}, but nothing new is seen of {' and '.join(lacking)}"
        conditions.append(_check("each part of the effect is there", words, of=seen))
        seen = seen.model_copy(update={"partial": True})
    matches = tuple(match for finding in there for match in finding.matches)
    return Finding(position, matches, seen, tuple(conditions), there)


def _conditions(
    seen: Observation,
    new: tuple[Match, ...],
    before: Observation | None,
    observer: Observer,
    circumstances: Circumstances,
) -> Iterator[Condition]:
    """The conditions for new matches to prove. After one that doesn't hold, the rest isn't asked."""
    name, there = seen.observer, " and ".join(quoted(new))
    yield _check("it saw something that was not there before the gesture", "", there, of=seen)
    pending = f"{name} saw it, but the site isn't done with it yet" if seen.pending else ""
    yield _check("the site is done with it", pending, of=seen)
    if pending:
        return
    counted = f": {len(new)} new matches, where each time makes {observer.times}" if observer.times > 1 else ""
    partial = f"{name} saw only a part of it{counted}" if seen.partial else ""
    yield _check("the whole effect is there", partial, of=seen)
    if partial:
        return
    if seen.vanished:
        yield _check("nothing else has vanished from the list", _doubt_of_a_vanished_row(seen, before), of=seen)
    if len(new) == 1 and new[0].ours:
        yield _check("it is this gesture's", "", "it carries a mark that only this gesture left", of=seen)
    elif observer.unique:
        known = "it was not there in a look before the gesture" if seen.counts else "it carries our key"
        yield _check("it is newer than the gesture", _doubt_of_the_baseline(seen, before), known, of=seen)
    else:
        doubt = _doubt_of_a_shared_key(seen, new, before, observer, circumstances)
        known = "the account is used by nothing else, and it was made when the gesture was"
        yield _check("it is this gesture's, although its key isn't unique", doubt, known, of=seen)


def _doubt_of_a_vanished_row(seen: Observation, before: Observation | None) -> str:
    """Why a list without the row may not be the list that held it; empty if it is the same one, less this row."""
    if before is None or before.sight is not Sight.not_seen:
        return ""  # the baseline's doubt, or a row that was gone before
    if seen.account != before.account:
        return f"{seen.observer} was read under “{seen.account}”, and under “{before.account}” before the gesture"
    if before.rows is not None and (seen.rows or 0) < before.rows - 1:
        return f"{seen.observer}: {seen.rows} rows were read, and {before.rows} before the gesture"
    return ""


def _doubt_of_a_shared_key(
    seen: Observation,
    new: tuple[Match, ...],
    before: Observation | None,
    observer: Observer,
    circumstances: Circumstances,
) -> str:
    if len(new) > observer.times:
        return f"{seen.observer} saw {len(new)} new matches of a key that isn't unique"
    if before is None or before.sight is Sight.cannot_tell:
        return f"{seen.observer} saw a match of a key that isn't unique, and nobody looked before the gesture"
    if whose := next((words for one in new if (words := _whose_else(one, observer, circumstances))), ""):
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


def conditions_of_all(present: Sequence[Finding], told: Circumstances, *, asks_a_list: bool) -> tuple[Condition, ...]:
    """The conditions for proven findings to be the effect of this gesture, and of no earlier one.

    Args:
        present: the findings whose own conditions all hold.
        told: what else is known.
        asks_a_list: the proof has an observer that counts.
    """
    conditions = []
    if told.earlier_may_be_late:
        second = _missing_of_the_second(present, told)
        conditions.append(_check("it can't be the late effect of an earlier gesture of the step", second))
    if not any(finding.seen.counts for finding in present):
        needs = "one request was released and answered in full below 400, and the text came after that"
        missing = _missing_of_a_text(present, told, asks_a_list=asks_a_list)
        conditions.append(_check(needs, missing, "as the gate saw it"))
    return tuple(conditions)


def _missing_of_the_second(present: Sequence[Finding], told: Circumstances) -> str:
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


def _missing_of_a_text(present: Sequence[Finding], told: Circumstances, *, asks_a_list: bool) -> str:
    """Why the page's text alone doesn't prove; empty if it does."""
    if not told.once_at_most:
        return (
            "an observer that counts must have seen it: the request may have been sent more than once, or not answered"
        )
    early = [finding for finding in present if _may_be_early(finding, told, asks_a_list=asks_a_list)]
    return f"{early[0].words}, and that may have stood there before the site answered" if early else ""


def _may_be_early(finding: Finding, told: Circumstances, *, asks_a_list: bool) -> bool:
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


def _check(needs: str, missing: str, shown: str = "", *, of: Observation | None = None) -> Condition:
    observer = of.observer if of is not None else ""
    return Condition(of="presence", observer=observer, needs=needs, holds=not missing, seen=missing or shown)
