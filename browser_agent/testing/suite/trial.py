"""One execution of a test: where its runs are stored, under which key, what is killed, and which call it is.

The fixtures of a test share it, and the plugin's hooks find it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from browser_agent.testing.suite.agent_audit import AgentAudit
from browser_agent.testing.suite.kill_plan import KillPlan
from observers import Site


@dataclass
class Trial:
    """One execution of one test.

    Args:
        test: the test's node id.
        session: identifies this test session, the same in all of its processes.
        store: the file or database in which its runs are stored.
        sites: the sites of the test.
        execution: counts the executions of the test, from 1 (pytest-rerunfailures).
        kills: what is killed.
        crossing: the test is one of those that `every_interruption` makes.
        may_ask: a question to a person is an acceptable end of the second call.
        second_call: the test function is being called again, after its open run was cut off.
    """

    test: str
    session: str
    store: Path | str
    sites: Sequence[Site] = ()
    execution: int = 1
    kills: KillPlan = field(default_factory=KillPlan)
    crossing: bool = False
    may_ask: bool = False
    second_call: bool = False

    def __post_init__(self) -> None:
        self.audit = AgentAudit(self.store)
        self.addresses = {site.name: site.url for site in self.sites}

    @property
    def key(self) -> str:
        """The key of its open run, the same in every execution within this session."""
        return f"{self.test} in {self.session}"
