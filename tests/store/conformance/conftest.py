"""A home for each test that asks for one; which, stands in the test's parameters."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.store.conformance.homes import Home, PostgresHome, TemporalHome


@pytest.fixture
def home(request: pytest.FixtureRequest) -> Iterator[Home]:
    """The home that the test's parameter names; afterwards its log must verify, as in every world."""
    match request.param:
        case "sqlite":
            found = Home(request.getfixturevalue("world"))
        case "postgres":
            world = request.getfixturevalue("postgres_world")
            found = PostgresHome(world, request.getfixturevalue("postgres_server"))
        case _:
            engine = request.getfixturevalue("engine_on_postgres")
            found = TemporalHome(engine.world, request.getfixturevalue("postgres_server"), engine)
    yield found
    found.close()


@pytest.fixture
def wrong_clock(tmp_path: Path) -> Mapping[str, str]:
    """What makes a worker's clock go wrong, but for how much (FAKETIME); its browser must start by `right_chromium`."""
    spec = importlib.util.find_spec("libfaketime")
    assert spec is not None and spec.origin is not None
    library = Path(spec.origin).parent / "vendor/libfaketime/src/libfaketime.so.1"
    return {"LD_PRELOAD": str(library), "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


@pytest.fixture
def right_chromium(tmp_path: Path) -> str:
    """A Chromium whose clock is right: it can't live with another one."""
    from browser_agent.browser.chromium import find_chromium

    path = tmp_path / "right-chromium"
    path.write_text(f'#!/bin/sh\nunset LD_PRELOAD FAKETIME\nexec "{find_chromium()}" "$@"\n')
    path.chmod(0o700)
    return str(path)
