"""`agent_audit`: what the store holds about one test's runs. It reads the store at each call and writes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from browser_agent.store import Store
from browser_agent.testing.suite.outcomes import OpenQuestion, Outcomes, gestures_of


class AgentAudit:
    """The runs of one test as they are stored.

    Attributes:
        store: the store's file or database.
        runs: their ids, in the order in which the test started them.
    """

    def __init__(self, store: Path | str) -> None:
        self.store = store
        self.runs: list[str] = []

    def add(self, run: str) -> None:
        """Add a run of the test, once."""
        if run not in self.runs:
            self.runs.append(run)

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The audit entries of the test's runs, in the order of the log."""
        return sorted(self._all("audit_lines"), key=lambda line: int(line["seq"]))

    @property
    def outcomes(self) -> Outcomes:
        """How each gesture of the test ended, in order."""
        with Store(self.store) as store:
            return Outcomes(gesture for run in self.runs for gesture in gestures_of(store, run))

    @property
    def questions(self) -> list[OpenQuestion]:
        """The questions that wait for a person's answer."""
        with Store(self.store) as store:
            rows = [row for run in self.runs for row in store.inbox.questions(run, open_only=True)]
            return [OpenQuestion.of(row, store.where) for row in rows]

    def _all(self, method: str) -> list[dict[str, Any]]:
        with Store(self.store) as store:
            return [line for run in self.runs for line in getattr(store, method)(run)]
