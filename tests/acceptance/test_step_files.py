"""A resume goes on with the very file that a finished step has made, or not at all."""

from pathlib import Path

from browser_agent.states import RunState
from tests.fix_world import World

TASK = """
from pathlib import Path
from playwright.sync_api import Page
from browser_agent import Run, Site, step, task

books = Site("books", url="http://127.0.0.1:1", account="acme")

@step(site=books)
def fetch(page: Page, to: str) -> Path:
    page.goto(books / "invoices")
    made = Path(to)
    made.write_text(page.title())
    return made

@task(sites=[books])
def fetch_and_read(run: Run, to: str, at: str) -> str:
    made = run.step(fetch(to))
    if not Path(at).exists():
        raise LookupError("not yet")
    return made.read_text()
"""


def test_an_altered_or_lost_file_stops_a_resume_until_it_is_put_back(world: World, tmp_path: Path) -> None:
    task, bill, gate = tmp_path / "fetching.py", tmp_path / "bill.txt", tmp_path / "gate"
    task.write_text(TASK)
    run = world.submit("fetch_and_read", task, to=str(bill), at=str(gate))
    assert "not yet" in world.keep(run).words
    gate.touch()
    content = bill.read_text()
    for spoil, told in ((lambda: bill.write_text("another"), "was altered"), (bill.unlink, "is gone")):
        spoil()
        ended = world.keep(run)
        assert (ended.state, f"FileChanged: The file {bill}" in ended.words) == (RunState.RAISED, True), ended
        assert told in ended.words and "put it back, and resume" in ended.words
    bill.write_text(content)
    ended = world.keep(run)
    assert (ended.state, ended.result) == (RunState.FINISHED, f'"{content}"'), ended
    opened = [asked.path for asked in world.books.ledger.requests if asked.path == "/invoices"]
    assert len(opened) == 1, "a finished step was run again"
