"""The key of sealed sessions: made once, by the first command that keeps sessions, and never in the real home here."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from browser_agent.secrets.seal import KEY_VARIABLE, key_file, load_seal
from tests.fix_cli import Cli, Keeper

RUN = ("run", "invoices.py", "day=2026-11-30")
pytestmark = pytest.mark.usefixtures("keyless")


@pytest.fixture
def keyless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


@pytest.mark.parametrize("command", [RUN, ("worker", "--until-idle")], ids=["run", "worker"])
def test_the_first_that_keeps_sessions_makes_a_key_says_so_once_and_is_silent_then(
    cli: Cli, keeper: Keeper, command: tuple[str, ...]
) -> None:
    first = cli(*command)
    assert first.code == 0
    assert first.out.count(f"A key was created: {key_file()}. ") == 1
    assert key_file().stat().st_mode & 0o777 == 0o600 and load_seal() is not None
    kept = key_file().read_bytes()
    again = cli(*command)
    assert "key" not in again.out + again.err
    assert key_file().read_bytes() == kept


def test_a_program_reads_its_document_and_the_line_goes_to_the_other_stream(cli: Cli, keeper: Keeper) -> None:
    said = cli(*RUN, "--json")
    assert said.document["state"] == "finished"
    assert "A key was created" in said.err


def test_a_key_of_the_environment_wins(cli: Cli, keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, urlsafe_b64encode(b"k" * 32).decode())
    assert "key" not in cli(*RUN).out
    assert not key_file().exists()


def test_where_none_can_be_written_it_is_said_once_and_the_run_goes_on(
    cli: Cli, keeper: Keeper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_way = tmp_path / "configuration"
    in_the_way.write_text("a file where the folder would be")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(in_the_way))
    said = cli(*RUN)
    assert said.code == 0
    assert said.out.count("No key was created") == 1 and "Sessions are kept in memory only" in said.out


@pytest.mark.parametrize("command", [("runs",), ("inbox",), ("show", "last"), ("config",)])
def test_a_command_that_keeps_no_session_makes_none(cli: Cli, keeper: Keeper, command: tuple[str, ...]) -> None:
    cli(*RUN)
    key_file().unlink()
    assert cli(*command).code == 0
    assert not key_file().exists()


def test_tests_never_write_a_key_into_the_real_home() -> None:
    assert not key_file().is_relative_to(Path.home())
