"""Reading a network log: in any portions, by the log's own numbers, and never more sure than what was read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.async_api import Page

from browser_agent.browser import netlog
from browser_agent.browser.netlog import LONGEST_LINE, MARK_ADDRESS, LogReading, LogSpan, NetworkLog

OFFSET_MS = 1_795_000_000_000
SITE = "http://ann:pass@books.example/invoices?reference=hunter2&hunter2"
CONSTANTS: dict[str, Any] = {
    "logEventTypes": {
        "REQUEST_ALIVE": 1,
        "URL_REQUEST_START_JOB": 136,
        "HTTP_TRANSACTION_RESTART_AFTER_ERROR": 249,
        "HTTP_TRANSACTION_RESTART_MISDIRECTED_REQUEST": 250,
        "HTTP_TRANSACTION_SEND_REQUEST": 13,
    },
    "logEventPhase": {"PHASE_BEGIN": 1, "PHASE_END": 2, "PHASE_NONE": 0},
    "netError": {"ERR_CONNECTION_RESET": -101},
    "timeTickOffset": OFFSET_MS,
}


def head(**changed: Any) -> bytes:
    """The beginning of a log."""
    return b'{"constants":' + json.dumps({**CONSTANTS, **changed}).encode() + b',\n"events": [\n'


def event(name: str, source: int, phase: str = "PHASE_NONE", *, of: dict[str, Any] = CONSTANTS, **params: Any) -> bytes:
    """One line of a log, as Chromium writes it."""
    facts = {
        "params": params,
        "phase": of["logEventPhase"][phase],
        "source": {"id": source, "start_time": "5000", "type": 1},
        "time": "6000",
        "type": of["logEventTypes"][name],
    }
    return json.dumps(facts, separators=(",", ":")).encode() + b",\n"


def start(source: int, method: str = "POST", url: str = SITE, of: dict[str, Any] = CONSTANTS) -> bytes:
    return event("URL_REQUEST_START_JOB", source, "PHASE_BEGIN", of=of, method=method, url=url)


def answered(source: int) -> bytes:
    return event("URL_REQUEST_START_JOB", source, "PHASE_END")


def restart(source: int, error: int = -101, of: dict[str, Any] = CONSTANTS) -> bytes:
    return event("HTTP_TRANSACTION_RESTART_AFTER_ERROR", source, of=of, net_error=error)


def read(*text: bytes) -> LogReading:
    reading = LogReading()
    for portion in text:
        reading.feed(portion)
    return reading


def words(reading: LogReading) -> list[str]:
    return [str(found) for found in reading.restarts(0)]


AGAIN = "the browser sent POST http://books.example/invoices again by itself (net::ERR_CONNECTION_RESET)"


def test_a_write_that_was_sent_again_is_told_with_a_plain_address_and_its_time() -> None:
    reading = read(head(), start(205), event("HTTP_TRANSACTION_SEND_REQUEST", 205), restart(205), answered(205))
    (found,) = reading.restarts(0)
    assert str(found) == AGAIN
    assert found.at == datetime.fromtimestamp((OFFSET_MS + 6000) / 1000, UTC)
    assert "hunter2" not in found.model_dump_json() and "pass" not in found.model_dump_json()
    assert reading.holes == 0


@given(st.integers(1, 200))
def test_a_log_reads_the_same_in_portions_of_any_size(size: int) -> None:
    text = head() + start(205) + restart(205) + answered(205) + start(206) + restart(206)
    reading = read(*(text[at : at + size] for at in range(0, len(text), size)))
    assert words(reading) == [AGAIN, AGAIN] and reading.holes == 0


def test_half_a_last_line_waits_for_its_other_half() -> None:
    line = restart(205)
    reading = read(head(), start(205), line[:40])
    assert words(reading) == []
    reading.feed(line[40:])
    assert words(reading) == [AGAIN]


def test_the_numbers_are_those_of_the_log_itself() -> None:
    other: dict[str, Any] = {
        **CONSTANTS,
        "logEventTypes": {"URL_REQUEST_START_JOB": 7, "HTTP_TRANSACTION_RESTART_AFTER_ERROR": 8, "NEW_EVENT": 249},
        "netError": {"ERR_EMPTY_RESPONSE": -101},
    }
    reading = read(head(**other), start(1, of=other), event("NEW_EVENT", 1, of=other), restart(1, of=other))
    assert words(reading) == [AGAIN.replace("CONNECTION_RESET", "EMPTY_RESPONSE")]


def test_a_read_that_was_sent_again_is_not_told() -> None:
    reading = read(head(), start(1, "GET"), restart(1), start(2, "HEAD"), restart(2), restart(3))
    assert words(reading) == [] and reading.begun == 0


def test_after_a_redirect_a_write_is_a_read() -> None:
    assert words(read(head(), start(1), answered(1), start(1, "GET"), restart(1))) == []


def test_a_redirect_that_stays_a_write_is_a_further_write() -> None:
    reading = read(head(), start(1), answered(1), start(1), restart(1))
    assert words(reading) == [AGAIN] and reading.begun == 2


def test_a_restart_belongs_to_the_time_in_which_its_request_began() -> None:
    reading = read(head(), start(1))
    first = reading.begun
    reading.feed(start(2) + restart(2) + restart(1) + restart(1))
    assert (len(reading.restarts(0, first)), len(reading.restarts(first))) == (2, 1)


def test_an_answer_that_has_it_sent_again_is_named_by_its_status() -> None:
    without_error = ("HTTP_TRANSACTION_RESTART_AFTER_ERROR", "HTTP_TRANSACTION_RESTART_MISDIRECTED_REQUEST")
    reading = read(head(), start(1), *(event(name, 1) for name in without_error), restart(1, -999))
    assert [found.error for found in reading.restarts(0)] == ["answered 408", "answered 421", "net error -999"]


@pytest.mark.parametrize(
    "changed",
    [
        {"logEventTypes": {"URL_REQUEST_START_JOB": 136}},
        {"logEventTypes": {"HTTP_TRANSACTION_RESTART_AFTER_ERROR": 249}},
        {"logEventTypes": None},
        {"logEventPhase": {}},
        {"netError": [1]},
        {"timeTickOffset": "soon"},
    ],
    ids=repr,
)
def test_a_log_that_names_its_events_otherwise_is_not_read_and_no_mark_is_found_in_it(changed: dict[str, Any]) -> None:
    reading = LogReading()
    reading.expected.add("token")
    reading.feed(head(**changed) + start(1) + restart(1) + start(2, "GET", MARK_ADDRESS + "token"))
    assert words(reading) == [] and reading.expected == {"token"}


def test_a_mark_is_found_by_its_own_token_only() -> None:
    reading = LogReading()
    reading.expected |= {"one", "two"}
    reading.feed(head() + start(1, "GET", MARK_ADDRESS + "one") + start(2, "GET", MARK_ADDRESS + "three"))
    assert reading.expected == {"two"} and reading.begun == 0


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":249,"source":{"id":1}\n',
        b'{"type":249,"phase":0,"params":{}},\n',
        b'{"type":249,"phase":0,"source":{"id":1},"time":"soon","params":{}},\n',
        b'{"type":249,"phase":0,"source":{"id":1},"time":"9999999999999999999999","params":{}},\n',
        b'{"type":136,"phase":1,"source":{"id":1},"params":[]},\n',
        b'{"type":136,"phase":1,"source":{"id":1},"params":{"method":"POST"}},\n',
        b'["type":136]\n',
        b'\xff\xfe"type":249\n',
        b'[[{"type":249}]]\n',
    ],
    ids=repr,
)
def test_a_line_that_may_matter_and_cannot_be_read_is_a_hole_and_raises_nothing(line: bytes) -> None:
    reading = read(head(), start(1), line, restart(1))
    assert reading.holes == 1 and words(reading) == [AGAIN]


def test_a_line_without_end_is_dropped_as_a_hole() -> None:
    endless = b'{"params":{"url":"' + b"x" * LONGEST_LINE
    reading = read(head(), start(1), endless, endless, b'"},"type":249},\n', restart(1))
    assert reading.holes == 1 and words(reading) == [AGAIN]


def test_lines_that_do_not_matter_are_no_holes_whatever_is_in_them() -> None:
    reading = read(b"null\n", head(), b"]}\n", b"not a log at all\n", b'{"type":13,,\n', start(1), restart(1))
    assert reading.holes == 0 and words(reading) == [AGAIN]


def test_a_log_that_begins_anew_is_a_hole_and_its_sources_are_new() -> None:
    reading = read(head(), start(1), head(), restart(1), start(2), restart(2))
    assert reading.holes == 1 and words(reading) == [AGAIN]


@given(st.lists(st.binary(max_size=200)))
def test_nothing_that_is_in_a_log_makes_it_raise(portions: list[bytes]) -> None:
    read(head(), *portions, b"\n", b'{"constants":{}\n', *portions)


class Browser:
    """Writes into the pipe what a browser would; its page sets marks, unless it hangs."""

    def __init__(self, log: NetworkLog) -> None:
        self.log, self.hangs = log, False
        self.page = cast(Page, self)
        self.write(head())

    def write(self, *lines: bytes) -> None:
        with self.log.path.open("wb", buffering=0) as pipe:
            pipe.write(b"".join(lines))

    async def evaluate(self, script: str, address: str) -> None:
        if not self.hangs:
            self.write(start(9, "GET", address))


Story = Callable[[Browser, LogSpan], Coroutine[Any, Any, None]]


def counted(folder: Path, story: Story, *, pending: bool = False) -> int | None:
    """How many restarts are said of a gesture after the story, in a loop of its own."""

    async def tell() -> int | None:
        browser = Browser(NetworkLog.open(folder / "profile"))
        span = await browser.log.span(browser.page)
        await story(browser, span)
        said = span.restarts(pending=pending)
        browser.log.close()
        return said

    with ThreadPoolExecutor(1) as thread:  # Playwright may have a loop in this one
        return thread.submit(lambda: asyncio.run(tell())).result()


async def nothing(browser: Browser, span: LogSpan) -> None:
    """Nothing happens."""


async def answer_came(browser: Browser, span: LogSpan) -> None:
    browser.write(start(1), answered(1))
    span.invalidate()


async def answer_was_read(browser: Browser, span: LogSpan) -> None:
    await answer_came(browser, span)
    await browser.log.catch_up(browser.page)


async def page_hangs(browser: Browser, span: LogSpan) -> None:
    browser.hangs = True
    await answer_was_read(browser, span)


async def line_was_lost(browser: Browser, span: LogSpan) -> None:
    browser.write(b'{"type":249}\n')
    await answer_was_read(browser, span)


async def network_service_died(browser: Browser, span: LogSpan) -> None:
    browser.write(start(1), head())
    await browser.log.catch_up(browser.page)


async def sent_again(browser: Browser, span: LogSpan) -> None:
    browser.write(start(1), restart(1))
    await page_hangs(browser, span)


async def browser_ended(browser: Browser, span: LogSpan) -> None:
    await answer_was_read(browser, span)
    browser.log.close()
    await browser.log.catch_up(browser.page)


@pytest.mark.parametrize(
    ("story", "said"),
    [
        (nothing, 0),
        (answer_came, None),
        (answer_was_read, 0),
        (page_hangs, None),
        (line_was_lost, None),
        (network_service_died, None),
        (sent_again, 1),
        (browser_ended, 0),
    ],
)
def test_zero_restarts_are_said_only_of_a_log_that_was_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, story: Story, said: int | None
) -> None:
    monkeypatch.setattr(netlog, "MARK_SECONDS", 0.2 if story in (page_hangs, sent_again) else 20.0)
    assert counted(tmp_path, story) == said


def test_what_was_under_way_when_the_browser_ended_may_have_been_sent_again(tmp_path: Path) -> None:
    assert counted(tmp_path, answer_was_read, pending=True) == 0
    assert counted(tmp_path, browser_ended, pending=True) is None


def test_what_was_left_in_the_pipe_by_an_ended_browser_is_read(tmp_path: Path) -> None:
    async def ends_with_a_restart(browser: Browser, span: LogSpan) -> None:
        browser.write(start(1), restart(1))
        browser.log.close()

    assert counted(tmp_path, ends_with_a_restart) == 1


def test_a_log_that_was_not_read_when_the_gesture_began_says_nothing(tmp_path: Path) -> None:
    async def begins_unread(browser: Browser, span: LogSpan) -> None:
        browser.log.close()
        later = await browser.log.span(browser.page)
        assert later.restarts(pending=False) is None

    assert counted(tmp_path, begins_unread) == 0
