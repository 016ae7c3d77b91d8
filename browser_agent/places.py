"""Places: where a pid means what it says. A container counts its processes itself, and a machine anew at each start.

A place is named by the machine, its boot and its pid namespace, where the system tells them (Linux); elsewhere it has
no name, and whoever has the host's name is believed. Knows nothing of processes. What may never happen: two places
that don't see each other's processes have one name.
"""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from pathlib import Path

UNNAMED = ""
"""No system tells the place, or an older version didn't write it down."""
_FIRST_NAMESPACE = "4026531836"
"""The machine's own, in which it counts everything (Linux, PROC_PID_INIT_INO)."""
_BOOT, _NAMESPACE, _MACHINE = "/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid", "/etc/machine-id"


@cache
def own_place() -> str:
    """The place of this process: "machine/boot/namespace"; unnamed where the system doesn't tell it.

    Source: pid_namespaces(7), random(4). The machine's id is for nobody else's eyes (machine-id(5)): of it stands here
    only what tells it apart.
    """
    if sys.platform != "linux":
        return UNNAMED
    try:
        boot, namespace = Path(_BOOT).read_text().strip(), os.readlink(_NAMESPACE)
    except OSError:
        return UNNAMED
    return f"{_machine()}/{boot}/{namespace.strip('pid:[]')}"


def sees(place: str, *, own: str | None = None) -> bool:
    """Whether it can be told here which processes of a place live.

    Args:
        place: the place.
        own: the place that looks; None = this process's.
    """
    here = own_place() if own is None else own
    return UNNAMED in {place, here} or _counts(place) == _counts(here) or is_over(place, own=here)


def is_over(place: str, *, own: str | None = None) -> bool:
    """Whether all processes of a place are dead, since its machine has been started anew: both are this machine's own
    namespace, in two boots. Of a container nothing like it is known: it may be another machine's."""
    here = own_place() if own is None else own
    if UNNAMED in {place, here}:
        return False
    (machine, boot, namespace), (own_machine, own_boot, own_namespace) = place.split("/"), here.split("/")
    same_machine = machine == own_machine != "" and namespace == own_namespace == _FIRST_NAMESPACE
    return same_machine and boot != own_boot


def _counts(place: str) -> str:
    """Boot and namespace: who counts the processes. A container that shares them may name the machine otherwise."""
    return place.partition("/")[2]


def _machine() -> str:
    try:
        said = Path(_MACHINE).read_text().strip()
    except OSError:
        return ""
    return hashlib.sha256(f"browser-agent {said}".encode()).hexdigest()[:12] if said else ""
