"""A class name is defined in one module only, so that a name in a message or a traceback means one thing."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.unit.packaging.test_dockerfile import ROOT

PACKAGES = ("browser_agent", "observers", "fixtures")


def test_no_class_name_is_defined_in_two_modules() -> None:
    modules = defaultdict(set)
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                modules[node.name].add(path.resolve())
    assert len(modules) > 200
    assert {name: paths for name, paths in modules.items() if len(paths) > 1} == {}
