"""The three measurements. No limits and no verdicts: a number is only worth something beside its neighbour."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import invoices
from browser_agent.browser.chromium import Chromium
from browser_agent.keeper.keeper import keep
from browser_agent.options import Event, KillAt, Options
from browser_agent.script.arguments import dump_arguments, parse_arguments
from browser_agent.script.task_file import load_task
from browser_agent.states import Point, RunState
from browser_agent.store import Store
from browser_agent.testing.sites.books import Books
from observers import open_view


@dataclass(frozen=True)
class Raw:
    """Milliseconds of plain Playwright: a whole step (open, fill, click, read the confirmation), its click, a look."""

    step: float
    click: float
    look: float


@dataclass
class Watch:
    """When each event of a kept run was told, in seconds of one clock."""

    events: list[tuple[float, Event]] = field(default_factory=list)

    def tell(self, event: Event) -> None:
        """Note an event."""
        self.events.append((time.perf_counter(), event))

    def at(self, kind: str) -> list[float]:
        """When the events of that kind were told."""
        return [moment for moment, event in self.events if event.kind == kind]

    def between(self, kind: str, other: str) -> list[float]:
        """Milliseconds from each event of one kind to the next one of the other."""
        return [1000 * (min(t for t in self.at(other) if t > since) - since) for since in self.at(kind)]


def raw(folder: Path, books: Books, times: int) -> Raw:
    """Post `times` invoices by plain Playwright, and look at the list as often."""
    invoices.books.bind(books.url, books.account)
    with _page(folder / "raw") as (browser, page):
        posted = [_post(page, f"P-{number}") for number in range(times)]
        looks = [_look(browser, page) for _ in range(times)]
    return Raw(median(step for step, _ in posted), median(click for _, click in posted), median(looks))


def guarded(folder: Path, books: Books, times: int) -> Watch:
    """Post `times` invoices as a run, and say when what was told."""
    return _kept(folder / "guarded.db", books, times, Options())


def taken_over(folder: Path, books: Books) -> tuple[float, float]:
    """End a worker just after its write was let go.

    Returns:
        Milliseconds from its death being seen until the next worker looks, and until the doubt is settled.
    """
    watch = _kept(folder / "taken-over.db", books, 1, Options(kill_at=KillAt(Point.RELEASED)))
    return watch.between("worker_died", "in_doubt")[0], watch.between("worker_died", "settled")[0]


def _kept(path: Path, books: Books, times: int, options: Options) -> Watch:
    watch = Watch()
    task = load_task(f"{invoices.__file__}:post_all")
    with Store(path) as store:
        run = store.leases.submit(
            task_file=str(task.file),
            task_name=task.name,
            arguments=dump_arguments(task, parse_arguments(task, {"times": str(times)})),
            sites=json.dumps({"books": {"url": books.url, "account": books.account}}),
        )
        ended = keep(store, run.id, options, watch.tell)
    if ended.state is not RunState.FINISHED:
        raise RuntimeError(f"The measured run has not finished: {ended.state}: {ended.words}")
    return watch


@contextmanager
def _page(profile: Path) -> Iterator[tuple[Browser, Page]]:
    chromium = Chromium.start(profile)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.connect_over_cdp(chromium.endpoint)
            yield browser, browser.contexts[0].new_page()
    finally:
        chromium.end()


def _post(page: Page, reference: str) -> tuple[float, float]:
    began = time.perf_counter()
    invoices.fill(page, reference)
    clicked = time.perf_counter()
    page.get_by_role("button", name="Post").click()
    page.get_by_text(f"posted for {reference}").wait_for()
    seen = time.perf_counter()
    return 1000 * (seen - began), 1000 * (seen - clicked)


def _look(browser: Browser, page: Page) -> float:
    began = time.perf_counter()
    with open_view(browser, page) as view:
        invoices.record("P-0").observe(view)
    return 1000 * (time.perf_counter() - began)
