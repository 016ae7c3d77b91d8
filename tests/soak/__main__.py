"""`python -m tests.soak`: a soak of any size, and its tally; exit code 1 if anything was made twice, lost, or stuck."""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tests.soak.homes import Kind
from tests.soak.show import show
from tests.soak.soaking import Plan, soak

SECONDS_BETWEEN_LINES = 30.0


def main(
    *,
    runs: Annotated[int, typer.Option(help="How many runs, at all sites in turn.")] = Plan.runs,
    in_round: Annotated[int, typer.Option(help="How many of them share a store and sites.")] = Plan.in_round,
    home: Annotated[list[Kind] | None, typer.Option(help="Where the stores are; both in turn by default.")] = None,
    workers: Annotated[int, typer.Option(help="Worker processes.")] = Plan.workers,
    concurrency: Annotated[int, typer.Option(help="Runs that each of them keeps at once.")] = Plan.concurrency,
    seed: Annotated[int, typer.Option(help="Of every choice.")] = Plan.seed,
    strikes: Annotated[int, typer.Option(help="How many strikes at most in a round.")] = Plan.strikes,
    for_each: Annotated[float, typer.Option(help="Strikes for each run that ends.")] = Plan.for_each,
    only: Annotated[list[str] | None, typer.Option(help="A kind of strike that is wanted; all by default.")] = None,
    calm: Annotated[float, typer.Option(help="Mean seconds between two strikes.")] = Plan.calm_seconds,
    patience: Annotated[float, typer.Option(help="Seconds for what is left after a storm.")] = Plan.patience_seconds,
    folder: Annotated[Path | None, typer.Option(help="Kept; the same command goes on with the next round.")] = None,
) -> None:
    """Many short runs, kept by worker processes while all around them is struck. Then the ledgers are counted."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # nothing that was started outlasts it
    console = Console(highlight=False)
    plan = Plan(
        seed,
        runs,
        in_round,
        tuple(home or Kind),
        workers,
        concurrency,
        strikes,
        for_each,
        tuple(only or ()),
        calm,
        patience_seconds=patience,
    )
    kept: AbstractContextManager[Path | str] = (
        nullcontext(folder) if folder else tempfile.TemporaryDirectory(prefix="soak-")
    )
    with kept as place, console.status("") as status:
        tally = soak(plan, Path(place), status.update if console.is_terminal else _now_and_then())
    show(tally, console)
    raise typer.Exit(0 if tally.clean else 1)


def _now_and_then() -> Callable[[str], None]:
    """Prints a line if the last one was long ago, or if a round has ended."""
    last = 0.0

    def tell(line: str) -> None:
        nonlocal last
        if time.monotonic() - last > SECONDS_BETWEEN_LINES or line.startswith("round "):
            print(time.strftime("%H:%M:%S"), line, flush=True)
            last = time.monotonic()

    return tell


if __name__ == "__main__":
    typer.run(main)
