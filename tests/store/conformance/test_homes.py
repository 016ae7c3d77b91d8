"""One contract, three homes: whatever befalls a worker or its home, a gesture is looked for before another is made.

Each test holds on each home; some cells stand for all of them in every run, the others are for `make matrix`.
"""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from typing import Any

import pytest

from browser_agent import processes
from browser_agent.states import QuestionKind, RunState
from tests.fix_matrix import chosen
from tests.store.conformance.homes import DEADLINE_SECONDS, Home, once, wait_until

HOMES = ("sqlite", "postgres", "temporal")
FIRST_POST = "POST /invoices"


def on(*always: str, of: tuple[str, ...] = HOMES) -> pytest.MarkDecorator:
    """On these homes each time; on the others of them on demand."""
    cells = [pytest.param(name, marks=[] if name in always else [pytest.mark.matrix]) for name in of]
    return pytest.mark.parametrize("home", cells, indirect=True)


def is_stopped(process: subprocess.Popen[bytes]) -> bool:
    found = processes.identify(process.pid)
    return found is not None and processes.stopped(found)


def one_invoice_by_looking(home: Home, run: str) -> None:
    """The site has one, and it is the one gesture's that was made: it was looked for."""
    assert home.world.invoices("R-1") == ["INV-1"]
    assert home.world.outcomes(run) == ["happened"], home.log()


@on("postgres")
def test_after_kill_9_another_worker_looks_and_carries_on(home: Home) -> None:
    first = home.worker()
    home.world.to_books.when("committed", once(first.kill))
    run = home.submit(reference="R-1")
    assert first.wait(DEADLINE_SECONDS) == -signal.SIGKILL
    home.worker(1)
    assert home.until_finished(run).attempt > 1
    one_invoice_by_looking(home, run)


@pytest.mark.parametrize("at", chosen("paused", others=["released"]))
@on("postgres")
def test_a_worker_that_sleeps_past_its_lease_at_the_gate_lets_nothing_go_when_it_wakes(home: Home, at: str) -> None:
    first = home.worker(kill_at=f"{at}:1@stopped-keeper")
    run = home.submit(reference="R-1")
    wait_until(lambda: is_stopped(first), home)
    home.worker(1)
    home.until(run, *{RunState.FINISHED, RunState.WAITING})
    assert home.row(run).attempt >= 2
    made = home.world.invoices("R-1")
    first.send_signal(signal.SIGCONT)
    home.ended(run, 1)
    first.terminate()
    assert first.wait(DEADLINE_SECONDS) is not None  # with its browser: nothing is under way any more
    assert home.world.invoices("R-1") == made, home.log()
    home.until_finished(run)
    assert home.world.invoices("R-1") == ["INV-1"], home.log()


@pytest.mark.parametrize(
    ("home", "at"),
    [
        pytest.param("postgres", FIRST_POST),
        pytest.param("postgres", "GET /invoices/new", marks=pytest.mark.matrix),
        pytest.param("temporal", FIRST_POST, marks=pytest.mark.matrix),
        pytest.param("temporal", "GET /invoices/new"),
    ],
    indirect=["home"],
)
def test_a_worker_that_is_cut_off_from_its_home_is_followed_by_one_that_looks(home: Home, at: str) -> None:
    first = home.worker(cut_off=True)
    home.world.to_books.when("came", once(home.pull), at)
    run = home.submit(reference="R-1")
    wait_until(lambda: any(entry.event == "came" and entry.path in at for entry in home.world.to_books.log), home)
    home.worker(1)
    home.until_finished(run)
    assert home.world.invoices("R-1") == ["INV-1"], home.log()
    attempt = home.row(run).attempt
    home.plug()
    first.terminate()
    assert first.wait(DEADLINE_SECONDS) is not None
    assert (home.row(run).state, home.row(run).attempt) == (RunState.FINISHED, attempt)
    assert home.world.invoices("R-1") == ["INV-1"]


