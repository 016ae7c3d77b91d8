"""Chromium's network log, read while it is written: which writes did the browser send a second time by itself?

Chromium writes the log into a pipe in its profile folder, and the keeper reads it at once: full addresses are never on
a disk, and the log needs no bound. (Chromium's own bounded log leaves its files outside the profile after a SIGKILL:
measured.) Only restarts of writes are kept, without the address's query.

A log without a restart proves something only if it was read to its end. Chromium flushes it every 15 lines, so the
reader makes Chromium log a mark and waits until it reads the mark: everything before it has then been read too.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from playwright.async_api import Error, Page

from browser_agent.wire import Restart
from observers.evidence import plain_address
from observers.request_pattern import SAFE_METHODS

MARK_SECONDS = 1.0
"""How long a mark may take to be read; it takes some 20 ms (measured)."""
MARK_ADDRESS = "http://127.0.0.1:1/browser-agent-mark-"
"""Chromium refuses to connect to port 1, and logs some 40 lines about it: nothing is sent, and a portion is full."""
LONGEST_LINE = 2**20
_PIPE_NAME = "network.log"
_PORTION = 2**16
_MARK = "address => { new Image().src = address }"
_CONSTANTS = b'{"constants":'
_START = "URL_REQUEST_START_JOB"
_RESTART = "HTTP_TRANSACTION_RESTART_AFTER_ERROR"
_RESTARTS = "HTTP_TRANSACTION_RESTART_"
_ANSWERS = {_RESTART: "answered 408", f"{_RESTARTS}MISDIRECTED_REQUEST": "answered 421"}


@dataclass(frozen=True)
class _Legend:
    """What the numbers of a log mean; they differ between versions, and stand at the log's beginning."""

    start: int
    restarts: Mapping[int, str]
    begin: int
    end: int
    errors: Mapping[int, str]
    offset_ms: int

    @classmethod
    def read(cls, line: bytes) -> _Legend | None:
        """The legend in the log's first line; None if it is one that this module cannot go by."""
        try:
            constants, _ = json.JSONDecoder().raw_decode(line.removeprefix(_CONSTANTS).decode())
            types, phases = constants["logEventTypes"], constants["logEventPhase"]
            if _RESTART not in types:
                return None
            return cls(
                start=int(types[_START]),
                restarts={int(number): name for name, number in types.items() if name.startswith(_RESTARTS)},
                begin=int(phases["PHASE_BEGIN"]),
                end=int(phases["PHASE_END"]),
                errors={int(number): name for name, number in constants["netError"].items()},
                offset_ms=int(constants["timeTickOffset"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    @property
    def telling(self) -> re.Pattern[bytes]:
        """Found in every line that may matter, and in few others: a line costs less to search than to read."""
        numbers = "|".join(str(number) for number in (self.start, *self.restarts))
        return re.compile(rf'"type":\s*(?:{numbers})\b'.encode())

    def error(self, kind: int, params: Mapping[str, Any]) -> str:
        """Why a request was sent again: the error of its connection, or the answer that it had (no error: measured)."""
        number = params.get("net_error")
        if number is None:
            return _ANSWERS.get(self.restarts[kind], self.restarts[kind])
        return f"net::{self.errors[number]}" if number in self.errors else f"net error {number}"


class LogReading:
    """What has been read of a log so far. Takes it in portions of any size; nothing that it holds can make it raise.

    Attributes:
        size: bytes read.
        begun: how many writes have begun.
        holes: how often something was lost, so that what is not there may have been: a line that cannot be read, or the
            log of a network service that died.
        expected: marks that were set and have not been read yet.
    """

    def __init__(self) -> None:
        self.size = 0
        self.begun = 0
        self.holes = 0
        self.expected: set[str] = set()
        self._legend: _Legend | None = None
        self._telling: re.Pattern[bytes] | None = None
        self._half = b""
        self._writes: dict[int, tuple[int, str, str]] = {}  # under way, by source: ordinal, method, address
        self._restarts: list[tuple[int, Restart]] = []

    def feed(self, text: bytes) -> None:
        """Read on. A last line without its end waits for the rest."""
        self.size += len(text)
        *lines, self._half = (self._half + text).split(b"\n")
        if len(self._half) > LONGEST_LINE:
            self._half = b""  # what is left of it cannot be read, and is a hole by that
        for line in lines:
            if line.startswith(_CONSTANTS):
                self._begin(line)
            elif self._telling is not None and self._telling.search(line):
                self._line(line)

    def restarts(self, since: int, until: int | None = None) -> tuple[Restart, ...]:
        """Restarts of the writes that began when `since` had begun, and before `until` had."""
        return tuple(
            restart for ordinal, restart in self._restarts if ordinal > since and (until is None or ordinal <= until)
        )

    def _begin(self, line: bytes) -> None:
        self.holes += self._legend is not None  # the end of the log before this one was never written
        self._legend = _Legend.read(line)
        self._telling = self._legend.telling if self._legend else None
        self._writes.clear()

    def _line(self, line: bytes) -> None:
        try:
            event = json.loads(line.strip().removesuffix(b","))
            self._event(event, event["type"], event["source"]["id"], event.get("params", {}))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            self.holes += 1

    def _event(self, event: Mapping[str, Any], kind: int, source: int, params: Mapping[str, Any]) -> None:
        legend = self._legend
        assert legend is not None
        if kind == legend.start and event["phase"] == legend.begin:
            self._started(source, params["method"], params["url"])
        elif kind == legend.start and event["phase"] == legend.end:
            self._writes.pop(source, None)  # its answer's head is there: from here on it is not sent again
        elif kind in legend.restarts and source in self._writes:
            ordinal, method, address = self._writes[source]
            at = datetime.fromtimestamp((int(event["time"]) + legend.offset_ms) / 1000, UTC)
            self._restarts.append(
                (ordinal, Restart(method=method, address=address, error=legend.error(kind, params), at=at))
            )

    def _started(self, source: int, method: str, url: str) -> None:
        """A request begins, or goes on after a redirect, perhaps by another method."""
        self._writes.pop(source, None)
        if url.startswith(MARK_ADDRESS):
            self.expected.discard(url.removeprefix(MARK_ADDRESS))
        elif method not in SAFE_METHODS:
            self.begun += 1
            self._writes[source] = (self.begun, method, plain_address(url.partition("?")[0]))


class NetworkLog:
    """The log of one Chromium, read in the event loop that opened it from before the browser's start to its end."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self._descriptor = path, descriptor
        self.reading = LogReading()
        self.read_to_the_end = False
        self.closed = False
        self._more = asyncio.Event()
        self._span: LogSpan | None = None
        asyncio.get_running_loop().add_reader(descriptor, self._read)

    @classmethod
    def open(cls, profile: Path) -> NetworkLog:
        """Lay the pipe into a profile folder that no Chromium has yet.

        Raises:
            OSError: the folder cannot be made, or its file system has no pipes.
        """
        profile.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = profile.resolve() / _PIPE_NAME
        path.unlink(missing_ok=True)
        os.mkfifo(path, 0o600)
        # Both ends: a pipe that nobody reads would stop the browser when it opens it, one that nobody writes would end.
        return cls(path, os.open(path, os.O_RDWR | os.O_NONBLOCK))

    @property
    def argument(self) -> str:
        """What Chromium is to be started with."""
        return f"--log-net-log={self.path}"

    async def span(self, page: Page) -> LogSpan:
        """The part of the log that begins now; the one before it ends.

        Args:
            page: a page that nothing acts on; the mark is set from it.
        """
        await self.catch_up(page)
        if self._span is not None:
            self._span.until = self.reading.begun
        self._span = LogSpan(self, known=self.read_to_the_end and not self.closed)
        return self._span

    async def catch_up(self, page: Page) -> None:
        """Read what has been logged until now. If that cannot be had in time, `read_to_the_end` becomes False."""
        if self.closed:  # nothing more can come
            return
        self.read_to_the_end = True  # something that happens meanwhile may deny it
        if not await self._marked(page):
            self.read_to_the_end = False

    def close(self) -> None:
        """Read what the browser left in the pipe, and read no more."""
        if not self.closed:
            self.closed = True
            while self._read():
                continue
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)

    async def _marked(self, page: Page) -> bool:
        token = secrets.token_hex(8)  # no page can know it
        self.reading.expected.add(token)
        try:
            async with asyncio.timeout(MARK_SECONDS):
                await page.evaluate(_MARK, MARK_ADDRESS + token)
                while token in self.reading.expected:
                    self._more.clear()
                    await self._more.wait()
        except (Error, TimeoutError):
            return False
        finally:
            self.reading.expected.discard(token)
        return True

    def _read(self) -> bool:
        """Read a portion, so that a long log does not keep others waiting; False if there was none."""
        try:
            text = os.read(self._descriptor, _PORTION)
        except BlockingIOError:
            return False
        self.reading.feed(text)
        self._more.set()
        return True


class LogSpan:
    """A part of the log: the writes that began in it, and what became of them.

    Args:
        log: the log.
        known: its beginning was read in time; otherwise nothing can be said of what is not in it.
    """

    def __init__(self, log: NetworkLog, *, known: bool) -> None:
        self._log, self._known = log, known
        self._since, self._holes = log.reading.begun, log.reading.holes
        self.until: int | None = None

    def invalidate(self) -> None:
        """Something has happened at the wire, of which the log may have more to tell than was read."""
        self._log.read_to_the_end = False

    @property
    def resent(self) -> tuple[Restart, ...]:
        """The restarts that were read."""
        return self._log.reading.restarts(self._since, self.until)

    def restarts(self, *, pending: bool) -> int | None:
        """How many restarts there were; None if there may be one that was not read.

        Args:
            pending: a write still waits for its answer, so that the browser's end may have cut off what came of it.
        """
        whole = self._known and self._log.read_to_the_end and self._holes == self._log.reading.holes
        if not self.resent and (not whole or (pending and self._log.closed)):
            return None
        return len(self.resent)
