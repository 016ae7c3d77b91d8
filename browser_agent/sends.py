"""The commit request that a gesture declares, such as "POST /invoices/*", and whether a request is that one.

Knows nothing of gestures, pages or the wire. A pattern that isn't understood matches nothing, and is refused when the
gesture is made, so that no write passes for the declared one by a slip of the pen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from browser_agent.errors import WrongTask

_SENDS = re.compile(r"(?P<method>[A-Z]+) (?P<path>/\S*)")


def check_sends(sends: str) -> None:
    """Raise `WrongTask` unless `sends` is written as "METHOD /path", where `*` stands for any text within a segment
    and `**` for any text at all."""
    if _SENDS.fullmatch(sends) is None:
        raise WrongTask(f"sends={sends!r} isn't a request: write a method and a path, such as 'POST /invoices/*'.")


def is_among(write: str, patterns: Iterable[str]) -> bool:
    """Whether a write, such as "POST https://books.example/draft/7", matches one of the patterns."""
    method, _, address = write.partition(" ")
    return any(matches_request(pattern, method, address) for pattern in patterns)


def matches_request(sends: str, method: str, url: str) -> bool:
    """Whether a request is the declared one. The query counts only if `sends` names one.

    Args:
        sends: "METHOD /path" with `*` and `**`.
        method: the request's HTTP method.
        url: its absolute address.
    """
    declared = _SENDS.fullmatch(sends)
    if declared is None or method.upper() != declared["method"]:
        return False
    address = urlsplit(url)
    asked = unquote(address.path) or "/"
    if "?" in declared["path"]:
        asked += f"?{address.query}"
    pattern = re.escape(unquote(declared["path"])).replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
    return re.fullmatch(pattern, asked, re.DOTALL) is not None
