"""`answer`, `approve` and `refuse`: record a person's answer after one more look, and resume the run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import typer

from browser_agent.cli import question_text
from browser_agent.cli.desk import Desk, named_values, open_desk, resolved
from browser_agent.cli.exit_codes import Exit, exit_of
from browser_agent.cli.parameters import (
    AsJson,
    By,
    Given,
    Headed,
    Hours,
    NoResume,
    Only,
    Override,
    QuestionId,
    Reason,
    Set,
    StorePath,
    UntilDone,
)
from browser_agent.cli.run import (
    close,
    display,
    document,
    keep_with_progress,
    look_with_progress,
    refused_calls,
    say_refused,
)
from browser_agent.errors import InOtherHands, Misuse, nearest
from browser_agent.options import Ended, Options
from browser_agent.ownership.liveness import worker_alive
from browser_agent.states import Answer, QuestionKind, QuestionState
from browser_agent.store import Consent, PersonAnswer
from browser_agent.store.records import QuestionRow

_SETTLED_BY_LOOKING = frozenset({QuestionKind.OUTCOME, QuestionKind.VALUES})


ANSWERS = ("happened", "not-happened", "abandon", "map", "make")
"""The answers that the command line accepts."""
Word = Annotated[
    str,
    typer.Argument(
        metavar="WORD", help=f"One of: {', '.join(ANSWERS)}. The question itself lists which of these it takes."
    ),
]


def answer_of(word: str, words: Sequence[str] = ANSWERS) -> Answer:
    """Parse an answer from the command line.

    Raises:
        Misuse: it is not one of `words`.
    """
    if word not in words:
        raise Misuse(f"{word!r} is not an answer{nearest(word, words)}. Nothing was changed.".replace("?.", "?"))
    return Answer(word.replace("-", "_"))


def answer(
    question: QuestionId,
    word: Word,
    *,
    by: By,
    reason: Reason,
    value: Given = None,
    override: Override = False,
    no_resume: NoResume = False,
    headed: Headed = None,
    given: Set = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Answer a question: it LOOKS once more, records your answer, and resumes the run.

    If the look settles the question, your answer isn't needed and isn't recorded. After `not-happened` the run makes
    the gesture as a new one. A run that was submitted for workers is left to them.

    Example:  browser-agent answer q-7k2m9 happened --by ann --reason "it is on the order list" --value number=INV-7
    """
    wanted = PersonAnswer(answer_of(word), by, reason, named_values(value or [], "a value"), override)
    return _answer(_desk(store, as_json, given, headed), question, wanted, resume=not no_resume)


def approve(
    question: QuestionId,
    *,
    by: By,
    reason: Reason,
    only: Only = None,
    until_done: UntilDone = False,
    hours: Hours = None,
    no_resume: NoResume = False,
    headed: Headed = None,
    given: Set = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Approve the calls of a question; the run resumes and MAKES them.

    An approval covers one gesture for each call. If a gesture must be made again, the run asks again, unless you give
    --until-done.

    Example:  browser-agent approve q-7k2m9 --only 1 --only 3 --by ann --reason "checked against the contract"
    """
    consent = Consent(tuple(only or ()), until_done, timedelta(hours=hours) if hours is not None else None)
    wanted = PersonAnswer(Answer.APPROVE, by, reason, consent=consent)
    return _answer(_desk(store, as_json, given, headed), question, wanted, resume=not no_resume)


def refuse(
    question: QuestionId,
    *,
    by: By,
    reason: Reason,
    no_resume: NoResume = False,
    headed: Headed = None,
    given: Set = None,
    store: StorePath = None,
    as_json: AsJson = False,
) -> Exit:
    """Refuse the calls of a question: they are NOT made, and the run resumes without them.

    Example:  browser-agent refuse q-7k2m9 --by ann --reason "the customer has left"
    """
    wanted = PersonAnswer(Answer.REFUSE, by, reason)
    return _answer(_desk(store, as_json, given, headed), question, wanted, resume=not no_resume)


def _desk(store: str | None, as_json: bool, given: list[str] | None, headed: bool | None) -> Desk:
    return open_desk(store, as_json, using=resolved(given, headed=headed).settings)


def _answer(desk: Desk, name: str, said: PersonAnswer, *, resume: bool) -> Exit:
    options = display(desk.settings)  # first: no answer is recorded that could not be carried out
    desk.store.inbox.check(name, said)
    question = desk.store.inbox.question(name)
    seen = _look(desk, question)
    taken = seen is None or desk.store.inbox.question(name).state is QuestionState.OPEN
    if taken:
        question = desk.store.inbox.answer(name, said)
        desk.screen.say(f"Answer recorded: {said.answer.replace('_', ' ')}, by {said.by}.", "green")
    else:
        question = desk.store.inbox.question(name)
        words = (
            f"One more look settled it: {question.reason or 'the question is closed'}. Your answer was not recorded."
        )
        desk.screen.say(words, "green")
    given_up = said.answer is Answer.ABANDON
    for_workers = desk.store.leases.run(question.run_id).queued
    ended = _resume(desk, question, options) if resume and not given_up and not for_workers else None
    desk.screen.document(
        {
            "question": question_text.document(question, desk.more),
            "taken": taken,
            "ended": document(desk, ended) if ended else None,
        }
    )
    if ended is None:  # else `close` reports all refused calls of the run
        say_refused(desk, refused_calls(desk, [question]))
    return _close(desk, question, ended, given_up=given_up)


def _look(desk: Desk, question: QuestionRow) -> Ended | None:
    if question.state is not QuestionState.OPEN or question.kind not in _SETTLED_BY_LOOKING:
        return None
    desk.screen.say("Looking once more before your answer is recorded ...", "dim")
    return look_with_progress(desk, question.run_id)


def _resume(desk: Desk, question: QuestionRow, options: Options) -> Ended | None:
    """Resume the run; None if another process has it."""
    try:
        return keep_with_progress(desk, question.run_id, options)
    except InOtherHands:
        return None


def _close(desk: Desk, question: QuestionRow, ended: Ended | None, *, given_up: bool) -> Exit:
    if ended is not None:
        close(desk, ended)
        return exit_of(ended.state)
    if not given_up:
        run = desk.store.leases.run(question.run_id)
        how = question_text.how_it_resumes(run, desk.more, worker_alive=worker_alive(desk.store))
        desk.screen.say(f"{how[0].upper()}{how[1:]}", "cyan")
    return Exit.FINISHED
