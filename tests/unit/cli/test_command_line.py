"""The command line as a whole: exit codes, help, quiet ends, and that no page steers the terminal."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import typer.main

import browser_agent.keeper.keeper
from browser_agent.cli import app, machine
from browser_agent.cli.exit_codes import WORDS, Exit, exit_of
from browser_agent.cli.plain_text import one_line, plain
from browser_agent.options import Ended
from browser_agent.states import Point, RunState
from tests.fix_cli import Cli, Keeper


def test_every_state_of_a_run_has_its_exit_code_and_every_code_its_words(cli: Cli) -> None:
    assert {exit_of(state) for state in RunState} == set(Exit) - {Exit.MISUSE}
    said = cli("--help").out
    assert all(f"{code.value}  {WORDS[code].partition('`')[0].split('(')[0].strip()[:40]}" in said for code in Exit)


COMMANDS = [
    *("run", "resume", "runs", "show", "inbox", "answer", "approve", "refuse", "report", "config", "key", "login"),
    *("doctor", "demo", "reverse", "submit", "worker", "watch", "workers"),
    *("audit verify", "audit show"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches_with_an_example_and_speaks_json(cli: Cli, command: str) -> None:
    said = cli(*command.split(), "--help")
    assert said.code == 0
    assert f"Example:  browser-agent {command}" in said.out
    assert "--json" in said.out


def test_a_flag_is_shown_without_a_type(cli: Cli) -> None:
    said = cli("run", "--help").out
    flags = [line for line in said.splitlines() if "<bool>" in line]
    assert [line.split()[1] for line in flags] == ["--help"], "typer's own"


def test_the_interruptions_of_the_demo_are_listed(cli: Cli) -> None:
    from browser_agent.cli.demo import INTERRUPTIONS

    assert tuple(INTERRUPTIONS) == machine.FAULTS
    said = cli("demo", "--help").out
    assert all(fault in said for fault in machine.FAULTS)


def test_ctrl_c_before_there_is_anything_to_stop_ends_quietly(
    cli: Cli, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> Ended:
        raise KeyboardInterrupt

    monkeypatch.setattr(browser_agent.keeper.keeper, "keep", interrupted)
    said = cli("run", "invoices.py", "day=2026-11-30")
    assert (said.code, said.err) == (130, "")


@pytest.mark.process
def test_ctrl_c_while_all_is_read_in_ends_quietly() -> None:
    program = (
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from browser_agent.__main__ import main\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_no_other_command_is_there(cli: Cli) -> None:
    from browser_agent.cli import audit

    named = [command.name for command in app.registered_commands]
    assert {*named, *(f"audit {command.name}" for command in audit.registered_commands)} == set(COMMANDS)


@pytest.mark.parametrize("group", [(), ("audit",), ("temporal",)])
def test_a_line_in_the_list_of_commands_is_the_beginning_of_the_commands_own_help(group: tuple[str, ...]) -> None:
    listed: Any = typer.main.get_command(app)
    for name in group:
        listed = listed.commands[name]
    for command in listed.commands.values():
        if not hasattr(command, "commands"):
            assert command.help == " ".join(command.loaded.help.partition("\n\n")[0].split())


def test_the_points_of_a_kill_are_listed(cli: Cli) -> None:
    said = " ".join(cli("run", "--help").out.replace("│", " ").split())
    assert "End the worker with SIGKILL at that point of the run's Nth gesture" in said
    assert all(point in said for point in Point)


def test_no_text_of_a_page_steers_the_terminal() -> None:
    assert plain("a\x1b[31m\u202eb\n\tc\u200d") == "a\ufffd[31m\ufffdb\n\tc\u200d"
    assert one_line("a\n  b" + "c" * 300, 10) == "a bcccc..."
