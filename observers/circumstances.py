"""The circumstances: what is known besides the observations when they are weighed. Passed in, never looked up."""

from datetime import datetime, timedelta

from .evidence import Frozen


class Circumstances(Frozen):
    """What is known besides the observations. Each default claims as little as possible.

    sender_dead: the gesture's worker, driver and browser ended and were confirmed dead.
    waited: time since they were confirmed dead.
    late_commit: the site's declared time within which a request under way takes effect; None = undeclared.
    spaced_looks_agree: two looks, spaced in time, said the same.
    guarded: the gate released the gesture's request once, on a fresh connection, and stood throughout.
    restarts: restarts of the request in the network log; None = not recorded.
    unanswered: the commit request wasn't released alone, or hasn't received all of an answer below 400.
    released_at: when the commit request was released.
    early: identities of what the page showed while the commit request was still unanswered: shown then, it was shown
        too early; None = nobody looked at that time.
    nothing_left: proven, at the gate or by write order, that nothing was sent and nothing can still be sent.
    window: for keys that aren't unique: the period in which the gesture can have taken effect; None = not known.
    key_used_otherwise: another gesture or call of ours may have used the same key.
    promises: each answer below 400 to the commit request, or to a write that isn't harmless, in words. They contradict
        an absence, unless a page shows the refusal.
    refusal_shown: a page has shown the refusal (`Observation.refusal`), now or in an earlier look.
    clock_jumped: the clock was set during the wait for a late effect, so the length of the wait is unknown.
    untried: kinds of the user's own observers that have never proven a presence at this site.
    earlier_may_be_late: an earlier gesture of the same step may still take effect; what is seen may be its effect.
    """

    sender_dead: bool = False
    waited: timedelta | None = None
    late_commit: timedelta | None = None
    spaced_looks_agree: bool = False
    guarded: bool = False
    restarts: int | None = None
    unanswered: bool = False
    released_at: datetime | None = None
    early: frozenset[str] | None = None
    nothing_left: bool = False
    window: tuple[datetime, datetime] | None = None
    key_used_otherwise: bool = True
    promises: tuple[str, ...] = ()
    refusal_shown: bool = False
    clock_jumped: bool = False
    untried: frozenset[str] = frozenset()
    earlier_may_be_late: bool = False

    @property
    def once_at_most(self) -> bool:
        """The browser can't have sent the gesture twice, so a confirmation may stand for a count."""
        return self.guarded and not self.restarts and not self.unanswered
