"""A file in a step's value is the one that the step made, or the value isn't returned."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import BaseModel

from browser_agent.errors import FileChanged
from browser_agent.run.step_files import check_files, files_of


class Bill(BaseModel):
    number: str
    file: Path


@dataclass
class Pair:
    one: Path
    more: tuple[Path, ...]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bill.pdf"
    path.write_bytes(b"%PDF 7")
    return path


def test_a_value_without_files_has_none(tmp_path: Path) -> None:
    for value in (None, 7, "bill.pdf", ["x"], {"a": 1}, tmp_path, tmp_path / "none"):
        assert files_of(value) is None
    check_files(None, "read()")


@pytest.mark.parametrize("shape", ["bare", "list", "dict", "model", "dataclass", "twice"])
def test_a_file_is_found_wherever_it_is_in_the_value_and_once(file: Path, shape: str) -> None:
    value = {
        "bare": file,
        "list": [("x", file)],
        "dict": {"bill": file},
        "model": Bill(number="7", file=file),
        "dataclass": Pair(file, ()),
        "twice": Pair(file, (file,)),
    }[shape]
    stored = files_of(value)
    assert stored is not None and stored.count('"sha256"') == 1 and '"size": 6' in stored
    check_files(stored, "fetch()")


@pytest.mark.parametrize(("content", "told"), [(None, "is gone"), (b"%PDF 8", "was altered"), (b"", "was altered")])
def test_a_file_that_is_gone_or_altered_is_told_with_its_step(file: Path, content: bytes | None, told: str) -> None:
    stored = files_of([file])
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(FileChanged, match=f"{file}.*{told}.*made by fetch\\(7\\)"):
        check_files(stored, "fetch(7)")


def test_a_file_that_was_put_back_is_the_same(file: Path) -> None:
    stored = files_of([file])
    file.unlink()
    file.write_bytes(b"%PDF 7")
    check_files(stored, "fetch()")
