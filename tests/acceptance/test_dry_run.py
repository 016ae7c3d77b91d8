"""`doctor FILE`: a task is checked at its site before its first run. The site's ledger says that nothing was made."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from browser_agent.settings_sources import STORE_VARIABLE
from tests.fix_misread import MisreadShop
from tests.fix_office import Office
from tests.fix_workers import DEADLINE_SECONDS
from tests.fix_world import TASKS


def checked(folder: Path, task: str, site: str, key: str) -> tuple[int, Any]:
    """How the command ended, and its result as data. It must have made no store."""
    store = folder / "runs.db"
    name = Path(task).stem
    command = [sys.executable, "-m", "browser_agent", "doctor", str(TASKS / task), f"key={key}", "--json"]
    said = subprocess.run(
        [*command, "--site", f"{'office' if name == 'filing' else name}={site}"],
        cwd=folder,
        env={**os.environ, STORE_VARIABLE: str(store)},
        capture_output=True,
        text=True,
        timeout=3 * DEADLINE_SECONDS,
        check=False,
    )
    assert said.stdout, said.stderr
    assert not store.exists()
    return said.returncode, json.loads(said.stdout)


def test_a_proof_that_can_work_is_told_with_what_its_list_shows(office: Office, tmp_path: Path) -> None:
    code, result = checked(tmp_path, "filing.py:deleting", office.url, "D-2")
    [step] = result["steps"]
    [observer] = step["observers"]
    facts = observer["lists"][0]["facts"]
    assert (code, result["well"], step["end"]) == (0, True, "looked")
    assert (step["sends"]["fit"], facts["columns"], facts["rows"]) == ("fits", ["Key", "Line"], 3)
    assert office.deleted == []


def test_a_control_that_sends_something_else_is_told(misread: MisreadShop, tmp_path: Path) -> None:
    code, result = checked(tmp_path, "misread.py:following", misread.url, "R-1")
    assert (code, result["steps"][0]["sends"]["fit"]) == (1, "differs")
    assert misread.ledger == []


def test_a_list_that_does_not_answer_is_told_with_its_status(misread: MisreadShop, tmp_path: Path) -> None:
    misread.list_status = 503
    code, result = checked(tmp_path, "misread.py:ordering", misread.url, "R-1")
    [step] = result["steps"]
    assert (code, step["well"]) == (1, False)
    assert "503" in " ".join(step["absence"])
    assert misread.ledger == []


def test_a_write_while_a_page_is_prepared_is_refused(misread: MisreadShop, tmp_path: Path) -> None:
    _, result = checked(tmp_path, "misread.py:hastening", misread.url, "R-1")
    assert result["steps"][0]["refused"] == [f"POST {misread.url}/orders"]
    assert misread.ledger == []


def test_a_step_that_needs_a_value_of_a_gesture_is_not_reached(misread: MisreadShop, tmp_path: Path) -> None:
    _, result = checked(tmp_path, "misread.py:chaining", misread.url, "R-1")
    assert [step["end"] for step in result["steps"]] == ["looked", "not_reached"]
    assert result["steps"][1]["needs"] == [result["steps"][0]["call"]]
    assert misread.ledger == []
