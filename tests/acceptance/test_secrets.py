"""A planted secret is nowhere: not in the store, its pictures' folder, a report, what was printed, a child process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import psutil
import pytest

from browser_agent.errors import Misuse
from browser_agent.run.run_secrets import _held
from browser_agent.secrets.seal import KEY_VARIABLE
from browser_agent.secrets.secret import Secret, SecretMissing
from browser_agent.states import QuestionKind, RunState
from tests.fix_world import TASKS, World
from tests.scripts.secretive import CARD, TOKEN

PLANTED = "Pl4nted s3cret/x&y"
FORMS = ("Pl4nted", quote(PLANTED), b64encode(PLANTED.encode()).decode(), CARD, CARD.replace(" ", ""), TOKEN)


def holds(text: bytes) -> list[str]:
    """The forms of what was planted that a text holds."""
    return [form for form in FORMS if form.encode() in text or form.encode("utf-16-le") in text]


def found_in(folder: Path) -> list[tuple[str, list[str]]]:
    """Every file below a folder that holds something of it."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return [(str(path.relative_to(folder)), found) for path in files if (found := holds(path.read_bytes()))]


def told_by_children(process: int) -> list[str]:
    """What anybody who may look sees of the processes below one: their arguments and environments."""
    told: list[str] = []
    for child in psutil.Process(process).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has just ended
            told += holds("\0".join([*child.cmdline(), *child.environ().values()]).encode())
    return told


@pytest.fixture
def leftovers() -> Iterator[Path]:
    """A folder for temporary files; its path is short, since Chromium has a socket in it."""
    with TemporaryDirectory(prefix="s-") as folder:
        yield Path(folder)


def test_a_planted_secret_is_nowhere_though_the_keeper_was_killed(
    world: World, tmp_path: Path, leftovers: Path
) -> None:
    task_file = TASKS / "secretive.py"
    environment = {
        **{name: value for name, value in os.environ.items() if name != "BOOKS_PASSWORD"},
        KEY_VARIABLE: urlsafe_b64encode(os.urandom(32)).decode(),
        "TMPDIR": str(leftovers),
    }

    def say(*words: str, **more: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "browser_agent", *words, "--store", world.store.address]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdout=pipe, stderr=pipe, cwd=tmp_path, env={**environment, **more})

    where = ["--site", f"books={world.to_books.url}"]
    keeper = say(
        *("run", f"{task_file}:let_loose", "reference=S-9", "password=env:BOOKS_PASSWORD", *where),
        BOOKS_PASSWORD=PLANTED,
    )
    seen: list[str] = []

    def look_and_kill() -> None:
        seen.extend([*told_by_children(keeper.pid), "looked"])
        keeper.send_signal(signal.SIGKILL)

    world.to_books.when("committed", look_and_kill)
    printed = [*keeper.communicate(timeout=120)]
    assert seen == ["looked"] and keeper.returncode == -signal.SIGKILL, printed

    resumed = say("resume", "last")  # without the variable: the key opens what was kept
    printed += resumed.communicate(timeout=120)
    assert resumed.returncode == 1, printed
    for words in (["report", "last", "-o", "run.html"], ["show", "last"], ["audit", "show"], ["inbox", "--json"]):
        printed += say(*words).communicate(timeout=60)

    invoice = world.books.invoices[0]
    assert (len(world.books.invoices), invoice.contract, CARD in invoice.customer) == (1, PLANTED, True)
    run = world.store.leases.runs()[0]
    assert run.state is RunState.RAISED and run.ended_by is not None
    assert "[secret env:BOOKS_PASSWORD]" in run.ended_by and "127.0.0.1" in run.ended_by
    assert world.outcomes(run.id) == ["happened"]
    report = (tmp_path / "run.html").read_text()
    assert "[card ..1881]" in report and "S-9" in report and "INV-1" in report
    assert not [found for text in printed if (found := holds(text))]
    assert found_in(tmp_path) + found_in(leftovers) == []


def test_without_a_key_a_run_waits_for_its_secret_from_the_same_source(world: World, tmp_path: Path) -> None:
    (tmp_path / "pw").write_text(PLANTED)
    run = world.submit("let_loose", "secretive.py", reference="S-9", password=f"@{tmp_path}/pw")
    (tmp_path / "pw").unlink()
    _held.pop(run)  # as in another process
    with pytest.raises(SecretMissing, match="needs the secret"):
        world.keep(run)
    assert world.store.leases.run(run).state is RunState.NEW
    (tmp_path / "pw").write_text(PLANTED)
    assert world.keep(run).state is RunState.RAISED
    assert [invoice.contract for invoice in world.books.invoices] == [PLANTED]


def test_a_secret_in_another_argument_is_refused(world: World) -> None:
    Secret(PLANTED, "planted")
    with pytest.raises(Misuse, match="in clear text"):
        world.submit("post_one", reference=f"R-1 {PLANTED}")


def test_a_proven_value_that_is_a_card_number_is_not_changed_but_asked_for(world: World) -> None:
    ended = world.go("number_is_a_card", file="secretive.py", reference="S-9")
    assert ended.state is RunState.WAITING
    question = world.store.inbox.question(ended.questions[0])
    assert question.kind is QuestionKind.VALUES
    assert any("it holds a card number" in reason for reason in json.loads(question.reasons))
    assert len(world.books.invoices) == 1
    assert not holds(Path(world.store.address).read_bytes())
