"""Chromium's network log, read while it is written, to learn which writes the browser sent again by itself.

Chromium writes the log into a pipe in its profile folder, and the keeper reads it at once. So full addresses are never
on a disk, and the log needs no size limit. (Chromium's own limited log leaves its files outside the profile after a
SIGKILL: measured.) Only restarts of writes are kept, without the address's query.

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
"""How long it may take until a mark is read; it takes about 20 ms (measured)."""
MARK_ADDRESS = "http://127.0.0.1:1/browser-agent-mark-"
"""Chromium refuses to connect to port 1 and logs about 40 lines about it: nothing is sent, and the log is flushed."""
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
    """What the numbers in a log mean. They differ between versions; the log's first line defines them."""

    start: int
    restarts: Mapping[int, str]
    begin: int
    end: int
    errors: Mapping[int, str]
    offset_ms: int

    @classmethod
    def read(cls, line: bytes) -> _Legend | None:
        """The legend in the log's first line; None if this module can't use it."""
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
        """Matches every line that may matter, and few others: searching a line costs less than parsing it."""
        numbers = "|".join(str(number) for number in (self.start, *self.restarts))
        return re.compile(rf'"type":\s*(?:{numbers})\b'.encode())

    def error(self, kind: int, params: Mapping[str, Any]) -> str:
        """Why a request was sent again: its connection's error, or the answer it got (no error then: measured)."""
        number = params.get("net_error")
        if number is None:
            return _ANSWERS.get(self.restarts[kind], self.restarts[kind])
        return f"net::{self.errors[number]}" if number in self.errors else f"net error {number}"


class LogReading:
    """What has been read of a log so far. It accepts portions of any size; no content can make it raise.

    Attributes:
        size: bytes read.
        begun: how many writes have begun.
        holes: how often something was lost, so that a restart may be missing: a line that can't be parsed, or the log
            of a network service that died.
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
        self._writes: dict[int, tuple[int, str, str]] = {}  # in progress, by source: ordinal, method, address
        self._restarts: list[tuple[int, Restart]] = []

    def feed(self, text: bytes) -> None:
        """Read the next portion. An incomplete last line waits for the rest."""
        self.size += len(text)
        *lines, self._half = (self._half + text).split(b"\n")
        if len(self._half) > LONGEST_LINE:
            self._half = b""  # the rest of the line can't be parsed, and so counts as a hole
        for line in lines:
            if line.startswith(_CONSTANTS):
                self._begin(line)
            elif self._telling is not None and self._telling.search(line):
                self._line(line)

    def restarts(self, since: int, until: int | None = None) -> tuple[Restart, ...]:
        """Restarts of the writes that began after the first `since` writes, up to write number `until`."""
        return tuple(
            restart for ordinal, restart in self._restarts if ordinal > since and (until is None or ordinal <= until)
        )

    def _begin(self, line: bytes) -> None:
        self.holes += self._legend is not None  # the previous log's end was never written
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
            self._writes.pop(source, None)  # its response head has arrived: it is not sent again
        elif kind in legend.restarts and source in self._writes:
            ordinal, method, address = self._writes[source]
            at = datetime.fromtimestamp((int(event["time"]) + legend.offset_ms) / 1000, UTC)
            self._restarts.append(
                (ordinal, Restart(method=method, address=address, error=legend.error(kind, params), at=at))
            )

    def _started(self, source: int, method: str, url: str) -> None:
        """A request begins, or continues after a redirect, perhaps with another method."""
        self._writes.pop(source, None)
        if url.startswith(MARK_ADDRESS):
            self.expected.discard(url.removeprefix(MARK_ADDRESS))
        elif method not in SAFE_METHODS:
            self.begun += 1
            self._writes[source] = (self.begun, method, plain_address(url.partition("?")[0]))


class NetworkLog:
    """The log of one Chromium, from before its start to its end, read in the event loop that opened it."""

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
        """Create the pipe in a profile folder that no Chromium uses yet.

        Raises:
            OSError: the folder can't be created, or its file system has no pipes.
        """
        profile.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = profile.resolve() / _PIPE_NAME
        path.unlink(missing_ok=True)
        os.mkfifo(path, 0o600)
        # Open both ends: without a reader, the browser would block on opening; without a writer, the pipe would end.
        return cls(path, os.open(path, os.O_RDWR | os.O_NONBLOCK))

    @property
    def argument(self) -> str:
        """The command line argument to start Chromium with."""
        return f"--log-net-log={self.path}"

    async def span(self, page: Page) -> LogSpan:
        """Start a new part of the log; the previous one ends.

        Args:
            page: a page that nothing acts on; it sets the mark.
        """
        await self.catch_up(page)
        if self._span is not None:
            self._span.until = self.reading.begun
        self._span = LogSpan(self, known=self.read_to_the_end and not self.closed)
        return self._span

    async def catch_up(self, page: Page) -> None:
        """Read what has been logged until now. If that fails or takes too long, `read_to_the_end` becomes False."""
        if self.closed:  # nothing more can come
            return
        self.read_to_the_end = True  # an event meanwhile may reset it
        if not await self._marked(page):
            self.read_to_the_end = False

    def close(self) -> None:
        """Read what the browser left in the pipe, and stop reading."""
        if not self.closed:
            self.closed = True
            while self._read():
                continue
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)

    async def _marked(self, page: Page) -> bool:
        token = secrets.token_hex(8)  # no page can guess it
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
        """Read one portion, so that a long log doesn't block the event loop; False if there was none."""
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
        known: the log had been read up to the part's beginning; if not, the absence of a restart proves nothing.
    """

    def __init__(self, log: NetworkLog, *, known: bool) -> None:
        self._log, self._known = log, known
        self._since, self._holes = log.reading.begun, log.reading.holes
        self.until: int | None = None

    def invalidate(self) -> None:
        """Record that something happened on the wire: the log may now hold more than was read."""
        self._log.read_to_the_end = False

    @property
    def resent(self) -> tuple[Restart, ...]:
        """The restarts that have been read."""
        return self._log.reading.restarts(self._since, self.until)

    def restarts(self, *, pending: bool) -> int | None:
        """How many restarts there were; None if there may be one that was not read.

        Args:
            pending: a write still waits for its answer, so the browser's end may have cut off a restart of it.
        """
        whole = self._known and self._log.read_to_the_end and self._holes == self._log.reading.holes
        if not self.resent and (not whole or (pending and self._log.closed)):
            return None
        return len(self.resent)
