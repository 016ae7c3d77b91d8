"""Takes a picture of a page without changing the page, and covers what must not be seen before the picture is saved.

A picture is optional, the verdict isn't: every failure ends as `NoPicture` with its reason, inside one deadline.
Chromium's own capture is tried first, then Playwright's; if both fail, there is no picture.
The areas to cover are located before the capture (see `screenshot_mask`) and painted over in memory. The page's state
is compared before and after; if the page moved meanwhile or doesn't answer, there is no picture. A frame that doesn't
answer is covered as a whole.

Not covered: text in images, and an undeclared secret that doesn't look like one.

`capture` must never raise, and a saved picture must never show an uncovered control, card number or known secret.
"""

from __future__ import annotations

import base64
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass as plain_dataclass
from dataclasses import field
from typing import Any

from playwright.sync_api import CDPSession, Error, Frame, Page
from pydantic.dataclasses import dataclass

from browser_agent.browser import image as pictures
from browser_agent.browser.deadline import DeadlinePassed, within
from browser_agent.browser.image import Box
from browser_agent.browser.screenshot_mask import MaskFindings, Rect, find
from browser_agent.errors import StoreUnusable
from browser_agent.secrets.scrubber import Scrubber
from browser_agent.secrets.secret_fields import SECRET_CONTROLS

_MARGIN = 3  # pixels around a box, because of antialiased edges
_MOST_TRIES = 3

# The page's state: a number that changes with its text and the positions of its fields, and the fields that may be
# seen, as rectangles in CSS pixels of the frame's own viewport.
_STANCE = """
([shown, never]) => {
  let print = 5381;
  const note = (text) => { for (let at = 0; at < text.length; at++) print = (print * 33 ^ text.charCodeAt(at)) | 0; };
  const box = (element) => {
    const r = element.getBoundingClientRect();
    return [r.left, r.top, r.right, r.bottom];
  };
  const boxes = [];
  const walk = (tree) => {
    note((tree.documentElement ?? tree).textContent ?? "");
    const fields = "input, textarea, select, output, canvas, video, iframe, [contenteditable]";
    for (const field of tree.querySelectorAll(fields)) note(box(field).join());
    for (const field of shown ? tree.querySelectorAll(shown) : [])
      if (!field.matches(never)) { boxes.push(box(field)); note(String(field.value ?? "")); }
    for (const element of tree.querySelectorAll("*")) if (element.shadowRoot) walk(element.shadowRoot);
  };
  walk(document);
  note([scrollX, scrollY].join());
  const inner = document.documentElement?.clientWidth ?? innerWidth;  // an answer that was cut off leaves no element
  return {print, boxes, inner, width: innerWidth, height: innerHeight, zoom: window.visualViewport?.scale ?? 1};
}
"""

# The positions of parts of texts. All text nodes with the same text have the same parts.
_PARTS = """
wanted => {
  const found = {};
  const walk = (tree) => {
    const texts = document.createTreeWalker(tree, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const parts = Object.hasOwn(wanted, node.data) ? wanted[node.data] : [];
      if (!parts.length) continue;
      const rects = parts.flatMap(([start, end]) => {
        const range = document.createRange();
        range.setStart(node, start);
        range.setEnd(node, end);
        return [...range.getClientRects()].map((r) => [r.left, r.top, r.right, r.bottom]);
      });
      if (rects.length) (found[node.data] ??= []).push(rects);
    }
    for (const element of tree.querySelectorAll("*")) if (element.shadowRoot) walk(element.shadowRoot);
  };
  walk(document);
  return found;
}
"""


@dataclass(frozen=True)
class Picture:
    """A saved picture. `digest` is the name that `save` returned; `how` says which capture took it."""

    digest: str
    webp: bytes = field(repr=False)
    width: int
    height: int
    how: str
    covered: int
    one_colour: bool


