"""Identifies processes, tells whether they live, and ends whole process trees.

The system reuses pids, so a process is identified by its pid AND its start time. On Linux the start time counts from
the machine's boot: a clock that is set back or forward by ten minutes must not make a living worker look dead.
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
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

_GLANCE_SECONDS = 0.01
UNKNOWN_NAMESPACE = ""
"""The system has no pid namespaces, or an older version didn't record them."""
_INITIAL_NAMESPACE = "4026531836"
"""The machine's own namespace, in which every process has a pid (Linux, PROC_PID_INIT_INO)."""
_BOOT, _NAMESPACE, _MACHINE = "/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid", "/etc/machine-id"


class StillAlive(Exception):
    """A process that was sent SIGKILL still lived at the deadline, so nothing may rely on its death."""


class ProcessNotVisible(StillAlive):
    """The process belongs to another container or machine with this host's name, so its pid means nothing here."""


@dataclass(frozen=True, slots=True, config=ConfigDict(validate_by_name=True, serialize_by_alias=True))
class ProcessId:
    """The identity of a process, which no later process with the same pid shares.

    Args:
        pid: its pid.
        started: its start in seconds: since boot on Linux, since the epoch elsewhere. Only compare it.
        namespace: the pid namespace in which it has this pid, see `own_pid_namespace`. Stored as "place".
    """

    pid: int
    started: float
    namespace: str = Field(default=UNKNOWN_NAMESPACE, validation_alias="place", serialization_alias="place")


HOST_VARIABLE = "BROWSER_AGENT_HOST"


def own_host() -> str:
    """This host's name, from the environment or else from the machine.

    Processes are judged by their pid only within one host name and one pid namespace. Two machines must never share a
    name.
    """
    return os.environ.get(HOST_VARIABLE) or socket.gethostname()


def own_id() -> ProcessId:
    """This process."""
    found = identify(os.getpid())
    if found is None:
        raise RuntimeError("this process can't see itself: is /proc mounted?")
    return found


def identify(pid: int) -> ProcessId | None:
    """The process that has this pid now; None if there is none, or only a zombie (dead, not yet reaped)."""
    started = _start_of(pid)
    return None if started is None else ProcessId(pid, started, own_pid_namespace())


def visible(process: ProcessId) -> bool:
    """Whether this process can tell if the given one is alive."""
    return pid_namespace_visible(process.namespace)


def alive(process: ProcessId) -> bool:
    """Whether exactly this process is alive: same pid, same start time. A zombie is dead; a stopped process is alive.

    Raises:
        ProcessNotVisible: it can't be seen from here.
    """
    if not visible(process):
        raise ProcessNotVisible(f"pid {process.pid} is in another container or machine: it isn't visible here")
    return not pid_namespace_ended(process.namespace) and _start_of(process.pid) == process.started


def stopped(process: ProcessId) -> bool:
    """Whether the process is alive but stopped (SIGSTOP, Ctrl-Z), so that it does nothing until SIGCONT."""
    try:
        return alive(process) and psutil.Process(process.pid).status() == psutil.STATUS_STOPPED
    except psutil.NoSuchProcess:
        return False


def tree(process: ProcessId) -> frozenset[ProcessId]:
    """The living ones among the process, its descendants, and the process group that it leads (or led)."""
    pids = {process.pid, *_descendants(process), *_group(process)} if alive(process) else _group(process)
    return frozenset(found for pid in pids if (found := identify(pid)) is not None)


def memory_mb(roots: Iterable[ProcessId]) -> float:
    """The memory of whole trees in MB. Shared memory counts once where the system reports it (PSS)."""
    found = {each for root in roots for each in tree(root)}
    return sum(_memory_of(each.pid) for each in found) / 1e6


def _memory_of(pid: int) -> int:
    try:
        info = psutil.Process(pid).memory_full_info()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0
    return int(getattr(info, "pss", 0) or info.rss)


