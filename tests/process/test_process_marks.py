"""A test without a mark starts no process: it fails, even if the code under test hides the error."""

from __future__ import annotations

import pytest

TESTS = """
import multiprocessing, os, subprocess, sys
import pytest

def act():
    pass

def test_open():
    subprocess.run(["true"])

def test_hidden():
    try:
        subprocess.run(["true"])
    except BaseException:
        pass

def test_fork():
    if not os.fork():
        os._exit(0)

def test_multiprocessing():
    process = multiprocessing.get_context("spawn").Process(target=act)
    process.start()
    process.join()

@pytest.fixture
def program():
    return subprocess.run(["true"])

def test_setup(program):
    pass

@pytest.mark.process
def test_marked():
    subprocess.run(["true"])

@pytest.mark.parametrize("home", ["sqlite", "postgres"])
def test_home(home):
    subprocess.run(["true"])

@pytest.fixture
def temporal_server():
    subprocess.run(["true"])

def test_server(temporal_server):
    pass

def test_none():
    pass
"""


@pytest.fixture
def guarded(pytester: pytest.Pytester) -> pytest.RunResult:
    pytester.makepyfile(TESTS)
    pytester.makeini("[pytest]")
    return pytester.runpytest_subprocess("-p", "tests.support.process_marks", "-p", "no:browser-agent", "-rA")


def test_a_test_without_a_mark_that_starts_a_process_fails(guarded: pytest.RunResult) -> None:
    guarded.assert_outcomes(passed=4, failed=5, errors=1)
    for name in ("test_open", "test_hidden", "test_fork", "test_multiprocessing", "test_home[[]sqlite[]]"):
        guarded.stdout.fnmatch_lines(f"FAILED *::{name}*")
    for name in ("test_marked", "test_home[[]postgres[]]", "test_server", "test_none"):
        guarded.stdout.fnmatch_lines(f"PASSED *::{name}")
    guarded.stdout.fnmatch_lines("ERROR *::test_setup*")
