"""`doctor` says what is wrong and what to do; it never raises, and installs only what is missing."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
from collections import namedtuple
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
import typer

from browser_agent.browser.chromium import Chromium
from browser_agent.browser.driver import async_driver, driver_failure, sync_driver
from browser_agent.cli import browser_checks, check, doctor, installation, store_checks
from browser_agent.cli.browser_checks import BrowserFacts, Trouble
from browser_agent.cli.check import Probe
from browser_agent.cli.desk import with_exit_code
from browser_agent.cli.exit_codes import Exit
from browser_agent.cli.shared_libraries import install_command, packages_for
from browser_agent.errors import BrowserUnavailable
from browser_agent.settings import AS_SHIPPED
from browser_agent.store import Store
from tests.fix_postgres import PASSWORD

Mount = namedtuple("Mount", "mountpoint fstype")


class Commands:
    """Carries nothing out, and remembers the commands that it was asked to run."""

    def __init__(self) -> None:
        self.all: list[Sequence[str]] = []

    def __call__(self, command: Sequence[str]) -> bool:
        self.all.append(command)
        return True

    @property
    def programs(self) -> list[str]:
        return [command[0] for command in self.all]


@pytest.fixture
def as_root_with_apt(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for module in (browser_checks, installation):
        monkeypatch.setattr(module, "has_apt", lambda: True)
        monkeypatch.setattr(module, "packages_for", lambda libraries: packages_for(libraries, lambda name: False))


def a_program(path, script):
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    return path


@pytest.fixture
def broken_driver(tmp_path, monkeypatch):
    """A Python whose Playwright has a Node that lacks a library."""
    said = "node: error while loading shared libraries: libatomic.so.1: cannot open shared object file"
    python = a_program(tmp_path / "python", f"echo '{said}' >&2; exit 127")
    monkeypatch.setattr(sys, "executable", str(python))


@pytest.fixture
def no_chromium(monkeypatch):
    monkeypatch.setenv("BROWSER_AGENT_CHROMIUM", "/nowhere/chromium")


def test_having_no_key_is_no_fault_and_a_key_that_is_none_is(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("BROWSER_AGENT_KEY", raising=False)
    assert doctor.check_key() == Probe("sessions", "kept in memory only, no key")
    monkeypatch.setenv("BROWSER_AGENT_KEY", "short")
    assert not doctor.check_key().well


def test_each_check_is_one_line_and_each_trouble_says_what_to_do():
    said = check.as_lines([Probe("Python", "3.12.1"), Probe("store folder", "/data is on nfs4", "use a local disk")])
    assert said.splitlines() == [
        "ok  Python        3.12.1",
        "NO  store folder  /data is on nfs4",
        "                  -> use a local disk",
    ]


def test_a_program_can_read_it():
    assert json.loads(check.as_json([Probe("Python", "3.12.1")])) == [
        {"what": "Python", "found": "3.12.1", "to_do": "", "warning": "", "well": True}
    ]


def test_a_missing_chromium_is_reported_not_raised(no_chromium):
    found = browser_checks.browser_checks()
    assert [each.what for each in found] == ["Playwright", "Chromium"]
    assert found[0].well and not found[1].well
    assert "/nowhere/chromium" in found[1].found
    assert "doctor --install" in found[1].to_do


def test_the_driver_is_started_and_a_page_is_opened():
    found = browser_checks.browser_checks()
    assert [each.what for each in found] == ["Playwright", "Chromium", "fonts"]
    assert all(each.well for each in found)


def test_a_driver_that_lacks_a_library_is_reported_with_the_command_that_gets_it(broken_driver, as_root_with_apt):
    found = browser_checks.check_playwright(browser_checks.driver_trouble())
    assert not found.well
    assert "its driver doesn't start: libatomic.so.1 is missing" in found.found
    assert found.to_do.startswith("browser-agent doctor --install, or: apt-get install")
    assert found.to_do.endswith(" --no-install-recommends libatomic1")
    failure = driver_failure()
    assert failure is not None
    said = browser_checks.start_failure(failure)
    assert said.startswith("Playwright's driver doesn't start: libatomic.so.1 is missing. Run: browser-agent doctor")


def test_a_driver_that_does_not_start_is_one_error_with_the_command_that_helps(broken_driver, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(a_program(tmp_path / "node", "exit 127")))
    with ThreadPoolExecutor(1) as thread:  # this one may have Playwright's loop in it
        for start in (_start_sync, lambda: asyncio.run(_start_async())):
            with pytest.raises(
                BrowserUnavailable, match=r"^Playwright's driver doesn't start: .* Run: browser-agent doctor --install"
            ):
                thread.submit(start).result()


def _start_sync():
    with sync_driver():
        raise AssertionError("it starts")


async def _start_async():
    async with async_driver():
        raise AssertionError("it starts")


def test_a_command_whose_driver_does_not_start_says_so_in_one_sentence(broken_driver, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", sys.executable)

    def command(as_json: bool = False) -> Exit:
        with sync_driver():
            return Exit.FINISHED

    with pytest.raises(typer.Exit) as ended:
        with_exit_code(command)()
    assert ended.value.exit_code == Exit.MISUSE
    assert "Playwright's driver doesn't start: libatomic.so.1 is missing. Run: " in capsys.readouterr().err


def test_an_error_of_a_command_is_never_blamed_on_the_driver(broken_driver):
    def command() -> Exit:
        raise ValueError("a fault of ours")

    with pytest.raises(ValueError, match="a fault of ours"):
        with_exit_code(command)()


def test_a_chromium_that_lacks_libraries_is_one_sentence(as_root_with_apt, tmp_path, monkeypatch):
    said = "chrome: error while loading shared libraries: libnss3.so: cannot open shared object file"
    program = a_program(tmp_path / "chrome", f"echo '{said}' >&2; exit 127")
    monkeypatch.setenv("BROWSER_AGENT_CHROMIUM", str(program))
    facts = browser_checks.browser_facts(open_page=False)
    assert facts.trouble == Trouble("libnss3.so is missing", ("libnss3.so",))
    assert "apt-get install" in browser_checks.check_chromium(facts).to_do
    with pytest.raises(BrowserUnavailable) as error:
        Chromium.start(tmp_path / "profile")
    sentence = browser_checks.start_failure(error.value)
    assert sentence.startswith("Chromium doesn't start: libnss3.so is missing. Run: browser-agent doctor --install")


def test_scripts_without_a_font_are_a_warning():
    found = browser_checks.check_fonts(BrowserFacts(number="156", boxes=("Chinese", "emoji")))
    assert found.well and found.found == "none for Chinese, emoji" and "doctor --install" in found.warning


def test_a_machine_in_trouble_ends_with_one(no_chromium, tmp_path, cli):
    said = cli("doctor", "--store", str(tmp_path / "runs.db"), "--json")
    assert said.code == 1
    assert [each["what"] for each in said.document if not each["well"]] == ["Chromium"]


def test_an_address_that_is_no_store_is_one_sentence(cli):
    said = cli("doctor", "--store", "mysql://ann:secret@db/runs")
    assert (said.code, said.out, len(said.err.splitlines())) == (2, "", 1)
    assert "A store is a file" in said.err and "secret" not in said.err


def test_a_store_folder_that_does_not_exist_yet_is_well_and_not_made(tmp_path):
    folder = tmp_path / "a" / "b"
    assert store_checks.check_store_folder(folder).well
    assert store_checks.check_sqlite(folder).well
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    tmp_path.chmod(0o500)
    assert not store_checks.check_store_folder(tmp_path).well
    assert not store_checks.check_sqlite(tmp_path).well


def test_a_network_file_system_is_refused(tmp_path, monkeypatch):
    mounts = [Mount("/", "ext4"), Mount(str(tmp_path.resolve()), "nfs4")]
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: mounts)
    found = store_checks.check_store_folder(tmp_path / "new")
    assert (found.well, found.found) == (False, f"{tmp_path / 'new'} is on nfs4")


def test_a_local_disk_inside_a_network_file_system_is_well(tmp_path, monkeypatch):
    mounts = [Mount("/", "nfs4"), Mount(str(tmp_path.resolve()), "ext4")]
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: mounts)
    assert store_checks.check_store_folder(tmp_path).well


def test_an_old_sqlite_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    assert "3.35.0" in store_checks.check_sqlite(tmp_path).to_do


def test_nothing_is_installed_where_a_page_opens_and_its_letters_are_drawn(as_root_with_apt, monkeypatch):
    monkeypatch.setattr(installation, "browser_facts", lambda open_page: BrowserFacts(number="156"))
    carried_out = Commands()
    assert installation.install(carried_out)
    assert carried_out.all == []


def test_only_fonts_are_installed_where_only_fonts_are_missing(as_root_with_apt, monkeypatch):
    facts = BrowserFacts(number="156", boxes=("Chinese",))
    monkeypatch.setattr(installation, "browser_facts", lambda open_page: facts)
    carried_out = Commands()
    assert installation.install(carried_out)
    assert carried_out.all == [["apt-get", "update"], install_command(browser_checks.FONTS)]


def test_playwrights_is_tried_before_the_systems(no_chromium, as_root_with_apt):
    carried_out = Commands()
    assert not installation.install(carried_out)
    assert carried_out.programs == [sys.executable, "apt-get", "apt-get"]
    assert carried_out.all[-1] == install_command(["chromium"])


def test_what_the_driver_lacks_is_installed_first_and_nothing_that_is_merely_recommended(
    broken_driver, no_chromium, as_root_with_apt
):
    carried_out = Commands()
    assert not installation.install(carried_out)
    assert carried_out.all[1] == install_command(["libatomic1"])
    assert all("--no-install-recommends" in command for command in carried_out.all if "install" in command[:2])


def test_without_root_no_package_is_installed(no_chromium, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    carried_out = Commands()
    assert not installation.install(carried_out)
    assert carried_out.programs == [sys.executable]


def test_a_database_is_reached_and_its_clock_and_pictures_are_told(postgres_server):
    found = store_checks.check_postgres(postgres_server.new_database())
    assert found.well and "synchronous_commit on, fsync off" not in found.found
    assert "s from this machine's" in found.found and PASSWORD not in found.found and "p%2F" not in found.found
    alone = store_checks.check_evidence(postgres_server.url(), AS_SHIPPED)
    assert alone.well and "other machines can't see them" in alone.warning


def test_where_a_shared_stores_pictures_lie_is_read_from_it(postgres_server, s3, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    address = postgres_server.new_database()
    Store(address, evidence=f"s3://pictures/{tmp_path.name}").close()
    found = store_checks.check_evidence(address, AS_SHIPPED)
    assert found.well and f"s3://pictures/{tmp_path.name}, an object written, read and deleted" in found.found


def test_a_bucket_is_tried_and_what_hinders_it_is_told_without_the_key(s3, tmp_path, monkeypatch):
    using = AS_SHIPPED.model_copy(update={"evidence": f"s3://pictures/{tmp_path.name}"})
    checks = {check.what: check for check in store_checks.store_checks(tmp_path, using)}
    assert set(checks) == {"SQLite", "store folder", "pictures"} and checks["pictures"].well
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3/planted+wrong")
    refused = store_checks.check_bucket(using)
    assert not refused.well and "SignatureDoesNotMatch" in refused.found and "AWS_ACCESS_KEY_ID" in refused.to_do
    assert "planted" not in str(refused)


def test_a_database_that_is_not_there_is_told():
    found = store_checks.check_postgres("postgresql://ann:secret@127.0.0.1:1/runs")
    assert not found.well and "does not answer" in found.found and "secret" not in found.found
