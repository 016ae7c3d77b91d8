"""The witness: what trusted input reached the page since it was armed.

Listeners in the capture phase on the window of every frame count events; they change nothing and stop nothing. A frame
that navigated away has lost its count, and then the witness can say nothing (`None`): the gesture stays in doubt.
"""

from __future__ import annotations

from playwright.sync_api import Error, Page

from browser_agent.browser.deadline import DeadlinePassed, within

SECONDS = 3.0
_ARM = """() => {
  const key = Symbol.for('browser-agent witness');
  if (globalThis[key]) { globalThis[key].seen = []; return true; }
  const kept = globalThis[key] = {seen: []};
  for (const kind of ['pointerdown', 'mousedown', 'click', 'keydown', 'touchstart', 'input', 'change', 'submit'])
    globalThis.addEventListener(kind, (event) => { if (event.isTrusted) kept.seen.push(kind); }, true);
  return true;
}"""
_READ = "() => globalThis[Symbol.for('browser-agent witness')]?.seen ?? null"


class Witness:
    """Counts trusted events of one page."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def arm(self) -> None:
        """Begin to count, in every frame that answers."""
        for frame in self._page.frames:
            try:
                within(SECONDS, lambda frame=frame: frame.evaluate(_ARM))  # type: ignore[misc]  # bound early on purpose
            except (Error, DeadlinePassed):
                continue  # a frame that does not answer now will not answer `seen` either: None

    def seen(self) -> bool | None:
        """Whether a trusted event reached the page since `arm`; None if a frame cannot say."""
        seen: list[str] = []
        for frame in self._page.frames:
            try:
                said = within(SECONDS, lambda frame=frame: frame.evaluate(_READ))  # type: ignore[misc]
            except (Error, DeadlinePassed):
                return None
            if said is None:
                return None
            seen += said
        return bool(seen)

    def answers(self) -> bool:
        """Whether a round trip to the page is answered: everything that was queued before it has been worked off."""
        try:
            return bool(within(SECONDS, lambda: self._page.evaluate("1")) == 1)
        except (Error, DeadlinePassed):
            return False
