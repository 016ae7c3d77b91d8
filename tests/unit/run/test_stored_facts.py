"""Facts are stored with their step and raised again as they were."""

import pytest

from browser_agent.errors import Fact, NotHappened, Refused, Rejected
from browser_agent.run.stored_facts import causes, fact_from_json, fact_json

FACTS = [
    Refused("post an invoice", "The button was not ready."),
    Rejected("post an invoice", 422, ["The period is closed."], ["ab" * 32]),
    NotHappened("post an invoice", 2),
]


@pytest.mark.parametrize("raised", FACTS, ids=lambda raised: type(raised).__name__)
def test_a_fact_comes_back_as_it_was_raised(raised: Fact) -> None:
    again = fact_from_json(fact_json(raised))
    assert (type(again), str(again), vars(again)) == (type(raised), str(raised), vars(raised))


def test_a_wrapped_fact_is_found_among_the_causes() -> None:
    try:
        try:
            raise FACTS[1]
        except Rejected as no:
            raise RuntimeError("the period is closed") from no
    except RuntimeError as error:
        assert causes(error) == [error, FACTS[1]]
