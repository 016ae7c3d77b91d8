"""The documentation site: it is built strictly, asks no other host for anything, and shows all that the code has."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import browser_agent
from browser_agent import states
from browser_agent.settings import Settings
from docs.building import commands, diagrams, reference
from tests.docs.pages import ROOT

TABLES: Mapping[str, Mapping[Any, frozenset[Any]]] = {
    "gesture": states.GESTURE_ARROWS,
    "run": states.RUN_ARROWS,
    "step": states.STEP_ARROWS,
    "question": states.QUESTION_ARROWS,
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make lint` builds it."""
    folder = tmp_path_factory.mktemp("site")
    told = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    return folder


def page(site: Path, name: str) -> str:
    return (site / f"{name}.html").read_text(encoding="utf-8")


# what is drawn


@pytest.mark.parametrize("name", TABLES)
def test_every_arrow_of_a_table_is_drawn_once_and_no_other(site: Path, name: str) -> None:
    shown = re.search(
        rf'<svg class="states"[^>]*aria-label="The states of a {name}".*?</svg>', page(site, "states"), re.S
    )
    assert shown is not None
    drawn = sorted(re.findall(r'data-from="(\w+)" data-to="(\w+)"', shown[0]))
    assert drawn == sorted((str(old), str(new)) for old, ways in TABLES[name].items() for new in ways)
    assert set(re.findall(r'data-state="(\w+)"', shown[0])) == {str(state) for state in TABLES[name]}


@pytest.mark.parametrize("name", TABLES)
def test_no_line_crosses_a_box_and_none_lies_upon_another(name: str) -> None:
    drawn = diagrams.drawn(name)
    boxes = [
        tuple(map(float, found))
        for found in re.findall(r'<rect x="([\d.-]+)" y="([\d.-]+)" width="([\d.-]+)" height="([\d.-]+)"', drawn)
    ]
    lines = [tuple(map(float, found)) for found in re.findall(r' d="M([\d.-]+) ([\d.-]+)V([\d.-]+)"', drawn)]
    for x, start, end in lines:
        top, bottom = min(start, end), max(start, end)
        crossed = [box for box in boxes if box[0] <= x <= box[0] + box[2] and top < box[1] + box[3] and box[1] < bottom]
        assert not crossed, (x, start, end)
    assert all(abs(one[0] - other[0]) > 2 for one in lines for other in lines if one < other and _beside(one, other))


def _beside(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return max(min(one[1:]), min(other[1:])) < min(max(one[1:]), max(other[1:]))


def test_a_state_that_has_no_place_is_an_error_and_no_thinner_picture() -> None:
    whole = diagrams.DIAGRAMS["step"]
    places = {state: place for state, place in whole.places.items() if state != "raised"}
    with pytest.raises(diagrams.NoRoom, match="no place for raised"):
        diagrams.svg("step", whole._replace(places=places))


# what it asks for


def test_a_page_asks_no_other_host_for_anything(site: Path) -> None:
    for file in site.rglob("*.html"):
        text = re.sub(r"<(?:pre|code)\b.*?</(?:pre|code)>", "", file.read_text(encoding="utf-8"), flags=re.S)
        asked = re.findall(r'<(?:script|img|iframe|source)\b[^>]*\ssrc="([^"]+)"|<link\b[^>]*\shref="([^"]+)"', text)
        assert not [src or href for src, href in asked if "//" in (src or href)], file.name
    for file in site.rglob("*.css"):
        assert not re.search(r"url\(\s*[\"']?https?:|@import", file.read_text(encoding="utf-8")), file.name


# what it has


def test_every_public_name_has_its_place_in_the_reference(site: Path) -> None:
    shown = {
        heading.rpartition(".")[2]
        for file in (site / "reference").glob("*.html")
        for heading in re.findall(r'<h\d id="([\w.]+)" class="doc doc-heading"', file.read_text(encoding="utf-8"))
    }
    made_by = {"step": "StepMaker"}
    assert {made_by.get(name, name) for name in browser_agent.__all__} <= shown


def test_every_command_and_each_of_its_options_is_told(site: Path) -> None:
    text = unescape(page(site, "commands"))
    told = list(commands.all_commands())
    assert len(told) > 15
    for name, command in told:
        section = text.split(f">{name}<a")[1].split("<h2")[0]
        assert all(option in section for each in command.params for option in each.opts if option.startswith("--")), (
            name
        )


def test_every_setting_is_told(site: Path) -> None:
    text = page(site, "settings")
    assert all(f"<code>{name}</code>" in text or name == "sites" for name in Settings.model_fields)


def test_what_an_observer_takes_is_shown_with_its_defaults(site: Path) -> None:
    text = re.sub(r"<[^>]+>", "", page(site, "reference/observers"))
    assert re.search(
        r"Record\(\s*site: Site,\s*path: str,\s*\*,\s*key: dict\[str, str\],\s*complete: bool = False", text
    )


def test_a_docstring_that_tells_of_two_arguments_in_one_line_stays_so() -> None:
    made = reference.as_markdown("What.\n\nArguments:\n    site, path: where,\n        and how.\n\nMore.")
    assert made == "What.\n\n**Arguments:**\n\n- `site`, `path`: where, and how.\n\nMore."
    assert reference.as_markdown("What.\n\nReturns:\n    Where it stands: its state.") == (
        "What.\n\n**Returns:** Where it stands: its state."
    )


def test_nothing_of_a_mark_is_left_over(site: Path) -> None:
    for file in site.rglob("*.html"):
        assert not re.search(r"<!-- (drawn|made|from):", file.read_text(encoding="utf-8")), file.name
