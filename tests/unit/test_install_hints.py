"""How the extras are installed is said in one way everywhere, and never by a name that is another project's."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from browser_agent.errors import installing

ROOT = Path(__file__).parents[2]
TOLD = [
    ROOT / "README.md",
    *(path for name in ("docs", "examples", "browser_agent") for path in (ROOT / name).rglob("*")),
]
TEXTS = {path: path.read_text(encoding="utf-8") for path in TOLD if path.suffix in {".py", ".md", ".toml"}}


def test_nobody_is_told_to_install_what_another_project_has_put_on_the_index_by_our_name() -> None:
    by_name = re.compile(r"pip install\W*browser.agent")
    assert len(TEXTS) > 100
    assert [str(path) for path, text in TEXTS.items() if by_name.search(text)] == []


def test_every_extra_that_somebody_is_told_to_install_is_there() -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    ways = (r'pip install -e "\.\[(\w+)\]"', r"installing\(['\"](\w+)['\"]\)")
    told = {extra for text in TEXTS.values() for way in ways for extra in re.findall(way, text)}
    assert {"postgres", "s3", "temporal", "testing", "keyring"} <= told <= set(known)
    assert installing("s3") == 'in the checkout of browser-agent: pip install -e ".[s3]"'
