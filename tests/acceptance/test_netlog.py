"""The network log: what Chromium sent again by itself is in the journal, in plain words and without secrets."""

from __future__ import annotations

import json
from typing import Any

from typer.testing import CliRunner

from browser_agent.cli import app
from browser_agent.reporting.html_report import write_report
from browser_agent.states import RunState
from tests.fix_world import World


def wire(world: World, run: str) -> dict[str, Any]:
    """What the journal holds of the only gesture's requests."""
    (gesture,) = world.store.journal.gestures(run)
    return dict(json.loads(gesture.wire or "{}"))


def shown(world: World, run: str, *words: str) -> str:
    """What `browser-agent show` says of the run."""
    said = CliRunner().invoke(app, ["show", run, "--store", world.store.address, *words], prog_name="browser-agent")
    assert said.exit_code == 0, said.output
    return said.output


def test_a_guarded_gesture_has_no_restarts_in_the_log_and_without_a_log_nothing_is_said(world: World) -> None:
    run, plain = world.submit("post_one", reference="R-1"), world.submit("post_one", reference="R-2")
    world.to_books.fault("cut_after_head")
    assert world.keep(run).state is RunState.FINISHED
    assert world.keep(plain, netlog=False).state is RunState.FINISHED
    assert len(world.books.ledger.writes) == 2
    assert (wire(world, run)["restarts"], wire(world, run)["resent"]) == (0, [])
    assert wire(world, plain)["restarts"] is None
    assert json.loads(shown(world, run, "--json"))["steps"][1]["gestures"][0]["wire"]["restarts"] == 0
    assert "by itself" not in shown(world, run)


def test_what_was_sent_again_is_told_without_its_secret_and_settled_by_the_list(world: World) -> None:
    run = world.submit("post_one_with_token", reference="R-1")
    world.to_books.fault("status", code=421)
    ended = world.keep(run)
    assert (ended.state, world.invoices("R-1")) == (RunState.FINISHED, ["INV-1"])
    words = f"the browser sent POST {world.to_books.url}/invoices again by itself (answered 421)"
    assert wire(world, run)["restarts"] == 1
    assert f"at the wire: {words}" in shown(world, run)
    assert words in write_report(world.store, run, world.folder / "run.html").read_text()
    (gesture,) = world.store.journal.gestures(run)
    said = {row.id: json.loads(row.observation) for row in world.store.journal.observations(gesture.id)}
    assert any(said[proof]["counts"] for proof in json.loads(gesture.proven_by or "[]"))
    kept = b"".join(path.read_bytes() for path in world.folder.rglob("*") if path.is_file())
    assert b"/invoices" in kept and b"hunter2" not in kept
    assert "hunter2" not in repr(world.events)
