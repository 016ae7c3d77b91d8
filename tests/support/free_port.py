"""A port for a server that must be told its port, and may be started again on it.

Any other server of a test takes the port that the kernel gives it, which may be one that was free a moment ago. So this
one is below the kernel's range.
"""

from __future__ import annotations

import random
import socket
from contextlib import suppress
from pathlib import Path

_KERNELS = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST, _USUAL = 10_000, 32_768


def free_port() -> int:
    """A port of 127.0.0.1 at which nobody listens, and which the kernel gives to nobody.

    Source: ip(7), `ip_local_port_range`; other systems begin theirs at 32768 or above.
    """
    below = int(_KERNELS.read_text().split()[0]) if _KERNELS.exists() else _USUAL
    while True:
        port = random.SystemRandom().randrange(_LOWEST, below)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
