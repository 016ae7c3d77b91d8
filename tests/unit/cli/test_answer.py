"""`answer`, `approve` and `refuse`: a person's word is taken after one more look, and carried out."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest

from browser_agent.states import Answer, GestureState, QuestionKind, QuestionState, RunState
from browser_agent.store import Store
from tests.fix_cli import HAPPENED, Cli, Keeper, waiting
from tests.store.building import asked, called, claim, intent, submit, take, way


def answered(store: Store, question: str) -> tuple[QuestionState, Answer | None, str | None]:
    row = store.inbox.question(question)
    return row.state, row.answer, row.by


def test_an_answer_is_taken_after_one_more_look_and_the_run_goes_on(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)
    said = cli("answer", question, *HAPPENED)
    assert (said.code, keeper.looks, len(keeper.options)) == (0, 1, 1)
    assert answered(store, question) == (QuestionState.ANSWERED, Answer.HAPPENED, "ann")
    assert json.loads(store.inbox.question(question).values or "") == {"number": "INV-9"}
    assert "Answer recorded: happened, by ann." in said.out
    assert "Finished" in said.out


def test_without_resume_the_run_waits_for_its_resume(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)
    said = cli("answer", question, *HAPPENED, "--no-resume", "--json")
    assert (said.code, said.document["taken"], said.document["ended"], keeper.options) == (0, True, None, [])


def test_a_look_that_settles_it_takes_no_answer(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)

    def settle(store: Store, run: str) -> None:
        store.inbox.close(claim(store, run), question, "the order list has it now")

    keeper.on_look = settle
    said = cli("answer", question, "not-happened", "--by", "ann", "--reason", "not there", "--override")
    assert answered(store, question) == (QuestionState.CLOSED, None, None)
    assert "One more look settled it: the order list has it now. Your answer was not recorded." in said.out
    assert len(keeper.options) == 1


def test_a_run_in_other_hands_is_answered_without_a_look_of_our_own(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)
    keeper.busy = True
    assert cli("answer", question, *HAPPENED).code == 0
    assert answered(store, question) == (QuestionState.ANSWERED, Answer.HAPPENED, "ann")
    assert (keeper.looks, keeper.options) == (0, [])


def test_what_the_run_must_know_is_asked_for_before_anything_is_looked_at(
    cli: Cli, keeper: Keeper, store: Store
) -> None:
    question = waiting(store, details={"needs": ["number", "total"]})
    said = cli("answer", question, *HAPPENED)
    assert (said.code, keeper.looks, answered(store, question)[0]) == (2, 0, QuestionState.OPEN)
    assert "the run needs its total: add --value total=... Nothing was changed." in " ".join(said.err.split())
    put = cli("inbox").out
    assert "If it happened, the run needs its: number, total" in put
    assert "happened --by NAME --reason TEXT --value number=... --value total=..." in put
    assert cli("answer", question, *HAPPENED, "--value", "total=120.00").code == 0


def test_answering_an_ended_question_says_who_ended_it_and_what_is_open_now(
    cli: Cli, keeper: Keeper, store: Store
) -> None:
    question = waiting(store)
    cli("answer", question, *HAPPENED)
    words = ("answer", question, "abandon", "--by", "bob", "--reason", "late", "--json")
    said = cli(*words)
    assert (said.code, keeper.looks) == (2, 1)
    assert "by ann: happened (it is on the list). No question of run" in said.document["error"]
    lease = claim(store, submit(store))
    first = asked(store, lease)
    store.inbox.close(lease, first.id, "a later look has proven it")
    second = asked(store, lease, QuestionKind.ATTEMPTS)
    error = cli("answer", first.id, *words[2:]).document["error"]
    assert "without an answer: a later look has proven it. Open in run" in error and f"now: {second.id}." in error


def test_no_answer_is_taken_that_could_not_be_carried_out_before_a_person_s_eyes(
    cli: Cli, keeper: Keeper, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    question = waiting(store)
    assert cli("answer", question, *HAPPENED, "--headed").code == 2
    assert answered(store, question)[0] is QuestionState.OPEN
    assert cli("demo", "--headed").code == 2


def test_an_abandoned_run_does_not_go_on(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)
    assert cli("answer", question, "abandon", "--by", "ann", "--reason", "not wanted").code == 0
    assert not keeper.options
    assert store.leases.runs()[0].state is RunState.ABANDONED
    for how in ([], ["--queue"]):
        said = cli("resume", "last", *how)
        assert said.code == 2 and said.err.startswith(
            f"Run {store.leases.runs()[0].id} was abandoned by ann: not wanted."
        )
        assert "That is final. To do its work again, use `browser-agent run` or `submit`. Nothing" in said.err
    assert not keeper.options and store.leases.runs()[0].state is RunState.ABANDONED


def test_a_value_that_nothing_will_read_is_refused(cli: Cli, keeper: Keeper, store: Store) -> None:
    lease = claim(store)
    made = intent()
    facts = {**json.loads(made.intent), "needs": ["number"], "takes": ["number", "total"]}
    gesture = store.journal.intend(
        lease, store.journal.begin_step(lease, called()), 1, replace(made, intent=json.dumps(facts))
    )
    for state in way(GestureState.INTENT, GestureState.UNKNOWN):
        take(store, lease, gesture.id, state)
    question = asked(store, lease, gesture=gesture.id, step=gesture.step_id)
    store.leases.end(lease, RunState.WAITING, ended_by="a question waits")
    said = cli("answer", question.id, *HAPPENED, "--value", "totl=1", "--value", "nix=1")
    assert (said.code, keeper.looks) == (2, 0)
    assert said.err == (
        "totl: there is no such value; did you mean total?; nix: there is no such value; there is number, total. "
        "Nothing was changed.\n"
    )
    assert answered(store, question.id)[0] is QuestionState.OPEN
    assert cli("answer", question.id, *HAPPENED, "--value", "total=1").code == 0


@pytest.mark.parametrize("of", [(), ("temporal",)])
def test_a_word_that_is_no_answer_is_told_with_the_one_that_was_meant(
    cli: Cli, keeper: Keeper, store: Store, of: tuple[str, ...]
) -> None:
    question = waiting(store)
    said = cli(*of, "answer", question, "hapened", "--by", "ann", "--reason", "seen")
    assert (said.code, said.err) == (2, "'hapened' is not an answer; did you mean happened? Nothing was changed.\n")
    told = cli(*of, "answer", "--help").out
    assert "{ID} {WORD}" in told or "ID WORD" in told
    assert "said" not in told and "not-happened, abandon, map, make" in " ".join(told.replace("│", " ").split())


def test_too_early_an_answer_is_refused_and_changes_nothing(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)
    words = ("answer", question, "not-happened", "--by", "ann", "--reason", "not there")
    said = cli(*words)
    assert said.code == 2
    assert "Too early" in said.err
    assert answered(store, question)[0] is QuestionState.OPEN
    assert cli(*words, "--override").code == 0


@pytest.mark.parametrize(("command", "answer"), [("approve", Answer.APPROVE), ("refuse", Answer.REFUSE)])
def test_an_approval_is_given_or_refused_by_name(
    cli: Cli, keeper: Keeper, store: Store, command: str, answer: Answer
) -> None:
    calls = [{"step": "email", "arguments": "{}", "words": f"email({number})"} for number in range(2)]
    question = waiting(store, QuestionKind.APPROVAL, details={"calls": calls})
    said = cli(command, question, "--by", "ann", "--reason", "checked")
    assert (said.code, "2 calls were refused and NOT made." in said.out) == (0, answer is Answer.REFUSE)
    assert answered(store, question) == (QuestionState.ANSWERED, answer, "ann")
    assert (keeper.looks, len(keeper.options)) == (0, 1)


def test_an_answer_without_name_or_to_no_question_is_misuse(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)
    assert cli("answer", question, "happened", "--reason", "seen").code == 2
    assert cli("answer", question, "happened", "--by", " ", "--reason", "seen").code == 2
    assert "No question 'q-x'" in cli("answer", "q-x", "happened", "--by", "ann", "--reason", "seen").err
    assert answered(store, question)[0] is QuestionState.OPEN


def test_a_later_resume_says_again_how_many_calls_were_refused(cli: Cli, keeper: Keeper, store: Store) -> None:
    calls = [{"step": "email", "arguments": "{}", "words": f"email({number})"} for number in range(2)]
    question = waiting(store, QuestionKind.APPROVAL, details={"calls": calls})
    words = ("refuse", question, "--by", "ann", "--reason", "not wanted", "--no-resume")
    assert cli(*words).out.count("2 calls were refused and NOT made.") == 1
    for _ in range(2):  # the second one finds it ended
        assert cli("resume", "last").out.count("2 calls were refused and NOT made.") == 1
    assert cli("resume", "last", "--json").document["refused_calls"] == 2


def test_some_of_the_calls_are_approved_for_a_time_and_the_others_are_refused(
    cli: Cli, keeper: Keeper, store: Store
) -> None:
    calls = [{"step": "email@1", "arguments": f"{{{number}}}", "words": f"email({number})"} for number in range(3)]
    question = waiting(store, QuestionKind.APPROVAL, details={"calls": calls})
    signed = ("--by", "ann", "--reason", "checked")
    assert "has the calls 1 to 3, and no 4" in cli("approve", question, "--only", "4", *signed).err
    assert cli("approve", question, "--hours", "0", *signed).code == 2
    assert answered(store, question)[0] is QuestionState.OPEN
    said = cli("approve", question, "--only", "1", "--only", "3", "--hours", "2", "--until-done", *signed)
    assert "1 call was refused and NOT made." in said.out
    rows = store.approvals.of_question(question)
    assert [(row.approved, row.until_done, row.expires is not None) for row in rows] == [
        (True, True, True),
        (False, True, True),
        (True, True, True),
    ]


def test_a_run_that_has_made_nothing_to_take_back_says_so_and_starts_nothing(
    cli: Cli, keeper: Keeper, store: Store
) -> None:
    waiting(store)
    said = cli("reverse", "last")
    assert (said.code, keeper.options) == (2, [])
    assert "No step fits. What can be reversed in run" in said.err and "nothing. Nothing was done." in said.err
