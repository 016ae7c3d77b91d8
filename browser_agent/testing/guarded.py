"""Enables the gate in pytest-playwright's browser, by one line in a suite's `conftest.py`:

    pytest_plugins = ["browser_agent.testing.guarded"]

Without it `agent_run` works too, and says "not guarded": the browser may then send one click's request twice.
"""

from __future__ import annotations

from typing import Any

import pytest

GUARD_FLAG = "--enable-net-benchmarking"
"""Lets an internal page of Chromium close its pooled connections."""


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any], browser_name: str) -> dict[str, Any]:
    """The suite's own arguments, plus what the gate needs: that flag, and a full Chromium (`browser-agent doctor` says
    which), since Playwright's headless shell has no such page. An executable or channel of the suite's own is kept."""
    if browser_name != "chromium":
        return browser_type_launch_args
    from browser_agent.browser.chromium import find_chromium

    given = {**browser_type_launch_args, "args": [*browser_type_launch_args.get("args", ()), GUARD_FLAG]}
    return given if {"executable_path", "channel"} & set(given) else {**given, "executable_path": find_chromium()}
