"""Checks made before a run's keeper starts anything: can this machine provide what the run's options ask for?"""

from __future__ import annotations

from browser_agent.errors import Misuse
from browser_agent.options import Options
from browser_agent.ownership.terminal import at_a_terminal, has_display


def check_options(options: Options) -> None:
    """Check everything that the options ask for.

    Raises:
        Misuse: see `check_attended`; or the downloads folder can't be used, or the client certificate can't be read.
    """
    from browser_agent.browser.downloads import check_folder  # Playwright is slow to import

    check_attended(options)
    check_folder(options.downloads)
    if options.appearance.client is not None:
        options.appearance.client.check()


def check_attended(options: Options) -> None:
    """Check that a person can attend the run as the options ask.

    Raises:
        Misuse: a browser window is wanted without a display, or a pause without a terminal.
    """
    if options.headed and not has_display():
        raise Misuse(
            "There is no display to show the browser on (DISPLAY and WAYLAND_DISPLAY are not set). Leave out --headed, "
            "or start it under xvfb-run. Nothing was started."
        )
    if options.pause_before_gesture and not at_a_terminal():
        raise Misuse(
            "--pause-before-gesture needs a terminal to answer at, and standard input is not one. Nothing was started."
        )
