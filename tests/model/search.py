"""A breadth-first search through every state that a scenario can come to."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from browser_agent.states import GestureState
from tests.model.decisions import Decisions
from tests.model.invariants import STUCK, Broken
from tests.model.pages import observations
from tests.model.program import Program, State

AT_MOST = 60_000
"""No scenario has more states; one that has is too large for a quick test."""


@dataclass(frozen=True)
class Result:
    """What a search has come to: how many states, and the first invariant that broke, with the shortest way to it.

    outcomes: of the first and the second gesture, wherever they were settled.
    """

    states: int
    broken: str = ""
    trace: tuple[str, ...] = ()
    outcomes: frozenset[tuple[GestureState, ...]] = frozenset()


def search(decisions: Decisions) -> Result:
    """Explore a scenario to its end, or to the first broken invariant."""
    program = Program(decisions)
    first = program.first()
    came: dict[State, tuple[State, str] | None] = {first: None}
    before: dict[State, list[State]] = {}
    waiting = deque([first])
    with decisions.broken():
        observations.cache_clear()  # a broken reader of lists says something else
        while waiting:
            state = waiting.popleft()
            try:
                for words, following in program.following(state):
                    before.setdefault(following, []).append(state)
                    if following not in came:
                        came[following] = state, words
                        waiting.append(following)
            except Broken as broken:
                return Result(len(came), str(broken), (*_way(came, state), f"then, in {state}"))
            if len(came) > AT_MOST:
                raise AssertionError(f"{decisions.scenario.name} has more than {AT_MOST} states")
    stuck = _stuck(came, before)
    if stuck is not None:
        return Result(len(came), STUCK, _way(came, stuck))
    return Result(len(came), outcomes=frozenset(tuple(row.state for row in state.rows) for state in came))


def _stuck(states: Iterable[State], before: dict[State, list[State]]) -> State | None:
    """A state from which neither an end nor a question can be reached; None if there is none."""
    led = deque(state for state in states if state.is_over)
    met = set(led)
    while led:
        for earlier in before.get(led.popleft(), ()):
            if earlier not in met:
                met.add(earlier)
                led.append(earlier)
    return next((state for state in states if state not in met), None)


def _way(came: dict[State, tuple[State, str] | None], state: State) -> tuple[str, ...]:
    words: list[str] = []
    while (step := came[state]) is not None:
        state = step[0]
        words.append(step[1])
    return tuple(reversed(words))
