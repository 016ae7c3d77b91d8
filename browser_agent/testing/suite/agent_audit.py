"""What is written down of one test's runs: `agent_audit`.

Reads the store each time that it is asked; writes nothing. Must not know pytest or pages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from browser_agent.store import Store
from browser_agent.testing.suite.outcomes import Outcomes, Question, seen_in


class AgentAudit:
    """The runs of one test, as the store has them.

    Attributes:
        store: the file.
        runs: their ids, in the order in which the test has begun them.
    """

    def __init__(self, store: Path | str) -> None:
        self.store = store
        self.runs: list[str] = []

    def add(self, run: str) -> None:
        """The test has this run, too."""
        if run not in self.runs:
            self.runs.append(run)

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The audit entries of the test's runs, in the order of the log."""
        return sorted(self._all("audit_lines"), key=lambda line: int(line["seq"]))

    @property
    def outcomes(self) -> Outcomes:
        """How each gesture of the test has ended, in order."""
        with Store(self.store) as store:
            return Outcomes(seen for run in self.runs for seen in seen_in(store, run))

    @property
    def questions(self) -> list[Question]:
        """The questions that wait for a person."""
        with Store(self.store) as store:
            rows = [row for run in self.runs for row in store.inbox.questions(run, open_only=True)]
            return [Question.of(row, store.where) for row in rows]

    def _all(self, method: str) -> list[dict[str, Any]]:
        with Store(self.store) as store:
            return [line for run in self.runs for line in getattr(store, method)(run)]
