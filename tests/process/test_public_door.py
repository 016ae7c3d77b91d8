"""The public door: every name is there, nothing slow is imported before it is used, and a hidden package is named."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import browser_agent

ROOT = Path(browser_agent.__file__).parent.parent


def python(code: str, at: Path) -> subprocess.CompletedProcess[str]:
    """A fresh Python whose own folder comes first on its path, as for a script in it."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.path.insert(0, {str(at)!r})\n{code}"
    return subprocess.run([sys.executable, "-c", code], cwd=at, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", browser_agent.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(browser_agent, name) is not None
    assert name in dir(browser_agent)


def test_no_public_name_is_a_modules_name_too() -> None:
    """Whoever imports the module would have it stand in the name's place from then on."""
    assert not {module.name for module in pkgutil.iter_modules(browser_agent.__path__)} & set(browser_agent.__all__)


def test_a_misspelled_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Clik'"):
        _ = browser_agent.Clik  # type: ignore[attr-defined]


def test_importing_the_door_imports_nothing_slow(tmp_path: Path) -> None:
    slow = "print({'playwright', 'sqlmodel', 'pydantic'} & {name.partition('.')[0] for name in sys.modules})"
    assert python(f"import browser_agent\n{slow}", tmp_path).stdout.strip() == "set()"


def test_a_step_is_imported_without_playwright_or_sqlmodel(tmp_path: Path) -> None:
    slow = "print({'playwright', 'sqlmodel'} & {name.partition('.')[0] for name in sys.modules})"
    assert python(f"from browser_agent import Click, step, task\n{slow}", tmp_path).stdout.strip() == "set()"


def test_a_users_own_observers_file_is_named_as_the_trouble(tmp_path: Path) -> None:
    (tmp_path / "observers.py").write_text("x = 1\n")
    said = python("from browser_agent import step", tmp_path).stderr.splitlines()[-1]
    assert said.startswith(f"ImportError: {tmp_path}/observers.py hides the package observers")
