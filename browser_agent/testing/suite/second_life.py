"""How a test ends, once its function has returned or raised: as it stands, or by a second life after a cut.

Called by the plugin's hook. What may never happen: a test whose fault was never met passes; a cut counts as a failure,
or hides one.
"""

from __future__ import annotations

from typing import Any

import pytest

from browser_agent.errors import OutcomeUnknown, Stop, WaitingForPerson
from browser_agent.testing.suite.kill_points import in_words
from browser_agent.testing.suite.trial import Trial

NEVER_SWALLOWED = (KeyboardInterrupt, SystemExit, pytest.exit.Exception)
_ASK = (
    "An open run cannot prove an absence, since its browser is not ours to end. Let agent_task keep the work in a "
    "browser of its own, or say may_ask=True: then this stop counts as the honest end of the second life."
)


def settle(item: Any, trial: Trial, raised: BaseException | None) -> None:
    """End the test as it has to end.

    Args:
        item: the test.
        trial: its go.
        raised: what its function has raised; None if it has returned.

    Raises:
        BaseException: what the test is to end with.
    """
    if isinstance(raised, NEVER_SWALLOWED):
        raise raised
    if trial.run is not None and trial.run.is_cut:
        _begin_second_life(item, trial)
        return
    if trial.run is not None:
        trial.run.raised = raised
    if trial.second_life and isinstance(raised, OutcomeUnknown | WaitingForPerson):
        if not trial.may_ask:
            _tell(item, trial)
            pytest.fail(_asked(trial, raised), pytrace=False)
    elif raised is not None:
        _tell(item, trial)
        raise raised
    if not trial.second_life:  # the first call of this function has checked it
        check_met(trial)


def check_met(trial: Trial) -> None:
    """Nothing that was asked for may have been left out: skip a point that a gesture never came to, fail the rest."""
    kill = trial.kills.open
    if kill is not None and trial.crossing and len(trial.audit.outcomes) < kill.gesture:
        where = "" if trial.sites else " No site of this test is known: is its agent_site the one that it changes?"
        pytest.fail(f"There was no gesture {kill.gesture} to strike at, so this test has shown nothing.{where}", False)
    if kill is not None and trial.crossing:
        pytest.skip(f"never reached: {in_words(kill.point, kill.gesture)}; {_WHY}")
    unmet = [str(one) for one in trial.faults.untriggered] if trial.faults is not None else []
    if kill is not None:
        unmet.append(f"{trial.kills.unmet} ({_WHY})")
    if unmet:
        pytest.fail(f"The test has passed, and has shown nothing, for this was never met: {'; '.join(unmet)}.", False)


_WHY = "a gesture comes to paused, released and answered only when it sends something"


def _begin_second_life(item: Any, trial: Trial) -> None:
    """Call the test function again from its top, on a new page."""
    run = trial.run
    assert run is not None
    run.reopen()
    fresh = {"page": run.page, "context": run.page.context}
    item.funcargs.update({name: value for name, value in fresh.items() if name in item.funcargs})
    trial.second_life = True
    item.ihook.pytest_pyfunc_call(pyfuncitem=item)


def _tell(item: Any, trial: Trial) -> None:
    """Add to the test's report what its runs have done."""
    if lines := trial.audit.outcomes.told():
        item.add_report_section("call", "browser-agent", "\n".join(lines))


def _asked(trial: Trial, stop: Stop) -> str:
    words = [question.words for question in trial.audit.questions]
    return "\n".join(
        [f"The second life of this test ({trial.kills}) has stopped for a person.", str(stop), *words, _ASK]
    )
