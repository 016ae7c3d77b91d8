"""One go at one test: where its runs are written, under which key, what is struck, and which lives it has had.

What the fixtures of a test share, and what the plugin's hooks find again. Must not know pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from browser_agent.testing.suite.agent_audit import AgentAudit
from browser_agent.testing.suite.strikes import Kills
from observers import Site

if TYPE_CHECKING:
    from browser_agent.testing.suite.agent_faults import AgentFaults
    from browser_agent.testing.suite.agent_run import AgentRun


@dataclass
class Trial:
    """See the module.

    Args:
        test: the test's node id.
        session: names this test session, the same for all of its processes.
        store: the file, or the database, in which its runs are written.
        sites: the sites of the test.
        go: counts the test's goes, from 1 (pytest-rerunfailures).
        kills: what is struck.
        crossing: the test is one of those that `every_interruption` makes.
        may_ask: a stop for a person is an honest end of the second life.
        second_life: the test function is being called again, after its open run was cut.
    """

    test: str
    session: str
    store: Path | str
    sites: Sequence[Site] = ()
    go: int = 1
    kills: Kills = field(default_factory=Kills)
    crossing: bool = False
    may_ask: bool = False
    second_life: bool = False
    run: AgentRun | None = None
    faults: AgentFaults | None = None

    def __post_init__(self) -> None:
        self.audit = AgentAudit(self.store)
        self.addresses = {site.name: site.url for site in self.sites}

    @property
    def key(self) -> str:
        """What its open run is known by, in every go of this session."""
        return f"{self.test} in {self.session}"
