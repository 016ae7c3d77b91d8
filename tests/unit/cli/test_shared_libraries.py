"""Missing libraries are found, and become the packages of Debian or Ubuntu that provide them."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser_agent.cli.shared_libraries import missing_libraries, packages_for

LOADER = "node: error while loading shared libraries: libatomic.so.1: cannot open shared object file: No such file"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.mark.process
def test_ldd_lists_all_that_are_missing(path: Path) -> None:
    ldd = path / "ldd"
    listed = "\tlibatomic.so.1 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x7f)\n\tliby.so => not found"
    ldd.write_text(f"#!/bin/sh\necho '{listed}'\n")
    ldd.chmod(0o700)
    assert missing_libraries(Path("node")) == ("libatomic.so.1", "liby.so")
    assert missing_libraries(Path("node"), LOADER) == ("libatomic.so.1", "liby.so")


@pytest.mark.process
def test_without_ldd_the_one_that_the_loader_names_is_known(path: Path) -> None:
    assert missing_libraries(Path("node"), LOADER) == ("libatomic.so.1",)
    assert missing_libraries(Path("node"), "Segmentation fault") == ()


def test_a_library_is_its_package_and_an_unknown_one_is_left_out() -> None:
    libraries = ("libnss3.so", "libnssutil3.so", "libatomic.so.1", "libmine.so.7")
    assert packages_for(libraries, lambda name: False) == ["libatomic1", "libnss3"]


def test_a_package_that_was_renamed_for_64_bit_time_is_asked_for_by_its_new_name() -> None:
    assert packages_for(["libasound.so.2", "libnss3.so"], lambda name: name == "libasound2t64") == [
        "libasound2t64",
        "libnss3",
    ]
