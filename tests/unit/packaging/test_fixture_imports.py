"""The practice sites and the fault proxy stand alone, and are imported under one name only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import browser_agent

ROOT = Path(browser_agent.__file__).parents[1]
HIDDEN = ("fixtures.sites", "fixtures.proxy")
"""Reached as `browser_agent.testing.sites` and `.proxy`: under a second name every class would be there twice."""
SOURCES = ("benchmarks", "browser_agent", "docs", "examples", "observers", "tests")


def imports(file: Path) -> Iterator[str]:
    """The absolute names that a file imports, wherever in it: a module's, and a module's with each name of it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (each.name for each in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from (f"{module}.{each.name}" for each in names)
            case ast.Call(args=[ast.Constant(value=str(name)), *_]):  # import_module("...")
                yield name


def below(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def test_no_file_in_fixtures_imports_the_agent_or_the_observers() -> None:
    files = list((ROOT / "fixtures").rglob("*.py"))
    assert len(files) > 20
    agent = ("browser_agent", "observers", "tests")
    assert not [f"{file}: {name}" for file in files for name in imports(file) if below(name, agent)]


def test_sites_and_proxy_are_never_imported_under_their_folders_name() -> None:
    files = [file for source in SOURCES for file in (ROOT / source).rglob("*.py")]
    assert len(files) > 200
    assert not [f"{file}: {name}" for file in files for name in imports(file) if below(name, HIDDEN)]
