"""Facts that a step raised: stored with the step as JSON, and raised again on a replay."""

from __future__ import annotations

import json
from typing import Any

from browser_agent.errors import Fact, NotApproved, NotHappened, Refused, Rejected
from browser_agent.store.records import GestureRow

_FACTS: dict[str, type[Fact]] = {fact.__name__: fact for fact in (Refused, Rejected, NotHappened, NotApproved)}


def fact_json(fact: Fact) -> dict[str, Any]:
    """The fact as plain JSON data: its kind and its constructor's arguments."""
    if isinstance(fact, Refused):
        return {"fact": "Refused", "words": fact.words, "because": fact.because}
    return {"fact": type(fact).__name__, **vars(fact)}


def fact_from_json(stored: dict[str, Any]) -> Fact:
    """The fact that `fact_json` stored."""
    arguments = dict(stored)
    return _FACTS[arguments.pop("fact")](**arguments)


def rejected(gesture: GestureRow) -> Rejected:
    """The site's rejection of a stored gesture."""
    texts = json.loads(gesture.reasons or "[]")[1:]
    return Rejected(gesture.words, _status(gesture), texts, [gesture.after] if gesture.after else [])


def causes(error: BaseException | None) -> list[BaseException]:
    """The error and everything that it was raised from."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _status(gesture: GestureRow) -> int:
    facts = json.loads(gesture.wire or "{}").get("facts", [])
    return next((fact["status"] for fact in facts if fact["declared"] and fact["status"]), 0)
