"""The explanation of a run's verdicts on the screen: each condition with yes or no, and what showed it."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from browser_agent.cli.desk import Desk
from browser_agent.cli.plain_text import one_line
from browser_agent.reporting.explanation import Explanation, explanations

_WIDEST = 400


def explain(desk: Desk, run: str) -> list[dict[str, Any]]:
    """Print why each verdict of a run is what it is.

    Args:
        desk: the store and the screen.
        run: the run's id.

    Returns:
        The same as JSON data.
    """
    words = {row.id: row.words for row in desk.store.journal.gestures(run)}
    found = list(explanations(desk.store.audit_lines(run)))
    for verdict in found:
        desk.screen.say(f"\nWhy {verdict.ended.replace('_', ' ')}: {one_line(words[verdict.gesture])}", "bold")
        _say_conditions(desk, verdict)
    if not found:
        desk.screen.say("No gesture of this run has a verdict yet.")
    return [verdict.document() for verdict in found]


def _say_conditions(desk: Desk, verdict: Explanation) -> None:
    if verdict.by:
        desk.screen.say(f"  {one_line(verdict.by)} decided it; `browser-agent show` has the reason.")
    for observer, conditions in groupby(verdict.conditions, key=lambda condition: condition.observer):
        desk.screen.say(f"  {one_line(observer, _WIDEST) or 'beside what the observers saw'}")
        for condition in conditions:
            answer, style = ("yes", "green") if condition.holds else ("no ", "red")
            desk.screen.say(f"    {answer}  {one_line(condition.needs, _WIDEST)}", style)
            if condition.seen:
                desk.screen.say(f"         {one_line(condition.seen, _WIDEST)}", "dim")
