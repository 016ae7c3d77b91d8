"""What a folder's file says reaches the page of a real run, and a person who is told of its question."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import browser_agent
from browser_agent.testing.sites.books import Books
from tests.fix_world import TASKS

ROOT = Path(browser_agent.__file__).parents[1]
NOTE = "import sys; open('told.jsonl', 'a').write(sys.stdin.read() + '\\n')"
SETTINGS = f"""
store = "runs.db"
locale = "de-DE"
time_zone = "Asia/Tokyo"
viewport = "900x700"
page_timeout = 1.5
on_question = [{json.dumps(sys.executable)}, "-c", {json.dumps(NOTE)}]
log_file = "run.log"
log_format = "json"

[sites.books]
url = "ADDRESS"
"""


def command(folder: Path, *words: str) -> tuple[int, dict[str, object]]:
    """Run the installed command line in that folder; its exit code and document."""
    environment = {name: value for name, value in os.environ.items() if name != "BROWSER_AGENT_STORE"}
    ended = subprocess.run(
        [sys.executable, "-m", "browser_agent", *words, "--json"],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return ended.returncode, json.loads(ended.stdout)


def test_the_file_of_a_folder_reaches_the_page_and_a_person_once(tmp_path: Path) -> None:
    with Books() as books:
        (tmp_path / "browser-agent.toml").write_text(SETTINGS.replace("ADDRESS", books.url))
        code, first = command(tmp_path, "run", str(TASKS / "appearing.py"), "reference=SECRET-1")
        assert code == 3
        code, again = command(tmp_path, "resume", "last")
        assert (code, again["run"]) == (3, first["run"])
        (told,) = map(json.loads, (tmp_path / "told.jsonl").read_text().splitlines())
        assert (told["run"], told["words"]) == (first["run"], "Post this?")
        refuse = ("refuse", told["question"], "--by", "ann", "--reason", "not wanted")
        code, ended = command(tmp_path, *refuse)
        assert (code, books.invoices) == (0, [])
    seen = {
        **{"language": "de-DE", "number": "1.234,5", "zone": "Asia/Tokyo", "width": 900, "height": 700},
        "gave_up": "Locator.wait_for: Timeout 1500ms exceeded.",
    }
    document = ended["ended"]
    assert isinstance(document, dict)
    assert (document["result"], document["refused_calls"]) == (seen, 1)
    log = (tmp_path / "run.log").read_text()
    assert "SECRET-1" not in log
    lines = [json.loads(line) for line in log.splitlines()]
    assert {line["run"] for line in lines} == {first["run"]}
    assert ("step", "look_at_itself") in {(line["kind"], line.get("step")) for line in lines}
    assert [line["question"] for line in lines if line["kind"] == "question"] == [told["question"]] * 2
