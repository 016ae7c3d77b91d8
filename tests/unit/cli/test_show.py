"""The commands that only read: runs, questions, reports and the audit log, for people and for programs."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from browser_agent.ownership.takeover import own_process
from browser_agent.script.steps import WORDS
from browser_agent.states import Answer, EndKind, GestureState, QuestionKind, QuestionState
from browser_agent.store import AttemptEnd, PersonAnswer, Store
from observers import Condition
from tests.fix_cli import HAPPENED, Cli, Keeper, waiting
from tests.store.building import asked, brought, claim, folder_of, submit, without_triggers


def test_a_question_is_put_in_full_and_with_the_commands_that_answer_it(cli: Cli, store: Store) -> None:
    evidence = ({"kind": "text", "words": "the page", "text": "Order \x1b[2J7", "address": "http://x/orders"},)
    safe = datetime(2036, 1, 1, tzinfo=UTC)
    more: dict[str, Any] = {"evidence": evidence, "reasons": ("2 of 4 pages read",), "earliest_safe": safe}
    question = waiting(store, last_confirmed="invoice INV-1 posted", safe_step="Look at the list.", **more)
    said = cli("inbox").out
    for words in (
        "Was invoice S-101 posted?",
        "2 of 4 pages read",
        "the page (http://x/orders): Order \ufffd[2J7",
        "Last confirmed: invoice INV-1 posted",
        "2036-01-01 00:00:00 UTC (in ",
        "Safe next step: Look at the list.",
        f"browser-agent answer {question} happened --by NAME --reason TEXT [--value NAME=VALUE]...",
        f"browser-agent answer {question} not-happened --by NAME --reason TEXT",
        f"browser-agent answer {question} abandon --by NAME --reason TEXT",
    ):
        assert words in said
    assert "failed" not in said
    assert "try again" not in said.lower()


def test_an_approval_shows_every_argument_of_every_call(cli: Cli, store: Store) -> None:
    words = f"email_invoice(to='{'a' * 98}...)"
    calls = [{"step": "email_invoice@2", "arguments": '{"to":"' + "a" * 400 + '@example"}', "words": words}]
    assert len(words) == WORDS
    waiting(store, QuestionKind.APPROVAL, reasons=(words,), details={"calls": calls})
    said = cli("inbox").out
    assert "Exactly these would be made" in said
    assert f'email_invoice {{"to":"{"a" * 400}@example"}}' in said
    waiting(store, QuestionKind.APPROVAL, details={"calls": [{**calls[0], "words": "email_invoice(to='a@example')"}]})
    assert "1. email_invoice(to='a@example')\n" in cli("inbox").out


@pytest.mark.parametrize("kind", QuestionKind)
def test_every_command_that_a_question_prints_is_taken(
    cli: Cli, keeper: Keeper, store: Store, kind: QuestionKind
) -> None:
    past = datetime.now(UTC) - timedelta(minutes=1)
    waiting(store, kind, earliest_safe=past)
    for number in range(len(cli("inbox", "--json").document[0]["commands"])):
        question = waiting(store, kind, earliest_safe=past)
        command = cli("inbox", "--json").document[-1]["commands"][number]
        said = cli(*command.replace(" [--value NAME=VALUE]...", "").split()[1:])
        assert said.code == 0, said
        assert (store.inbox.question(question).state is QuestionState.OPEN) == (" resume " in command)


def test_another_store_is_named_in_the_printed_command(cli: Cli, here: Path) -> None:
    other = here / "other store.db"
    with Store(other) as store:
        waiting(store)
    assert f"--reason TEXT --store '{other}'" in cli("inbox", "--store", str(other)).out


def test_nothing_to_answer_is_said(cli: Cli, store: Store) -> None:
    assert "Nothing waits for a person." in cli("inbox").out
    assert cli("inbox", "--json").document == []
    assert "There is no run in" in cli("show", "last").err


def test_a_run_is_shown_with_what_is_known_of_each_gesture(cli: Cli, store: Store) -> None:
    lease = claim(store)
    brought(store, lease, GestureState.HAPPENED)
    store.leases.end_attempt(lease, AttemptEnd("ended by signal 9", EndKind.WORKER_ENDED, -9))
    said = cli("show", "last").out
    assert "attempt 1" in said
    assert "ended by signal 9" in said
    assert (
        "click (attempt 1): post an invoice of 120.00 to Nordwind: happened (count 1), known by: one new record" in said
    )
    shown = cli("show", lease.run, "--json").document
    gesture = shown["steps"][0]["gestures"][0]
    assert (gesture["state"], gesture["values"]) == ("happened", {"number": "INV-2301"})
    assert lease.token not in json.dumps(shown)


def test_a_gesture_whose_keeper_is_dead_is_in_doubt_and_a_refused_one_was_never_dispatched(
    cli: Cli, store: Store
) -> None:
    dead, living = claim(store), store.leases.claim(submit(store), keeper=own_process(), keeper_dead=True)
    brought(store, dead, GestureState.DISPATCHING)
    brought(store, living, GestureState.DISPATCHING)
    assert "to Nordwind: in doubt" in cli("show", dead.run).out
    assert "to Nordwind: dispatching" in cli("show", living.run).out
    later = claim(store, living.run)
    assert "to Nordwind: in doubt" in cli("show", living.run).out
    brought(store, later, GestureState.REFUSED, "post_invoice(S-102)")
    assert "to Nordwind: refused: never dispatched" in cli("show", living.run).out


def test_the_runs_are_listed(cli: Cli, store: Store) -> None:
    run = submit(store, key="nov-30")
    said = cli("runs").out
    assert run in said
    assert "nov-30" in said
    assert cli("runs", "--json").document[0]["arguments"] == {"day": "2026-11-30"}


def test_no_more_runs_are_listed_than_fit_a_screen_and_none_is_cut(
    cli: Cli, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    runs = [submit(store, key=f"a-rather-long-key-of-the-caller-{number}") for number in range(22)]
    said = cli("runs").out
    assert max(map(len, said.splitlines())) <= 80
    assert [run for run in runs if run in said] == runs[2:]
    assert "2 older ones: browser-agent runs --all" in said
    assert all(run in cli("runs", "--all").out for run in runs)
    assert len(cli("runs", "--json").document) == 22


def test_a_run_whose_keeper_is_dead_says_so_everywhere(cli: Cli, store: Store) -> None:
    question = asked(store, claim(store))
    told = f"its keeper is dead; `browser-agent resume {question.run_id}` resumes the run, and looks first"
    for command in ("runs", "show last", "inbox"):
        assert told in cli(*command.split()).out
    assert cli("runs", "--json").document[0]["keeper_alive"] is False
    assert cli("show", "last", "--json").document["run"]["keeper_alive"] is False
    assert cli("inbox", "--json").document[0]["keeper_alive"] is False


def test_a_run_that_is_kept_or_has_stopped_has_no_dead_keeper(cli: Cli, store: Store) -> None:
    store.leases.claim(submit(store), keeper=own_process(), keeper_dead=True)
    waiting(store)
    assert "keeper" not in cli("runs").out + cli("inbox").out
    assert {run["keeper_alive"] for run in cli("runs", "--json").document} == {True, None}


def test_a_person_s_word_is_named_and_an_open_question_too(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)
    assert f": asked: {question} waits in the inbox" in cli("show", "last").out
    cli("answer", question, *HAPPENED, "--no-resume")
    assert ": happened, as answered by ann: it is on the list" in cli("show", "last").out


def test_a_run_whose_question_was_answered_waits_for_nobody(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)
    run = store.inbox.question(question).run_id
    assert "waiting" in cli("runs").out and "answered" not in cli("runs").out + cli("show", "last").out
    cli("answer", question, *HAPPENED, "--no-resume")
    goes_on = f"answered; resume the run with: browser-agent resume {run}"
    listed, shown = cli("runs").out, cli("show", "last").out
    assert f"{run}: {goes_on}" in listed and "waiting" not in listed
    assert f"  {goes_on}" in shown
    told = cli("show", "last", "--json").document["run"]["ended_by"]
    assert told == f"{question} was answered by ann: it is on the list"
    assert "waiting" not in shown and "a question waits" not in shown


def test_a_document_has_always_the_same_order_and_nothing_of_the_lease(cli: Cli, store: Store) -> None:
    submit(store)
    (listed,), shown = cli("runs", "--json").document, cli("show", "last", "--json").document["run"]
    assert list(listed) == list(shown) == [name for name in list(listed) if name not in {"token", "lease_until"}]
    assert list(listed)[:3] == ["id", "key", "task_file"]


def test_a_report_is_written_where_it_was_asked_for(cli: Cli, store: Store, here: Path) -> None:
    run = submit(store)
    said = cli("report", "last", "-o", "out.html", "--json")
    assert said.document == {"run": run, "report": str(here / "out.html")}
    assert run in (here / "out.html").read_text()


def test_the_audit_log_is_verified_and_shown(cli: Cli, store: Store) -> None:
    lease = claim(store)
    brought(store, lease, GestureState.HAPPENED)
    kept = store.artifacts.save(b"a picture", "image/webp")
    assert cli("audit", "verify").code == 0
    assert "verdict" in cli("audit", "show", "last").out
    assert [line["seq"] for line in cli("audit", "show", "--json").document] == list(range(1, 7))[: store.verify().size]
    (folder_of(store) / kept[:2] / kept).unlink()
    said = cli("audit", "verify", "--json")
    assert (said.code, said.document["holds"], said.document["missing"]) == (1, False, [kept])
    without_triggers(store)
    with store.database.write() as session:
        session.connection().exec_driver_sql("DELETE FROM audit WHERE seq = 2")
    said = cli("audit", "verify")
    assert said.code == 1
    assert "line 3: line 2 is missing" in said.out


def test_a_verdict_is_explained_by_the_conditions_that_were_checked(cli: Cli, store: Store) -> None:
    lease = claim(store, submit(store))
    gesture = brought(store, lease, GestureState.IN_DOUBT)
    dead = Condition(of="absence", needs="the browser was seen dead", holds=False, seen="it isn't known to be dead")
    read = Condition(of="absence", observer="the record", needs="it read the whole list", holds=True, seen="3 rows")
    store.journal.move(lease, gesture.id, GestureState.UNKNOWN, [read, dead])
    said = cli("show", "last", "--explain").out
    assert f"Why unknown: {gesture.words}" in said
    assert "the record\n    yes  it read the whole list\n         3 rows\n" in said
    assert "    no   the browser was seen dead\n         it isn't known to be dead\n" in said
    (verdict,) = cli("show", "last", "--explain", "--json").document["verdicts"]
    assert (verdict["ended"], [each["holds"] for each in verdict["conditions"]]) == ("unknown", [True, False])
    assert "verdicts" not in cli("show", "last", "--json").document


def test_a_verdict_of_a_person_is_explained_by_their_name(cli: Cli, store: Store) -> None:
    question = asked(store, claim(store, submit(store)))
    store.inbox.answer(question.id, PersonAnswer(Answer.HAPPENED, "ann", "it is on the list"))
    assert "ann decided it" in cli("show", "last", "--explain").out


def test_a_run_without_a_verdict_says_so(cli: Cli, store: Store) -> None:
    submit(store)
    assert "No gesture of this run has a verdict yet." in cli("show", "last", "--explain").out
