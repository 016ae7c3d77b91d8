"""What a site declares and a look contradicts, said when it is seen. Pure: it changes no verdict.

A verdict doubts such a list by itself. But a declaration that is wrong on a good day is wrong on a bad one as well, and
then it decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from browser_agent.wire import is_among
from observers import Observation, Observer, Sight, Site


def before(
    proof: Sequence[Observer], seen: Sequence[Observation], site: Site | None, sends: str | None
) -> tuple[str, ...]:
    """Contradictions before a gesture.

    Args:
        proof: the observers of the gesture.
        seen: what each of them saw before it.
        site: the gesture's site.
        sends: its declared commit request, "METHOD /path".
    """
    return (*_of_harmless(site, sends), *of_lists(proof, seen))


def of_lists(proof: Sequence[Observer], seen: Sequence[Observation]) -> tuple[str, ...]:
    """Lists that are declared complete, or fresh, and show that they aren't."""
    pairs = zip(proof, seen, strict=True)
    return tuple(words for observer, said in pairs for words in (*_of_complete(observer, said), *_of_age(said)))


def of_late_commit(appeared: timedelta, declared: timedelta) -> tuple[str, ...]:
    """An effect that appeared later than is declared.

    Args:
        appeared: how long after the browser's death it was first seen. A look after the death had not seen it yet.
        declared: `late_commit`, with the lists' staleness.
    """
    if appeared <= declared:
        return ()
    return (
        f"late_commit and staleness together are {declared.total_seconds():.0f} s, and the effect appeared "
        f"{appeared.total_seconds():.0f} s after the browser's death",
    )


def _of_harmless(site: Site | None, sends: str | None) -> Iterator[str]:
    if site is not None and sends is not None and is_among(sends, site.harmless):
        yield f"harmless of {site} covers {sends}, the declared commit request"


def _of_complete(observer: Observer, said: Observation) -> Iterator[str]:
    could_tell = said.counts and said.sight is not Sight.cannot_tell
    if getattr(observer, "complete", False) and could_tell and not said.complete and said.reasons:
        yield f"complete=True is declared of {said.observer}, and its page shows otherwise: {'; '.join(said.reasons)}"


def _of_age(said: Observation) -> Iterator[str]:
    if said.as_of is None or said.at - said.as_of <= said.staleness:
        return
    age, declared = (said.at - said.as_of).total_seconds(), said.staleness.total_seconds()
    yield f"staleness of {said.observer} is {declared:.0f} s, and its page is {age:.0f} s old by its own time"
