"""The agent and everything that can happen to it: each state of the model, and the states that may follow it.

The order of things is that of the gesture pipeline and of recovery; what is concluded is said by the real code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from browser_agent.errors import NotAllowed
from browser_agent.run.step_history import NextAct
from browser_agent.states import GESTURE_ARROWS, OPEN_GESTURE_STATES, GestureState, check_arrow
from observers import Outcome
from tests.model.decisions import Decisions, Looked, Memory, Row
from tests.model.invariants import STATES, STUCK, Broken, check_name, check_second, check_verdict
from tests.model.pages import Page, pages
from tests.model.world import LATE, Fate, Request, World, ended, moves, older, tick

G = GestureState
_LOOKS = frozenset({"start", "watch", "rejected", "at once", "wire", "waiting", "asked"})
"""Where the agent is when the world may move: elsewhere nothing is looked at, so that it may as well move later."""
_RESTS = frozenset({"start", "waiting", "asked"})
_FALLS = (_LOOKS | {"dispatch", "input"}) - {"start", "asked"}
GESTURES = 2
"""How many gestures a step makes at most; a person may ask for more, which shows nothing new."""


class State(NamedTuple):
    """One state. at: where the agent is; the journal's rows survive a crash, its memory does not.

    by_hand: gestures that a person's answer settled. excused: those that a person took on themselves. answered: a
    person has looked instead of a baseline that can't be read.
    """

    world: World
    rows: tuple[Row, ...] = ()
    at: str = "start"
    memory: Memory = Memory()
    by_hand: frozenset[int] = frozenset()
    excused: frozenset[int] = frozenset()
    answered: bool = False

    @property
    def request(self) -> Request:
        """What the last gesture sent."""
        return self.world.requests[-1]

    @property
    def is_over(self) -> bool:
        """The step has ended, or a person is asked."""
        return self.at in {"done", "asked", "there", "asked before"}


Step = tuple[str, State]


class Program:
    """What follows from a state.

    Args:
        decisions: the agent's decisions, in their scenario.
    """

    def __init__(self, decisions: Decisions) -> None:
        self.decisions, self.scenario = decisions, decisions.scenario
        self._acts: dict[str, Callable[[State], Iterator[Step]]] = {
            "start": self._start,
            "baseline": self._baseline,
            "prior": self._prior,
            "dispatch": self._dispatch,
            "input": self._input,
            "watch": self._watch,
            "rejected": self._rejected,
            "recover": self._recover,
            "wire": self._wire,
            "at once": self._at_once,
            "waiting": self._waiting,
            "ask": self._ask,
            "asked": self._asked,
            "there": self._there,
            "asked before": self._asked_before,
            "done": lambda state: iter(()),
        }

    def first(self) -> State:
        """The state in which a step begins."""
        return State(World(crashes=self.scenario.crashes, hands=1))

    def following(self, state: State) -> Iterator[Step]:
        """Every state that may follow, with what happens."""
        if state.at == "done":
            return
        yield from self._acts[state.at](state)
        if state.at in _LOOKS:
            yield from self._world(state)
        if state.at in _RESTS:
            yield "time passes", self._tick(state)
        if state.world.crashes and state.at in _FALLS:
            yield from self._crashes(state)

    # what happens to it

    def _world(self, state: State) -> Iterator[Step]:
        for words, world in moves(state.world, self.scenario.powers, late=self.scenario.late):
            yield words, state._replace(world=world)
        if state.world.requests and state.request.at == "unsent" and state.request.fate is Fate.OPEN:
            at = "held" if state.request.armed else "underway"
            yield "the page sends it late", self._requests(state, at=at)

    def _tick(self, state: State) -> State:
        rows = tuple(row._replace(dead=older(row.dead, LATE + self.scenario.stale)) for row in state.rows)
        since = older(state.memory.since, 1)
        return state._replace(
            world=tick(state.world, self.scenario.stale), rows=rows, memory=state.memory._replace(since=since)
        )

    def _crashes(self, state: State) -> Iterator[Step]:
        world = state.world._replace(crashes=state.world.crashes - 1)
        if "clock" in self.scenario.powers and state.at == "waiting":
            yield "the clock is set", state._replace(world=world, memory=state.memory._replace(jumped=True))
            return
        down = state._replace(world=world, at="start", memory=Memory(), rows=self._on_disk(state), answered=False)
        yield "the worker dies", down
        if "clock, unseen" in self.scenario.powers and state.rows[-1].dead is not None:
            ahead = state.rows[-1]._replace(dead=LATE + self.scenario.stale)
            yield "the worker dies, and the clock is set", down._replace(rows=(*state.rows[:-1], ahead))
        if not state.rows or state.request.dead is not None:
            return
        yield "the browser dies", self._end(down)
        at = "underway" if state.request.at == "held" else state.request.at
        yield "the keeper dies", self._requests(down, armed=False, at=at)

    def _on_disk(self, state: State) -> tuple[Row, ...]:
        """The rows that a crash leaves."""
        if self.decisions.writes_intent or not state.rows or state.rows[-1].state is not G.DISPATCHING:
            return state.rows
        return (*state.rows[:-1], state.rows[-1]._replace(state=G.REFUSED))

    def _end(self, state: State) -> State:
        requests = (*state.world.requests[:-1], ended(state.request))
        return state._replace(world=state.world._replace(requests=requests))

    def _requests(self, state: State, **facts: object) -> State:
        return state._replace(world=state.world.changed(len(state.world.requests) - 1, **facts))

    # one attempt

    def _start(self, state: State) -> Iterator[Step]:
        last = state.rows[-1] if state.rows else None
        if last is not None and last.state in OPEN_GESTURE_STATES:
            yield self._carry_on(state, last)
            return
        act = self.decisions.next_act(state.rows, by_hand=state.by_hand)
        makes = act is NextAct.MAKE and len(state.rows) < GESTURES
        yield f"next act: {act.name}", state._replace(at="baseline" if makes else "done")

    def _carry_on(self, state: State, last: Row) -> Step:
        if last.state is G.INTENT:
            return "refused by write order", self._settle(state, G.REFUSED, "write order")
        if last.ground == "there":
            return "it is still asked", state._replace(at="there")
        if last.state is G.ASKED:
            return "it is still asked", state._replace(at="asked")
        if last.state is G.UNKNOWN:
            return "still unknown", state._replace(at="at once")
        return "in doubt", self._doubt(state)

    def _doubt(self, state: State) -> State:
        if state.rows[-1].state is G.DISPATCHING:
            state = self._move(state, G.IN_DOUBT)
        if self.decisions.blind_repeat:
            return state._replace(rows=(*state.rows[:-1], state.rows[-1]._replace(state=G.REFUSED)), at="start")
        return state._replace(at="recover", memory=state.memory._replace(page=None, since=None))

    def _baseline(self, state: State) -> Iterator[Step]:
        base = len(state.world.records)
        for page in pages(self.scenario, state.world, None):
            if not state.answered and not self.decisions.readable(page):
                yield "the baseline can't be read", state._replace(at="asked before")
                continue
            row = Row(G.INTENT, page, base, ground="answered" if state.answered else "")
            requests = (*state.world.requests, Request(via=self.scenario.via, fate=Fate.NEVER))
            intended = state._replace(rows=(*state.rows, row), world=state.world._replace(requests=requests))
            yield f"intent; before: {page}", intended._replace(at="prior", answered=False)

    def _prior(self, state: State) -> Iterator[Step]:
        match self.decisions.prior(state.rows, state.by_hand):
            case "late":
                yield "an earlier one came late", self._settle(state, G.HAPPENED, Outcome.happened)
            case "ask":
                asked = self._move(state, G.ASKED, ground="there")
                yield "it is there already", asked._replace(at="there")
            case _:
                yield "nothing is there", state._replace(at="dispatch")

    def _dispatch(self, state: State) -> Iterator[Step]:
        check_second(self.scenario, state.world, state.rows, state.excused)
        yield "dispatched", self._move(state, G.DISPATCHING)._replace(at="input")

    def _input(self, state: State) -> Iterator[Step]:
        at = "underway" if state.request.via == "get" else "held"
        yield "the input is made", self._requests(state, at=at, fate=Fate.OPEN)._replace(at="watch")
        if "unsent" in self.scenario.powers:
            yield "the input sends nothing", self._requests(state, fate=Fate.OPEN)._replace(at="watch")

    # settled by what is seen

    def _watch(self, state: State) -> Iterator[Step]:
        if state.request.dead is None and self.decisions.rejected(state.request):
            yield "the site said no", state._replace(at="rejected")
            return
        yield "no proof in time", self._doubt(state)
        if state.request.dead is not None or self.decisions.never_sent(state.request):
            return
        for words, looked in self._looks(state, fresh=bool(state.request.answer)):
            if looked.clear and looked.outcome is Outcome.happened:
                yield words, self._settle(state, G.HAPPENED, looked.outcome)
            elif looked.memory != state.memory:
                yield words, state._replace(memory=looked.memory)

    def _rejected(self, state: State) -> Iterator[Step]:
        dead = self._end(state)
        for words, looked in self._looks(dead):
            if self.decisions.rejected(dead.request) and looked.agrees:
                yield words, self._settle(dead, G.REJECTED, "wire")
            else:
                yield words, self._doubt(dead)

    def _looks(self, state: State, *, fresh: bool = True) -> Iterator[tuple[str, Looked]]:
        """Every look that may be had now."""
        row, gesture = state.rows[-1], len(state.rows) - 1
        late = self.decisions.earlier_late(state.rows[:-1])
        shown = list(pages(self.scenario, state.world, gesture, fresh=fresh))
        if "flaky" in self.scenario.powers and state.memory.page is None and row.dead is not None:
            shown.append(Page())  # once, and not again
        for page in shown:
            looked = self.decisions.look(state.request, row, page, state.memory, earlier_late=late)
            yield f"a look shows {page}: {looked.outcome}", looked

    # recovery

    def _recover(self, state: State) -> Iterator[Step]:
        if self.decisions.baseline_again:
            page = Page(ids=tuple(range(len(state.world.records))))
            state = state._replace(rows=(*state.rows[:-1], state.rows[-1]._replace(baseline=page)))
        if self._says_by_wire(state):
            yield "the wire says that it did not happen", self._end_sender(state)._replace(at="wire")
        else:
            at = "waiting" if state.rows[-1].dead is not None else "at once"
            yield "the wire proves nothing", state._replace(at=at)

    def _says_by_wire(self, state: State) -> bool:
        said = self.decisions
        return said.rejected(state.request) or said.nothing_left(state.request) or said.never_sent(state.request)

    def _end_sender(self, state: State) -> State:
        if state.rows[-1].dead is not None:
            return state
        dead = self._end(state) if self.decisions.ends_sender else state
        return dead._replace(rows=(*dead.rows[:-1], dead.rows[-1]._replace(dead=0)))

    def _wire(self, state: State) -> Iterator[Step]:
        if self.decisions.nothing_left(state.request):
            yield "nothing has left the browser", self._settle(state, G.NOT_HAPPENED, "gate")
        elif not self._says_by_wire(state):
            yield "something has left it meanwhile", state._replace(at="waiting")
        else:
            no = G.REJECTED if self.decisions.rejected(state.request) else G.NOT_HAPPENED
            for words, looked in self._looks(state):
                if looked.agrees:
                    yield words, self._settle(state, no, "wire")
                else:
                    yield words, self._concluded(state, looked, "waiting")

    def _at_once(self, state: State) -> Iterator[Step]:
        for words, looked in self._looks(state):
            yield words, self._concluded(state, looked, "waiting")

    def _waiting(self, state: State) -> Iterator[Step]:
        if state.rows[-1].dead is None:
            yield "the sender is ended", self._end_sender(state)
            return
        for words, looked in self._looks(state):
            yield words, self._concluded(state, looked, "waiting")
            if looked.memory.since and (not self.scenario.late or self.decisions.safe(state.rows[-1])):
                yield f"{words}, and a person is asked", self._concluded(state, looked, "ask")

    def _concluded(self, state: State, looked: Looked, otherwise: str) -> State:
        settles = STATES.get(looked.move)
        if settles is None:
            return state._replace(at=otherwise, memory=looked.memory)
        if settles is G.NOT_HAPPENED and self.decisions.rejected(state.request):
            return self._settle(state, G.REJECTED, "wire")
        return self._settle(state, settles, looked.outcome)

    # a person

    def _ask(self, state: State) -> Iterator[Step]:
        known = state if state.rows[-1].state is G.UNKNOWN else self._move(state, G.UNKNOWN)
        yield "a person is asked", self._move(known, G.ASKED)._replace(at="asked")

    def _asked(self, state: State) -> Iterator[Step]:
        for words, looked in self._looks(state):
            yield words, self._concluded(state, looked, "asked")
        if any(record.maker >= 0 for record in state.world.records):
            yield "a person: happened", self._answer(state, G.HAPPENED)
        elif self.decisions.takes_not_happened(state.rows[-1]):
            yield "a person: not happened", self._answer(state, G.NOT_HAPPENED)
        elif "override" in self.scenario.powers:
            yield "a person overrides: not happened", self._answer(self._excuse(state), G.NOT_HAPPENED)
        yield "a person abandons it", state._replace(at="done")

    def _there(self, state: State) -> Iterator[Step]:
        yield "a person: use it", self._excuse(state)._replace(at="done")
        yield "a person: make another", self._answer(self._excuse(state), G.NOT_HAPPENED)

    def _asked_before(self, state: State) -> Iterator[Step]:
        if not state.world.records:
            yield "a person: it isn't there", state._replace(at="baseline", answered=True)
        yield "a person abandons it", state._replace(at="done")

    def _excuse(self, state: State) -> State:
        return state._replace(excused=frozenset(range(len(state.rows))))

    def _answer(self, state: State, to: G) -> State:
        by_hand = state.by_hand | {len(state.rows) - 1}
        return self._settle(state._replace(by_hand=by_hand), to, "person")

    # the journal

    def _settle(self, state: State, to: G, ground: str | Outcome) -> State:
        check_name(to, ground)
        if ground != "person" or to is not G.HAPPENED:  # a person says so only of what is there
            check_verdict(self.scenario, state.world, state.rows, to, state.excused)
        settled = self._move(state, to, ground=str(ground))
        rows = (*settled.rows[:-1], settled.rows[-1]._replace(dead=None))
        return settled._replace(rows=rows, at="start", memory=Memory())

    def _move(self, state: State, to: G, *, ground: str = "") -> State:
        row = state.rows[-1]
        try:
            check_arrow(GESTURE_ARROWS, row.state, to)
        except NotAllowed as error:
            raise Broken(STUCK) from error
        return state._replace(
            rows=(
                *state.rows[:-1],
                row._replace(state=to, ground=ground, dispatched=row.dispatched or to is G.DISPATCHING),
            )
        )
