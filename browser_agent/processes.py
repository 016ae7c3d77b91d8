"""Which process is it, does it live, and end it so that its death is seen.

A pid is handed out again after a death, so a process is named by its pid AND its start. The start is counted from
the machine's boot where the system offers that (Linux): a clock that is set ten minutes on or back must not make a
living worker look dead. Knows nothing of browsers or runs.

What may never happen: a process is reported dead that lives; a process is ended that isn't the one that was named; a
process of another place (see `places`) is judged by its pid.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import psutil
from pydantic.dataclasses import dataclass

_GLANCE_SECONDS = 0.01
UNNAMED = ""
"""No system tells the place, or an older version didn't write it down."""
_FIRST_NAMESPACE = "4026531836"
"""The machine's own, in which it counts everything (Linux, PROC_PID_INIT_INO)."""
_BOOT, _NAMESPACE, _MACHINE = "/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid", "/etc/machine-id"


class StillAlive(Exception):
    """A process that was sent SIGKILL was still there at the deadline: nothing may be concluded from its death."""


class OutOfSight(StillAlive):
    """The process is of another container or machine that has this host's name: nobody here knows whether it lives."""


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process, told apart from every later one that gets its pid.

    `started` is in seconds: since boot on Linux, since the epoch elsewhere. Compare it, don't read it as a time.
    `place` is where it has this pid, as far as that is known.
    """

    pid: int
    started: float
    place: str = UNNAMED


HOST_VARIABLE = "BROWSER_AGENT_HOST"


def own_host() -> str:
    """What this host is called: by the environment, else by the machine itself.

    Only processes of one name, and of one place, are judged by their pid. Two machines must never share a name.
    """
    return os.environ.get(HOST_VARIABLE) or socket.gethostname()


def own_id() -> ProcessId:
    """The process that asks."""
    found = identify(os.getpid())
    if found is None:
        raise RuntimeError("this process can't see itself: is /proc mounted?")
    return found


def identify(pid: int) -> ProcessId | None:
    """The process that has this pid now; None if none has, or only a zombie (dead, and waiting for its parent)."""
    started = _start_of(pid)
    return None if started is None else ProcessId(pid, started, own_place())


def in_sight(process: ProcessId) -> bool:
    """Whether it can be told here if it lives."""
    return sees(process.place)


def alive(process: ProcessId) -> bool:
    """Whether this very process lives: same pid and same start. A zombie is dead; a stopped process lives.

    Raises:
        OutOfSight: that can't be told here.
    """
    if not in_sight(process):
        raise OutOfSight(f"pid {process.pid} is of another container or machine; whether it lives is not known here")
    return not is_over(process.place) and _start_of(process.pid) == process.started


def stopped(process: ProcessId) -> bool:
    """Whether it lives and is stopped (SIGSTOP, Ctrl-Z): it does nothing until it is sent SIGCONT."""
    try:
        return alive(process) and psutil.Process(process.pid).status() == psutil.STATUS_STOPPED
    except psutil.NoSuchProcess:
        return False


def tree(process: ProcessId) -> frozenset[ProcessId]:
    """The living of: the process, all its descendants, and all of the process group that it leads (or led)."""
    pids = {process.pid, *_descendants(process), *_group(process)} if alive(process) else _group(process)
    return frozenset(found for pid in pids if (found := identify(pid)) is not None)


def memory_mb(roots: Iterable[ProcessId]) -> float:
    """How much memory whole trees use together, in MB; what processes share counts in parts, where the system tells."""
    found = {each for root in roots for each in tree(root)}
    return sum(_memory_of(each.pid) for each in found) / 1e6


def _memory_of(pid: int) -> int:
    try:
        told = psutil.Process(pid).memory_full_info()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0
    return int(getattr(told, "pss", 0) or told.rss)


def end(
    processes: Iterable[ProcessId],
    deadline_seconds: float = 10.0,
    *,
    also: Callable[[], Iterable[ProcessId]] = tuple,
) -> frozenset[ProcessId]:
    """End whole trees by SIGKILL and return all their processes, each seen dead.

    Everything is stopped before anything is killed, so that none can start another one meanwhile.

    Args:
        processes: the roots; those that are dead already are no hindrance.
        deadline_seconds: in all, for every death to be seen.
        also: finds further processes that belong to them (by a mark in the command line, say); asked repeatedly.

    Raises:
        StillAlive: one of them lives at the deadline.
        ValueError: the process that asks is one of them; nothing was signalled.
    """
    roots = tuple(processes)
    deadline = time.monotonic() + deadline_seconds
    ended: set[ProcessId] = set()

    def living() -> set[ProcessId]:
        return {found for root in roots for found in tree(root)} | {found for found in also() if alive(found)}

    while found := living():
        stopped: set[ProcessId] = set()
        while fresh := found - stopped:
            _refuse_own_death(fresh)
            _signal(fresh, signal.SIGSTOP)
            stopped |= fresh
            found = living()
        _signal(stopped, signal.SIGKILL)
        _see_dead(stopped, deadline)
        ended |= stopped
    return frozenset(ended)


def _refuse_own_death(doomed: set[ProcessId]) -> None:
    if any(process.pid == os.getpid() for process in doomed):
        raise ValueError("a process can't end a tree that it belongs to")


def _signal(processes: Iterable[ProcessId], number: signal.Signals) -> None:
    for process in processes:
        if alive(process):
            try:
                os.kill(process.pid, number)
            except ProcessLookupError:
                continue  # it died between the two lines, which is what is wanted


def _see_dead(processes: set[ProcessId], deadline: float) -> None:
    while survivors := [process for process in processes if alive(process)]:
        if time.monotonic() > deadline:
            raise StillAlive(f"sent SIGKILL, but still alive: pid {', '.join(str(each.pid) for each in survivors)}")
        time.sleep(_GLANCE_SECONDS)
    for process in processes:
        reap(process.pid)


def reap(pid: int) -> None:
    """Take a dead child out of the process table; nothing if it lives or is somebody else's child."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return


def _descendants(process: ProcessId) -> set[int]:
    try:
        return {child.pid for child in psutil.Process(process.pid).children(recursive=True)}
    except psutil.NoSuchProcess:
        return set()


def _group(leader: ProcessId) -> set[int]:
    """Pids in the group that this process leads or led.

    A dead leader's number isn't handed out again while its group has members. That the group is the old one is
    checked all the same: nobody else may hold the number, and no member may be older than the leader.
    """
    holder = identify(leader.pid)
    if is_over(leader.place) or (holder is not None and holder.started != leader.started):
        return set()
    members = {pid for pid in psutil.pids() if pid and _group_of(pid) == leader.pid}
    return {pid for pid in members if (_start_of(pid) or 0.0) >= leader.started}


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except (ProcessLookupError, PermissionError):
        return None


def _start_of(pid: int) -> float | None:
    """When the process with this pid started, None if there is none or a zombie."""
    return _start_from_proc(pid) if sys.platform == "linux" else _start_from_psutil(pid)


def _start_from_proc(pid: int) -> float | None:
    """Source: proc_pid_stat(5), field 3 (state) and field 22 (starttime, in clock ticks since boot)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()  # the name in brackets may hold spaces and brackets
    return None if fields[0] in "ZXx" else int(fields[19]) / os.sysconf("SC_CLK_TCK")


def _start_from_psutil(pid: int) -> float | None:
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.NoSuchProcess:
        return None


def own_user() -> str:
    """The account of this machine that this process runs under: on its authority a run is submitted."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in many containers
        return f"uid {os.getuid()}"


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
