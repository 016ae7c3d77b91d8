"""How a task's file is found and loaded, and what is said when it can't be."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser_agent.errors import WrongTask
from browser_agent.script.task_file import load_task, package_versions, source_hash
from browser_agent.script.tasks import task

if TYPE_CHECKING:
    from browser_agent.run.executor import Run

Write = Callable[[str, str], str]

ONE = """
from browser_agent.script.tasks import task

@task
def {name}(run, day: str) -> str:
    return day
"""


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Write]:
    """Writes a file and gives its path; what was loaded is forgotten afterwards."""
    modules, path = set(sys.modules), list(sys.path)

    def written(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    yield written
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def test_a_file_is_loaded_once_under_its_stem(write: Write) -> None:
    spec = write("monthly.py", ONE.format(name="bill"))
    loaded = load_task(spec)
    assert (loaded.name, loaded.module, loaded.file) == ("bill", "monthly", Path(spec))
    assert load_task(spec) is loaded is load_task(f"{spec}:bill")
    assert loaded.fn.__module__ == "monthly"


def test_a_task_file_may_import_its_neighbours(write: Write) -> None:
    write("prices.py", "TAX = 19")
    spec = write("with_neighbour.py", "from prices import TAX\n" + ONE.format(name="bill"))
    assert load_task(spec).name == "bill"


def test_a_task_imported_from_a_neighbour_is_not_the_files_own(write: Write) -> None:
    write("neighbour.py", ONE.format(name="theirs"))
    spec = write("mine.py", "from neighbour import theirs\n" + ONE.format(name="ours"))
    assert load_task(spec).name == "ours"
    assert load_task(f"{spec}:theirs").name == "theirs"


def test_a_file_that_is_being_run_is_not_loaded_a_second_time(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = write("script.py", ONE.format(name="bill"))
    main = type(sys)("__main__")
    main.__file__ = spec
    exec(compile(Path(spec).read_text(), spec, "exec"), main.__dict__)  # as `python script.py` does
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert load_task(spec) is main.bill
    assert (main.bill.module, sys.modules["script"]) == ("script", main)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("notes.txt", "hello", r"notes\.txt isn't a Python file\."),
        ("broken.py", "x = 1\ndef (:\n", r"broken\.py isn't Python: line 2: .+\."),
        ("raises.py", "x = 1\n\nx / 0\n", r"raises\.py, line 3, raised ZeroDivisionError: division by zero\."),
        ("leaves.py", "import sys\nsys.exit(3)\n", r"leaves\.py, line 2, raised SystemExit: 3\."),
        ("needs.py", "import no_such_thing\n", r"needs\.py, line 1, raised ModuleNotFoundError: .*no_such_thing'\."),
        ("empty.py", "x = 1\n", r"empty\.py has no task: decorate a function with @task\."),
        ("json.py", "x = 1\n", r".*json\.py has the name of another module .*; rename the file\."),
    ],
)
def test_a_file_that_is_no_task_is_refused_in_one_sentence(write: Write, name: str, text: str, said: str) -> None:
    spec = write(name, text)
    with pytest.raises(WrongTask) as refused:
        load_task(spec)
    assert re.fullmatch(said, str(refused.value))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(WrongTask, match=r"There is no file .*nowhere\.py\."):
        load_task(f"{tmp_path}/nowhere.py:bill")


def test_of_several_tasks_one_must_be_named(write: Write) -> None:
    spec = write("several_tasks.py", ONE.format(name="bill") + ONE.format(name="remind"))
    with pytest.raises(
        WrongTask, match=r"several tasks; name one: .*several_tasks\.py:bill, .*several_tasks\.py:remind"
    ):
        load_task(spec)
    assert load_task(f"{spec}:remind").name == "remind"
    with pytest.raises(WrongTask, match="has no task 'remnd'; did you mean remind"):
        load_task(f"{spec}:remnd")


def test_a_file_that_raised_is_read_again_once_it_is_mended(write: Write) -> None:
    spec = write("mended.py", "x / 0\n")
    with pytest.raises(WrongTask):
        load_task(spec)
    assert load_task(write("mended.py", ONE.format(name="bill"))).name == "bill"


def test_an_observers_file_beside_the_task_is_named_as_the_trouble(write: Write) -> None:
    write("observers.py", "x = 1\n")
    spec = write("shadowed.py", ONE.format(name="bill"))
    with pytest.raises(WrongTask, match=r"observers\.py has the name of a package that browser-agent needs; rename it"):
        load_task(spec)


@task
def bill(run: Run) -> None: ...


def test_the_source_hash_is_that_of_the_file() -> None:
    assert source_hash(bill) == hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


def test_the_versions_that_a_replay_depends_on_are_named() -> None:
    assert set(package_versions()) == {"browser-agent", "playwright", "python"}
    assert all(package_versions().values())
