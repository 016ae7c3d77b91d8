"""`python -m benchmarks`: what a guarded, journalled gesture costs beside a raw click on the same page.

With `guard`: what the gate alone costs, without a run and its journal. Prints a small table, or one JSON document with
`--json`. With `temporal`: a browser worker that is killed, beside a plain Temporal activity. With `takeover`: how long
after the death of a keeper the next one looks, on one host, on two, and under Temporal. Nothing is asserted about time.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from benchmarks.guard import Guarding, guarding
from benchmarks.measures import guarded, raw, taken_over
from browser_agent.testing.sites.books import Books

ONCE = ("temporal", "takeover")
"""What is done only once."""


def measure(times: int) -> dict[str, float]:
    """All of it, in milliseconds (medians) and ratios."""
    with tempfile.TemporaryDirectory(prefix="browser-agent-benchmarks-") as name, Books() as books:
        folder = Path(name)
        plain = raw(folder, books, times)
        watch = guarded(folder, books, times)
        with Books() as others:  # the same references again would be a question, not a measurement
            looks, settled = taken_over(folder, others)
    gesture = median(watch.between("dispatching", "settled"))
    ends = watch.at("step")
    step = median(1000 * (end - begin) for begin, end in pairwise(ends))
    return {
        "raw_click_ms": plain.click,
        "guarded_gesture_ms": gesture,
        "gesture_ratio": gesture / plain.click,
        "raw_step_ms": plain.step,
        "guarded_step_ms": step,
        "step_ratio": step / plain.step,
        "look_ms": plain.look,
        "takeover_until_it_looks_ms": looks,
        "takeover_until_settled_ms": settled,
        "takeover_ratio": settled / step,
    }


def table(found: dict[str, float]) -> Table:
    """What was measured, for people."""
    shown = Table("", "raw", "guarded", "ratio")
    shown.add_row(
        "click until it is proven",
        f"{found['raw_click_ms']:.0f} ms",
        f"{found['guarded_gesture_ms']:.0f} ms",
        f"{found['gesture_ratio']:.1f}",
    )
    shown.add_row(
        "whole step: open, fill, click, proof",
        f"{found['raw_step_ms']:.0f} ms",
        f"{found['guarded_step_ms']:.0f} ms",
        f"{found['step_ratio']:.1f}",
    )
    shown.add_row("one look at a list", "", f"{found['look_ms']:.0f} ms", "")
    shown.add_row("worker killed until the next one looks", "", f"{found['takeover_until_it_looks_ms']:.0f} ms", "")
    shown.add_row(
        "worker killed until the doubt is settled, in steps",
        "",
        f"{found['takeover_until_settled_ms']:.0f} ms",
        f"{found['takeover_ratio']:.1f}",
    )
    return shown


def guard_table(found: Guarding) -> Table:
    """What the gate costs, for people."""
    shown = Table("", "times as long")
    shown.add_row("click, beside one in a browser that nobody holds", f"{found.click_ratio:.2f}")
    shown.add_row("the same with arming and opening the gate", f"{found.gesture_ratio:.2f}")
    shown.add_row(f"page with {found.pictures} pictures, gate open", f"{found.open_page_ratio:.2f}")
    shown.add_row(f"page with {found.pictures} pictures, gate armed", f"{found.armed_page_ratio:.2f}")
    return shown


def measured(what: str, times: int) -> tuple[dict[str, float], Table]:
    """What is asked for: the numbers, and the table of them."""
    match what:
        case "guard":
            of_guard = guarding(times)
            return asdict(of_guard), guard_table(of_guard)
        case "temporal" | "takeover":
            module = importlib.import_module(f"benchmarks.{what}")  # needs the extra
            with tempfile.TemporaryDirectory(prefix="browser-agent-benchmarks-") as name:
                of_deaths = module.taken_over(Path(name))
            return asdict(of_deaths), module.table(of_deaths)
        case _:
            found = measure(times)
            return found, table(found)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "what",
        nargs="?",
        choices=["run", "guard", *ONCE],
        default="run",
        help="a whole run, the gate alone, a death under Temporal, or deaths on one host, on two, and under Temporal",
    )
    parser.add_argument("--times", type=int, default=8, help="how often each thing is done (2 at least)")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of the table")
    asked = parser.parse_args(arguments)
    found, shown = measured(asked.what, max(2, asked.times))
    if asked.json:
        print(json.dumps({name: round(value, 2) for name, value in found.items()}, indent=2))
        return
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    console = Console(highlight=False)
    console.print(shown)
    often = "Once" if asked.what in ONCE else f"Medians of {asked.times}"
    console.print(f"{often}; {os.cpu_count()} cores, load {load}. Only the ratios mean something.")


if __name__ == "__main__":
    main()
