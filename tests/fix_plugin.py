"""A suite of a user's, in a folder and a process of its own: pytest-playwright and our plugin really in it.

The suite says what its sites' ledgers hold by `told.jsonl`: one line a test, written when the test is over.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import browser_agent.store.migrations  # noqa: F401  # before an inner run, which forgets its modules again

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
DEADLINE_SECONDS = 1800

CONFTEST = """
import json
import pytest
from invoice import books

pytest_plugins = ["browser_agent.testing", "browser_agent.testing.guarded"]


@pytest.fixture
def agent_site(practice_books):
    books.bind(practice_books.url)
    return books


@pytest.fixture
def told():
    return {}


@pytest.fixture(autouse=True)
def _tell(request, told):
    yield
    if told:
        with open("told.jsonl", "a") as file:
            file.write(json.dumps({"test": request.node.name} | {name: tell() for name, tell in told.items()}) + "\\n")
"""


def blocks() -> dict[str, str]:
    """The files that the page about testing tells to write: name -> text."""
    found = re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return dict(found)


class Suite:
    """A folder with a suite in it."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester
        self.folder = pytester.path

    def write(self, **texts: str) -> None:
        """Write files: name without its ending -> text."""
        for name, text in texts.items():
            (self.folder / f"{name}.py").write_text(text, encoding="utf-8")

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run it, in a process of its own."""
        known = entry_points(group="pytest11", name="browser-agent")  # this checkout may be newer than its installation
        ours = [] if known else ["-p", "browser_agent.pytest_plugin"]
        asked = [*ours, "-p", "no:cacheprovider", "-p", "no:randomly", *arguments]
        return self._pytester.runpytest_subprocess(*asked, timeout=DEADLINE_SECONDS)

    @property
    def told(self) -> dict[str, dict[str, Any]]:
        """What each test has told; of several goes the last."""
        lines = (self.folder / "told.jsonl").read_text(encoding="utf-8").splitlines()
        return {line["test"]: line for line in map(json.loads, lines)}


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Suite:
    """An empty suite with the task of the page about testing beside it."""
    suite = Suite(pytester)
    suite.write(invoice=blocks()["invoice.py"])
    return suite
