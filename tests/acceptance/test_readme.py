"""The README is true: its commands run, its task posts one invoice, its names and links exist."""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
import tomllib
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

import browser_agent
from browser_agent import demo
from browser_agent.cli import _COMMANDS, app
from browser_agent.cli.exits import WORDS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {path.name: path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]}
PORT = "8001"
DEADLINE_SECONDS = 600

BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
SHELL = [text for language, text in BLOCKS if language in {"sh", "console"}]
PYTHON = [text for language, text in BLOCKS if language == "python" and text.splitlines()[0].endswith(".py")]
COMMANDS = [line.removeprefix("$ ") for text in SHELL for line in text.splitlines() if line.strip()]


def is_install(command: str) -> bool:
    return command.startswith("pip install")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder, but for the task that the README tells to save there."""
    empty = tmp_path / "empty"
    empty.mkdir()
    return empty


def saved(folder: Path, text: str, port: str) -> Path:
    """Save a Python block under the name in its first line."""
    path = folder / text.splitlines()[0].removeprefix("# ")
    path.write_text(text.replace(PORT, port), encoding="utf-8")
    return path


def shell(folder: Path, script: str, port: str) -> tuple[int, str]:
    """Run a block as a person would, but for the port; everything it leaves running is ended afterwards."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "BROWSER_AGENT_STORE": str(folder.parent / "runs.db")}
    started = subprocess.Popen(
        ["bash", "-ec", script.replace(PORT, port)],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, _ = started.communicate(timeout=DEADLINE_SECONDS)
    finally:
        with suppress(ProcessLookupError):  # nothing was left running, which is what is wanted
            os.killpg(started.pid, signal.SIGKILL)
    return started.returncode, said


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as door:
        return str(door.getsockname()[1])


def asked_before_the_end(script: str) -> str:
    """The same block, with the site's truth written down before the site is ended."""
    ask = f"from urllib.request import urlopen; print(urlopen('http://127.0.0.1:{PORT}/_truth').read().decode())"
    return script.replace("kill %1", f'"{sys.executable}" -c "{ask}" > ../truth.json\nkill %1')


def test_each_command_runs_in_an_empty_folder_and_the_task_posts_one_invoice(folder: Path) -> None:
    port = free_port()
    for text in PYTHON:
        saved(folder, text, port)
    for script in SHELL:
        if not is_install(script):
            code, said = shell(folder, asked_before_the_end(script), port)
            assert code == 0, f"{script}\n{said}"
    truth = json.loads((folder.parent / "truth.json").read_text())
    assert [effect["values"]["reference"] for effect in truth["effects"]] == ["S-7"]
    assert {path.name for path in folder.iterdir() if path.suffix == ".html"} == {"demo.html", "invoice.html"}


def test_what_it_tells_to_install_is_what_the_project_offers() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installs = [command for command in COMMANDS if is_install(command)]
    assert installs
    for command in installs:
        extras = re.findall(r"\[(\w+)\]", command)
        assert re.fullmatch(r"pip install -e \"?\.(\[\w+\])?\"?", command)
        assert set(extras) <= set(project["optional-dependencies"])


@pytest.mark.parametrize("page", PAGES)
def test_every_command_that_a_page_names_exists_with_its_options(page: str) -> None:
    inline = [code for code in re.findall(r"`([^`\n]+)`", PAGES[page]) if code.startswith("browser-agent ")]
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGES[page], re.MULTILINE | re.DOTALL)
    lines = [line for text in blocks for line in text.splitlines() if line.startswith("browser-agent ")]
    for command in (*lines, *inline):
        words = command.split()
        if len(words) > 1 and not words[1].startswith("-"):
            assert words[1] in {known.__name__ for known in _COMMANDS} | {"audit"}, command
            told = help_of(words[1])
            for option in (word.partition("=")[0] for word in words[2:] if word.startswith("--")):
                assert option in told, f"{command}: no option {option}"


@cache
def help_of(command: str) -> str:
    """What `--help` says of a command, on lines that are never broken."""
    asked = CliRunner().invoke(app, [command, "--help"], prog_name="browser-agent", env={"COLUMNS": "300"})
    return asked.output


@pytest.mark.parametrize("page", PAGES)
def test_every_python_block_of_a_page_can_be_read_and_its_names_are_public(page: str) -> None:
    for text in re.findall(r"^```python\n(.*?)^```", PAGES[page], re.MULTILINE | re.DOTALL):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module == "browser_agent":
                assert {each.name for each in node.names} <= set(browser_agent.__all__), text


def test_every_exit_code_is_told_in_the_words_of_the_command_line() -> None:
    told = {int(code): words for code, words in re.findall(r"^\| (\d) \| (.*?) \|$", README, re.MULTILINE)}
    assert set(told) == {int(code) for code in WORDS}
    for code, words in WORDS.items():
        assert words.startswith(told[int(code)])


def test_every_interruption_of_the_demo_is_named() -> None:
    for name in set(demo.INTERRUPTIONS) - {demo.DEFAULT}:
        assert f"`{name}`" in README


def test_every_link_leads_to_a_file() -> None:
    for name, text in PAGES.items():
        folder = ROOT if name == "README.md" else ROOT / "docs"
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert (folder / target).is_file(), f"{name}: {target}"


def test_nothing_is_promised_that_may_not_be() -> None:
    text = README.lower()
    for word in ("no duplicates", "tamper-proof", "guarantee", "works on any site"):
        assert word not in text.replace("does not work on any site", "")
    assert text.count("exactly once") == text.count('does not promise "exactly once"')
