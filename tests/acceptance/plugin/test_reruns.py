"""A test that is run again: the same run as long as its gesture is in doubt, a new one after it came to its end."""

from __future__ import annotations

from tests.fix_plugin import CONFTEST, Suite

TESTS = """
import pytest
from invoice import books, posting
from browser_agent import Click, ConfirmationText, Refused
from browser_agent.testing import Books

goes = []


@pytest.fixture(scope="module")
def site():
    with Books() as site:
        yield site


@pytest.fixture
def agent_site(site):
    books.bind(site.url)
    return books


def test_late(page, agent_run, agent_faults, site, told):
    goes.append("late")
    if goes == ["late"]:
        site.commit_late(3600, count=1)
    else:
        site.clock.advance(3600)
    told["goes"], told["invoices"] = goes.copy, lambda: [each.number for each in site.invoices]
    told["attempt"] = lambda: agent_run.attempt
    assert agent_run.make(posting(page, "S-1")) == "INV-1"


def test_ended(page, agent_run, site, told):
    goes.append("ended")
    number = agent_run.make(posting(page, f"E-{goes.count('ended')}"))
    told["attempt"], told["made"] = lambda: agent_run.attempt, lambda: number
    assert goes.count("ended") == 2, "fails at first, when its gesture is settled"


@pytest.mark.every_interruption(points=["paused"])
def test_refused(page, agent_run):
    nowhere = page.get_by_role("button", name="Nowhere")
    proof = [ConfirmationText("posted for (S-9)", key="S-9")]
    with pytest.raises(Refused):
        agent_run.make(Click(nowhere, intent="press what isn't there", proof=proof, timeout=0.5))
"""

UNGUARDED = """
@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    from browser_agent.browser.chromium import find_chromium
    return {**browser_type_launch_args, "executable_path": find_chromium()}
"""


def test_a_gesture_in_doubt_is_looked_for_and_not_made_again(suite: Suite) -> None:
    unguarded = CONFTEST.replace(', "browser_agent.testing.guarded"', "") + UNGUARDED
    suite.write(conftest=unguarded, test_it=TESTS)
    result = suite.run("--reruns=1", "-rs", "--agent-report=reports")
    result.assert_outcomes(passed=3, skipped=1)
    assert "2 rerun" in result.stdout.str()
    assert "never reached: after paused" in result.stdout.str()
    late, ended = suite.told["test_late[chromium]"], suite.told["test_ended[chromium]"]
    assert (late["goes"], late["invoices"], late["attempt"]) == (["late", "late"], ["INV-1"], 2)
    assert (ended["made"], ended["attempt"]) == ("INV-3", 1)
    assert any("-go-2" in path.name for path in (suite.folder / "reports").iterdir())
