"""Baselines: what was there before the gesture, and what is new against it. Pure."""

from collections import Counter
from collections.abc import Sequence

from .evidence import Match, Observation, Sight
from .observer import Observer


def new_matches(seen: Observation, before: Observation | None) -> tuple[Match, ...]:
    """The matches that weren't there before the gesture. Equal ones are counted: only the additional ones are new."""
    if seen.parts:
        return tuple(match for part, then in part_pairs(seen, before) for match in new_matches(part, then))
    known = Counter(match.identity for match in there_before(before)) if before else Counter[str]()
    new = []
    for match in seen.matches:
        if known[match.identity] > 0:
            known[match.identity] -= 1
        else:
            new.append(match)
    return tuple(new)


def part_pairs(seen: Observation, before: Observation | None) -> list[tuple[Observation, Observation | None]]:
    """Each part with its own baseline; None where nobody could look before."""
    befores = before.parts if before is not None and before.parts else (None,) * len(seen.parts)
    return list(zip(seen.parts, befores, strict=True))


def already_there(baselines: Sequence[Observation | None], proof: Sequence[Observer]) -> tuple[Match, ...]:
    """Matches of unique keys from before the gesture. The gesture must then not be made: ask whether to use the match
    or to make another."""
    pairs = zip(baselines, proof, strict=False)
    return tuple(match for before, observer in pairs if before and observer.unique for match in there_before(before))


def there_before(before: Observation) -> tuple[Match, ...]:
    """What was there, or may have been there, before the gesture."""
    return before.matches + before.candidates


def new_refusal(observations: Sequence[Observation], baselines: Sequence[Observation | None]) -> bool:
    """Whether a page shows a refusal that it didn't show before the gesture."""
    befores = [*baselines, *([None] * len(observations))]
    pairs = zip(observations, befores, strict=False)
    return any(seen.refusal and not (before is not None and before.refusal) for seen, before in pairs)


def looks_agree(earlier: Sequence[Observation], later: Sequence[Observation]) -> bool:
    """Whether two looks, spaced in time, said the same. Only then may the later one prove absence."""
    return [_said(seen) for seen in earlier] == [_said(seen) for seen in later]


def _said(seen: Observation) -> tuple[str, Sight, list[str]]:
    return seen.observer, seen.sight, sorted(match.identity for match in seen.matches)
