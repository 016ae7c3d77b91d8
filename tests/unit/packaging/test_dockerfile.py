"""What the Dockerfile names is there: its files, its command, its settings. It is read here, not built."""

from __future__ import annotations

import json
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

from browser_agent import settings_sources, support
from browser_agent.cli.browser_checks import FONTS
from browser_agent.cli.shared_libraries import PACKAGES

ROOT = Path(settings_sources.__file__).parents[1]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
LINES = [line for line in re.sub(r"\\\n", " ", TEXT).splitlines() if line and not line.startswith("#")]


def said(word: str) -> list[str]:
    """What stands after a word of the Dockerfile, line by line."""
    return [line.removeprefix(f"{word} ").strip() for line in LINES if line.startswith(f"{word} ")]


def test_it_copies_what_is_there_and_nothing_keeps_that_out() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split("\n")
    let_in = {line[1:] for line in ignored if line.startswith("!")}
    sources = [source for line in said("COPY") for source in line.split()[:-1]]
    assert {"browser_agent", "fixtures", "observers", "pyproject.toml"} <= set(sources)
    for source in sources:
        assert (ROOT / source).exists(), source
        assert source in let_in, source
    kept_out = [line for line in ignored if line and line != "*" and not line.startswith(("!", "#"))]
    assert not [source for source in sources if any(fnmatch(source, line) for line in kept_out)]


def test_the_package_that_it_installs_needs_no_other_file() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    sources = {source for line in said("COPY") for source in line.split()[:-1]}
    assert {*project["project"].get("readme", "").split(), *project["project"]["license-files"]} <= sources
    assert set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) <= sources


def test_it_starts_the_command_under_an_init_and_not_as_root() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (start,) = said("ENTRYPOINT")
    init, _, command = json.loads(start)
    assert command in project["scripts"]
    (packages,) = [line for line in said("RUN") if "apt-get install" in line]
    assert {init, "chromium", "tzdata", PACKAGES["libatomic.so.1"], *FONTS} <= set(packages.split())
    assert "--no-install-recommends" in packages
    assert said("USER") == ["agent"]
    assert LINES.index("USER agent") > max(index for index, line in enumerate(LINES) if line.startswith("RUN "))


def test_its_settings_are_settings_and_its_store_and_key_lie_in_the_volume() -> None:
    (variables,) = said("ENV")
    named = dict(pair.split("=", 1) for pair in variables.split())
    configuration = Path(named.pop("XDG_CONFIG_HOME"))
    words = {name.removeprefix(settings_sources.PREFIX).lower(): value for name, value in named.items()}
    found = settings_sources.resolve(
        Path("/nowhere"), {name: value for name, value in words.items() if name != "chromium"}
    )
    assert found.settings.chromium_arguments == ("--no-sandbox",)
    assert said("VOLUME") == [str(Path(words["store"]).parent)] == [str(configuration.parent)]


def test_its_python_was_tried() -> None:
    (base,) = said("FROM")
    assert support.PYTHON.warning(base.partition(":")[2].partition("-")[0]) == ""
