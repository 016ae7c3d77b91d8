"""`agent_faults`: what goes wrong in one test, on the road to its sites and with whoever works on them.

Must not know pages. May never happen: a fault that was never met passes as one that was survived.
"""

from __future__ import annotations

from browser_agent.errors import Misuse
from browser_agent.states import Victim
from browser_agent.testing.faults import Faults, InstalledFault
from browser_agent.testing.suite.trial import Trial
from observers import Site


class AgentFaults(Faults):
    """The faults of one test: the words of `Faults` for the road, and two for a sudden death.

    Args:
        trial: the test. Its sites are bound to the roads before them until `close()`.
    """

    def __init__(self, trial: Trial) -> None:
        self._kills, self._has_roads = trial.kills, bool(trial.sites)
        if self._has_roads:
            super().__init__(trial.sites, warn=lambda words: print(f"agent_faults: {words}"))

    @property
    def untriggered(self) -> list[InstalledFault]:
        return super().untriggered if self._has_roads else []

    def close(self) -> None:
        if self._has_roads:
            super().close()

    def _named(self, site: Site | str | None) -> str:
        if not self._has_roads:
            raise Misuse("No site of this test is known, so no road leads there: override the fixture agent_site.")
        return super()._named(site)

    def kill_worker(self, after: str = "dispatch", *, gesture: int = 1) -> None:
        """Kill whoever makes the gesture, at that point of it.

        With `agent_task` its worker is ended by SIGKILL, and the keeper starts another. With `agent_run` that would be
        the tests themselves: there the run is cut instead. From that instant nothing of it can be written, what is held
        at the wire never leaves, and its page is closed; then the test function is called again from its top, with a
        new `page` (the old one's cookies and storage) and the same run, which begins by looking.

        Args:
            after: before intent, intent, dispatch, input, paused, released, answered or settled.
            gesture: which gesture of the run, from 1.

        Raises:
            Misuse: there is no such point, or the test has a strike already.
        """
        self._kills.plan(Victim.WORKER, after, gesture)

    def kill_browser(self, after: str = "dispatch", *, gesture: int = 1) -> None:
        """Kill the browser at that point of the gesture.

        With `agent_task` its Chromium is ended by SIGKILL. With `agent_run` the browser belongs to the whole test
        session, so only the page's renderer is crashed there, as soon after that point as Chromium lets it: not while a
        navigation is under way. The run goes on and looks from fresh pages.

        Args:
            after, gesture: see `kill_worker`.

        Raises:
            Misuse: see `kill_worker`.
        """
        self._kills.plan(Victim.BROWSER, after, gesture)
