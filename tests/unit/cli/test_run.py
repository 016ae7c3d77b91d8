"""`run` and `resume`: what is written down, how they end, what a person sees meanwhile. Nothing is kept here."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from browser_agent.options import Event, KillAt, Options
from browser_agent.states import Point, RunState
from browser_agent.store import Store
from tests.fix_cli import Cli, Keeper
from tests.store.building import submit


def test_a_run_is_written_down_with_its_sites_and_arguments(cli: Cli, keeper: Keeper, store: Store) -> None:
    words = "run invoices.py day=2026-11-30 most=2 --site books=http://127.0.0.1:8001 --account books=ann --key nov-30"
    said = cli(*words.split(), "--json")
    assert (said.code, said.document["state"], said.document["result"]) == (0, "finished", ["INV-1"])
    run = store.leases.run(said.document["run"])
    assert json.loads(run.sites) == {"books": {"url": "http://127.0.0.1:8001", "account": "ann"}}
    assert json.loads(run.arguments) == {"day": "2026-11-30", "most": 2}
    assert (run.task_name, run.key, Path(run.task_file).name) == ("invoice", "nov-30", "invoices.py")


@pytest.mark.parametrize(
    ("option", "complaint"),
    [("--headed", "There is no display"), ("--pause-before-gesture", "needs a terminal to answer at")],
)
def test_a_run_that_nobody_could_attend_does_not_start(
    cli: Cli, keeper: Keeper, monkeypatch: pytest.MonkeyPatch, option: str, complaint: str
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    said = cli("run", "invoices.py", "day=2026-11-30", option)
    assert (said.code, keeper.options, Path("runs.db").exists()) == (2, [], False)
    assert complaint in said.err


def test_the_display_options_reach_the_keeper(cli: Cli, keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    words = "run invoices.py:invoice day=2026-11-30 --headed --slow-mo 50 --keep-looking 5"
    assert cli(*words.split(), "--no-netlog", "--kill-at", "released:2").code == 0
    kill_at = KillAt(Point.RELEASED, 2)
    wanted = Options(headed=True, slow_mo=50, keep_looking=5, kill_at=kill_at, netlog=False)
    assert keeper.options == [wanted]


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (RunState.FINISHED, 0),
        (RunState.RAISED, 1),
        (RunState.WAITING, 3),
        (RunState.STOPPED, 4),
        (RunState.NEEDS_ATTENTION, 5),
    ],
)
def test_a_run_ends_with_the_code_of_its_state(cli: Cli, keeper: Keeper, state: RunState, code: int) -> None:
    keeper.state = state
    said = cli("run", "invoices.py", "day=2026-11-30")
    assert said.code == code
    assert ("browser-agent resume run-" in said.out) == (state is not RunState.FINISHED)


def test_the_same_key_is_the_same_run(cli: Cli, keeper: Keeper, store: Store) -> None:
    first = cli("run", "invoices.py", "day=2026-11-30", "--key", "nov-30", "--json").document
    again = cli("run", "invoices.py", "day=2026-11-30", "--key", "nov-30", "--json").document
    assert (again["run"], again["result"], len(keeper.options)) == (first["run"], ["INV-1"], 1)
    assert len(store.leases.runs()) == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("run nowhere.py", "nowhere.py"),
        ("run invoices.py", "day: is missing"),
        ("run invoices.py day=soon most=few", "most"),
        ("run invoices.py day=30.11.2026", "day: '30.11.2026' is not of the form YYYY-MM-DD"),
        ("run invoices.py day", "write name=value"),
        ("run invoices.py day=2026-11-30 day=2026-12-01", "given twice"),
        ("run invoices.py day=2026-11-30 --site shop=http://127.0.0.1", "has no site 'shop'; it has: books"),
        ("run invoices.py day=2026-11-30 --site books=ftp://x", "must begin with http"),
        ("run invoices.py day=2026-11-30 --kill-at noon", "is not a point"),
        ("resume last", "There is no store"),
        ("runs", "There is no store"),
    ],
)
def test_a_mistake_is_one_sentence_and_changes_nothing(
    cli: Cli, keeper: Keeper, here: Path, words: str, complaint: str
) -> None:
    said = cli(*words.split())
    assert said.code == 2
    assert complaint in said.err
    assert "Traceback" not in said.err + said.out
    as_json = cli(*words.split(), "--json")
    assert as_json.code == 2
    assert complaint in as_json.document["error"]
    assert as_json.document["kind"]
    assert not keeper.options
    with Store(here / "runs.db") as store:
        assert store.leases.runs() == []


def test_resume_takes_no_other_site(cli: Cli, keeper: Keeper, store: Store) -> None:
    submit(store)
    assert cli("resume", "last", "--site", "books=http://127.0.0.1").code == 2
    assert not keeper.options


def test_last_is_the_newest_run_and_an_ended_one_is_only_told(cli: Cli, keeper: Keeper, store: Store) -> None:
    run = submit(store)
    assert cli("resume", "last", "--json").document["run"] == run
    again = cli("resume", "last")
    assert (again.code, len(keeper.options)) == (0, 1)
    assert "is finished already. Nothing was done" in again.out
    assert cli("resume", run[:6]).code == 2


def test_other_work_under_the_same_key_says_what_differs(cli: Cli, keeper: Keeper) -> None:
    cli("run", "invoices.py", "day=2026-11-30", "--key", "nov-30")
    said = cli("run", "invoices.py", "day=2026-12-01", "--key", "nov-30", "--json")
    assert (said.code, said.document["kind"]) == (2, "InOtherHands")
    error = said.document["error"].replace(" ", "")
    assert 'witharguments{"day":"2026-11-30","most":5},not{"day":"2026-12-01","most":5}.' in error
    assert "sites" not in said.document["error"] and "task " not in said.document["error"]


def test_a_run_in_other_hands_is_left_alone(cli: Cli, keeper: Keeper, store: Store) -> None:
    submit(store)
    keeper.busy = True
    said = cli("resume", "last", "--json")
    assert (said.code, said.document["kind"]) == (2, "InOtherHands")


def test_a_live_line_says_what_was_done_and_what_proves_it(cli: Cli, keeper: Keeper) -> None:
    details = {"outcome": "happened", "values": {"number": "INV-7"}, "reasons": ["the order list has it"]}
    keeper.events = [
        Event("step", "find_shipments()", "r", 1, {"value": ["a", "b", "c", "d"], "writes": False}),
        Event("dispatching", "post an invoice", "r", 1),
        Event("settled", "happened: post an invoice", "r", 1, details),
        Event("step", "post_invoice(S-1)", "r", 1, {"value": {"number": "INV-7"}, "writes": True}),
        Event("worker_died", "The worker died (\x1b[31msignal 9).", "r", 1),
    ]
    lines = cli("run", "invoices.py", "day=2026-11-30").out.partition("\nRun ")[2].splitlines()
    assert lines[1] == "✔ find_shipments()  4 found"
    assert lines[2] == "✔ happened: post an invoice  number INV-7 · known by: the order list has it"
    assert lines[3] == "! The worker died (\ufffd[31msignal 9)."
    json_lines = cli("run", "invoices.py", "day=2026-11-30", "--json")
    assert json_lines.document["state"] == "finished"
    assert "known by: the order list has it" in json_lines.err
