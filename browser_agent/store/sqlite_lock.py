"""Who holds the write lock of a SQLite file, by the system's own table of locks; it can't be asked of SQLite.

The file itself is not opened: where one process closes any descriptor of a file, all its locks on it are gone
(SQLite documentation, "How To Corrupt", section 2.2). May never happen: a lock of another file is taken for it.
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
    """The process that writes to a SQLite file in WAL mode now; None if nobody does, or nobody can tell.

    Linux only. Of a process in a container that isn't ours the system tells no pid.
    """
    try:
        inode, lines = os.stat(f"{path}-shm").st_ino, _TABLE.read_text().splitlines()
    except OSError:
        return None
    pids = [pid for line in lines if (pid := _writer(line, inode)) > 0]
    return processes.identify(pids[0]) if pids else None


def _writer(line: str, inode: int) -> int:
    """The pid that a line of the table tells of, if it tells of that lock; else 0. Source: proc_locks(5)."""
    fields = line.split()
    if len(fields) != 8:  # one with "->" only waits
        return 0
    _, kind, _, access, pid, file, first, _ = fields
    is_it = (kind, access, first) == ("POSIX", "WRITE", _WRITE_BYTE) and file.rpartition(":")[2] == str(inode)
    return int(pid) if is_it else 0
