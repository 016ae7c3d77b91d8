"""The README and the pages of the documentation are true: their blocks run, their commands, names and links exist."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

import browser_agent
import observers
from browser_agent.cli import app, demo
from browser_agent.cli.command_list import COMMANDS
from browser_agent.cli.exit_codes import WORDS
from browser_agent.secrets.seal import key_file, new_key
from tests.docs.pages import PAGES, ROOT, blocks, expected, in_pairs
from tests.docs.running import run_page
from tests.fix_matrix import chosen

TEXTS = {name: path.read_text(encoding="utf-8") for name, path in PAGES.items()}
README = TEXTS["README.md"]
RUNS = TEXTS["docs/runs.md"]
"""Running a task: the demo's interruptions, and the exit codes."""
RUN = [name for name in PAGES if any(block.runs for block in blocks(name))]
NOT_RUN_AT_MOST = 4
SHARED = "docs/postgres.md"
"""Needs a database."""
ON_DEMAND = ("docs/scale.md", "docs/workers.md")
"""Their commands are run each time by `test_temporal.py` and `test_workers.py` of the acceptance tests."""
PUBLIC = {"browser_agent": set(browser_agent.__all__), "observers": set(observers.__all__)}
GROUPS = {"audit", "temporal"}
INVOICES = {
    "README.md": ["S-7"],
    "docs/scale.md": ["S-7"],
    "docs/tutorial.md": ["S-1", "S-2", "S-2", "S-3", "S-4", "S-5", "S-6"],
    "docs/workers.md": ["S-1", "S-2"],
}
"""What each page leaves behind, by the practice site's own ledger."""


@pytest.fixture
def key() -> Path:
    """A key, as every reader has after their first run, which makes one and says so."""
    return key_file() if key_file().exists() else new_key()


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("name", chosen(*(name for name in RUN if name not in {SHARED, *ON_DEMAND}), others=ON_DEMAND))
def test_each_block_of_a_page_runs_in_an_empty_folder_and_says_what_is_shown(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    run_page(blocks(name), folder)
    if name in INVOICES:
        truth = json.loads((tmp_path / "truth.json").read_text())
        assert [effect["values"]["reference"] for effect in truth["effects"]] == INVOICES[name]


@pytest.mark.matrix  # `tests/acceptance/test_postgres.py` runs its commands each time
def test_the_page_about_a_shared_database_runs_on_one(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", postgres_url)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "empty"
    folder.mkdir()
    run_page(blocks(SHARED), folder)
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert [effect["values"]["reference"] for effect in truth["effects"]] == ["S-1"]


def test_the_quick_start_writes_two_reports() -> None:
    made = re.findall(r"(?:--report|-o) (\w+\.html)", "".join(block.text for block in blocks("README.md")))
    assert made == ["demo.html", "invoice.html"]


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    kept = {name: [block for block in blocks(name) if block.language == "sh" and not block.runs] for name in PAGES}
    said = [(name, block.note) for name, left in kept.items() for block in left if not block.installs]
    assert len(said) <= NOT_RUN_AT_MOST, said
    for name, note in said:
        assert re.fullmatch(r"not run, \w+( \S+){2,}", note), name
    shown = [block for name in PAGES for block, _ in in_pairs(blocks(name))]
    assert all(re.fullmatch(r"|exits [1-5]|not run, .*", block.note) for block in shown)


def test_what_is_shown_may_differ_in_ids_and_times_and_in_nothing_else() -> None:
    shown = expected("run-abcde at 10:00:00\n...\nrun-abcde made INV-1 in ... s\n")
    assert shown.fullmatch("run-zzzzz at 23:59:59\nfirst\nsecond\nrun-zzzzz made INV-1 in 7 s\n")
    assert shown.fullmatch("run-zzzzz at 23:59:59\nrun-zzzzz made INV-1 in 7 s\n")
    assert not shown.fullmatch("run-zzzzz at 23:59:59\nrun-yyyyy made INV-1 in 7 s\n")
    assert not shown.fullmatch("run-zzzzz at 23:59:59\nrun-zzzzz made INV-2 in 7 s\n")
    assert not shown.fullmatch("run-zzzzz at 23:59:59\nrun-zzzzz made INV-1 in 7 s\nand more\n")


def test_what_it_tells_to_install_is_what_the_project_offers() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installs = [line for block in blocks("README.md") if block.installs for line in block.text.splitlines()]
    assert installs
    for command in installs:
        extras = re.findall(r"\[(\w+)\]", command)
        assert re.fullmatch(r"pip install -e \"?\.(\[\w+\])?\"?", command)
        assert set(extras) <= set(project["optional-dependencies"])


@pytest.mark.parametrize("name", PAGES)
def test_every_command_that_a_page_names_exists_with_its_options(name: str) -> None:
    inline = [code for code in re.findall(r"`([^`\n]+)`", TEXTS[name]) if code.startswith("browser-agent ")]
    run = "".join(block.text for block in blocks(name) if block.language == "sh").replace("\\\n", "")
    lines = [line for line in run.splitlines() if line.startswith("browser-agent ")]
    for command in (*lines, *inline):
        words = command.split()
        if len(words) > 1 and not words[1].startswith("-") and words[1] != "COMMAND":
            assert words[1] in COMMANDS.keys() | GROUPS, command
            told = help_of(*words[1:3]) if words[1] in GROUPS else help_of(words[1])
            for option in (word.partition("=")[0] for word in words[2:] if word.startswith("--")):
                assert option in told, f"{command}: no option {option}"


@cache
def help_of(*command: str) -> str:
    """What `--help` says of a command, on lines that are never broken."""
    asked = CliRunner().invoke(app, [*command, "--help"], prog_name="browser-agent", env={"COLUMNS": "300"})
    return asked.output


@pytest.mark.parametrize("name", PAGES)
def test_every_python_block_of_a_page_can_be_read_and_its_names_are_public(name: str) -> None:
    for block in blocks(name):
        if block.language != "python":
            continue
        for node in ast.walk(ast.parse(block.text)):
            if isinstance(node, ast.ImportFrom) and node.module in PUBLIC:
                assert {each.name for each in node.names} <= PUBLIC[node.module], block.text


def test_every_exit_code_is_told_in_the_words_of_the_command_line() -> None:
    told = {int(code): words for code, words in re.findall(r"^\| (\d) \| (.*?) \|$", RUNS, re.MULTILINE)}
    assert set(told) == {int(code) for code in WORDS}
    for code, words in WORDS.items():
        assert words.startswith(told[int(code)])


def test_every_interruption_of_the_demo_is_named() -> None:
    for name in demo.INTERRUPTIONS:
        assert f"| `{name}` |" in RUNS


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_to_a_file(name: str) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", TEXTS[name]):
        assert (PAGES[name].parent / target).is_file(), target


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_promised_that_may_not_be(name: str) -> None:
    text = TEXTS[name].lower()
    for word in ("no duplicates", "tamper-proof", "guarantee", "works on any site"):
        assert word not in text.replace("does not work on any site", "")
    assert text.count("exactly once") == text.count('does not promise "exactly once"')


def test_the_promise_is_one() -> None:
    promise = re.search(r"^> \*\*.*?\*\*$", README, re.MULTILINE | re.DOTALL)
    assert promise is not None
    assert promise[0] in TEXTS["docs/index.md"]
