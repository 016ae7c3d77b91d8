"""In which order requests leave: nothing overtakes a write, and nobody waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from browser_agent.browser import send_order
from browser_agent.browser.interception import PausedRequest
from browser_agent.browser.send_order import SendOrder


def request(name: str, method: str = "POST") -> PausedRequest:
    return PausedRequest(
        id=name, method=method, url=f"http://shop.test/{name}", resource_type="xhr", frame="", in_page=True
    )


FIRST, SECOND, READ = request("first"), request("second"), request("read", "GET")


class Road:
    """What leaves, in its order."""

    def __init__(self) -> None:
        self.order = SendOrder()
        self.gone: list[str] = []
        self.clear: dict[str, bool] = {}

    async def write(self, request: PausedRequest, *, may_cut_off: bool = False) -> None:
        async with self.order.write_turn(request, may_cut_off=lambda _: may_cut_off) as clear:
            self.clear[request.id] = clear
            self.gone.append(request.id)
            self.order.sent(request)

    async def read(self) -> None:
        await self.order.read_turn(READ)
        self.gone.append("read")

    async def start(self, *work: Coroutine[Any, Any, None]) -> list[asyncio.Task[None]]:
        """Begin each, and let all come as far as they can."""
        tasks = [asyncio.ensure_future(each) for each in work]
        for _ in range(20):
            await asyncio.sleep(0)
        return tasks


def run(story: Coroutine[Any, Any, None]) -> None:
    with ThreadPoolExecutor(1) as thread:  # this one may have Playwright's loop in it
        thread.submit(asyncio.run, story).result()


@pytest.mark.parametrize("more", [False, True])
def test_a_write_waits_for_the_end_of_the_one_before_it(more: bool) -> None:
    async def story() -> None:
        road = Road()
        tasks = await road.start(road.write(FIRST), road.write(SECOND))
        assert road.gone == ["first"]
        road.order.answered(FIRST, more=more)
        if more:  # the rest of its answer is still under way
            await road.start()
            assert road.gone == ["first"]
            road.order.ended(FIRST)
        await asyncio.gather(*tasks)
        assert road.gone == ["first", "second"] and road.clear == {"first": True, "second": True}

    run(story())


def test_a_read_waits_until_the_write_is_answered() -> None:
    async def story() -> None:
        road = Road()
        tasks = await road.start(road.write(FIRST), road.read())
        assert road.gone == ["first"]
        road.order.answered(FIRST, more=True)
        await asyncio.gather(*tasks)
        assert road.gone == ["first", "read"]

    run(story())


def test_a_write_waits_until_a_read_that_left_before_it_has_ended() -> None:
    async def story() -> None:
        road = Road()
        await road.read()
        (writing,) = await road.start(road.write(FIRST))
        assert road.gone == ["read"]
        road.order.read_ended(READ)
        await writing
        assert road.gone == ["read", "first"] and road.order.starting == ()

    run(story())


def test_a_read_that_may_leave_does_not_overtake_the_write_whose_turn_came_meanwhile() -> None:
    async def story() -> None:
        road = Road()
        tasks = await road.start(road.write(FIRST), road.read())
        road.order.answered(FIRST, more=False)  # the read may leave, but the next write has its turn before it runs
        async with road.order.write_turn(SECOND, may_cut_off=lambda _: False):
            await road.start()
            assert road.gone == ["first"]
        await asyncio.gather(*tasks)
        assert road.gone == ["first", "read"]

    run(story())


def test_a_read_beside_a_write_that_was_refused_does_not_wait() -> None:
    async def story() -> None:
        road = Road()
        async with road.order.write_turn(FIRST, may_cut_off=lambda _: False):
            (reading,) = await road.start(road.read())
            assert road.gone == []
        await reading
        assert road.gone == ["read"]

    run(story())


@pytest.mark.parametrize("may_cut_off", [False, True])
def test_without_an_answer_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch, may_cut_off: bool) -> None:
    monkeypatch.setattr(send_order, "PATIENCE_SECONDS", 0.01)
    monkeypatch.setattr(send_order, "READS_SECONDS", 0.01)

    async def story() -> None:
        road = Road()
        await asyncio.gather(road.write(FIRST), road.write(SECOND, may_cut_off=may_cut_off), road.read())
        assert set(road.gone) == {"first", "second", "read"}
        assert road.clear == {"first": True, "second": may_cut_off}

    run(story())


def test_a_new_gesture_waits_for_nothing_of_an_earlier_one() -> None:
    async def story() -> None:
        road = Road()
        await road.write(FIRST)
        road.order.reset()
        await road.write(SECOND)
        assert road.clear["second"]

    run(story())
