"""The catalogue of faults names all that there is: a fault that nobody can find is not used."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from browser_agent import testing
from browser_agent.testing import Bank, Board, Books, Faults, Mail, Seller, Shop, Wizard, practice
from browser_agent.testing.command import parser
from browser_agent.testing.faults import NAMES as FAULT_NAMES
from browser_agent.testing.proxy.fault_kinds import NAMES
from browser_agent.testing.sites.site import FixtureSite

README = (Path(testing.__file__).parents[2] / "fixtures" / "README.md").read_text(encoding="utf-8")
CATALOGUE = README[README.index("## The catalogue of faults") :]
SITES: tuple[type[FixtureSite], ...] = (Books, Mail, Shop, Seller, Bank, Wizard, Board)
NO_FAULTS = {"accept", "commit_at_once"}
"""What ends a fault."""


def rows() -> dict[str, list[str]]:
    """The catalogue's rows by each name in their first cell."""
    lines = [line.strip("|").split("|") for line in CATALOGUE.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line] for line in lines]
    return {name: row for row in cells if len(row) == 5 for name in re.findall(r"`(?:\?\w+=)?(\w+)", row[0])}


@pytest.mark.parametrize("fault", NAMES)
def test_every_fault_of_the_road_is_in_the_catalogue(fault: str) -> None:
    assert all(rows()[fault][:4])


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_every_switch_of_a_site_is_in_the_catalogue(site: type[FixtureSite]) -> None:
    missing = (site.plain | site.called) - NO_FAULTS - set(rows())
    assert missing == set()


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_every_site_has_its_section_with_its_pages_and_its_ledger(site: type[FixtureSite]) -> None:
    section = re.search(rf"^### {site.title} \(`\w+`\).*?(?=^### |^## )", README, re.DOTALL | re.MULTILINE)
    assert section, f"no section of {site.title}"
    assert "Ledger: " in section[0] and "Records: " in section[0]
    for address, _ in site.menu:
        assert re.search(rf"`GET {re.escape(re.sub(r'/1$', '', address))}", section[0]), address


@pytest.mark.parametrize("word", FAULT_NAMES)
def test_every_word_is_in_the_table_with_its_own_options_and_what_it_lays(word: str) -> None:
    table = README[README.index("## Faults by name") : README.index("### What a site of your own needs")]
    row = next(line for line in table.splitlines() if line.startswith(f"| `{word}("))
    lay = getattr(Faults, word)
    own = set(inspect.signature(lay).parameters) - {"self", "pattern", "site", "times", "after"}
    assert own == set(re.findall(r"(\w+)=", row.split("|")[1])) - {"after"}
    laid = set(re.findall(r"`(\w+)`", row.split("|")[4]))
    assert laid and laid <= set(NAMES)
    assert laid == {name for name in NAMES if f'"{name}"' in inspect.getsource(lay)} - {word} | laid & {word}


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_every_site_is_a_fixture_that_is_told_of(site: type[FixtureSite]) -> None:
    fixture = f"practice_{site.name}"
    assert f"`{fixture}`" in README
    assert "fresh for this test" in (getattr(practice, fixture).__doc__ or "")


@pytest.mark.parametrize("name", [*(site.name for site in SITES), "proxy"])
def test_the_command_tells_of_every_site_and_of_the_proxy(name: str) -> None:
    assert re.search(rf"^    {name} +\w", parser().format_help(), re.MULTILINE)


def test_the_command_tells_of_every_fault(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["proxy", "--help"])
    told = capsys.readouterr().out
    assert re.findall(r"^  (\w+) +.*; the site: \w", told, re.MULTILINE) == list(NAMES)
    assert "https://staging.example" in told


def test_without_a_name_all_sites_are_served() -> None:
    with subprocess.Popen([sys.executable, "-m", "browser_agent.testing"], stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout
        told = dict(served.stdout.readline().strip().split(": ") for _ in SITES)
        pages = {name: httpx.get(url, follow_redirects=True).text for name, url in told.items()}
        served.terminate()
        assert served.wait(10) == 0
    assert list(pages) == [site.name for site in SITES]
    assert all(f"- {site.title}</title>" in pages[site.name] for site in SITES)
