"""A suite that uses none of it: nothing is imported, nothing is needed; and what is refused before a test is run."""

from __future__ import annotations

import tomllib

import pytest

from browser_agent.pytest_plugin import MARKER
from tests.fix_matrix import chosen
from tests.fix_plugin import ROOT, Suite

PLAIN = """
import sys

def test_nothing_slow_was_imported():
    slow = {"playwright", "sqlmodel", "sqlalchemy", "pydantic", "starlette", "browser_agent.testing"}
    assert not slow & set(sys.modules)

def test_ours(agent_run):
    pass
"""

MARKED = f"""
import pytest

@pytest.mark.{MARKER}(points=["lunch"])
def test_marked(agent_task):
    pass
"""


def test_a_suite_without_pytest_playwright_is_not_disturbed(suite: Suite) -> None:
    suite.write(test_it=PLAIN)
    others = [f"-pno:{name}" for name in ("playwright", "base_url", "hypothesispytest", "html", "allure_pytest")]
    result = suite.run("--strict-markers", "-Werror", *others)
    result.assert_outcomes(passed=1, errors=1)
    assert "agent_run needs the `page` of pytest-playwright" in result.stdout.str()


@pytest.mark.parametrize(
    "place", chosen("--agent-store=out/runs.db", "--agent-report=out", others=["--agent-report=out/reports"])
)
def test_a_place_in_the_folder_that_is_wiped_is_refused(suite: Suite, place: str) -> None:
    result = suite.run("--output=out", place)
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    assert "which pytest-playwright wipes when a session begins" in result.stderr.str()


def test_a_place_in_the_ini_file_is_meant_from_its_folder_and_refused_alike(suite: Suite) -> None:
    (suite.folder / "pytest.ini").write_text("[pytest]\nagent_store = test-results/runs.db\n")
    assert suite.run().ret is pytest.ExitCode.USAGE_ERROR


def test_an_unknown_point_is_told_with_all_that_there_are(suite: Suite) -> None:
    suite.write(test_it=MARKED)
    result = suite.run()
    assert result.ret is pytest.ExitCode.INTERRUPTED
    assert "no point 'lunch'" in result.stdout.str()
    assert "'released': its request has been released" in result.stdout.str()


def test_a_test_without_a_gesture_has_shown_nothing(suite: Suite) -> None:
    suite.write(test_it=MARKED.replace("lunch", "released"))
    result = suite.run()
    result.assert_outcomes(passed=1, failed=1)
    assert "There was no gesture 1 to kill at, so this test has shown nothing. No site of this test is known" in (
        result.stdout.str()
    )


def test_the_marker_needs_something_to_kill(suite: Suite) -> None:
    suite.write(test_it=MARKED.replace("agent_task", "tmp_path"))
    result = suite.run()
    assert f"{MARKER} needs one of agent_task and agent_run to kill" in result.stdout.str()


def test_the_project_offers_it_as_an_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"browser-agent": "browser_agent.pytest_plugin"}
