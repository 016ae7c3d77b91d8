"""The circumstances: what is known beside the observations when they are weighed. Told, never looked up."""

from datetime import datetime, timedelta

from .evidence import Frozen


class Circumstances(Frozen):
    """What is known beside the observations. The defaults are the least that can be known.

    sender_dead: worker, driver and browser of the gesture ended and seen dead.
    waited: time since that death was seen.
    late_commit: the site's declared time for a request that is under way; None = undeclared.
    spaced_looks_agree: two looks, spaced in time, said the same.
    guarded: the gesture's request was let out once, on a fresh connection, by a gate that lived throughout.
    restarts: restarts of the request in the network log; None = not recorded.
    unanswered: the commit request was not let out alone, or all of an answer below 400 hasn't come to it.
    released_at: when the commit request was let out.
    early: identities of what stood on the page while the commit request was still unanswered: a page that says so then
        says it too early; None = nobody looked at that time.
    nothing_left: proven at the gate, or by write order, that nothing was sent and nothing can be any more.
    window: for keys that aren't unique: from when to when the gesture can have taken effect; None = not known.
    key_used_otherwise: another gesture or call of ours may have used the same key.
    promises: each answer below 400 to the commit request, or to a write that isn't harmless, in words. They speak
        against an absence, unless a page shows the refusal.
    refusal_shown: a page has shown the refusal (`Observation.refusal`), now or in an earlier look.
    clock_jumped: the clock was set while a late effect was waited for, so nobody knows how long that was.
    untried: kinds of the user's own observers that have never proven a presence at this site.
    earlier_may_be_late: an earlier gesture of the same step may still take effect: what is seen may be its effect.
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
        """The gesture can't have been sent twice by the browser: a confirmation may stand for a count."""
        return self.guarded and not self.restarts and not self.unanswered
