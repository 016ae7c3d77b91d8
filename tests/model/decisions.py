"""The agent's decisions, by its real code: what it is given beside is a world of a few small classes.

A mutant is a subclass that breaks one of them, or says which name of the real code is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, NamedTuple

from browser_agent.errors import Misuse, WaitingForPerson
from browser_agent.rules import Move, never_sent, next_move, nothing_left, rejection
from browser_agent.run.baseline import Baseline
from browser_agent.run.look import Case, Looker
from browser_agent.run.prior_effect import PriorEffect
from browser_agent.run.step_history import NextAct, StepHistory
from browser_agent.states import Answer, GestureState, QuestionKind
from browser_agent.store.answers import PersonAnswer, check_time
from browser_agent.store.records import QuestionRow
from browser_agent.wire import WireReport
from observers import Observation, Outcome
from tests.model.gate import report
from tests.model.pages import NOW, RELEASED, TICK, Page, Scenario, observations, proof_of, site_of
from tests.model.world import Fate, Request

_JUMP = timedelta(hours=1)


class Row(NamedTuple):
    """A gesture as the journal holds it. dead: ticks since its sender's death was recorded. ground: what settled it."""

    state: GestureState
    baseline: Page | None
    base: int
    ground: str = ""
    dispatched: bool = False
    dead: int | None = None


class Memory(NamedTuple):
    """What a looker remembers: the first of the looks that agree and the ticks since; texts that were early; a refusal
    that was shown; a clock that was set."""

    page: Page | None = None
    since: int | None = None
    early: bool | None = None
    refusal: bool = False
    jumped: bool = False


class Looked(NamedTuple):
    """What one look has come to."""

    outcome: Outcome
    clear: bool
    agrees: bool
    move: Move
    memory: Memory


class _Journal:
    def observe(self, lease: object, gesture: str, texts: Sequence[str]) -> tuple[None, list[str]]:
        return None, [f"o{number}" for number, _ in enumerate(texts)]

    def releases(self, gesture: str) -> list[Any]:
        return []

    def record(self, *row: object, **facts: object) -> None:
        pass

    def proven_kinds(self, site: str | None) -> frozenset[str]:
        return frozenset()


class _Clock:
    def __init__(self, *, jumped: bool) -> None:
        self._ahead = _JUMP if jumped else timedelta()
        self.began = True

    def now(self) -> datetime:
        return NOW if self.began else NOW + self._ahead

    def monotonic(self) -> float:
        return 0.0


class _Attempt:
    """As much of an attempt as a decision asks for."""

    senders_seen = True
    lease = SimpleNamespace(run="r")

    def __init__(self, scenario: Scenario, wire: WireReport, *, jumped: bool = False) -> None:
        self.clock = _Clock(jumped=jumped)
        self.store = SimpleNamespace(journal=_Journal(), inbox=SimpleNamespace(questions=lambda run: []))
        self.sites = {"shop": site_of(scenario)}
        self._wire = wire

    def wire(self, gesture: str) -> WireReport:
        return self._wire

    def sleep(self, seconds: float) -> None:
        pass

    def ask(self, asked: Any) -> None:
        raise WaitingForPerson(asked.words, "q")


class _Looker(Looker):
    """Asks no store whether another gesture has the same key: none has."""

    def _of_shared_keys(self, now: datetime) -> dict[str, Any]:
        return {"window": (RELEASED - TICK, now), "key_used_otherwise": False}


@dataclass(frozen=True)
class _Baseline(Baseline):
    seen: tuple[Observation, ...] = ()

    def _look(self) -> tuple[Observation, ...]:
        return self.seen


