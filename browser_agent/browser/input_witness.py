"""The witness: what trusted input reached the page since it was armed.

Listeners in the capture phase on the window of every frame count events; they change nothing and stop nothing, and
see what happens in shadow roots too. What it can't vouch for makes it say nothing (`None`), and the gesture stays in
doubt: a frame that navigated, was written anew, was added or taken away, a page that does not answer, a page that was
opened meanwhile. Events that the driver makes by script (a list, a file field) are not trusted: it never sees them.
Moves of the mouse don't count: Chromium makes them by itself when something moves under a mouse that rests.
"""

from __future__ import annotations

from playwright.sync_api import Error, Frame, Page

from browser_agent.browser.deadline import DeadlinePassed, within

SECONDS = 3.0
# Arming again is the same listener again, so it counts once. `heard` tells whether it still listens: a document that
# is written anew loses its listeners, but not its globals (measured).
_ARM = """() => {
  const key = Symbol.for('browser-agent witness');
  const kept = globalThis[key] ??= {note: (event) => {
    if (event.isTrusted) kept.seen.push(event.type); else if (event.type === 'browser-agent') kept.heard = true;
  }};
  kept.seen = [];
  for (const kind of ['browser-agent', 'pointerdown', 'pointerup', 'mousedown', 'mouseup', 'click', 'keydown', 'keyup',
                      'touchstart', 'touchend', 'beforeinput', 'input', 'change', 'submit'])
    globalThis.addEventListener(kind, kept.note, true);
}"""
_READ = """() => {
  const kept = globalThis[Symbol.for('browser-agent witness')];
  if (!kept) return null;
  kept.heard = false;
  globalThis.dispatchEvent(new Event('browser-agent'));
  return kept.heard ? kept.seen : null;
}"""


class Witness:
    """Counts trusted events of one page. Armed anew for each gesture, by whoever is attached then."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._armed: list[Frame] = []
        self._pages: list[Page] = []

    def arm(self) -> None:
        """Begin to count, in every frame. One that does not answer leaves the witness unarmed."""
        self._armed, self._pages = [], list(self._page.context.pages)
        try:
            frames = list(self._page.frames)
            for frame in frames:
                within(SECONDS, lambda frame=frame: frame.evaluate(_ARM))  # type: ignore[misc]  # bound early on purpose
        except (Error, DeadlinePassed):
            return
        self._armed = frames

    def seen(self) -> bool | None:
        """Whether a trusted event reached the page since `arm`; None if that cannot be said."""
        seen: list[str] = []
        for frame in self._armed:
            try:
                said = within(SECONDS, lambda frame=frame: frame.evaluate(_READ))  # type: ignore[misc]
            except (Error, DeadlinePassed):
                return None
            if said is None:
                return None
            seen += said
        if seen:
            return True
        same = self._armed == self._page.frames and all(page in self._pages for page in self._page.context.pages)
        return False if same and self._armed else None

    def answers(self) -> bool:
        """Whether a round trip to the page is answered: everything that was queued before it has been worked off."""
        try:
            return bool(within(SECONDS, lambda: self._page.evaluate("1")) == 1)
        except (Error, DeadlinePassed):
            return False
