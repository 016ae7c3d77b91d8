"""One line in a suite's `conftest.py` that lets the guard stand in pytest-playwright's browser:

    pytest_plugins = ["browser_agent.testing.guarded"]

Without it `agent_run` works all the same, and says "not guarded": there the browser may send one click's request twice.
"""

from __future__ import annotations

from typing import Any

import pytest

GUARD_FLAG = "--enable-net-benchmarking"
"""Lets a page of Chromium's own close its pooled connections."""


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any], browser_name: str) -> dict[str, Any]:
    """The suite's own arguments, and what the guard needs: that flag, and a whole Chromium (`browser-agent doctor` says
    which), since Playwright's headless shell has no such page. What the suite says of its Chromium itself stays."""
    if browser_name != "chromium":
        return browser_type_launch_args
    from browser_agent.browser.chromium import find_chromium

    told = {**browser_type_launch_args, "args": [*browser_type_launch_args.get("args", ()), GUARD_FLAG]}
    return told if {"executable_path", "channel"} & set(told) else {**told, "executable_path": find_chromium()}
