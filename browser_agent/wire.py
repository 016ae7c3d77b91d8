"""What the gate saw of a gesture's requests: plain frozen data that the keeper sends to the worker.

Addresses keep scheme, host and path; bodies, cookies and query values are never included.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from pydantic import AwareDatetime, BaseModel, ConfigDict

from browser_agent.errors import WrongTask
from observers.request_pattern import SAFE_METHODS, is_pattern, matches_request
from observers.site import origin_of


class SiteWrites(NamedTuple):
    """What the gate knows about the site that a gesture changes: its origin ("" = unknown), patterns of the writes that
    change nothing important there, and patterns of the requests that only read."""

    origin: str = ""
    harmless: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()

    def is_read(self, method: str, url: str) -> bool:
        """Whether a request only reads, by its method or by declaration."""
        declared = origin_of(url) == self.origin and is_among(f"{method} {url}", self.reads)
        return method in SAFE_METHODS or declared

    def holds_back(self, method: str, url: str) -> bool:
        """Whether a write that isn't the declared commit request must wait for that request."""
        return bool(self.origin) and origin_of(url) == self.origin and not is_among(f"{method} {url}", self.harmless)


NO_SITE = SiteWrites()


class WireFact(BaseModel):
    """One request that was held at the gate.

    `released` = sent on after the fence; `refused` = never sent, and why; `status` and `location` = the first answer
    to it; `error` = how it ended without an answer, in the browser's words.
    """

    model_config = ConfigDict(frozen=True)

    method: str
    address: str
    at: AwareDatetime
    released: bool = False
    refused: str | None = None
    status: int | None = None
    location: str | None = None
    error: str | None = None
    ended: bool = False  # all of its answer has arrived; a redirect has only a head
    declared: bool = False  # it is the gesture's declared commit request
    undeclared: bool = False  # refused because the declared commit request never came
    fresh: bool = True  # it left on a fresh connection; the browser doesn't resend such a request by itself

    def __str__(self) -> str:
        if self.refused is not None:
            ended = f"refused at the gate ({self.refused})"
        elif self.status is not None:
            ended = f"answered {self.status}" + (f" to {self.location}" if self.location else "")
        elif self.error is not None:
            ended = f"no answer ({self.error})"
        else:
            ended = "no answer so far" if self.released else "held at the gate"
        return f"{self.method} {self.address}: {ended}"

    @property
    def in_words(self) -> str:
        """What is known of a released request, for a person who has to judge it."""
        request = f"{self.method} {urlsplit(self.address).path or '/'}"
        if self.status is not None:
            to = f" to {self.location}" if self.location else ""
            return f"the site answered {request} with {self.status}{to}; an answer alone proves nothing here"
        if self.error is not None:
            return f"{request} was released, and no answer came ({self.error}); it may have been carried out"
        return f"{request} was released, and no answer was seen; it may have been carried out"


class Restart(BaseModel):
    """One request that the browser sent a second time by itself, according to its network log.

    `error` = why, in the browser's words: how the first one's connection ended, or what answer it got.
    """

    model_config = ConfigDict(frozen=True)

    method: str
    address: str
    error: str
    at: AwareDatetime

    def __str__(self) -> str:
        return f"the browser sent {self.method} {self.address} again by itself ({self.error})"


