"""The fixtures live in fix_*.py, one noun each."""

from pathlib import Path

from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester", *(f"tests.{path.stem}" for path in sorted(Path(__file__).parent.glob("fix_*.py")))]

# No test is timed: a machine that is busy with browsers proves nothing about a rule.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
