"""Another container on this machine, as far as processes can see: a pid namespace of its own, with our host name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

WRAP = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
"""Before a command; the container ends when this command is killed."""


def said_inside(code: str, *words: str) -> str:
    """What Python says in a container of its own."""
    return subprocess.check_output([*WRAP, sys.executable, "-c", code, *words], text=True).strip()


@pytest.fixture(scope="session")
def container() -> Sequence[str]:
    """What makes a command run in a container of its own."""
    if subprocess.run([*WRAP, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no pid namespace can be had here")
    return WRAP
