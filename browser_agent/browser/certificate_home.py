"""A Chromium that is to present a client certificate gets a home folder of its own with a store of that one alone.

Playwright's own way is a proxy in its driver and a new context; that page would die with its worker, and a second hop
would stand between the gate and the site. So Chromium itself has the key, from its profile's folder (mode 0700), until
it is ended and the profile removed. What may never happen: the key of somebody's own store is presented.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from browser_agent.browser import nss_store as certificate_store
from browser_agent.browser.client_certificate import PACKED_WITH, ClientCertificate
from browser_agent.errors import Misuse

_IN_THE_HOME = {
    "XDG_DATA_HOME": ".local/share",
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
    "XAUTHORITY": ".Xauthority",
}
"""What else is looked for in a home folder, fonts and the right to the screen among it: that stays the user's own."""


def presenting(profile: Path, certificate: ClientCertificate | None) -> dict[str, str]:
    """Make the store in a new profile; what Chromium's environment must say of it.

    Raises:
        Misuse: the certificate can't be used, or there is no NSS here.
    """
    if certificate is None:
        return {}
    folder = profile / certificate_store.PLACE
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True)
        _fill(folder, certificate)
    return {**_of_the_user(os.environ), "HOME": str(profile)}


def _fill(folder: Path, certificate: ClientCertificate) -> None:
    program = (sys.executable, "-I", certificate_store.__file__, str(folder), PACKED_WITH)
    done = subprocess.run(program, input=certificate.packed(), capture_output=True, check=False)
    if done.returncode != 0:
        why = (done.stderr.decode(errors="replace").strip().splitlines() or ["it says nothing"])[-1]
        raise Misuse(f"The client certificate {certificate.file} can't be given to Chromium: {why}.")


def _of_the_user(environment: Mapping[str, str]) -> dict[str, str]:
    home = os.path.expanduser("~")  # it may have none, as in a container
    return {name: environment.get(name) or os.path.join(home, place) for name, place in _IN_THE_HOME.items()}
