"""Whether what is found where a store is to be is one, may become one, or is another program's.

Knows names of tables, and no database. What may never happen: tables of ours among those of a program that doesn't
expect them, or our version in its version table.
"""

from __future__ import annotations

from collections.abc import Collection

from browser_agent.errors import StoreUnusable
from browser_agent.store.records import RunRow

VERSION = "alembic_version"
"""Other programs that use alembic have it too."""
NAMES = frozenset(RunRow.metadata.tables)
_CORE = frozenset({"run", "gesture", "audit"})
"""What every store has had since the first schema."""


def refuse_foreign(shown: str, tables: Collection[str], in_the_way: Collection[str], advice: str = "") -> None:
    """Refuse what is no store and can't become one.

    Args:
        shown: where it is, in words.
        tables: the tables that are there.
        in_the_way: those of them beside which a store can't be made.
        advice: what to do instead.

    Raises:
        StoreUnusable: another program's.
    """
    if in_the_way and not _CORE.issubset(tables):
        raise StoreUnusable(f"{shown} holds tables of another program; not a store. Nothing was changed.{advice}")
