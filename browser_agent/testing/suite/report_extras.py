"""What is attached to a test in pytest-html or Allure: its gestures' pictures and its runs' reports.

Neither needs to be installed.
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
class GesturePicture:
    """A picture of a gesture."""

    name: str
    content: bytes
    media_type: str

    @property
    def extension(self) -> str:
        """The extension of the picture's file."""
        return self.media_type.partition("/")[2]


def pictures_of(store: Path | str, runs: Iterable[str]) -> Iterator[GesturePicture]:
    """The pictures before and after each gesture of the runs."""
    with Store(store) as opened:
        for run in runs:
            for number, row in enumerate(opened.journal.gestures(run), start=1):
                for when, digest in (("before", row.before), ("after", row.after)):
                    try:
                        content, media_type = opened.artifacts.read(digest or "")
                    except (UnknownName, StoreUnusable):
                        continue
                    yield GesturePicture(f"{when} gesture {number}: {row.words}", content, media_type)


def html_is_written(config: pytest.Config) -> bool:
    """Whether pytest-html writes a report."""
    return bool(config.pluginmanager.hasplugin("html") and getattr(config.option, "htmlpath", None))


def extras(config: pytest.Config, found: Iterable[GesturePicture], reports: Sequence[Path]) -> list[Any]:
    """Links to the reports and the pictures, as extras of pytest-html."""
    import pytest_html  # type: ignore[import-untyped]

    html = Path(os.path.expandvars(config.option.htmlpath)).expanduser()
    page = Path(config.invocation_params.dir, html).parent
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


def attach_to_allure(found: Iterable[GesturePicture], reports: Sequence[Path]) -> None:
    """Attach the pictures and reports to Allure's current test."""
    import allure

    for report in reports:
        content = report.read_bytes()
        allure.attach(content, name="browser-agent report", attachment_type="text/html", extension="html")
    for shot in found:
        allure.attach(shot.content, name=shot.name, attachment_type=shot.media_type, extension=shot.extension)
