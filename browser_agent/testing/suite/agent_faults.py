"""`agent_faults`: the faults of one test, in the network and by killing its worker or browser."""

from __future__ import annotations

from browser_agent.errors import Misuse
from browser_agent.states import Victim
from browser_agent.testing.faults import Faults, InstalledFault
from browser_agent.testing.suite.trial import Trial
from observers import Site


class AgentFaults(Faults):
    """The faults of one test: those of `Faults` for the network, and two that kill.

    Args:
        trial: the test. Its sites are bound to their proxies until `close()`.
    """

    def __init__(self, trial: Trial) -> None:
        self._kills, self._has_proxies = trial.kills, bool(trial.sites)
        if self._has_proxies:
            super().__init__(trial.sites, warn=lambda text: print(f"agent_faults: {text}"))

    @property
    def untriggered(self) -> list[InstalledFault]:
        return super().untriggered if self._has_proxies else []

    def close(self) -> None:
        if self._has_proxies:
            super().close()

    def _named(self, site: Site | str | None) -> str:
        if not self._has_proxies:
            raise Misuse("No site of this test is known, so none has a proxy: override the fixture agent_site.")
        return super()._named(site)

    def kill_worker(self, after: str = "dispatch", *, gesture: int = 1) -> None:
        """Kill the worker at that point of the gesture.

        With `agent_task` the worker is killed by SIGKILL, and the keeper starts another. With `agent_run` the worker is
        the test process itself, so the run is cut off instead: from that instant it can write nothing, requests held at
        the gate never leave, and its page is closed. Then the test function is called again from its top, with a new
        `page` (the old one's cookies and storage) and the same run, which begins by looking.

        Args:
            after: before intent, intent, dispatch, input, paused, released, answered or settled.
            gesture: which gesture of the run, from 1.

        Raises:
            Misuse: there is no such point, or the test already has a kill.
        """
        self._kills.plan(Victim.WORKER, after, gesture)

    def kill_browser(self, after: str = "dispatch", *, gesture: int = 1) -> None:
        """Kill the browser at that point of the gesture.

        With `agent_task` its Chromium is killed by SIGKILL. With `agent_run` the browser belongs to the whole test
        session, so only the page's renderer is crashed, as soon after that point as Chromium allows it: not during a
        navigation. The run continues, and looks from fresh pages.

        Args:
            after, gesture: see `kill_worker`.

        Raises:
            Misuse: see `kill_worker`.
        """
        self._kills.plan(Victim.BROWSER, after, gesture)
