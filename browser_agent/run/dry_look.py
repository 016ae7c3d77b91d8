"""The look before one gesture of a dry run: what its control, its page and its observers show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from browser_agent.errors import ProofTooThin, Refused
from browser_agent.run import contradictions
from browser_agent.run.baseline import look_until_readable
from browser_agent.run.commit_request import Fit, SendCheck, check_sends
from browser_agent.run.dry_attempt import DryAttempt
from browser_agent.run.look import Case, observe, untried
from browser_agent.run.proof_check import ObserverCheck, Obstacle, check_proof, nearest, obstacles, site_on_your_word
from browser_agent.run.sign_in import SignedOut, check_baseline, signed_out_sites
from browser_agent.run.step_check import StepCheck, StepEnd
from browser_agent.script.gestures import Gesture
from observers import Observation, Observer, Site, already_there

_NOBODY_COUNTS = "no observer of this proof counts, such as a Record: that none sees the effect proves nothing"


@dataclass(frozen=True)
class DryLook:
    """The look before one gesture, which isn't made.

    Args:
        attempt: the attempt.
        gesture: the gesture, on a page that is prepared for it.
        site: its site.
        proven_kinds: the kinds of observers that have proven a presence at the site of a name.
        login_words: what to do about the login page of a site, in words.
    """

    attempt: DryAttempt
    gesture: Gesture[Any]
    site: Site | None
    proven_kinds: Callable[[str | None], frozenset[str]]
    login_words: Callable[[Site], str]

    def check(self, blank: StepCheck, again: Callable[[Site], Gesture[Any] | None]) -> StepCheck:
        """Look, and complete what is known of the step.

        Args:
            blank: what is known of it before.
            again: signs in at a site and prepares the page once more; None if that can't be.
        """
        gesture = self.gesture
        if gesture.sends is not None:
            self.attempt.refuse_commit(gesture.sends)
        try:
            seen = look_until_readable(self.attempt, partial(self._observe, signed_in=True))
        except SignedOut as ended:
            if (prepared := again(ended.site)) is not None:
                return replace(self, gesture=prepared)._checked(blank)
        else:
            return self._checked(blank, seen)
        return self._checked(blank)

    def _observe(self, *, signed_in: bool) -> tuple[Observation, ...]:
        seen = observe(self.attempt, self.gesture.proof)
        if signed_in:
            check_baseline(self.attempt, self.gesture.proof, seen)
        return seen

    def _checked(self, blank: StepCheck, seen: tuple[Observation, ...] | None = None) -> StepCheck:
        gesture, proof = self.gesture, self.gesture.proof
        seen = seen or self._observe(signed_in=False)
        case = Case("", gesture.intent, proof, seen, self.site, gesture.sends)
        checks = check_proof(proof, seen, case.late_commit, untried(proof, self.site, self.proven_kinds))
        sends = check_sends(gesture)
        signed_out = [(Obstacle.LOGIN_PAGE, self.login_words(each)) for each in signed_out_sites(proof, seen)]
        return replace(
            blank,
            end=StepEnd.LOOKED,
            intent=gesture.intent,
            sends=sends,
            observers=checks,
            there=tuple(match.identity for match in already_there(seen, proof)),
            obstacles=(*self._of_gesture(sends), *signed_out, *obstacles(seen)),
            presence=nearest([check.presence for check in checks]),
            absence=_absence(checks),
            contradicted=contradictions.before(proof, seen, self.site, gesture.sends),
            on_your_word=dict(self._on_your_word(sends, proof)),
        )

    def _of_gesture(self, sends: SendCheck) -> Iterator[tuple[Obstacle, str]]:
        try:
            self.gesture.check()
        except ProofTooThin as thin:
            yield Obstacle.THIN_PROOF, str(thin)
        try:
            self.gesture.wait_actionable(self.gesture.timeout_or(self.attempt.options.gesture_timeout) * 1000)
        except Refused as refused:
            yield Obstacle.CONTROL, refused.because
        if sends.fit is Fit.DIFFERS:
            yield Obstacle.OTHER_REQUEST, f"sends= declares {sends.declared}, and the control sends {sends.found}"

    def _on_your_word(self, sends: SendCheck, proof: Sequence[Observer]) -> Iterator[tuple[str, str]]:
        if sends.fit is Fit.UNSEEN:
            yield "sends", f"{sends.declared}: a script of the page sends it, so no look can show it"
        sites = dict.fromkeys(site for site in (self.site, *(watch.site for watch in proof)) if site is not None)
        for site in sites:
            for name, words in site_on_your_word(site).items():
                yield f"{name} of {site}", words


def _absence(checks: Sequence[ObserverCheck]) -> tuple[str, ...]:
    counting = [check.absence for check in checks if check.counts]
    return nearest(counting) if counting else (_NOBODY_COUNTS,)
