"""What a task could have declared so that a question about a gesture would not have been asked. Pure.

Each is a sentence that begins with the declaration. A person decides whether it is true of the site; nothing is
concluded from it here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from browser_agent.run.look import Case
from browser_agent.script.login_routines import login_of
from browser_agent.wire import WireFact, WireReport, is_among
from observers import ListFacts, Observation, Observer, Sight

_LATE_COMMIT = (
    "late_commit of {site}: how late it may still carry out a request, which is its request time-out plus what proxies "
    "and job queues in front of it may add. With it, an absence can be proven"
)
_REDIRECT = 300
_NUMBERED = re.compile(r"/(?!v\d+(?:/|$))[^/]*\d[^/]*")
"""A part of a path with a digit in it, such as INV-2; not the version of an interface."""


def helpful_declarations(case: Case, seen: Sequence[Observation], wire: WireReport) -> tuple[str, ...]:
    """The declarations that were missing.

    Args:
        case: the gesture and its proof.
        seen: what each observer of the proof saw last; empty if nobody looked.
        wire: what the gate saw of the gesture.
    """
    found = (*_late_commits(case), *_lists(case, seen), *_keys(case, seen), *_requests(case, wire))
    return tuple(dict.fromkeys(found))


def _late_commits(case: Case) -> Iterator[str]:
    if case.late_commit is not None:
        return
    sites = [case.site, *(observer.site for observer in case.proof if observer.counts), *case.written]
    for site in sites:
        if site is not None and site.late_commit is None:
            yield _LATE_COMMIT.format(site=site.name)
    if case.site is None or None in case.written:
        yield "a Site for each address that the page writes to, with its late_commit. With it, an absence can be proven"


def _lists(case: Case, seen: Sequence[Observation]) -> Iterator[str]:
    if not any(observer.counts for observer in case.proof):
        yield "a list in the proof, such as Record with complete=True. It can also prove that nothing happened"
    for observer, said in zip(case.proof, seen, strict=False):
        if observer.counts and said.sight is Sight.not_seen and not getattr(observer, "complete", True):
            yield f"complete=True of {said.observer}, if it holds every record. Then it can prove an absence"
        if said.login and observer.site is not None and login_of(observer.site) is None:
            yield f"a routine for {observer.site.name} (@login): it signs in when the session has ended"
        if said.counts and observer.site is not None and not observer.site.signed_in:
            yield f"signed_in of {observer.site.name}: what each page shows while the session is alive"
        if said.listing is not None:
            yield from _what_a_list_needs(observer, said, said.listing)


def _what_a_list_needs(observer: Observer, said: Observation, listed: ListFacts) -> Iterator[str]:
    if listed.refused and observer.site is not None:
        reads = list(listed.refused)
        yield f"reads={reads} of {observer.site.name}, if that only reads. Then a look can load the list"
    shows_nothing = not listed.rows and not listed.told_empty and 0 not in listed.told and not said.login
    if shows_nothing and said.sight is Sight.not_seen and hasattr(observer, "empty") and not observer.empty:
        yield f"empty= of {said.observer}: what its page shows while the list is empty"


def _keys(case: Case, seen: Sequence[Observation]) -> Iterator[str]:
    for observer, said in zip(case.proof, seen, strict=False):
        if observer.unique or observer.site is None or said.sight is not Sight.seen:
            continue
        if not observer.site.sole_user:
            yield f"sole_user of {observer.site.name}, if nobody and nothing else makes such records in its account"
        if hasattr(observer, "created") and any(match.at is None for match in said.matches):
            yield f"created= of {said.observer}: the column that shows when a record was made"


def _requests(case: Case, wire: WireReport) -> Iterator[str]:
    if case.sends is None and wire.released:
        yield f"sends= of the gesture: the request that makes the change, such as {_named(wire.released[0])!r}"
    if case.site is None:
        return
    for fact in wire.released:
        answered = fact.status is not None and fact.status < 400
        if fact.declared and answered and (contract := _contract(fact)):
            yield f"accepts={[contract]} of {case.site.name}, if the site documents that this answer means 'done'"
        elif (
            case.sends is not None
            and not fact.declared
            and answered
            and not is_among(f"{fact.method} {fact.address}", case.site.harmless)
        ):
            yield f"harmless={[_named(fact)]} of {case.site.name}, if that request changes nothing important"


def _named(fact: WireFact) -> str:
    return f"{fact.method} {_path_pattern(fact.address) or '/'}"


def _path_pattern(address: str) -> str:
    """The path of an address as a declaration writes it: "/orders/17/pay" as "/orders/*/pay"; "/v2/orders" stays."""
    path = urlsplit(address).path
    pattern = _NUMBERED.sub("/*", path)
    return pattern if pattern.strip("/*") else path


def _contract(fact: WireFact) -> str:
    """The answer as `accepts` writes it; empty for a redirect that names no address."""
    if fact.status is None or fact.status < _REDIRECT:
        return f"{_named(fact)} -> {fact.status}"
    path = _path_pattern(fact.location or "")
    return f"{_named(fact)} -> {fact.status} {path}" if path else ""
