"""Runs whose pictures lie in a bucket of a real S3-compatible server: one host dies, or the server does."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browser_agent.options import Event
from browser_agent.states import RunState
from browser_agent.store import Store
from browser_agent.store.evidence_bucket import Bucket
from tests.fix_s3 import SECRET, Server
from tests.fix_workers import DEADLINE_SECONDS, Workers
from tests.fix_world import World


def said(*words: str) -> Any:
    """What a command says, as data; with the bucket's key nowhere in it."""
    command = [sys.executable, "-m", "browser_agent", *words, "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False)
    assert ended.returncode == 0, ended.stderr
    assert SECRET not in ended.stdout + ended.stderr
    return json.loads(ended.stdout)


def machine(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Be another machine from here on: of that name, with a data folder of its own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / name))
    monkeypatch.setenv("BROWSER_AGENT_HOST", name)
    return name


def pictures_in(store: Store) -> set[str]:
    """The names of the objects that a store has in its bucket."""
    place = store.artifacts.location
    assert isinstance(place, Bucket)
    return {Path(each["path"]).name for part in place._objects.list() for each in part}


def test_another_host_carries_on_and_shows_the_pictures_of_the_one_that_was_killed(
    postgres_world: World, s3: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, workers = postgres_world, Workers(postgres_world, tmp_path)
    Store(world.store.address, evidence=f"s3://pictures/{tmp_path.name}").close()
    run = workers.submit("post_many", references=["R-1", "R-2"])
    first = workers.short(machine("alpha", tmp_path, monkeypatch))
    world.to_books.when("came", first.kill)
    assert first.wait(DEADLINE_SECONDS) == -signal.SIGKILL
    second = workers.short(machine("beta", tmp_path, monkeypatch))
    workers.until_state(run, RunState.FINISHED)
    assert workers.drained(second) == 0
    assert [world.invoices(reference) for reference in ("R-1", "R-2")] == [["INV-1"], ["INV-2"]]
    assert [row.host for row in world.store.leases.attempts(run)] == ["alpha", "beta"]

    machine("gamma", tmp_path, monkeypatch)
    monkeypatch.setenv("BROWSER_AGENT_STORE", world.store.address)
    assert said("audit", "verify")["missing"] == []
    said("report", run, "-o", str(tmp_path / "run.html"))
    shown = (tmp_path / "run.html").read_text()
    made = world.store.journal.gestures(run)
    kept = {digest for gesture in made for digest in (gesture.before, gesture.after) if digest}
    assert kept and shown.count("data:image/webp;base64,") >= len(kept)
    with Store(world.store.address) as store:
        assert kept <= pictures_in(store)
    assert list(tmp_path.glob("*/browser-agent/stores/*/evidence")) == []


def once(strike: Callable[[], None]) -> Callable[[], None]:
    """Strike at the first write that comes, and let the others pass."""
    strikes = [strike]

    def came() -> None:
        if strikes:
            strikes.pop()()

    return came


def check_whole(world: World) -> None:
    """Every picture that the store names is in its bucket, the second gesture's too."""
    with Store(world.store.address) as store:
        assert store.artifacts.missing() == [] and len(pictures_in(store)) > 1


@pytest.fixture
def bucket_world(world: World, s3: Server, tmp_path: Path) -> World:
    Store(world.store.address, evidence=f"s3://pictures/{tmp_path.name}").close()
    return world


def test_without_its_bucket_a_run_settles_what_was_sent_and_sends_nothing_more(bucket_world: World, s3: Server) -> None:
    world = bucket_world
    world.to_books.when("came", once(s3.kill))
    run = world.submit("post_many", references=["R-1", "R-2"])
    ended = world.keep(run, attempts=1)
    assert (ended.state, world.outcomes(run)) == (RunState.NEEDS_ATTENTION, ["happened"])
    assert (world.invoices("R-1"), world.invoices("R-2")) == (["INV-1"], [])
    (question,) = world.store.inbox.questions(run, open_only=True)
    assert "s3://pictures/" in question.words
    assert "can't be reached" in question.words and "Nothing is made that can't be shown" in question.words
    s3.start()
    s3.until_it_answers()
    ended = world.keep(run)
    assert (ended.state, world.outcomes(run)) == (RunState.FINISHED, ["happened", "happened"])
    assert (world.invoices("R-1"), world.invoices("R-2")) == (["INV-1"], ["INV-2"])
    check_whole(world)


@pytest.mark.matrix  # the store's tests stop a bucket
def test_a_bucket_that_hangs_ends_an_attempt_and_the_next_one_carries_on_when_it_answers(
    bucket_world: World, s3: Server
) -> None:
    world = bucket_world

    def heard(event: Event) -> None:
        world.events.append(event)
        if event.kind == "worker_died":
            s3.resume()

    world.to_books.when("came", once(s3.stop))
    run = world.submit("post_many", references=["R-1", "R-2"])
    try:
        ended = world.keep(run, on_event=heard)
    finally:
        s3.resume()
    assert (ended.state, ended.attempts) == (RunState.FINISHED, 2)
    assert (world.invoices("R-1"), world.invoices("R-2")) == (["INV-1"], ["INV-2"])
    check_whole(world)
    troubles = [event.words for event in world.events if event.kind == "trouble"]
    assert any("did not answer in time" in words for words in troubles)
