"""A condition of a conclusion, and whether it holds: what a reviewer reads to see why a verdict is what it is. Pure."""

from collections.abc import Iterable
from typing import Literal

from .evidence import Frozen


class Condition(Frozen):
    """One condition of a conclusion.

    of: what is concluded if all of them hold. observer: whose look it is about; "" = no single one's. needs: what must
    hold, in words. holds: whether it does. seen: what showed that, and where; if it doesn't hold, what is missing.
    """

    of: Literal["presence", "absence", "refusal"]
    observer: str = ""
    needs: str
    holds: bool
    seen: str = ""


def unmet(conditions: Iterable[Condition]) -> tuple[str, ...]:
    """What is missing, in words: one sentence for each condition that doesn't hold."""
    return tuple(each.seen for each in conditions if not each.holds)
