"""Installs what browser tasks need and this machine lacks: libraries of Playwright's driver, Chromium, fonts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence

from browser_agent.cli.browser_checks import FONTS, BrowserFacts, browser_facts, driver_trouble
from browser_agent.cli.shared_libraries import has_apt, install_command, packages_for

Run = Callable[[Sequence[str]], bool]
"""Runs one command, and returns whether it succeeded."""
_SECONDS = 900


def install(run: Run | None = None) -> bool:
    """Install what is missing: nothing if a Chromium opens a page and draws every letter.

    Playwright's own Chromium is tried first. As root on Debian and its derivatives, packages are installed as well,
    without recommended ones.

    Args:
        run: runs the commands; by default for real.

    Returns:
        Whether a Chromium opens a page now.
    """
    machine = _Machine(run or _run)
    machine.complete_driver()
    facts = machine.facts()
    for get in (machine.complete_chromium, machine.get_playwrights, machine.get_debians):
        if facts.trouble is not None:
            facts = get(facts)
    if facts.trouble is None and facts.boxes:
        machine.install_packages(FONTS)
    return facts.trouble is None


class _Machine:
    """This machine, and the installation of what it lacks."""

    def __init__(self, run: Run) -> None:
        self._run, self._updated = run, False
        self._driver_starts = True

    def facts(self) -> BrowserFacts:
        return browser_facts(open_page=self._driver_starts)

    def complete_driver(self) -> None:
        """Install the libraries that Playwright's driver lacks."""
        if (trouble := driver_trouble()) is not None:
            self.install_libraries(trouble.libraries)
            self._driver_starts = driver_trouble() is None

    def install_packages(self, packages: Iterable[str]) -> None:
        """Install packages if this process may; otherwise `doctor` names the command."""
        if os.geteuid() != 0 or not has_apt() or not (wanted := list(packages)):
            return
        if not self._updated:
            self._updated = self._run(["apt-get", "update"])
        self._run(install_command(wanted))

    def install_libraries(self, libraries: Iterable[str]) -> None:
        self.install_packages(packages_for(libraries))

    def complete_chromium(self, facts: BrowserFacts) -> BrowserFacts:
        """Install the libraries that the found Chromium lacks."""
        if facts.trouble is None or not facts.trouble.libraries:
            return facts
        self.install_libraries(facts.trouble.libraries)
        return self.facts()

    def get_playwrights(self, facts: BrowserFacts) -> BrowserFacts:
        if not self._run([sys.executable, "-m", "playwright", "install", "chromium"]):
            return facts
        return self.complete_chromium(self.facts())

    def get_debians(self, facts: BrowserFacts) -> BrowserFacts:
        self.install_packages(["chromium"])
        return self.facts()


def _run(command: Sequence[str]) -> bool:
    print("$", *command, file=sys.stderr, flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        ended = subprocess.run(command, check=False, stdout=sys.stderr, timeout=_SECONDS, env=environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return False
    return ended.returncode == 0
