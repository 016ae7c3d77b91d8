"""What no guard prevents: a server that says that it did nothing is asked again by the browser, though it has done it.

HTTP/2's GOAWAY and REFUSED_STREAM, and 421. The network log shows the second request, the list counts the effects, and
a person is asked. Each beside a server that simply answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from browser_agent.errors import Misuse
from browser_agent.states import Answer, RunState
from fixtures.till.certificate import Certificate
from fixtures.till.till import Ending, Till
from tests.fix_matrix import chosen
from tests.fix_world import World


@pytest.fixture
def till(certificate: Certificate) -> Iterator[Till]:
    with Till(certificate, http2=True) as till:
        yield till


@pytest.mark.parametrize("ending", chosen("goaway", others=["answer", "refused_stream", 421]))
def test_an_order_that_the_browser_makes_twice_is_seen_counted_and_put_to_a_person(
    world: World, till: Till, certificate: Certificate, ending: Ending
) -> None:
    till.end(ending)
    run = world.submit("order_one", "ordering.py", till=till.url, item="T-1")
    ended = world.keep(run, chromium_arguments=(certificate.chromium_flag,))
    (gesture,) = world.store.journal.gestures(run)
    assert gesture.guarded
    if ending == "answer":
        assert (len(till.orders), ended.state, ended.result) == (1, RunState.FINISHED, '"1"')
        return
    assert len(till.orders) == 2, "the browser does not send it a second time any more"
    assert (ended.state, gesture.state, ended.attempts) == (RunState.WAITING, "asked", 1)
    question = world.store.inbox.question(ended.questions[0])
    told = " ".join(json.loads(question.reasons))
    assert "2" in told and "again by itself" in told
    assert question.words.startswith("This happened 2 times: ") and question.words.endswith(" Which one counts?")
    with pytest.raises(Misuse, match="can be answered with: abandon, happened"):
        world.answer(question.id, Answer.NOT_HAPPENED)
