"""Runs that Temporal hands out: real dev server, real workers, and the fixture site's own ledger as the judge."""

from __future__ import annotations

from tests.fix_temporal import Engine


def test_an_undisturbed_run_makes_one_invoice(engine: Engine) -> None:
    engine.browsers()
    row = engine.submit("post_one", "reference=S-1", key=f"{engine.queue}-one")
    ended = engine.result(row.key or "")
    assert (ended.run, ended.state) == (row.id, "finished")
    assert len(engine.world.invoices("S-1")) == 1
    assert engine.world.outcomes(row.id) == ["happened"]