@on("temporal")
def test_a_restart_of_everything_makes_nothing_before_it_has_looked(home: Home) -> None:
    first = home.worker()
    home.world.to_books.when("committed", once(first.kill))
    run = home.submit(reference="R-1")
    assert first.wait(DEADLINE_SECONDS) == -signal.SIGKILL
    home.restart()
    home.worker()
    home.until_finished(run)
    one_invoice_by_looking(home, run)


@on(of=("postgres", "temporal"))
def test_servers_that_crash_while_a_write_is_on_its_way_leave_one_invoice(home: Home) -> None:
    home.worker()
    home.world.to_books.when("came", once(home.restart))
    run = home.submit(reference="R-1")
    home.until_finished(run)
    assert home.world.invoices("R-1") == ["INV-1"], home.log()


@on()  # for SQLite, `test_faults.py` locks it while a gesture is settled
def test_a_store_that_is_locked_for_8_seconds_is_waited_for(home: Home) -> None:
    held: list[float] = []

    def lock() -> None:
        began = time.monotonic()
        with home.world.store.database.write():
            threading.Event().wait(8.0)
        held.append(time.monotonic() - began)

    thread = threading.Thread(target=lock)
    home.world.to_books.when("came", once(thread.start))
    home.worker()
    run = home.submit(reference="R-1")
    home.until_finished(run)
    thread.join()
    assert held and home.world.invoices("R-1") == ["INV-1"], home.log()


@on()
def test_a_living_run_is_not_adopted_by_a_worker_that_starts_whatever_its_clock(
    home: Home, request: pytest.FixtureRequest
) -> None:
    go_on = home.world.folder / "go on"
    home.worker(0, **_clock(home, request, -10))
    run = home.submit("wait_then_post", "waiting.py", reference="R-1", go_on=go_on)
    home.world.to_books.wait_for("came", DEADLINE_SECONDS, "GET /invoices")
    home.worker(1, **_clock(home, request, +10))
    other = home.submit(reference="R-2")
    home.until_finished(other, "R-2")  # it has looked at all that there is, and has begun to work
    assert home.row(run).state is RunState.RUNNING
    go_on.touch()
    home.until_finished(run)
    assert [home.row(each).attempt for each in (run, other)] == [1, 1], home.log()
    assert (home.world.invoices("R-2"), home.world.invoices("R-1")) == (["INV-1"], ["INV-2"])


def _clock(home: Home, request: pytest.FixtureRequest, minutes: int) -> dict[str, Any]:
    """A worker whose clock goes wrong by that; not with SQLite, whose workers have one machine's clock."""
    if home.hosts[0] == home.hosts[1]:
        return {"shorter": 1.0}
    wrong: Mapping[str, str] = request.getfixturevalue("wrong_clock")
    environment = {**wrong, "FAKETIME": f"{minutes:+d}m"}
    return {"more": environment, "chromium": request.getfixturevalue("right_chromium"), "shorter": 1.0}


@on()  # `test_workers.py` has it for SQLite, `test_temporal.py` for Temporal
def test_a_run_whose_workers_keep_dying_asks_for_a_person(home: Home) -> None:
    first = home.worker(kill_at="intent:1@keeper", attempts=1)
    run = home.submit(attempts=1, reference="R-1")
    assert first.wait(DEADLINE_SECONDS) == -signal.SIGKILL
    home.worker(1, attempts=1)
    home.until(run, RunState.NEEDS_ATTENTION)
    (question,) = home.world.store.inbox.questions(run, open_only=True)
    assert question.kind is QuestionKind.ATTEMPTS and "resume" in question.safe_step
    assert home.world.books.invoices == []


def test_the_words_of_a_worker_are_read_back_as_they_were_written() -> None:
    from tests.store.conformance.serving import Wanted

    wanted = Wanted("postgresql://ann@here/runs", "alpha", kill_at="released:1@keeper")
    assert Wanted(**json.loads(wanted.words()[-1])) == wanted
