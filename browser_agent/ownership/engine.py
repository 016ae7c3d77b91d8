"""An external engine (such as Temporal) that may assign runs. The keeper obeys it in addition to the store's lease.

A keeper without one has `NoEngine`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class EngineOrder(StrEnum):
    """What an engine can order."""

    CONTINUE = "continue"
    STOP = "stop"  # finish the gesture in hand, then release the run
    REVOKED = "revoked"  # the run belongs to another keeper, or to none: nothing more may be sent


class Engine(Protocol):
    """The engine that a keeper obeys.

    Attributes:
        name: names the engine and the piece of work that it assigned; "" = there is no engine. An engine never wants
            two keepers to work under one name, so the later one may take over at once.
        sequence: tells later assignments of that name from earlier ones: it only grows.
    """

    @property
    def name(self) -> str: ...

    @property
    def sequence(self) -> float: ...

    def latest_order(self) -> EngineOrder:
        """The last order that arrived. Doesn't wait."""

    async def fence(self) -> None:
        """Ask the engine whether the run is still ours, and wait for its answer.

        Raises:
            Superseded: it isn't, or no answer came in time.
        """


class NoEngine:
    """Stands for no engine: the store's lease alone decides."""

    name = ""
    sequence = 0.0

    def latest_order(self) -> EngineOrder:
        """Always: continue."""
        return EngineOrder.CONTINUE

    async def fence(self) -> None:
        """Let everything pass."""


NO_ENGINE = NoEngine()
