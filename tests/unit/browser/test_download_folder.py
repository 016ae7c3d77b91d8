"""Kept files: their names, and what a death in the middle leaves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from browser_agent.browser import downloads
from browser_agent.errors import Misuse


@pytest.mark.parametrize(
    ("suggested", "name"),
    [
        ("receipt.csv", "receipt.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\list.xlsx", "list.xlsx"),
        ("..", "download"),
        ("", "download"),
        (".bashrc", "bashrc"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("a\nb\x00c.txt", "abc.txt"),
        ("who:what?.txt", "who_what_.txt"),
        ("Rechnung für März.pdf", "Rechnung für März.pdf"),
        ("a" * 300 + ".pdf", "a" * 196 + ".pdf"),
        ("ü" * 300 + ".pdf", "ü" * 98 + ".pdf"),
    ],
)
def test_a_name_that_a_site_suggests_is_made_one_of_a_plain_file(suggested: str, name: str) -> None:
    assert downloads.safe_name(suggested) == name


def test_no_file_is_overwritten_not_even_one_of_somebody_else(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "kept"
    folder.mkdir()
    (folder / "a.csv").write_text("theirs")
    (folder / "a (2).csv").symlink_to(tmp_path / "nowhere")
    source.write_text("ours")
    assert downloads.save(source, folder, "a.csv", "run-1") == folder / "a (3).csv"
    assert ((folder / "a.csv").read_text(), (folder / "a (3).csv").read_text()) == ("theirs", "ours")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.process
def test_a_process_that_dies_while_it_copies_leaves_nothing_under_a_final_name(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "kept"
    os.mkfifo(source)
    copies = "import sys; from pathlib import Path; from browser_agent.browser import downloads; downloads.save"
    words = f"{copies}(Path(sys.argv[1]), Path(sys.argv[2]), 'a.csv', 'run-1-1')"
    process = subprocess.Popen([sys.executable, "-c", words, str(source), str(folder)])
    with source.open("wb", buffering=0) as to:
        to.write(b"half of it" * 1000)
        while not folder.exists() or not [*folder.iterdir()]:
            assert process.poll() is None
        process.kill()
        process.wait()
    assert [path.name for path in folder.iterdir()] == [".run-1-1.part"]
    downloads.sweep(folder, "run-2")
    assert len([*folder.iterdir()]) == 1
    downloads.sweep(folder, "run-1")
    assert [*folder.iterdir()] == []


def test_a_folder_is_made_for_its_owner_alone_and_one_that_cannot_be_is_refused(tmp_path: Path) -> None:
    downloads.check_folder(None)
    downloads.check_folder(tmp_path / "a" / "b")
    assert [*(tmp_path / "a" / "b").iterdir()] == []
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
    (tmp_path / "file").touch()
    with pytest.raises(Misuse, match="hard links"):
        downloads.check_folder(tmp_path / "file")
