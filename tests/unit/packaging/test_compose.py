"""The compose file of the documentation names what exists. It is only read: nothing starts it, without Docker."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from typer.testing import CliRunner

from browser_agent import settings_sources
from browser_agent.cli import app
from tests.unit.packaging.test_dockerfile import ROOT, said

FILE = ROOT / "docs" / "compose.yaml"
TEXT = FILE.read_text(encoding="utf-8")
SERVICES: dict[str, Any] = yaml.safe_load(TEXT)["services"]
AGENTS = {name: service for name, service in SERVICES.items() if "build" in service}
BY_HAND = [line.split("run --rm workflows ")[1].split() for line in TEXT.splitlines() if " run --rm workflows " in line]


def test_it_has_workers_and_all_that_they_share() -> None:
    assert set(AGENTS) == {"browsers", "workflows"}
    assert set(SERVICES) - set(AGENTS) == {"postgres", "temporal", "s3"}
    assert all(":" in service["image"] for name, service in SERVICES.items() if name not in AGENTS)  # none is "latest"


@pytest.mark.parametrize("words", [*(agent["command"] for agent in AGENTS.values()), *BY_HAND], ids=" ".join)
def test_each_command_of_ours_is_one_with_these_flags(words: list[str]) -> None:
    names = words[:2] if words[0] in {"temporal", "audit"} else words[:1]
    helped = CliRunner().invoke(app, [*names, "--help"], prog_name="browser-agent")
    assert helped.exit_code == 0, helped.output
    command: Any = typer.main.get_command(app)
    for name in names:
        command = command.commands[name]
    known = {flag for parameter in command.loaded.params for flag in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_its_settings_are_settings_and_hold_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    for agent in AGENTS.values():
        named = {
            name: value for name, value in agent["environment"].items() if name.startswith(settings_sources.PREFIX)
        }
        assert re.fullmatch(r"\$\{\w+:-\}", named.pop("BROWSER_AGENT_KEY"))
        words = {name.removeprefix(settings_sources.PREFIX).lower(): value for name, value in named.items()}
        found = settings_sources.resolve(Path("/nowhere"), words).settings
        assert found.evidence == "s3://pictures/browser-agent" and found.temporal_address == "temporal:7233"
    secrets = [value for name, value in _environment() if re.search("PASSWORD|SECRET|PWD|KEY$", name)]
    assert len(secrets) >= 5 and all(value.startswith("${") for value in secrets)


def _environment() -> list[tuple[str, str]]:
    return [pair for service in SERVICES.values() for pair in service.get("environment", {}).items()]


def test_what_it_reaches_by_name_is_a_service_and_what_it_mounts_is_a_volume() -> None:
    hosts = {host for _, value in _environment() for host in re.findall(r"(?:@|//)([a-z]\w*):\d", value)}
    assert hosts == {"postgres", "s3"}
    assert {name for service in SERVICES.values() for name in service.get("depends_on", {})} <= set(SERVICES)
    volumes = [volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", ())]
    named = {volume for volume in volumes if not volume.startswith("$")}
    assert named == set(yaml.safe_load(TEXT)["volumes"])


def test_its_image_is_ours_with_the_extras_that_it_needs() -> None:
    (extras,) = {agent["build"]["args"]["EXTRAS"] for agent in AGENTS.values()}
    assert extras == "[postgres,s3,temporal]" and said("ARG") == ['EXTRAS=""']
    assert any(line.endswith('".${EXTRAS}"') for line in said("RUN"))
