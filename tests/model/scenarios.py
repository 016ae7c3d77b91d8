"""The small worlds that are explored. Each has one kind of trouble beside the ordinary ones, so that it stays small."""

from __future__ import annotations

from tests.model.pages import Scenario

_P = frozenset

CRASH = Scenario("a crash anywhere", _P({"lost", "never"}), crashes=1)
LAG = Scenario("a list that lags as it declares", _P({"lost"}), stale=2)
LAG_CRASH = Scenario("a lagging list and a crash", _P({"never"}), stale=1, crashes=1)
REFUSAL = Scenario("a no, before and after a commit", _P({"never", "no", "unreached"}), crashes=1)
LAG_REFUSAL = Scenario("a no after a commit, and a list that lags", _P({"never", "no"}), stale=1)
UNDECLARED_TIME = Scenario("late_commit isn't declared, and a person overrides", _P({"override"}), late=False)
UNSENT = Scenario("an input that sends nothing, or late", _P({"unsent"}), crashes=1)
GET_LINK = Scenario("a GET is the commit", _P({"never"}), via="get", crashes=1)
UNDECLARED_WRITE = Scenario("a write to another site beside", _P({"never", "no"}), via="undeclared")
TEXT = Scenario("a text alone", _P({"never", "lost", "no"}), proof="text")
OPTIMISTIC = Scenario("an optimistic page, and a list", _P({"never", "lost", "optimistic"}), proof="both")
SENT_AGAIN = Scenario("a browser that sends again", _P({"no", "sent again", "blind"}), proof="both")
ACCEPTED = Scenario("accepted, and carried out later", _P({"never", "accepted"}), proof="both")
SHORT = Scenario("a list with fewer rows", _P({"lost", "short"}))
FOREIGN = Scenario("another account's list", _P({"lost", "foreign"}))
BARE = Scenario("an empty list that isn't loaded", _P({"lost", "bare"}), rows=0)
YESTERDAY = Scenario("a list of yesterday", _P({"never", "yesterday"}))
FAILED_ROW = Scenario("a failed payment that is an order", _P({"failed row", "lost"}))
FLAKY = Scenario("a list that is empty once", _P({"flaky"}), crashes=1)
OWN = Scenario("an observer of the user's own", _P({"never", "lost"}), proof="own")
SHARED = Scenario("a key that others have too", _P({"by hand", "blind"}), proof="shared")
BY_HAND = Scenario("a person makes it by hand", _P({"by hand"}))
BLIND = Scenario("a list that can't be read at times", _P({"blind", "never"}))
CLOCK = Scenario("a clock that is set", _P({"clock"}), crashes=1)
TWO_PEOPLE = Scenario("a person makes it by hand, and another says not happened", _P({"by hand", "blind"}))

SCENARIOS = [value for value in globals().values() if isinstance(value, Scenario)]

GAPS = [
    Scenario("a clock that is set while no worker runs", _P({"clock, unseen"}), crashes=1),
    Scenario("an optimistic page, and no list", _P({"never", "optimistic"}), proof="text"),
]
"""What the rules don't cover yet: each comes to a verdict that the world contradicts, or to a second gesture."""
