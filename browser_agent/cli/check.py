"""One check of `doctor`: what was checked, what was found, and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from pydantic.dataclasses import dataclass


@dataclass(frozen=True)
class Probe:
    """One check of `doctor`.

    Args:
        what: what was checked.
        found: what was found.
        to_do: what to do about it; "" = it passed.
        warning: worth knowing, but not a failure.
    """

    what: str
    found: str
    to_do: str = ""
    warning: str = ""

    @property
    def well(self) -> bool:
        return not self.to_do


def as_lines(checks: Sequence[Probe]) -> str:
    """One line for each check, followed by a line that says what to do, if there is something."""
    wide = max(len(check.what) for check in checks)
    return "\n".join(
        f"{_mark(check)} {check.what:{wide}}  {check.found}"
        + (f"\n    {'':{wide}}  -> {check.to_do or check.warning}" if check.to_do or check.warning else "")
        for check in checks
    )


def _mark(check: Probe) -> str:
    if not check.well:
        return "NO "
    return "?  " if check.warning else "ok "


def as_json(checks: Sequence[Probe]) -> str:
    """The checks as a JSON list of {"what", "found", "to_do", "warning", "well"}."""
    return json.dumps([{**asdict(check), "well": check.well} for check in checks], indent=2)