@dataclass(frozen=True)
class NoPicture:
    """Why there is no picture; never a reason to change a verdict. `unsaved` = it was taken, but can't be saved."""

    reason: str
    unsaved: bool = False


@dataclass(frozen=True)
class Places:
    """The areas that must not be seen, in CSS pixels of the page's viewport."""

    boxes: tuple[Rect, ...]
    width: float
    height: float
    zoom: float


@dataclass(frozen=True)
class Shot:
    """A raw picture, secrets included: it is held in memory only, until `develop` has covered them."""

    raw: bytes = field(repr=False)
    places: Places
    how: str


class Unsafe(Exception):
    """It can't be shown that the secrets would be covered."""


@plain_dataclass(frozen=True)
class MaskRules:
    """What pictures must not show: what the scrubber finds in a text, and every control except those in `shown`.

    `shown` = CSS selectors of fields that may be seen, such as `[name=amount]`.
    """

    scrubber: Scrubber = field(default_factory=Scrubber)
    shown: tuple[str, ...] = ()


def capture(
    page: Page, deadline_seconds: float, save: Callable[[bytes], str], mask_rules: MaskRules | None = None
) -> Picture | NoPicture:
    """Capture the page's viewport, cover what must not be seen, save it as WebP. Never raises.

    Args:
        page: the page, which isn't changed.
        deadline_seconds: the time limit for all calls to the page.
        save: stores the bytes and returns their name; if it raises, the error becomes the reason for `NoPicture`.
        mask_rules: what must not be seen.
    """
    taken = shoot(page, deadline_seconds, mask_rules)
    return taken if isinstance(taken, NoPicture) else develop(taken, save)


def shoot(page: Page, deadline_seconds: float, mask_rules: MaskRules | None = None) -> Shot | NoPicture:
    """The half of `capture` that needs the page and its thread. Never raises."""
    try:
        return _Camera(page, time.monotonic() + deadline_seconds, mask_rules or MaskRules()).shoot()
    except Exception as error:  # a browser can raise anything; a picture must not cost a gesture's settlement
        return NoPicture(_reason(error))


def develop(shot: Shot, save: Callable[[bytes], str]) -> Picture | NoPicture:
    """The other half: cover, encode, save. It needs no page, so any thread can run it. Never raises."""
    try:
        image = pictures.decode(shot.raw)
        boxes = _in_pixels(shot.places, image.width, image.height)
        covered = pictures.cover(image, boxes)
        webp = pictures.encode(covered)
        return Picture(
            digest=save(webp),
            webp=webp,
            width=image.width,
            height=image.height,
            how=shot.how,
            covered=len(boxes),
            one_colour=pictures.is_flat(covered),
        )
    except StoreUnusable as unusable:  # a full disk, a bucket that does not answer
        return NoPicture(str(unusable), unsaved=True)
    except Exception as error:  # as above
        return NoPicture(_reason(error))


