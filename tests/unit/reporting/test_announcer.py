"""A person is notified once of each question, by a real command or a real POST; and what is logged holds no value."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from browser_agent.errors import InOtherHands, Misuse
from browser_agent.options import Event, Options
from browser_agent.reporting import notify
from browser_agent.reporting.announcer import Announcer
from browser_agent.reporting.log import FACTS, start_log
from browser_agent.states import GestureState, QuestionKind
from browser_agent.store import Store
from tests.store.building import asked, brought, claim

NOTE = """
import json, os, sys
question = json.load(sys.stdin)
named = {name: value for name, value in os.environ.items() if name.startswith("BROWSER_AGENT_QUESTION_")}
open("told.jsonl", "a").write(json.dumps({**question, **named}) + "\\n")
"""
SECRET = "4111-1111-1111-1111"


@pytest.fixture
def command(here: Path) -> tuple[str, ...]:
    """Writes what it is given into the current folder."""
    (here / "note.py").write_text(NOTE)
    return (sys.executable, "note.py")


class Desk(BaseHTTPRequestHandler):
    """Records what is posted, and answers with the status that the path names."""

    came: list[dict[str, Any]]

    def do_POST(self) -> None:
        self.came.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(int(self.path.rpartition("/")[2]))
        self.send_header("Location", "/200")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Its address, and the list of what was posted there."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    came: list[dict[str, Any]] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("OneDesk", (Desk,), {"came": came}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/secret", came
    server.shutdown()
    server.server_close()


def keep(store: Store, run: str, told: tuple[str, ...], *events: Event) -> list[Event]:
    """Announce these events as a keeper does; returns what the watcher received."""
    heard: list[Event] = []
    with Announcer(store, run, Options(on_question=told), heard.append) as announcer:
        for event in events:
            announcer.announce(event)
    return heard


def told_of(here: Path) -> list[dict[str, Any]]:
    file = here / "told.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


# notifications


@pytest.mark.process
def test_a_command_is_notified_of_a_question_once_however_often_the_run_is_resumed(
    store: Store, here: Path, command: tuple[str, ...]
) -> None:
    question = asked(store, claim(store), reasons=("2 of 4 pages read",))
    event = Event("question", question.words, question.run_id, 1, {"question": question.id})
    for _ in range(2):
        assert keep(store, question.run_id, command, event, event) == [event, event]
    (told,) = told_of(here)
    assert (told["question"], told["BROWSER_AGENT_QUESTION_ID"]) == (question.id, question.id)
    assert (told["BROWSER_AGENT_QUESTION_RUN"], told["BROWSER_AGENT_QUESTION_KIND"]) == (question.run_id, "outcome")
    assert (told["words"], told["reasons"]) == ("Was invoice S-101 posted?", ["2 of 4 pages read"])
    assert f"answer {question.id} happened --by NAME --reason TEXT --store {store.where}" in told["commands"][0]
    assert [line["question"] for line in store.audit_lines() if line["kind"] == "question_told"] == [question.id]
    assert store.verify().broken == ()


@pytest.mark.process
def test_a_question_that_no_event_announced_is_notified_when_the_keeper_ends(
    store: Store, here: Path, command: tuple[str, ...]
) -> None:
    first, second = (asked(store, claim(store), kind) for kind in (QuestionKind.ATTEMPTS, QuestionKind.TASK_CHANGED))
    keep(store, second.run_id, command)
    assert [told["question"] for told in told_of(here)] == [second.id], "of its own run alone"
    assert first.run_id != second.run_id


def test_a_run_that_another_keeper_owns_is_announced_by_that_one_alone(
    store: Store, here: Path, command: tuple[str, ...]
) -> None:
    question = asked(store, claim(store))
    with (
        pytest.raises(InOtherHands),
        Announcer(store, question.run_id, Options(on_question=command), lambda event: None),
    ):
        raise InOtherHands("a living keeper has it")
    assert told_of(here) == []


def test_an_address_is_notified_of_a_question_by_one_post(store: Store, desk: Any) -> None:
    address, came = desk
    question = asked(store, claim(store))
    keep(store, question.run_id, (f"{address}/204",))
    keep(store, question.run_id, (f"{address}/204",))
    assert [told["question"] for told in came] == [question.id]


@pytest.mark.parametrize("status", [500, 302])
def test_an_address_that_refuses_it_changes_nothing_and_is_tried_again_next_time(
    store: Store, desk: Any, status: int
) -> None:
    address, came = desk
    question = asked(store, claim(store))
    (said,) = keep(store, question.run_id, (f"{address}/{status}",))
    assert (said.kind, len(came)) == ("notification", 1)
    assert (
        f"The notification of question {question.id} was not delivered" in said.words
        and f"answered {status}" in said.words
    )
    assert "secret" not in said.words
    keep(store, question.run_id, (f"{address}/200",))
    assert len(came) == 2


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("no-such-program",), "could not be started"),
        ((sys.executable, "-c", "raise SystemExit(3)"), "ended with code 3"),
        (("sh", "-c", "sleep 60 & wait"), "took more than 0.3 s"),
        (("http://127.0.0.1:9/secret",), "could not be reached"),
    ],
)
def test_a_failed_notification_is_reported_without_what_may_be_secret(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], why: str
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(notify.NotSent, match=why) as error:
        notify.send(words, {"question": "q-1", "run": "run-1", "kind": "outcome"}, seconds=0.3)
    assert "secret" not in str(error.value)


# the log


def test_a_record_names_run_step_gesture_and_outcome_and_holds_no_value(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    lease = claim(store)
    gesture = brought(store, lease, GestureState.HAPPENED, words=f"post_invoice(card='{SECRET}')")
    values = {"gesture": gesture.id, "outcome": "happened", "values": {"card": SECRET}, "reasons": [SECRET]}
    with caplog.at_level(logging.DEBUG, "browser_agent"):
        keep(
            store,
            lease.run,
            (),
            Event("dispatching", f"pay with {SECRET}", lease.run, 1, {"gesture": gesture.id}),
            Event("settled", f"happened: pay with {SECRET}", lease.run, 1, values),
            Event("step", f"post_invoice(card='{SECRET}')", lease.run, 1, {"step": "post_invoice", "value": SECRET}),
            Event("raised", f"ValueError: {SECRET}", lease.run, 1),
            Event("trouble", f"Error: {SECRET}", lease.run, 1),
            Event("a kind of tomorrow", SECRET, lease.run, 1, {"card": SECRET}),
            Event("worker_died", "The worker died (signal 9).", lease.run, 2),
        )
    facts = [{name: getattr(record, name) for name in FACTS} for record in caplog.records]
    assert facts[1] == {
        "run": lease.run,
        "attempt": 1,
        "kind": "settled",
        "step": "post_invoice",
        "gesture": gesture.id,
        "outcome": "happened",
        "question": None,
    }
    assert facts[2]["step"] == "post_invoice"
    assert [record.levelname for record in caplog.records][-1] == "WARNING"
    assert caplog.records[-1].getMessage() == "worker_died: The worker died (signal 9)."
    assert SECRET not in caplog.text and SECRET not in json.dumps(facts)


def test_the_command_line_logs_to_the_chosen_file_in_the_chosen_form(store: Store, here: Path) -> None:
    lease = claim(store)
    start_log("debug", here / "run.log", as_json=True)
    try:
        keep(store, lease.run, (), Event("step", "find_shipments()", lease.run, 1, {"step": "find_shipments"}))
        (line,) = map(json.loads, (here / "run.log").read_text().splitlines())
        assert line.pop("time").endswith("+00:00")
        facts = {"run": lease.run, "attempt": 1, "kind": "step", "step": "find_shipments"}
        message = "step: step find_shipments"
        assert line == {"level": "info", "logger": "browser_agent", "message": message, **facts}
        start_log("warning", here / "other.log", as_json=False)
        keep(store, lease.run, (), Event("step", "find_shipments()", lease.run, 1, {"step": "find_shipments"}))
        keep(store, lease.run, (), Event("worker_died", "The worker died.", lease.run, 1))
        (text,) = (here / "other.log").read_text().splitlines()
        assert text.endswith(f"WARNING [{lease.run}] worker_died: The worker died.")
    finally:
        start_log(None, None, as_json=False)
    with pytest.raises(Misuse, match="cannot be written"):
        start_log(None, here / "no-folder" / "run.log", as_json=False)


def test_a_library_logs_nothing_until_a_handler_is_added() -> None:
    import browser_agent

    assert browser_agent.__name__ == "browser_agent"
    assert any(isinstance(each, logging.NullHandler) for each in logging.getLogger("browser_agent").handlers)
