"""The witness: whether trusted input has reached the page since the witness was armed.

Listeners in the capture phase on the window of every frame record events, in shadow roots too. They change nothing and
stop nothing. The witness returns `None`, and the gesture stays in doubt, where it can't tell: a frame navigated, was
rewritten, added or removed, a page doesn't answer, or a page was opened meanwhile. Events that the driver makes by
script (a list, a file field) are not trusted, so it never sees them. Mouse moves don't count: Chromium makes them
itself when something moves under a resting mouse.
"""

from __future__ import annotations

from playwright.sync_api import Error, Frame, Page

from browser_agent.browser.deadline import DeadlinePassed, within

SECONDS = 3.0
# Arming twice adds the same listener, so it counts once. `heard` tells whether it still listens: a document that is
# rewritten loses its listeners, but not its globals (measured).
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
    """Records the trusted events of one page. The process attached to the page arms it again for each gesture."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._armed: list[Frame] = []
        self._pages: list[Page] = []

    def arm(self) -> None:
        """Begin to record, in every frame. If a frame doesn't answer, the witness stays unarmed."""
        self._armed, self._pages = [], list(self._page.context.pages)
        try:
            frames = list(self._page.frames)
            for frame in frames:
                within(SECONDS, lambda frame=frame: frame.evaluate(_ARM))  # type: ignore[misc]  # bound early on purpose
        except (Error, DeadlinePassed):
            return
        self._armed = frames

    def seen(self) -> bool | None:
        """Whether a trusted event has reached the page since `arm`; None if that can't be told."""
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
        """Whether the page answers a round trip: everything queued before it has then been processed."""
        try:
            return bool(within(SECONDS, lambda: self._page.evaluate("1")) == 1)
        except (Error, DeadlinePassed):
            return False
