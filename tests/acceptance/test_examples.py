"""The examples run as their README says: by its own commands, on practice sites, and the sites' ledgers are right.

Ports are the only thing that is changed, and QUESTION becomes the id of the question that waits. The suites lie in a
copy, beside a `conftest.py` that names this machine's Chromium: Playwright's own need not be here.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sysconfig
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from urllib.request import urlopen

import pytest

from browser_agent.browser.chromium import find_chromium
from browser_agent.store import Store
from tests.fix_sites import Visitor
from tests.support.free_port import free_port

ROOT = Path(__file__).parents[2]
README = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
DEADLINE_SECONDS = 900
WAITS = 3
"""The exit code of a run that waits for a person."""

CHROMIUM = f"""
import pytest

@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    return {{**browser_type_launch_args, "executable_path": {str(find_chromium())!r}}}
"""


def commands(heading: str) -> list[str]:
    """What the part of the README with that heading tells to run, in its order."""
    (part,) = re.findall(rf"^## `{re.escape(heading)}`.*?(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^```sh\n(.*?)^```", part, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


class Terminals:
    """Runs commands in a folder: what serves goes on until the test is over."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "runs.db"
        self._ports: dict[str, str] = {}
        self._serving: list[subprocess.Popen[str]] = []
        path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
        self._environment = os.environ | {"PATH": path, "BROWSER_AGENT_STORE": str(self.store)}

    def serve(self, command: str) -> None:
        """Start a site or a proxy; it is there when it has told its address."""
        started = subprocess.Popen(
            self._words(command), env=self._environment, cwd=self.folder, text=True, stdout=subprocess.PIPE
        )
        self._serving.append(started)
        assert started.stdout is not None and "http://" in started.stdout.readline(), command

    def run(self, command: str) -> tuple[int, str]:
        """Run a command to its end: its exit code, and what it said."""
        ended = subprocess.run(
            self._words(command),
            env=self._environment,
            cwd=self.folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=DEADLINE_SECONDS,
        )
        return ended.returncode, ended.stdout

    def effects(self, port: str) -> list[dict[str, str]]:
        """What was really done to the site that the README has at that port."""
        with urlopen(f"http://127.0.0.1:{self._ports[port]}/_truth") as answer:
            return [effect["values"] for effect in json.load(answer)["effects"]]

    def visitor(self, port: str) -> Visitor:
        """Somebody else at that site."""
        return Visitor(base_url=f"http://127.0.0.1:{self._ports[port]}")

    def close(self) -> None:
        """End what serves."""
        for each in self._serving:
            each.send_signal(signal.SIGTERM)
            each.communicate(timeout=DEADLINE_SECONDS)

    def _words(self, command: str) -> list[str]:
        here = self.ported(command)
        return shlex.split(here.replace("QUESTION", self._question()) if "QUESTION" in here else here)

    def ported(self, text: str) -> str:
        """The text with a free port in the place of each that the README and the examples name."""
        return re.sub(r"\b80\d\d\b", self._port_for, text)

    def _port_for(self, told: re.Match[str]) -> str:
        if told[0] not in self._ports:
            self._ports[told[0]] = str(free_port())
        return self._ports[told[0]]

    def _question(self) -> str:
        with Store(self.store) as store:
            (question,) = store.inbox.questions(open_only=True)
        return question.id


@pytest.fixture
def terminals(tmp_path: Path) -> Iterator[Terminals]:
    """A folder with a copy of the examples, and what runs in it."""
    leave_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=leave_out)
    (tmp_path / "examples" / "suite" / "conftest.py").write_text(CHROMIUM, encoding="utf-8")
    terminals = Terminals(tmp_path)
    for path in (tmp_path / "examples").glob("*.py"):
        path.write_text(terminals.ported(path.read_text(encoding="utf-8")), encoding="utf-8")
    yield terminals
    terminals.close()


def served(terminals: Terminals, heading: str) -> list[str]:
    """Start the sites of a part of the README; its other commands."""
    told = commands(heading)
    sites = [command for command in told if command.startswith("python -m browser_agent.testing ")]
    for command in sites:
        terminals.serve(command)
    return [command for command in told if command not in sites]


