"""What is published is whole: wheel and source archive hold every file of both packages, the demo's task, no more."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from zipfile import ZipFile

import pytest

import browser_agent
from browser_agent.cli.demo import find_task
from browser_agent.errors import Misuse

ROOT = Path(browser_agent.__file__).parents[1]
PACKAGES = ("browser_agent", "observers")
TASK = "browser_agent/examples/invoices.py"
NEEDED = (
    "browser_agent/py.typed",
    "browser_agent/browser/*.js",
    "browser_agent/examples/invoices.py",
    "browser_agent/store/migrations/env.py",
    "browser_agent/store/migrations/script.py.mako",
    "browser_agent/store/migrations/versions/v0001_*.py",
    "browser_agent/reporting/templates/*.css",
    "browser_agent/reporting/templates/*.html",
    "browser_agent/testing/proxy/fault_proxy.py",
    "browser_agent/testing/sites/books.py",
    "browser_agent/testing/sites/templates/*.css",
    "browser_agent/testing/sites/templates/*.html",
    "observers/py.typed",
    "observers/*.js",
    "*.dist-info/entry_points.txt",
    "*.dist-info/licenses/LICENSE",
)
METADATA = {"LICENSE", "PKG-INFO", "pyproject.toml", ".gitignore"}
"""What a source archive holds beside the source."""


def built(what: str, source: Path, folder: Path) -> Path:
    """Build a wheel, a source archive or an editable wheel, as an installer would, without a network."""
    code = f"from hatchling.build import build_{what} as build; print(build({str(folder)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, text=True, check=True)
    return folder / done.stdout.split()[-1]


def names_in(wheel: Path) -> set[str]:
    with ZipFile(wheel) as packed:
        return set(packed.namelist())


def files_of(package: str) -> Iterator[str]:
    """Every file of a package by its path from the root; folders that are links are followed."""
    for folder, _, names in os.walk(ROOT / package, followlinks=True):
        if "__pycache__" not in Path(folder).parts:
            yield from ((Path(folder) / name).relative_to(ROOT).as_posix() for name in names)


def imported(code: str, *packages: Path, add: str = "sys.path.insert(0, {!r})") -> str:
    """What `code` prints in a fresh Python that sees the libraries, the given folders, and no other browser_agent."""
    adds = [add.format(str(each)) for each in packages]
    lines = ["import site, sys", f"sys.path.append({sysconfig.get_path('purelib')!r})", *adds, code]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", "\n".join(lines)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, unpacked."""
    folder = tmp_path_factory.mktemp("source")
    with tarfile.open(built("sdist", ROOT, folder)) as packed:
        packed.extractall(folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked."""
    folder = tmp_path_factory.mktemp("installed")
    with ZipFile(wheel) as packed:
        packed.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def ours() -> set[str]:
    """Every file of both packages."""
    return {name for package in PACKAGES for name in files_of(package)}


@pytest.mark.parametrize("needed", NEEDED)
def test_the_wheel_holds_what_is_read_when_it_runs(wheel: Path, needed: str) -> None:
    assert any(fnmatch(name, needed) for name in names_in(wheel))


def test_the_wheel_holds_both_packages_the_demos_task_and_nothing_else(wheel: Path, ours: set[str]) -> None:
    assert {name for name in names_in(wheel) if ".dist-info/" not in name} == ours | {TASK}


def test_the_source_archive_holds_the_same_and_no_tests_till_or_links(source: Path, ours: set[str]) -> None:
    files = [path for path in source.rglob("*") if not path.is_dir()]
    names = {path.relative_to(source).as_posix() for path in files}
    assert names == ours | {"examples/invoices.py"} | METADATA
    assert not [path for path in source.rglob("*") if path.is_symlink()]


def test_a_wheel_built_from_the_source_archive_is_the_same(source: Path, wheel: Path, tmp_path: Path) -> None:
    again = built("wheel", source, tmp_path)
    assert names_in(again) == names_in(wheel)
    with ZipFile(wheel) as one, ZipFile(again) as other:
        assert not [name for name in one.namelist() if one.read(name) != other.read(name)]


def test_what_needs_packages_that_testing_does_not_bring_is_not_published(wheel: Path) -> None:
    assert not [name for name in names_in(wheel) if "till" in name]


WHERE = (
    "from browser_agent.testing import Books; print(sys.modules[Books.__module__].__file__, 'fixtures' in sys.modules)"
)


def test_an_installed_wheel_has_the_practice_sites(installed: Path) -> None:
    file = installed / "browser_agent" / "testing" / "sites" / "books.py"
    assert imported(WHERE, installed) == f"{file} False"


def test_an_editable_install_has_the_practice_sites(tmp_path: Path) -> None:
    with ZipFile(built("editable", ROOT, tmp_path)) as packed:
        packed.extractall(tmp_path / "installed")
    file = ROOT / "browser_agent" / "testing" / "sites" / "books.py"
    assert imported(WHERE, tmp_path / "installed", add="site.addsitedir({!r})") == f"{file} False"


def test_the_demo_finds_its_task_in_what_was_installed_and_in_a_checkout(installed: Path) -> None:
    found = find_task(installed / "browser_agent")
    assert found == installed / "browser_agent" / "examples" / "invoices.py"
    in_checkout = find_task(ROOT / "browser_agent")
    assert in_checkout == ROOT / "examples" / "invoices.py"
    assert found.read_bytes() == in_checkout.read_bytes()


def test_a_demo_without_its_task_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="neither .*invoices.py nor .*invoices.py. Nothing was started"):
        find_task(tmp_path / "browser_agent")
