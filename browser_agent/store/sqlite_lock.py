"""Finds the process that holds the write lock of a SQLite file, which SQLite itself cannot tell.

It reads the kernel's table of locks and never opens the file: a process that closes any descriptor of a file loses all
its locks on it (SQLite documentation, "How To Corrupt", section 2.2).
"""

from __future__ import annotations

import os
from pathlib import Path

from browser_agent import processes
from browser_agent.processes import ProcessId

_TABLE = Path("/proc/locks")
_WRITE_BYTE = "120"
"""The byte of the shared memory file that a writer locks (SQLite documentation, "WAL-mode File Format", 2.2)."""


def writer_of(path: Path) -> ProcessId | None:
    """The process that writes to a SQLite file in WAL mode now; None if there is none, or it is unknown.

    Works on Linux only. The kernel hides the pid of a process in another container.
    """
    try:
        inode, lines = os.stat(f"{path}-shm").st_ino, _TABLE.read_text().splitlines()
    except OSError:
        return None
    pids = [pid for line in lines if (pid := _writer(line, inode)) > 0]
    return processes.identify(pids[0]) if pids else None


def _writer(line: str, inode: int) -> int:
    """The pid in a line of the table, if the line is about that lock; else 0. Source: proc_locks(5)."""
    fields = line.split()
    if len(fields) != 8:  # a line with "->" is a process that waits
        return 0
    _, kind, _, access, pid, file, first, _ = fields
    is_lock = (kind, access, first) == ("POSIX", "WRITE", _WRITE_BYTE) and file.rpartition(":")[2] == str(inode)
    return int(pid) if is_lock else 0
