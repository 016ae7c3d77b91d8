"""The explanation of verdicts: the conditions that were checked for each, as the audit log has them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from browser_agent.states import GestureState
from observers import Condition


@dataclass(frozen=True)
class Explanation:
    """One verdict about a gesture, and why.

    at: when it was recorded, in ISO 8601. ended: the state that it brought the gesture to. by: the person who decided
    it; "" = nobody did. conditions: those that were checked, met or not; none if a person decided.
    """

    gesture: str
    at: str
    attempt: int
    ended: GestureState
    by: str
    conditions: tuple[Condition, ...]

    def document(self) -> dict[str, Any]:
        """It as JSON data."""
        return {**asdict(self), "conditions": [each.model_dump() for each in self.conditions]}


def explanations(lines: Iterable[Mapping[str, Any]]) -> Iterator[Explanation]:
    """The verdicts that are explained in the lines of an audit log, in their order.

    A change of state for which nothing was checked, such as from made to in doubt, is none. A line that somebody has
    changed is left out if it can't be read; the chain says that it doesn't hold.
    """
    for line in lines:
        try:
            found = _explanation(line)
        except (KeyError, TypeError, ValueError):
            continue
        if found.conditions or found.by:
            yield found


def _explanation(line: Mapping[str, Any]) -> Explanation:
    conditions = tuple(Condition.model_validate(each) for each in line.get("conditions", ()))
    state, by = GestureState(line["ended"]), line.get("by") or ""
    return Explanation(line["gesture"], line["at"], line["attempt"], state, by, conditions)