def run_all(terminals: Terminals, told: list[str], codes: list[int]) -> str:
    """Run commands one after the other; what they said. Each must end as it should before the next one is run."""
    said = ""
    for command, code in zip(told, codes, strict=True):
        ended, words = terminals.run(command)
        said += f"{command}\n{words}\n"
        assert ended == code, said
    return said


def suite_command(command: str, *more: str) -> str:
    """The command that runs a suite, with the plugin named where this checkout is newer than its installation."""
    known = entry_points(group="pytest11", name="browser-agent")
    return shlex.join([*shlex.split(command), *([] if known else ["-p", "browser_agent.pytest_plugin"]), *more])


def per_reference(effects: list[dict[str, str]], name: str = "reference") -> dict[str, int]:
    """How often the ledger has each reference."""
    return Counter(effect[name] for effect in effects)


@pytest.mark.matrix  # the demo runs this task each time
def test_the_invoices_are_posted_and_mailed_once_a_person_has_approved(terminals: Terminals) -> None:
    start, approve = served(terminals, "invoices.py")
    run_all(terminals, [f"{start} --kill-at answered:2", approve], [WAITS, 0])
    invoices, mails = terminals.effects("8001"), terminals.effects("8002")
    assert per_reference(invoices) == {"S-101": 1, "S-102": 1, "S-103": 1}
    assert len({mail["to"] for mail in mails}) == len(mails) == len(invoices)


@pytest.mark.matrix  # the tests of the shop and of the status words have its parts
def test_an_order_is_found_on_a_list_of_several_pages_and_not_placed_again(terminals: Terminals) -> None:
    told = served(terminals, "shop_order.py")
    others = [f"other {number}" for number in range(21)]
    with terminals.visitor("8003") as visitor:
        for other in others:
            visitor.submit("/orders/new", "/orders", article="A-20", quantity="1", reference=other)
    said = run_all(terminals, told, [0, 0])
    assert "The browser is killed as asked" in said
    assert "known by: the status of shop/orders with Reference = R-18" in said
    assert per_reference(terminals.effects("8003")) == dict.fromkeys([*others, "R-17", "R-18"], 1)


def test_a_price_is_raised_once_after_a_yes_and_taken_back_to_the_cent(terminals: Terminals) -> None:
    told = served(terminals, "price_change.py")
    said = run_all(terminals, told, [WAITS, 0, 0, WAITS, 0])
    assert "The worker is killed as asked" in said
    changes = [(each["remark"], each["before"], each["after"]) for each in terminals.effects("8004")]
    assert changes == [("autumn", "110.00", "121.00"), ("autumn, taken back", "121.00", "110.00")]


@pytest.mark.matrix  # with the one after it
def test_the_suite_before_makes_two_invoices_of_one_order_and_is_green(terminals: Terminals) -> None:
    before, _ = served(terminals, "suite/")
    said = run_all(terminals, [suite_command(before)], [0])
    assert re.search(r"2 passed,.* 1 rerun in", said), said
    assert sorted(per_reference(terminals.effects("8005")).values()) == [1, 2]


@pytest.mark.matrix  # the suite of the page about testing is run each time
def test_the_suite_after_makes_one_invoice_of_each_order_on_the_same_road(terminals: Terminals) -> None:
    _, after = served(terminals, "suite/")
    said = run_all(terminals, [suite_command(after, "-k", "not whatever or released")], [0])
    assert re.search(r"4 passed, \d+ deselected.* in", said) and "rerun in" not in said, said
    assert list(per_reference(terminals.effects("8007")).values()) == [1] * 4


@pytest.mark.parametrize("file", ["invoices.py", "shop_order.py", "price_change.py"])
def test_what_a_file_says_of_itself_is_what_the_readme_runs(file: str) -> None:
    text = (ROOT / "examples" / file).read_text(encoding="utf-8").partition('"""\n\n')[0]
    told = re.findall(r"^ *((?:python -m|browser-agent) .*)$", text, re.MULTILINE)
    assert told and set(told) <= set(commands(file))
