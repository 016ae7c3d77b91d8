"""`python -m tests.soak`: a soak of any size, and its tally; exit code 1 if anything was made twice, lost, or stuck."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tests.soak.count import show
from tests.soak.soaking import Plan, Soak


def main(
    *,
    runs: Annotated[int, typer.Option(help="How many runs.")] = Plan.runs,
    workers: Annotated[int, typer.Option(help="Worker processes.")] = Plan.workers,
    concurrency: Annotated[int, typer.Option(help="Runs that each of them keeps at once.")] = Plan.concurrency,
    seed: Annotated[int, typer.Option(help="Of every choice.")] = Plan.seed,
    strikes: Annotated[int, typer.Option(help="How many strikes at most.")] = Plan.strikes,
    calm: Annotated[float, typer.Option(help="Mean seconds between two of them.")] = Plan.calm_seconds,
    patience: Annotated[float, typer.Option(help="Seconds for what is left after the storm.")] = Plan.patience_seconds,
    folder: Annotated[Path | None, typer.Option(help="Where the store and the workers' output are kept.")] = None,
) -> None:
    """Many short runs, kept by worker processes while all around them is struck. Then the ledger is counted."""
    console = Console()
    plan = Plan(seed, runs, workers, concurrency, strikes, calm, patience_seconds=patience)
    with tempfile.TemporaryDirectory(prefix="soak-") as temporary, console.status("") as status:
        place = folder or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        tally = Soak(plan, place, status.update).go()
    show(tally, console)
    raise typer.Exit(0 if tally.clean else 1)


if __name__ == "__main__":
    typer.run(main)
