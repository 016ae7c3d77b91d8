"""Broken rules: each replaces one decision or one name of the real code, and the model must notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from browser_agent import rules
from browser_agent.rules import Move, nothing_left
from browser_agent.run.look import Looker
from browser_agent.run.step_history import StepHistory
from browser_agent.states import GESTURE_ARROWS, GestureState
from browser_agent.wire import WireReport
from observers import Circumstances, Outcome, absence, presence
from observers.listing import ListReader
from tests.model import program
from tests.model import scenarios as small
from tests.model.decisions import Decisions, Row
from tests.model.invariants import CONTRADICTED, RENAMED, SECOND_GESTURE, STUCK
from tests.model.pages import Page, Scenario, observations
from tests.model.world import Request

_conditions_of_the_list = absence._conditions_of_the_list


class Mutant(NamedTuple):
    """A broken rule. caught_by: the invariant that it breaks."""

    words: str
    scenario: Scenario
    caught_by: str
    decisions: Callable[[Scenario], Decisions]


def replaced(place: Any, name: str, by: Any) -> Callable[[Scenario], Decisions]:
    """Decisions whose real code has one name replaced."""

    class Replaced(Decisions):
        @contextmanager
        def broken(self) -> Iterator[None]:
            real = getattr(place, name)
            setattr(place, name, by)
            observations.cache_clear()  # a rule of the observers may be the broken one
            try:
                yield
            finally:
                setattr(place, name, real)
                observations.cache_clear()

    return Replaced


class BlindRepeat(Decisions):
    blind_repeat = True


class NoDurableIntent(Decisions):
    writes_intent = False


class SenderLeftAlive(Decisions):
    ends_sender = False


class BaselineAgain(Decisions):
    baseline_again = True


class TimeOutIsFailure(Decisions):
    def next_move(self, outcome: Outcome, *, clear: bool) -> Move:
        return Move.MAY_BE_MADE_AGAIN if outcome is Outcome.unknown else super().next_move(outcome, clear=clear)


class RefusalWithoutLook(Decisions):
    def agrees(self, agrees: bool) -> bool:
        return True


class EarlyOverride(Decisions):
    def takes_not_happened(self, row: Row) -> bool:
        return True


class GetIsNoCommit(Decisions):
    def nothing_left(self, request: Request) -> bool:
        return nothing_left(self.wire(request).model_copy(update={"reads": 0}))


class KeeperNeedNotLive(Decisions):
    def nothing_left(self, request: Request) -> bool:
        return nothing_left(self.wire(request).model_copy(update={"armed": True}))


class BlindBaselinePassed(Decisions):
    def readable(self, page: Page) -> bool:
        return True


class PriorEffectIgnored(Decisions):
    def prior(self, rows: tuple[Row, ...], by_hand: frozenset[int]) -> str:
        return ""


def _without(field: str) -> Callable[..., Any]:
    """The conditions of a list, without one."""

    def conditions(seen: Any, before: Any) -> Any:
        same = before.model_copy(update={field: getattr(seen, field)}) if before is not None else None
        return _conditions_of_the_list(seen, same)

    return conditions


def _late_although_undeclared(seen: Any, told: Circumstances) -> str:
    return "" if told.late_commit is None else _may_be_late(seen, told)


_may_be_late = absence.may_be_late
_nothing = property(lambda self: False)
_always = property(lambda self: True)
_failed_row_counts_for_nothing = {
    words: found for words, found in absence._MAY_BE_IT.items() if "no effect" not in words
}
_no_question = {**GESTURE_ARROWS, GestureState.UNKNOWN: GESTURE_ARROWS[GestureState.UNKNOWN] - {GestureState.ASKED}}


def _presence(name: str, by: Any) -> Callable[[Scenario], Decisions]:
    return replaced(presence, name, by)


def _absence(name: str, by: Any) -> Callable[[Scenario], Decisions]:
    return replaced(absence, name, by)


def _silent(*told: Any, **more: Any) -> str:
    return ""


MUTANTS = [
    Mutant("a blind repeat", small.CRASH, SECOND_GESTURE, BlindRepeat),
    Mutant("no durable intent", small.CRASH, SECOND_GESTURE, NoDurableIntent),
    Mutant("a time-out is recorded as failed", small.CRASH, RENAMED, TimeOutIsFailure),
    Mutant("no quarantine", small.CRASH, CONTRADICTED, _absence("may_be_late", _silent)),
    Mutant(
        "a quarantine shorter than the staleness",
        small.LAG,
        CONTRADICTED,
        _absence("_lag", lambda seen: seen.staleness * 0),
    ),
    Mutant(
        "a refusal agrees with a list that lags",
        small.LAG_REFUSAL,
        CONTRADICTED,
        _absence("_lag", lambda seen: seen.staleness * 0),
    ),
    Mutant(
        "an absence is believed without late_commit",
        small.UNDECLARED_TIME,
        CONTRADICTED,
        _absence("may_be_late", _late_although_undeclared),
    ),
    Mutant("a look-alike without a baseline", small.SHARED, CONTRADICTED, _presence("_doubt_of_a_shared_key", _silent)),
    Mutant("a look-alike of anybody's", small.SHARED, CONTRADICTED, _presence("_whose_else", _silent)),
    Mutant("the baseline is taken again", small.CRASH, CONTRADICTED, BaselineAgain),
    Mutant("the sender is left alive", small.CRASH, CONTRADICTED, SenderLeftAlive),
    Mutant("a person may say not happened too early", small.UNDECLARED_TIME, CONTRADICTED, EarlyOverride),
    Mutant(
        "a text is believed before the answer", small.OPTIMISTIC, CONTRADICTED, _presence("_missing_of_a_text", _silent)
    ),
    Mutant(
        "an early text is believed", small.OPTIMISTIC, CONTRADICTED, _presence("_may_be_early", lambda *a, **m: False)
    ),
    Mutant("a refusal is believed without a look", small.REFUSAL, CONTRADICTED, RefusalWithoutLook),
    Mutant(
        "a text counts what may have been sent twice",
        small.SENT_AGAIN,
        CONTRADICTED,
        replaced(Circumstances, "once_at_most", _always),
    ),
    Mutant(
        "an empty list without a control",
        small.BARE,
        CONTRADICTED,
        replaced(ListReader, "_check_control", lambda *told: None),
    ),
    Mutant("fewer rows are ignored", small.SHORT, CONTRADICTED, _absence("_conditions_of_the_list", _without("rows"))),
    Mutant(
        "the account is ignored", small.FOREIGN, CONTRADICTED, _absence("_conditions_of_the_list", _without("account"))
    ),
    Mutant("a promise is ignored", small.YESTERDAY, CONTRADICTED, replaced(WireReport, "promises", lambda *told: ())),
    Mutant(
        "a new row without effect is ignored",
        small.FAILED_ROW,
        CONTRADICTED,
        _absence("_MAY_BE_IT", _failed_row_counts_for_nothing),
    ),
    Mutant("nothing left, although a GET passed", small.GET_LINK, CONTRADICTED, GetIsNoCommit),
    Mutant("nothing left, although the keeper died", small.CRASH, CONTRADICTED, KeeperNeedNotLive),
    Mutant(
        "a reset connection was never made",
        small.CRASH,
        CONTRADICTED,
        replaced(rules, "NEVER_SENT_ERRORS", ("net::ERR_",)),
    ),
    Mutant(
        "the earlier gesture is ignored",
        small.UNDECLARED_TIME,
        CONTRADICTED,
        _presence("_missing_of_the_second", _silent),
    ),
    Mutant(
        "an absence that a person took on themselves is for good",
        small.UNDECLARED_TIME,
        CONTRADICTED,
        replaced(StepHistory, "may_be_late", _nothing),
    ),
    Mutant(
        "an untried observer is believed",
        small.OWN,
        CONTRADICTED,
        replaced(Looker, "_untried", lambda self: frozenset()),
    ),
    Mutant(
        "a clock that was set is believed",
        small.CLOCK,
        CONTRADICTED,
        replaced(Looker, "_clock_jumped", lambda self, now: False),
    ),
    Mutant(
        "one look is enough for an absence", small.FLAKY, CONTRADICTED, replaced(Looker, "_agree", lambda *told: True)
    ),
    Mutant("a baseline that can't be read is passed over", small.BLIND, SECOND_GESTURE, BlindBaselinePassed),
    Mutant("what is there already is not asked about", small.BY_HAND, SECOND_GESTURE, PriorEffectIgnored),
    Mutant(
        "an unknown outcome asks nobody",
        small.UNDECLARED_TIME,
        STUCK,
        replaced(program, "GESTURE_ARROWS", _no_question),
    ),
]