class Decisions:
    """The real decisions. Each answer is kept, since the search asks the same thing often.

    writes_intent: the intent is on disk before the input. ends_sender: the browser that made a gesture is ended before
    an absence counts. baseline_again: recovery takes a new baseline.
    """

    writes_intent = True
    ends_sender = True
    baseline_again = False
    blind_repeat = False
    guesses_failure = False

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._kept: dict[Any, Any] = {}

    def broken(self) -> AbstractContextManager[None]:
        """A context in which one name of the real code is replaced; here none is."""
        return nullcontext()

    def _once(self, key: Any, decide: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = decide()
        return self._kept[key]

    def wire(self, request: Request) -> WireReport:
        """What the gate says."""
        return report(request, fresh="sent again" not in self.scenario.powers)

    # after a look

    def look(self, request: Request, row: Row, page: Page, memory: Memory, *, earlier_late: bool) -> Looked:
        """What a look has come to, with all that is known beside."""
        known = request._replace(fate=Fate.OPEN, dead=None, copies=1)
        key = ("look", known, row.baseline, row.dead, page, memory, earlier_late)
        looked: Looked = self._once(key, lambda: self._look(known, row, page, memory, earlier_late))
        return looked

    def _look(self, request: Request, row: Row, page: Page, memory: Memory, earlier_late: bool) -> Looked:
        wire = self.wire(request)
        if wire.released and not wire.commit_answered:
            memory = memory._replace(early=bool(memory.early) or page.text in {"early", "shown"})
        attempt = _Attempt(self.scenario, wire, jumped=memory.jumped)
        case = self._case(row, earlier_late=earlier_late)
        case.early = None if memory.early is None else frozenset({"S-101 O-7"} if memory.early else ())
        case.refusal_shown = memory.refusal
        looker = _Looker(attempt, case)  # type: ignore[arg-type]
        if memory.page is not None and memory.since is not None:
            looker._earlier = (NOW - memory.since * TICK, observations(self.scenario, memory.page))
        attempt.clock.began = False
        looked = looker.weigh(observations(self.scenario, page), wire)
        if row.dead is not None:
            same = looker._earlier is not None and looker._earlier[0] < attempt.clock.now()
            memory = memory._replace(since=memory.since if same else 0, page=memory.page if same else page)
        memory = memory._replace(refusal=case.refusal_shown)
        verdict = looked.verdict
        move = self.next_move(verdict.outcome, clear=looked.clear)
        return Looked(verdict.outcome, looked.clear, self.agrees(looked.agrees_with_refusal), move, memory)

    def _case(self, row: Row, *, earlier_late: bool = False) -> Case:
        site, proof = site_of(self.scenario), proof_of(self.scenario)
        dead_at = None if row.dead is None else NOW - row.dead * TICK
        case = Case("g", "order", proof, self.baseline(row.baseline), site, "POST /orders", dead_at=dead_at)
        case.earlier_may_be_late = earlier_late
        return case

    def baseline(self, page: Page | None) -> tuple[Observation, ...]:
        """What the observers saw before the gesture."""
        return observations(self.scenario, page) if page is not None else ()

    def next_move(self, outcome: Outcome, *, clear: bool) -> Move:
        """What follows from a verdict."""
        return next_move(outcome, clear=clear)

    def agrees(self, agrees: bool) -> bool:
        """Whether a look agrees with a refusal of the site."""
        return agrees

    def safe(self, row: Row) -> bool:
        """Whether an absence may be proven now."""
        safe_from = self._case(row).safe_from
        return safe_from is not None and safe_from <= NOW

    # by the wire

    def rejected(self, request: Request) -> bool:
        """The site said no."""
        return rejection(self.wire(request)) is not None

    def never_sent(self, request: Request) -> bool:
        """The connection was never made."""
        return never_sent(self.wire(request)) is not None

    def nothing_left(self, request: Request) -> bool:
        """Nothing of the gesture left the browser."""
        return nothing_left(self.wire(request))

    # before a gesture

    def next_act(self, rows: tuple[Row, ...], *, by_hand: frozenset[int]) -> NextAct:
        """What the step does next."""
        return self.history(rows, by_hand).next_act(again=1, refusals_left=3)

    def history(self, rows: tuple[Row, ...], by_hand: frozenset[int] = frozenset()) -> StepHistory:
        """The step's gestures."""
        stored: list[Any] = [self._stored(number, row) for number, row in enumerate(rows)]
        return StepHistory(stored, frozenset(str(number) for number in by_hand))

    def _stored(self, number: int, row: Row) -> Any:
        proven_by = '["gate"]' if row.ground == "gate" else f'["{row.ground}"]'
        texts = ",".join(seen.model_dump_json() for seen in self.baseline(row.baseline))
        return SimpleNamespace(
            id=str(number),
            state=row.state,
            proven_by=proven_by,
            settled_at=None,
            dispatched_at=NOW if row.dispatched else None,
            baseline=f"[{texts}]",
            words="order",
            wire=None,
        )

    def earlier_late(self, rows: tuple[Row, ...]) -> bool:
        """Whether an earlier gesture of the step may still take effect."""
        return self.history(rows).may_be_late

    def readable(self, page: Page) -> bool:
        """Whether a baseline lets the gesture be made without asking."""
        return bool(self._once(("readable", page), lambda: self._readable(page)))

    def _readable(self, page: Page) -> bool:
        attempt: Any = _Attempt(self.scenario, report(Request()))
        step: Any = SimpleNamespace(id="s")
        seen = observations(self.scenario, page)
        proof = proof_of(self.scenario)
        try:
            _Baseline(attempt, step, StepHistory(), "order", proof, seen).readable()
        except WaitingForPerson:
            return False
        return True

    def prior(self, rows: tuple[Row, ...], by_hand: frozenset[int]) -> str:
        """What is there before the last row's gesture: "late" effect of an earlier one, "ask" a person, or ""."""
        return str(self._once(("prior", rows, by_hand), lambda: self._prior(rows, by_hand)))

    def _prior(self, rows: tuple[Row, ...], by_hand: frozenset[int]) -> str:
        attempt: Any = _Attempt(self.scenario, report(Request()))
        row: Any = SimpleNamespace(id="g", words="order", step_id="s")
        history = self.history(rows[:-1], by_hand)
        prior = PriorEffect(attempt, self._case(rows[-1], earlier_late=history.may_be_late), row, history)
        try:
            if prior.late() is not None:
                return "late"
            prior.ask_if_there()
        except WaitingForPerson:
            return "ask"
        return ""

    # a person

    def takes_not_happened(self, row: Row) -> bool:
        """Whether "not happened" is taken from a person now, without an override."""
        asked = QuestionRow(
            id="q", run_id="r", kind=QuestionKind.OUTCOME, words="", earliest_safe=self._case(row).safe_from
        )
        try:
            check_time(asked, PersonAnswer(Answer.NOT_HAPPENED, "ann", "looked"), NOW)
        except Misuse:
            return False
        return True