class WireReport(BaseModel):
    """All that the keeper knows of one gesture's writes.

    `passed` = documents that were requested without being held, the first five. `armed` = the gate stood from before
    the input until this report was made, during one keeper's life. `sockets` and `workers` = WebSockets, and service or
    shared workers, that existed at any time since, through which something could have left unseen. `declared` = the
    gesture names its commit request. `reads` = pages and data fetched since without being held. `resent` = writes since
    that, by the network log, the browser sent again. `restarts` = how often it did; None if no log was kept or not all
    of it could be read.
    """

    model_config = ConfigDict(frozen=True)

    armed: bool = False
    facts: tuple[WireFact, ...] = ()
    sockets: int = 0
    workers: int = 0
    declared: bool = False
    reads: int = 0
    passed: tuple[str, ...] = ()
    restarts: int | None = None
    resent: tuple[Restart, ...] = ()

    @property
    def released(self) -> tuple[WireFact, ...]:
        """The released requests."""
        return tuple(fact for fact in self.facts if fact.released)

    @property
    def in_words(self) -> tuple[str, ...]:
        """A sentence for each released request, and what the network log says about them, if one was kept."""
        log = tuple(map(str, self.resent))
        if self.restarts == 0:
            log = ("the network log shows nothing that the browser sent a second time by itself",)
        return (*(fact.in_words for fact in self.released), *self._undeclared_words, *log)

    @property
    def _undeclared_words(self) -> tuple[str, ...]:
        """What passed or was refused while the declared commit request never came; empty if it came."""
        if not self.declared or any(fact.declared for fact in self.facts):
            return ()
        refused = (f"{fact.method} {fact.address}, which was refused" for fact in self.facts if fact.refused)
        other = [*self.passed, *refused]
        return (f"the declared commit request never came; what came: {', '.join(other)}",) if other else ()

    @property
    def commit(self) -> WireFact | None:
        """The commit request, if exactly one write was released and it is the declared one, or none is declared."""
        alone = self.released[0] if len(self.released) == 1 else None
        return alone if alone is not None and (alone.declared or not self.declared) else None

    @property
    def commit_answered(self) -> bool:
        """The commit request was released alone, and all of an answer below 400 has arrived. A page that confirms the
        gesture before that, or while another write was released too, may do so too early."""
        return self.commit is not None and self.commit.ended and (self.commit.status or 999) < 400

    def promises(self, harmless: Sequence[str] = ()) -> tuple[str, ...]:
        """Each answer below 400 to a write that may have changed something, in words: it contradicts an absence.

        If the site rejected the declared commit request, its answers to other writes promise nothing.

        Args:
            harmless: patterns of writes that change nothing important.
        """
        declared = [fact for fact in self.released if fact.declared]
        said_no = bool(declared) and all(fact.status is not None and fact.status >= 400 for fact in declared)
        answered = (fact for fact in self.released if fact.status is not None and fact.status < 400 and not said_no)
        counted = (
            fact for fact in answered if fact.declared or not is_among(f"{fact.method} {fact.address}", harmless)
        )
        promised = tuple(f"{fact}, which promises that it was carried out" for fact in counted)
        if not self.declared or any(fact.declared for fact in self.facts):
            return promised
        passed = (
            f"{read} passed, and the declared commit request never came: that may have been it" for read in self.passed
        )
        return (*promised, *passed)

    @property
    def answered(self) -> bool:
        """Every released request got an answer below 400, so none timed out."""
        return bool(self.released) and all(fact.status is not None and fact.status < 400 for fact in self.released)

    @property
    def given_up(self) -> bool:
        """Something was released, and every released request failed or got an answer of 400 or above."""
        return bool(self.released) and all(fact.error or (fact.status or 0) >= 400 for fact in self.released)

    @property
    def guarded(self) -> bool:
        """Every write passed the gate on a fresh connection, so the browser can't have sent one of them twice."""
        return self.armed and self._direct and all(fact.fresh for fact in self.released)

    @property
    def sent_once(self) -> bool:
        """The browser can't have sent a write twice: either the gate guarded them or its log shows zero restarts; never
        if it shows one."""
        return self._direct and not self.restarts and (self.guarded or self.restarts == 0)

    @property
    def _direct(self) -> bool:
        """No service worker stood between the page and the wire."""
        return not self.workers


def restarts_in_words(stored: str | None) -> list[str]:
    """What a stored report, perhaps of an older version, says about requests that were sent again."""
    report = json.loads(stored or "{}")
    return [str(Restart.model_validate(restart)) for restart in report.get("resent", ())]


NOTHING_SEEN = WireReport()
"""No keeper lived through the whole gesture, so nothing is known from the wire."""


def check_sends(sends: str) -> None:
    """Raise `WrongTask` unless `sends` is a pattern that names its method; see `observers.request_pattern`."""
    if not is_pattern(sends) or sends.startswith("*"):
        raise WrongTask(f"sends={sends!r} isn't a request: write a method and a path, such as 'POST /invoices/*'.")


def is_among(write: str, patterns: Iterable[str]) -> bool:
    """Whether a write, such as "POST https://books.example/draft/7", matches one of the patterns."""
    method, _, address = write.partition(" ")
    return any(matches_request(pattern, method, address) for pattern in patterns)
