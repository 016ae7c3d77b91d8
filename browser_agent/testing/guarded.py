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
    """The suite's own arguments, and for Chromium the flag by which pooled connections can be closed."""
    if browser_name != "chromium":
        return browser_type_launch_args
    return {**browser_type_launch_args, "args": [*browser_type_launch_args.get("args", ()), GUARD_FLAG]}
