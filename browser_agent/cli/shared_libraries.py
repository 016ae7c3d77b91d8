"""The shared libraries that a program lacks, and the Debian or Ubuntu packages that provide them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from shutil import which

LOADER_ERROR = re.compile(r"error while loading shared libraries: ([^:\s]+)")
"""The dynamic loader's message about the first library that it can't find. Source: ld.so (glibc)."""
_NOT_FOUND = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)
_SECONDS = 20

PACKAGES = {
    "libasound.so.2": "libasound2",
    "libatk-1.0.so.0": "libatk1.0-0",
    "libatk-bridge-2.0.so.0": "libatk-bridge2.0-0",
    "libatomic.so.1": "libatomic1",
    "libatspi.so.0": "libatspi2.0-0",
    "libcairo.so.2": "libcairo2",
    "libcups.so.2": "libcups2",
    "libdbus-1.so.3": "libdbus-1-3",
    "libdrm.so.2": "libdrm2",
    "libexpat.so.1": "libexpat1",
    "libgbm.so.1": "libgbm1",
    "libgcc_s.so.1": "libgcc-s1",
    "libgio-2.0.so.0": "libglib2.0-0",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgobject-2.0.so.0": "libglib2.0-0",
    "libnspr4.so": "libnspr4",
    "libnss3.so": "libnss3",
    "libnssutil3.so": "libnss3",
    "libpango-1.0.so.0": "libpango-1.0-0",
    "libplc4.so": "libnspr4",
    "libplds4.so": "libnspr4",
    "libsmime3.so": "libnss3",
    "libstdc++.so.6": "libstdc++6",
    "libudev.so.1": "libudev1",
    "libX11.so.6": "libx11-6",
    "libxcb.so.1": "libxcb1",
    "libXcomposite.so.1": "libxcomposite1",
    "libXdamage.so.1": "libxdamage1",
    "libXext.so.6": "libxext6",
    "libXfixes.so.3": "libxfixes3",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libXrandr.so.2": "libxrandr2",
}
"""The libraries that Playwright's Node and Chromium link to. Some package names have ended in "t64" since 2024."""


def missing_libraries(program: Path, message: str = "") -> tuple[str, ...]:
    """The libraries that a program lacks: all of them if ldd lists them, else the one named in its message.

    Args:
        program: the program. It must be safe to run, because ldd may execute it.
        message: what it wrote when it didn't start.
    """
    named = LOADER_ERROR.findall(message)
    try:
        listed = subprocess.run(["ldd", str(program)], check=False, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return tuple(named)
    return tuple(dict.fromkeys([*named, *_NOT_FOUND.findall(listed.stdout)]))


def packages_for(libraries: Iterable[str], known_to_apt: Callable[[str], bool] | None = None) -> list[str]:
    """The packages that provide the libraries; a library with no known package is left out.

    Args:
        libraries: file names, such as "libatomic.so.1".
        known_to_apt: whether this system has a real package of that name; by default asks apt-cache.
    """
    known = known_to_apt or _known_to_apt
    names = sorted({PACKAGES[library] for library in libraries if library in PACKAGES})
    return [f"{name}t64" if known(f"{name}t64") else name for name in names]


def install_command(packages: Iterable[str]) -> list[str]:
    """The command that installs packages and their dependencies, without recommended ones."""
    return ["apt-get", "install", "--yes", "--no-install-recommends", *packages]


def has_apt() -> bool:
    """Whether this system installs packages with apt-get."""
    return which("apt-get") is not None


def _known_to_apt(package: str) -> bool:
    try:
        found = subprocess.run(
            ["apt-cache", "show", package], check=False, capture_output=True, text=True, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return f"Package: {package}\n" in found.stdout
