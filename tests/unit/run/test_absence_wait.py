"""How long recovery waits before a look may prove an absence."""

from datetime import UTC, datetime, timedelta

import pytest

from browser_agent.run.look import Case
from observers import ConfirmationText, Record, Site

DEAD = datetime(2026, 11, 30, tzinfo=UTC)
LATE, LAG = timedelta(seconds=2), timedelta(days=1)


@pytest.mark.parametrize(("complete", "waits"), [(True, LATE + LAG), (False, LATE)])
def test_a_list_that_lags_is_waited_for_only_if_it_could_prove_an_absence(complete: bool, waits: timedelta) -> None:
    bank = Site("bank", url="http://127.0.0.1:1", account="acme", late_commit=LATE)
    bookings = Record(bank, "bookings", key={"Remark": "R-1"}, complete=complete, staleness=LAG)
    case = Case("g-1", "transfer", (ConfirmationText("accepted"), bookings), (), bank, dead_at=DEAD)
    assert case.safe_from == DEAD + waits
