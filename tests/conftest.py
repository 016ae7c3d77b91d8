"""The fixtures live in fix_*.py, one noun each."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester", *(f"tests.{path.stem}" for path in sorted(Path(__file__).parent.glob("fix_*.py")))]

# No test is timed: a machine that is busy with browsers proves nothing about a rule.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Half as many processes again as there are cores: a test that kills something waits for a third of its time."""
    return (os.cpu_count() or 1) * 3 // 2
