"""The folder of reports: one HTML file for each run of a test, named after the test, and an index of all."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from urllib.parse import quote

from browser_agent.reporting.html_report import write_report
from browser_agent.store import Store
from browser_agent.store.address import located, shown

PROPERTY = "browser_agent"
"""The test report's property that holds a `ReportEntry`; it reaches xdist's controller, and JUnit files."""
LONGEST_NAME = 120
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.4rem .6rem;border-bottom:1px solid #8884;"
    "vertical-align:top}:root{color-scheme:light dark}td:first-child{overflow-wrap:anywhere}"
    ".asks td{background:#f5a62333}.asks td:nth-child(4){font-weight:bold}"
)


@dataclass
class ReportEntry:
    """One execution of a test that had a run."""

    test: str
    outcomes: Sequence[str]
    questions: int
    reports: Sequence[str] = ()
    ended: str = field(default="")

    def dump(self) -> str:
        """The entry as the text of a property."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> ReportEntry:
        """Parse an entry from the text of a property."""
        return cls(**json.loads(text))


def file_name(test: str, number: int = 1, execution: int = 1) -> str:
    """A safe and readable file name for the Nth report of a test, unique to the test and the execution."""
    short = re.sub(r"[^A-Za-z0-9_.]+", "-", test).strip("-.")[-LONGEST_NAME:].lstrip("-.")
    suffix = (f"-go-{execution}" if execution > 1 else "") + (f"-{number}" if number > 1 else "")
    return f"{short}-{hashlib.sha256(test.encode()).hexdigest()[:6]}{suffix}.html"


def write_reports(folder: Path, store: Path | str, test: str, runs: Iterable[str], execution: int = 1) -> list[Path]:
    """Write a report for each run of a test."""
    more = f"--store {shlex.quote(shown(located(store)))}"
    with Store(store) as opened:
        return [
            write_report(opened, run, folder / file_name(test, number, execution), more)
            for number, run in enumerate(runs, start=1)
        ]


def write_index(folder: Path, entries: Sequence[ReportEntry]) -> Path:
    """Write the index of a session's reports."""
    rows = "".join(_row(entry) for entry in entries)
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    html = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Runs of the tests</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><style>{_STYLE}</style></head><body>'
        f"<h1>Runs of the tests</h1><p>{len(entries)} tests had a run; written {datetime.now(UTC):%Y-%m-%d %H:%M} UTC."
        "</p><table><thead><tr><th>Test</th><th>Ended</th><th>Outcomes of its gestures</th><th>Open questions</th>"
        f"<th>Reports</th></tr></thead><tbody>{rows}</tbody></table></body></html>\n"
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.html"
    path.write_text(html, encoding="utf-8")
    return path


def _row(entry: ReportEntry) -> str:
    """A row of the table. Open questions stand out, and a test's name links to its first report."""
    name = _link(entry.reports[0], entry.test) if entry.reports else escape(entry.test)
    links = " ".join(_link(report, f"{number}") for number, report in enumerate(entry.reports, start=1))
    cells = (entry.ended, ", ".join(entry.outcomes) or "no gesture", f"{entry.questions}")
    row = "".join(f"<td>{cell}</td>" for cell in (name, *map(escape, cells), links))
    return f'<tr class="asks">{row}</tr>' if entry.questions else f"<tr>{row}</tr>"


def _link(report: str, words: str) -> str:
    return f'<a href="{quote(report)}">{escape(words)}</a>'
