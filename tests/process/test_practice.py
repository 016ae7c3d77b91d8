"""The practice sites in somebody else's suite, and what is said where the packages for them are missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from browser_agent import testing
from browser_agent.errors import installing

ROOT = Path(testing.__file__).parents[2]
SUITE = """
import urllib.request

def test_one(practice_books):
    practice_books.enter(customer="Contoso", amount="1", reference="R-1")
    assert b"R-1" in urllib.request.urlopen(f"{practice_books.url}/invoices").read()

def test_another_has_a_site_of_its_own(practice_books):
    assert practice_books.invoices == []

def test_every_site_is_served(
    practice_bank, practice_mail, practice_seller, practice_shop, practice_wizard
):
    sites = [practice_bank, practice_mail, practice_seller, practice_shop, practice_wizard]
    assert [urllib.request.urlopen(site.url).status for site in sites] == [200] * 5
"""


def run(*command: str, at: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *command], cwd=at, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["browser_agent.testing"]\n', encoding="utf-8")
    (tmp_path / "test_it.py").write_text(SUITE, encoding="utf-8")
    return tmp_path


def test_a_suite_has_the_sites_by_naming_the_package(suite: Path) -> None:
    ended = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", at=suite)
    assert "3 passed" in ended.stdout, ended.stdout
    told = run("-m", "pytest", "--fixtures", "-q", "-p", "no:cacheprovider", at=suite).stdout
    assert told.count("fresh for this test") == 7


def without(package: str, code: str) -> str:
    """Python code in an interpreter that doesn't have a package."""
    return f"import sys; sys.modules[{package!r}] = None\n{code}"


@pytest.mark.parametrize("package", ["starlette", "uvicorn", "h11"])
def test_a_missing_package_is_named_with_what_to_install(package: str, tmp_path: Path) -> None:
    words = f"browser_agent.testing needs the package {package}; {installing('testing')}"
    name = "FaultProxy" if package == "h11" else "Books"
    asked = run("-c", without(package, f"from browser_agent.testing import {name}"), at=tmp_path)
    assert asked.stderr.splitlines()[-1] == f"ImportError: {words}"
    command = "import runpy; runpy.run_module('browser_agent.testing', run_name='__main__')"
    asked = run("-c", without(package, command), at=tmp_path)
    assert (asked.returncode, asked.stderr) == (1, f"{words}\n")


def test_another_error_of_an_import_is_left_as_it_is(tmp_path: Path) -> None:
    asked = run("-c", without("http.cookies", "from browser_agent.testing import Books"), at=tmp_path)
    assert "pip install" not in asked.stderr and "ModuleNotFoundError" in asked.stderr


def test_naming_the_package_imports_nothing_slow(tmp_path: Path) -> None:
    slow = "{'starlette', 'h11', 'uvicorn', 'pytest', 'pydantic', 'jinja2'}"
    code = f"import sys, browser_agent.testing; print({slow} & {{name.partition('.')[0] for name in sys.modules}})"
    assert run("-c", code, at=tmp_path).stdout.strip() == "set()"


@pytest.mark.parametrize("name", testing.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(testing, name).__name__ == name


def test_a_misspelled_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Boks'"):
        _ = testing.Boks  # type: ignore[attr-defined]
