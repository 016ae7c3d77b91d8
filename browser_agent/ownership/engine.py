"""An engine above the keeper: it says who may go on with a run, and the keeper heeds it besides the store.

A keeper that nobody stands above heeds `NoEngine`. Knows nothing of any particular engine, of browsers or stores. What
may never happen: a gesture is let go although its engine has given the run to another, or could not be asked.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class EngineOrder(StrEnum):
    """What an engine last said."""

    GO_ON = "go_on"
    STOP = "stop"  # finish the gesture in hand, and let go of the run
    OVER = "over"  # the run is another's, or nobody's: nothing more may leave


class Engine(Protocol):
    """Who stands above a keeper.

    Attributes:
        name: of the engine and of the work that it gives; empty = nobody stands above. It never wants two keepers at
            work on the same name, so that a later one of the same name may take over at once.
        order: later work of that name has a higher number.
    """

    @property
    def name(self) -> str: ...

    @property
    def order(self) -> float: ...

    def word(self) -> EngineOrder:
        """What it last said. Waits for nothing."""

    async def fence(self) -> None:
        """Ask it, and wait for its answer.

        Raises:
            Superseded: the run is another's, or nobody's; or no answer came in time.
        """


class NoEngine:
    """No engine stands above."""

    name = ""
    order = 0.0

    def word(self) -> EngineOrder:
        """Always: go on."""
        return EngineOrder.GO_ON

    async def fence(self) -> None:
        """Let everything pass."""


NO_ENGINE = NoEngine()