class _Camera:
    """One picture being taken, inside one deadline."""

    def __init__(self, page: Page, deadline: float, mask_rules: MaskRules) -> None:
        self._page, self._deadline, self._mask_rules = page, deadline, mask_rules
        self._selectors = [", ".join(mask_rules.shown), SECRET_CONTROLS]

    def shoot(self) -> Shot:
        """Read the state and places, capture, read the state again: only an unmoved page is known to be covered."""
        session = within(self._left(), lambda: self._page.context.new_cdp_session(self._page))
        for _ in range(_MOST_TRIES):
            stance = self._stance()
            places, twice = self._places(session, stance)
            raw, how = self._take(session)
            still = self._stance() == stance
            if still and (not twice or self._places(session, stance)[0] == places):
                within(self._left(), session.detach)
                return Shot(raw, places, how)
        raise Unsafe("the page moved during the screenshot, so its secrets can't be masked")

    def _stance(self) -> dict[str, Any]:
        """The state of the page and of its frames; a frame that doesn't answer is represented by its rectangle."""
        stance = self._ask(self._page.main_frame)
        frames = [frame for frame in self._page.frames if frame is not self._page.main_frame]
        asked = [self._asked(frame) for frame in frames]
        return {**stance, "frames": [each for each in asked if each is not None]}

    def _asked(self, frame: Frame) -> Any:
        try:
            return self._ask(frame)["print"]
        except (Error, DeadlinePassed):
            return None if frame.is_detached() else self._around(frame)

    def _ask(self, frame: Frame) -> dict[str, Any]:
        return within(self._share(), lambda: frame.evaluate(_STANCE, self._selectors))

    def _around(self, frame: Frame) -> Rect:
        """The frame's rectangle in the page's viewport; an empty one if it isn't shown."""
        element = within(self._left(), frame.frame_element)
        box = within(self._left(), element.bounding_box)
        return (0, 0, 0, 0) if box is None else (box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"])

    def _places(self, session: CDPSession, stance: dict[str, Any]) -> tuple[Places, bool]:
        """The places to cover, and whether they must be read again after the capture."""
        styles = {"computedStyles": ["visibility"]}
        snapshot = within(self._share(), lambda: session.send("DOMSnapshot.captureSnapshot", styles))
        found = find(snapshot, self._mask_rules.scrubber, stance["inner"], [tuple(box) for box in stance["boxes"]])
        silent = [tuple(each) for each in stance["frames"] if not isinstance(each, int)]
        boxes = [*found.boxes, *self._parts(found), *silent]
        places = Places(tuple(boxes), stance["width"], stance["height"], stance["zoom"])
        return places, found.needs_recheck

    def _parts(self, found: MaskFindings) -> Iterator[Rect]:
        """The exact rectangles of parts of texts; where the page finds fewer texts than the layout, the whole texts."""
        if not found.texts:
            return
        exact: dict[str, list[list[Rect]]] = within(
            self._share(), lambda: self._page.main_frame.evaluate(_PARTS, found.texts)
        )
        for text, whole in found.whole.items():
            known = exact.get(text, [])
            chosen = known if len(known) >= len(whole) else whole.values()
            yield from ((left, top, right, bottom) for boxes in chosen for left, top, right, bottom in boxes)

    def _take(self, session: CDPSession) -> tuple[bytes, str]:
        """Chromium's own capture waits for neither web fonts nor scripts. PNG, as JPEG smears a secret past its box."""
        try:
            wanted = {"format": "png", "optimizeForSpeed": True}
            answer = within(self._share(), lambda: session.send("Page.captureScreenshot", wanted))
            return base64.b64decode(answer["data"]), "chromium"
        except (Error, DeadlinePassed):
            left = self._left()
            page = self._page
            raw = within(left, lambda: page.screenshot(timeout=left * 1000, animations="allow", caret="initial"))
            return raw, "playwright"

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise DeadlinePassed("the time limit of a screenshot was exceeded")
        return left

    def _share(self) -> float:
        """Half of the remaining time, so that the next attempt has a chance."""
        return self._left() / 2


def _in_pixels(places: Places, width: int, height: int) -> list[Box]:
    """Convert the page's CSS pixels to the picture's. Raises Unsafe if the two don't show the same area."""
    across, down = width / places.width, height / places.height
    if places.zoom != 1 or abs(across - down) > 0.02 * across:
        raise Unsafe("the picture doesn't show what the page's viewport is, so its secrets can't be masked")
    boxes = (
        Box(
            left=max(0, math.floor(left * across) - _MARGIN),
            top=max(0, math.floor(top * down) - _MARGIN),
            right=min(width, math.ceil(right * across) + _MARGIN),
            bottom=min(height, math.ceil(bottom * down) + _MARGIN),
        )
        for left, top, right, bottom in places.boxes
    )
    return [box for box in boxes if box.left < box.right and box.top < box.bottom]


def _reason(error: Exception) -> str:
    """The error's first line only: Playwright's call log below it quotes what was filled in."""
    first, _, _ = str(error).partition("\n")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
