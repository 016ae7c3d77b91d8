"""The doctor tells what is wrong and what to do; it never raises, and installs only what is missing."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections import namedtuple
from collections.abc import Sequence

import psutil
import pytest

from browser_agent.cli import doctor
from browser_agent.cli.doctor import Check
from browser_agent.settings import AS_SHIPPED
from browser_agent.store import Store
from tests.fix_postgres import PASSWORD

Mount = namedtuple("Mount", "mountpoint fstype")


class Commands:
    """Carries nothing out, and remembers the programs that it was asked to run."""

    def __init__(self) -> None:
        self.programs: list[str] = []

    def __call__(self, command: Sequence[str]) -> bool:
        self.programs.append(command[0])
        return True


@pytest.fixture
def no_chromium(monkeypatch):
    monkeypatch.setenv("BROWSER_AGENT_CHROMIUM", "/nowhere/chromium")


def test_having_no_key_is_no_fault_and_a_key_that_is_none_is(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("BROWSER_AGENT_KEY", raising=False)
    assert doctor.check_key() == Check("sessions", "kept in memory only, no key")
    monkeypatch.setenv("BROWSER_AGENT_KEY", "short")
    assert not doctor.check_key().well


def test_each_check_is_one_line_and_each_trouble_says_what_to_do():
    said = doctor.as_lines([Check("Python", "3.12.1"), Check("store folder", "/data is on nfs4", "use a local disk")])
    assert said.splitlines() == [
        "ok  Python        3.12.1",
        "NO  store folder  /data is on nfs4",
        "                  -> use a local disk",
    ]


def test_a_program_can_read_it():
    assert json.loads(doctor.as_json([Check("Python", "3.12.1")])) == [
        {"what": "Python", "found": "3.12.1", "to_do": "", "warning": "", "well": True}
    ]


def test_a_missing_chromium_is_told_not_raised(no_chromium):
    check = doctor.check_chromium()
    assert not check.well
    assert "/nowhere/chromium" in check.found
    assert "--install" in check.to_do


def test_a_machine_in_trouble_ends_with_one(no_chromium, tmp_path, capsys):
    assert doctor.main(["--store", str(tmp_path), "--json"]) == 1
    troubles = [check["what"] for check in json.loads(capsys.readouterr().out) if not check["well"]]
    assert troubles == ["Chromium"]


def test_a_store_folder_that_does_not_exist_yet_is_well_and_not_made(tmp_path):
    folder = tmp_path / "a" / "b"
    assert doctor.check_store_folder(folder).well
    assert doctor.check_sqlite(folder).well
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    tmp_path.chmod(0o500)
    assert not doctor.check_store_folder(tmp_path).well
    assert not doctor.check_sqlite(tmp_path).well


def test_a_network_file_system_is_refused(tmp_path, monkeypatch):
    mounts = [Mount("/", "ext4"), Mount(str(tmp_path.resolve()), "nfs4")]
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: mounts)
    check = doctor.check_store_folder(tmp_path / "new")
    assert (check.well, check.found) == (False, f"{tmp_path / 'new'} is on nfs4")


def test_a_local_disk_inside_a_network_file_system_is_well(tmp_path, monkeypatch):
    mounts = [Mount("/", "nfs4"), Mount(str(tmp_path.resolve()), "ext4")]
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: mounts)
    assert doctor.check_store_folder(tmp_path).well


def test_an_old_sqlite_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    assert "3.35.0" in doctor.check_sqlite(tmp_path).to_do


def test_nothing_is_installed_where_a_chromium_starts(monkeypatch):
    monkeypatch.setattr(doctor, "check_chromium", lambda: Check("Chromium", "156"))
    carried_out = Commands()
    assert doctor.install_chromium(carried_out)
    assert carried_out.programs == []


def test_playwrights_is_tried_before_the_systems(no_chromium, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(doctor, "which", lambda name: f"/usr/bin/{name}")
    carried_out = Commands()
    assert not doctor.install_chromium(carried_out)
    assert carried_out.programs == [sys.executable, "apt-get", "apt-get", sys.executable]


def test_without_root_no_package_is_installed(no_chromium, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    carried_out = Commands()
    assert not doctor.install_chromium(carried_out)
    assert carried_out.programs == [sys.executable]


def test_a_database_is_reached_and_its_clock_and_pictures_are_told(postgres_server):
    found = doctor.check_postgres(postgres_server.new_database())
    assert found.well and "synchronous_commit on, fsync off" not in found.found
    assert "s from this machine's" in found.found and PASSWORD not in found.found and "p%2F" not in found.found
    alone = doctor.check_evidence(postgres_server.url(), AS_SHIPPED)
    assert alone.well and "other machines can't see them" in alone.warning


def test_where_a_shared_stores_pictures_lie_is_read_from_it(postgres_server, s3, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    address = postgres_server.new_database()
    Store(address, evidence=f"s3://pictures/{tmp_path.name}").close()
    found = doctor.check_evidence(address, AS_SHIPPED)
    assert found.well and f"s3://pictures/{tmp_path.name}, an object written, read and deleted" in found.found


def test_a_bucket_is_tried_and_what_hinders_it_is_told_without_the_key(s3, tmp_path, monkeypatch):
    using = AS_SHIPPED.model_copy(update={"evidence": f"s3://pictures/{tmp_path.name}"})
    checks = {check.what: check for check in doctor._check_store(tmp_path, using)}
    assert set(checks) == {"SQLite", "store folder", "pictures"} and checks["pictures"].well
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3/planted+wrong")
    refused = doctor.check_bucket(using)
    assert not refused.well and "SignatureDoesNotMatch" in refused.found and "AWS_ACCESS_KEY_ID" in refused.to_do
    assert "planted" not in str(refused)


def test_a_database_that_is_not_there_is_told():
    found = doctor.check_postgres("postgresql://ann:secret@127.0.0.1:1/runs")
    assert not found.well and "does not answer" in found.found and "secret" not in found.found
