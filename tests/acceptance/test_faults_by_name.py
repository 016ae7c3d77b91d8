"""Real runs on sites behind TLS, each on a host of its own, whose answers and requests are lost by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser_agent.keeper.launch import submit
from browser_agent.script.task_file import load_task
from browser_agent.testing import Faults, serve
from fixtures.till.certificate import Certificate
from tests.fix_world import TASKS, World


@pytest.mark.parametrize(
    ("word", "outcomes"),
    [("lose_request", ["asked"]), ("lose_answer", ["happened"])],
)
def test_what_is_lost_on_the_way_to_a_site_behind_tls_is_never_made_twice(
    world: World, tmp_path: Path, word: str, outcomes: list[str]
) -> None:
    certificate = Certificate()
    (tmp_path / "authority.pem").write_bytes(certificate.authority_pem)
    tls = certificate.server_side("http/1.1")
    with serve(world.books.app, tls=tls) as books, serve(world.mail.app, tls=tls) as mail:
        task = load_task(f"{TASKS / 'posting.py'}:post_one")
        other = load_task(f"{TASKS / 'posting.py'}:send_one")
        sites = [*other.sites.values(), *task.sites.values()]
        sites[0].bind(url=mail.url)
        sites[1].bind(url=books.url.replace("127.0.0.1", "localhost"))
        with Faults(sites, ca_file=tmp_path / "authority.pem") as faults:
            getattr(faults, word)("POST /invoices", site="books")
            run = submit(world.store, task, {"reference": "R-1"}).id
            ended = world.keep(run)
    assert (ended.state, world.outcomes(run)) == ("finished" if outcomes == ["happened"] else "waiting", outcomes)
    made = 1 if word == "lose_answer" else 0  # the head of a 200 came in both cases, and speaks against an absence
    assert (len(world.invoices("R-1")), faults.untriggered, faults.bypasses) == (made, [], [])
