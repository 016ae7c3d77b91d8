"""The fixtures live in fix_*.py, one noun each."""

import os
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = [
    "pytester",
    "tests.support.process_marks",
    "tests.support.processor_time",
    "tests.support.reaper",
    *(f"tests.{path.stem}" for path in sorted(Path(__file__).parent.glob("fix_*.py"))),
]

_CONFIGURATIONS = count()

# No test is timed: a machine that is busy with browsers proves nothing about a rule.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_configure(config: pytest.Config) -> None:
    """Let Playwright's drivers, of which every run starts two, find their own code compiled."""
    os.environ.setdefault("NODE_COMPILE_CACHE", str(config.rootpath / ".pytest_cache" / "node"))


@pytest.fixture(autouse=True)
def own_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Each test begins without a key, and a command that makes one never writes it into the real home."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / f"config-{next(_CONFIGURATIONS)}"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """-n auto: half as many processes again as there are cores, since a test that kills something waits for a third of
    its time. -n logical: as many as there are cores, for tests that never wait."""
    cores = os.cpu_count() or 1
    return cores if config.option.numprocesses == "logical" else cores * 3 // 2
