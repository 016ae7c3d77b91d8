"""What is supported is kept once: the page, the doctor, the package and the start of the command say the same."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from browser_agent import support
from browser_agent.cli import doctor
from browser_agent.cli.check import Probe, as_lines

ROOT = Path(support.__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_page_on_support_shows_the_table() -> None:
    assert support.table() in (ROOT / "docs" / "support.md").read_text(encoding="utf-8")


def test_the_package_asks_for_what_is_needed_at_least() -> None:
    assert PROJECT["requires-python"] == f">={support.PYTHON.oldest}"
    assert any(wanted.startswith(f"playwright>={support.PLAYWRIGHT.oldest},") for wanted in PROJECT["dependencies"])


@pytest.mark.parametrize(
    ("found", "tried"), [("3.11.7", True), ("3.11", True), ("3.1.1", False), ("3.12.0", False), ("3.110", False)]
)
def test_only_what_was_tried_is_without_a_warning(found: str, tried: bool) -> None:
    assert (support.PYTHON.warning(found) == "") is tried


def test_a_browser_that_was_not_tried_is_a_warning_and_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    check = Probe("Chromium", "157.0 at /usr/bin/chromium", warning=support.CHROMIUM.warning("157.0"))
    assert check.well
    lines = as_lines([check]).splitlines()
    assert lines[0].startswith("?   Chromium  157.0")
    assert lines[1].strip().startswith("-> tried with Chromium 156 only")


def test_this_machine_was_tried() -> None:
    assert support.refusal() == ""
    assert doctor.check_platform() == Probe("system", sys.platform) or sys.platform == "darwin"


@pytest.mark.process
def test_windows_is_told_in_one_sentence_before_anything_is_read_in() -> None:
    program = (
        "import sys; sys.platform = 'win32'; sys.modules['termios'] = None\n"
        "from browser_agent.__main__ import main; main()"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, cwd=ROOT)
    assert (ended.returncode, ended.stdout, len(ended.stderr.splitlines())) == (2, "", 1)
    assert ended.stderr.startswith("browser-agent does not run on Windows: ")
    assert "freebsd" in support.refusal("freebsd14")
