"""How an extra of this package is installed, in one sentence for every message that asks for one.

Knows no extra by name. What may never happen: that a package index is asked for this one by its name, which is another
project's there.
"""

from __future__ import annotations


def installing(extra: str) -> str:
    """Where one gets an extra, and by which command; for the end of a sentence."""
    return f'in the checkout of browser-agent: pip install -e ".[{extra}]"'
