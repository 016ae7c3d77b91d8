"""How a test ends after its function has returned or raised: in the same way, or with a second call after a cut.

A planned kill or fault that never happened fails the test. A cut is no failure, and hides none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from browser_agent.errors import OutcomeUnknown, Stop, WaitingForPerson
from browser_agent.testing.suite.kill_points import in_words
from browser_agent.testing.suite.trial import Trial

if TYPE_CHECKING:
    from browser_agent.testing.suite.agent_faults import AgentFaults
    from browser_agent.testing.suite.agent_run import AgentRun

NEVER_SWALLOWED = (KeyboardInterrupt, SystemExit, pytest.exit.Exception)
_ASK = (
    "An open run cannot prove an absence, since its browser is not ours to end. Let agent_task run the work in a "
    "browser of its own, or say may_ask=True: then a question is an acceptable end of the second call."
)
_WHY = "a gesture reaches paused, released and answered only when it sends something"


def settle(
    item: Any, trial: Trial, run: AgentRun | None, faults: AgentFaults | None, raised: BaseException | None
) -> None:
    """End the test.

    Args:
        item: the test.
        trial: its execution.
        run: its open run, if it has one.
        faults: its faults, if it has some.
        raised: what its function raised; None = it returned.

    Raises:
        BaseException: what the test function raised, or the test's failure or skip.
    """
    if isinstance(raised, NEVER_SWALLOWED):
        raise raised
    if run is not None and run.is_cut:
        _call_again(item, trial, run)
        return
    if run is not None:
        run.raised = raised
    if trial.second_call and isinstance(raised, OutcomeUnknown | WaitingForPerson):
        if not trial.may_ask:
            _add_section(item, trial)
            pytest.fail(_asked(trial, raised), pytrace=False)
    elif raised is not None:
        _add_section(item, trial)
        raise raised
    if not trial.second_call:  # the first call of this function has checked it
        check_triggered(trial, faults)


def check_triggered(trial: Trial, faults: AgentFaults | None) -> None:
    """Fail if something planned never happened; skip if a crossing's gesture never reached its point."""
    kill = trial.kills.pending
    if kill is not None and trial.crossing and len(trial.audit.outcomes) < kill.gesture:
        where = "" if trial.sites else " No site of this test is known: is its agent_site the one that it changes?"
        pytest.fail(f"There was no gesture {kill.gesture} to kill at, so this test has shown nothing.{where}", False)
    if kill is not None and trial.crossing:
        pytest.skip(f"never reached: {in_words(kill.point, kill.gesture)}; {_WHY}")
    missing = [str(one) for one in faults.untriggered] if faults is not None else []
    if kill is not None:
        missing.append(f"{trial.kills} ({_WHY})")
    if missing:
        pytest.fail(f"The test passed but has shown nothing, since this never happened: {'; '.join(missing)}.", False)


def _call_again(item: Any, trial: Trial, run: AgentRun) -> None:
    """Call the test function again from its top, with a new page."""
    run.reopen()
    fresh = {"page": run.page, "context": run.page.context}
    item.funcargs.update({name: value for name, value in fresh.items() if name in item.funcargs})
    trial.second_call = True
    item.ihook.pytest_pyfunc_call(pyfuncitem=item)


def _add_section(item: Any, trial: Trial) -> None:
    """Add a section to the test's report that says what its runs have done."""
    if lines := trial.audit.outcomes.lines():
        item.add_report_section("call", "browser-agent", "\n".join(lines))


def _asked(trial: Trial, stop: Stop) -> str:
    words = [question.words for question in trial.audit.questions]
    return "\n".join([f"The second call of this test ({trial.kills}) stopped for a person.", str(stop), *words, _ASK])
