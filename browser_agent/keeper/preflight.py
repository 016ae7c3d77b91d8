"""What is looked at before a run's keeper starts anything: whether all that its options want can be had here."""

from __future__ import annotations

from browser_agent.browser.downloads import check_folder
from browser_agent.options import Options
from browser_agent.ownership.terminal import check_attended


def check_options(options: Options) -> None:
    """See that a run can be kept as its options want it.

    Raises:
        Misuse: no person can attend it as they want, downloads can't be kept, or the client certificate not presented.
    """
    check_attended(options)
    check_folder(options.downloads)
    if options.appearance.client is not None:
        options.appearance.client.check()
