"""What is installed is whole: the wheel holds every file of both packages, also those that aren't Python, and the task
of the demo."""

from __future__ import annotations

import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from zipfile import ZipFile

import pytest

import browser_agent
from browser_agent.cli.demo import find_task
from browser_agent.errors import Misuse

ROOT = Path(browser_agent.__file__).parents[1]
PACKAGES = ("browser_agent", "observers")
NEEDED = (
    "browser_agent/py.typed",
    "browser_agent/browser/*.js",
    "browser_agent/examples/invoices.py",
    "browser_agent/store/migrations/env.py",
    "browser_agent/store/migrations/script.py.mako",
    "browser_agent/store/migrations/versions/v0001_*.py",
    "browser_agent/reporting/templates/*.css",
    "browser_agent/reporting/templates/*.html",
    "browser_agent/testing/sites/templates/*.css",
    "browser_agent/testing/sites/templates/*.html",
    "observers/py.typed",
    "observers/*.js",
    "*.dist-info/entry_points.txt",
    "*.dist-info/licenses/LICENSE",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel that is built here, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    build = f"from hatchling.build import build_wheel; print(build_wheel({str(folder)!r}))"
    built = subprocess.run([sys.executable, "-c", build], cwd=ROOT, capture_output=True, text=True, check=True)
    return folder / built.stdout.split()[-1]


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    """The names in it."""
    with ZipFile(wheel) as packed:
        return set(packed.namelist())


@pytest.mark.parametrize("needed", NEEDED)
def test_the_wheel_holds_what_is_read_when_it_runs(names: set[str], needed: str) -> None:
    assert any(fnmatch(name, needed) for name in names)


def test_the_wheel_holds_every_file_of_both_packages_the_demos_task_and_nothing_else(names: set[str]) -> None:
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file())
    ours = {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}
    assert {name for name in names if ".dist-info/" not in name} == ours | {"browser_agent/examples/invoices.py"}


def test_the_demo_finds_its_task_in_what_was_installed_and_in_a_checkout(wheel: Path, tmp_path: Path) -> None:
    with ZipFile(wheel) as packed:
        packed.extractall(tmp_path)
    installed = find_task(tmp_path / "browser_agent")
    assert installed == tmp_path / "browser_agent" / "examples" / "invoices.py"
    in_checkout = find_task(ROOT / "browser_agent")
    assert in_checkout == ROOT / "examples" / "invoices.py"
    assert installed.read_bytes() == in_checkout.read_bytes()


def test_a_demo_without_its_task_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="neither .*invoices.py nor .*invoices.py. Nothing was started"):
        find_task(tmp_path / "browser_agent")
