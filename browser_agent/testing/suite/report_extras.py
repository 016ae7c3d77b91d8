"""What a test's report in pytest-html or Allure is given: the pictures of its gestures, and the report of its runs.

Neither need be installed. Must not know pages. May never happen: a report that cannot be attached fails a test.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from browser_agent.errors import StoreUnusable, UnknownName
from browser_agent.store import Store


@dataclass(frozen=True)
class Shot:
    """A picture of a gesture."""

    name: str
    content: bytes
    media_type: str

    @property
    def extension(self) -> str:
        """Of a file that holds it."""
        return self.media_type.partition("/")[2]


def shots(store: Path | str, runs: Iterable[str]) -> Iterator[Shot]:
    """The pictures before and after each gesture of the runs."""
    with Store(store) as opened:
        for run in runs:
            for number, row in enumerate(opened.journal.gestures(run), start=1):
                for when, digest in (("before", row.before), ("after", row.after)):
                    try:
                        content, media_type = opened.artifacts.read(digest or "")
                    except (UnknownName, StoreUnusable):
                        continue
                    yield Shot(f"{when} gesture {number}: {row.words}", content, media_type)


def html_is_written(config: pytest.Config) -> bool:
    """Whether pytest-html writes a report."""
    return bool(config.pluginmanager.hasplugin("html") and getattr(config.option, "htmlpath", None))


def extras(config: pytest.Config, found: Iterable[Shot], reports: Sequence[Path]) -> list[Any]:
    """The same as extras of pytest-html: links to the reports, and the pictures."""
    import pytest_html  # type: ignore[import-untyped]

    told = Path(os.path.expandvars(config.option.htmlpath)).expanduser()
    page = Path(config.invocation_params.dir, told).parent
    links = [
        pytest_html.extras.url(quote(Path(os.path.relpath(report, page)).as_posix()), name="browser-agent report")
        for report in reports
    ]
    pictures = [
        pytest_html.extras.image(
            base64.b64encode(shot.content).decode(), shot.name, mime_type=shot.media_type, extension=shot.extension
        )
        for shot in found
    ]
    return links + pictures


def allure_is_written(config: pytest.Config) -> bool:
    """Whether Allure collects results."""
    return bool(config.pluginmanager.hasplugin("allure_pytest") and config.getoption("allure_report_dir", default=None))


def give_allure(found: Iterable[Shot], reports: Sequence[Path]) -> None:
    """Attach them to the test that Allure is at."""
    import allure

    for report in reports:
        content = report.read_bytes()
        allure.attach(content, name="browser-agent report", attachment_type="text/html", extension="html")
    for shot in found:
        allure.attach(shot.content, name=shot.name, attachment_type=shot.media_type, extension=shot.extension)