def end(
    processes: Iterable[ProcessId],
    deadline_seconds: float = 10.0,
    *,
    also: Callable[[], Iterable[ProcessId]] = tuple,
) -> frozenset[ProcessId]:
    """End whole process trees by SIGKILL and return all their processes, each confirmed dead.

    Everything is stopped before anything is killed, so that no process can start another one in between.

    Args:
        processes: the roots; dead ones are allowed.
        deadline_seconds: the time limit for all of it.
        also: finds further processes that belong to them (by their command line, say); called repeatedly.

    Raises:
        StillAlive: one of them lives at the deadline.
        ValueError: this process is one of them; nothing was signalled.
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
                continue  # it has just died


def _see_dead(processes: set[ProcessId], deadline: float) -> None:
    while survivors := [process for process in processes if alive(process)]:
        if time.monotonic() > deadline:
            raise StillAlive(f"sent SIGKILL, but still alive: pid {', '.join(str(each.pid) for each in survivors)}")
        time.sleep(_GLANCE_SECONDS)
    for process in processes:
        reap(process.pid)


def reap(pid: int) -> None:
    """Remove a dead child from the process table; nothing if it lives or isn't a child of this process."""
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
    """The pids of the process group that this process leads or led.

    The system doesn't reuse a dead leader's pid while its group has members. This is checked all the same: no other
    process may have the pid, and no member may be older than the leader.
    """
    holder = identify(leader.pid)
    if pid_namespace_ended(leader.namespace) or (holder is not None and holder.started != leader.started):
        return set()
    members = {pid for pid in psutil.pids() if pid and _group_of(pid) == leader.pid}
    return {pid for pid in members if (_start_of(pid) or 0.0) >= leader.started}


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except (ProcessLookupError, PermissionError):
        return None


def _start_of(pid: int) -> float | None:
    """The start of the process with this pid; None if there is none, or only a zombie."""
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
    """The account under which this process runs; runs are submitted in its name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in many containers
        return f"uid {os.getuid()}"


@cache
def own_pid_namespace() -> str:
    """This process's pid namespace as "machine/boot/namespace"; `UNKNOWN_NAMESPACE` where the system has none.

    Source: pid_namespaces(7), random(4). The machine's id must not be published (machine-id(5)), so only a digest of it
    is used.
    """
    if sys.platform != "linux":
        return UNKNOWN_NAMESPACE
    try:
        boot, namespace = Path(_BOOT).read_text().strip(), os.readlink(_NAMESPACE)
    except OSError:
        return UNKNOWN_NAMESPACE
    return f"{_machine()}/{boot}/{namespace.strip('pid:[]')}"


def pid_namespace_visible(namespace: str, *, own: str | None = None) -> bool:
    """Whether this process can tell which processes of a pid namespace are alive.

    Args:
        namespace: the namespace.
        own: the namespace of the observer; None = this process's.
    """
    here = own_pid_namespace() if own is None else own
    return (
        UNKNOWN_NAMESPACE in {namespace, here}
        or _boot_and_number(namespace) == _boot_and_number(here)
        or pid_namespace_ended(namespace, own=here)
    )


def pid_namespace_ended(namespace: str, *, own: str | None = None) -> bool:
    """Whether all processes of a pid namespace are dead because its machine has rebooted since.

    Known only if both are the initial namespace of one machine, in two boots. A container's namespace never counts as
    ended: it may belong to another machine.
    """
    here = own_pid_namespace() if own is None else own
    if UNKNOWN_NAMESPACE in {namespace, here}:
        return False
    (machine, boot, number), (own_machine, own_boot, own_number) = namespace.split("/"), here.split("/")
    same_machine = machine == own_machine != "" and number == own_number == _INITIAL_NAMESPACE
    return same_machine and boot != own_boot


def _boot_and_number(namespace: str) -> str:
    """The namespace without its machine: a container that shares the machine's pids may have another machine id."""
    return namespace.partition("/")[2]


def _machine() -> str:
    try:
        machine = Path(_MACHINE).read_text().strip()
    except OSError:
        return ""
    return hashlib.sha256(f"browser-agent {machine}".encode()).hexdigest()[:12] if machine else ""
