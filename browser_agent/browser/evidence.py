"""A picture of a page, taken without touching the page, with its secrets covered before anything is kept.

A picture is optional, the verdict isn't: every way of failing ends as `NoPicture` with its reason, inside one deadline.
The ladder: Chromium's own capture, then Playwright's, then no picture.
The page isn't changed for it. Where the secret fields stand is read before and after the capture and painted over in
memory; a field that can't be placed covers its whole frame, and if the page can't tell at all there is no picture.

Not covered: a secret that the page shows as plain text, and fields in a closed shadow root of a plain element.

What may never happen: an exception out of `capture`; an uncovered password, card or one-time code handed to `keep`.
"""

from __future__ import annotations

import base64
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, TypeVar

from playwright.sync_api import Error, Frame, Page
from pydantic.dataclasses import dataclass

from browser_agent.browser import pictures
from browser_agent.browser.deadline import DeadlinePassed, within
from browser_agent.browser.pictures import Box

T = TypeVar("T")

SECRET_FIELDS = (
    "input[type=password]",
    "[autocomplete*='password' i]",
    "[autocomplete*='cc-' i]",
    "[autocomplete*='one-time-code' i]",
    # A field whose password is shown is a text field; its name still says what it is.
    *(
        f"input[{attribute}*='{word}' i]"
        for attribute in ("name", "id", "aria-label", "placeholder")
        for word in ("passw", "passphrase", "secret", "cardnumber", "card-number", "card_number", "card number")
    ),
    *(
        f"input[{attribute}*='{word}' i]"
        for attribute in ("name", "id")
        for word in ("cvc", "cvv", "csc", "otp", "totp")
    ),
)
_MARGIN = 4  # pixels around a field: focus ring and shadow
_MOST_TRIES = 3

# Rectangles in CSS pixels of the frame's own viewport. A custom element without an open shadow root may hold anything.
_PLACES = """
selector => {
  const boxes = [];
  const box = element => { const r = element.getBoundingClientRect(); boxes.push([r.left, r.top, r.right, r.bottom]); };
  const walk = tree => {
    tree.querySelectorAll(selector).forEach(box);
    for (const element of tree.querySelectorAll('*')) {
      if (element.shadowRoot) walk(element.shadowRoot);
      else if (element.localName.includes('-') && !element.childElementCount && customElements.get(element.localName))
        box(element);
    }
  };
  walk(document);
  const view = window.visualViewport;
  return {boxes: boxes.filter(([l, t, r, b]) => r > l && b > t), width: innerWidth, height: innerHeight,
          zoom: view ? view.scale : 1};
}
"""


@dataclass(frozen=True)
class Picture:
    """A kept picture. `kept` is the name that `keep` gave it; `how` the rung of the ladder that took it."""

    kept: str
    webp: bytes = field(repr=False)
    width: int
    height: int
    how: str
    covered: int
    one_colour: bool


@dataclass(frozen=True)
class NoPicture:
    """There is none, and why. Never a reason to change a verdict."""

    reason: str


@dataclass(frozen=True)
class Places:
    """Where the secrets of a page stand, in CSS pixels of its viewport."""

    boxes: tuple[tuple[float, float, float, float], ...]
    width: float
    height: float
    zoom: float


@dataclass(frozen=True)
class Shot:
    """A picture as it was taken, secrets and all: it lives in memory only, until `develop` has covered them."""

    raw: bytes = field(repr=False)
    places: Places
    how: str


class Unsafe(Exception):
    """It can't be shown that the secrets would be covered."""


def capture(
    page: Page, deadline_seconds: float, keep: Callable[[bytes], str], *, secret: Sequence[str] = ()
) -> Picture | NoPicture:
    """Take the page's viewport, cover its secrets, keep it as WebP. Never raises.

    Args:
        page: stays as it is.
        deadline_seconds: for everything that the page is asked.
        keep: stores the bytes and names them; what it raises becomes the reason for there being no picture.
        secret: CSS selectors of further fields to cover.
    """
    taken = shoot(page, deadline_seconds, secret=secret)
    return taken if isinstance(taken, NoPicture) else develop(taken, keep)


def shoot(page: Page, deadline_seconds: float, *, secret: Sequence[str] = ()) -> Shot | NoPicture:
    """The half of `capture` that needs the page, and its thread. Never raises."""
    try:
        return _shoot(page, time.monotonic() + deadline_seconds, ", ".join((*SECRET_FIELDS, *secret)))
    except Exception as error:  # whatever a browser can come up with: no picture is worth a gesture's settlement
        return NoPicture(_reason(error))


def develop(shot: Shot, keep: Callable[[bytes], str]) -> Picture | NoPicture:
    """The other half: cover, encode, keep. Needs no page, so that any thread will do. Never raises."""
    try:
        image = pictures.decode(shot.raw)
        boxes = _in_pixels(shot.places, image.width, image.height)
        covered = pictures.cover(image, boxes)
        webp = pictures.encode(covered)
        return Picture(
            kept=keep(webp),
            webp=webp,
            width=image.width,
            height=image.height,
            how=shot.how,
            covered=len(boxes),
            one_colour=pictures.is_flat(covered),
        )
    except Exception as error:  # as above; `keep` may meet a full disk
        return NoPicture(_reason(error))


def _shoot(page: Page, deadline: float, selector: str) -> Shot:
    """Places, picture, places again: only what stood still in between is known to be covered."""
    for _ in range(_MOST_TRIES):
        before = _read_places(page, deadline, selector)
        raw, how = _take(page, deadline)
        if _read_places(page, deadline, selector) == before:
            return Shot(raw, before, how)
    raise Unsafe("the page moved while it was photographed, so its secrets can't be placed")


def _take(page: Page, deadline: float) -> tuple[bytes, str]:
    try:
        return _by_chromium(page, _share(deadline)), "chromium"
    except (Error, DeadlinePassed):
        left = _left(deadline)
        raw = within(left, lambda: page.screenshot(timeout=left * 1000, animations="allow", caret="initial"))
        return raw, "playwright"


def _by_chromium(page: Page, deadline: float) -> bytes:
    """Chromium's own capture waits neither for web fonts nor for scripts. PNG: JPEG smears a secret past its box."""
    session = within(_left(deadline), lambda: page.context.new_cdp_session(page))
    wanted = {"format": "png", "optimizeForSpeed": True}
    answer = within(_left(deadline), lambda: session.send("Page.captureScreenshot", wanted))
    within(_left(deadline), session.detach)
    return base64.b64decode(answer["data"])


def _read_places(page: Page, deadline: float, selector: str) -> Places:
    main = _ask(page.main_frame, deadline, selector)
    boxes = [*main["boxes"]]
    for frame in page.frames:
        if frame is not page.main_frame and _may_hold_secrets(frame, deadline, selector):
            boxes.extend(_around(frame, deadline))
    return Places(tuple(tuple(box) for box in boxes), main["width"], main["height"], main["zoom"])


def _ask(frame: Frame, deadline: float, selector: str) -> dict[str, Any]:
    return within(_left(_share(deadline)), lambda: frame.evaluate(_PLACES, selector))


def _may_hold_secrets(frame: Frame, deadline: float, selector: str) -> bool:
    """A frame that doesn't answer may."""
    try:
        return bool(_ask(frame, deadline, selector)["boxes"])
    except (Error, DeadlinePassed):
        return not frame.is_detached()


def _around(frame: Frame, deadline: float) -> list[tuple[float, float, float, float]]:
    """The whole frame, as it stands in the page's viewport; nothing if it isn't shown."""
    element = within(_left(deadline), frame.frame_element)
    box = within(_left(deadline), element.bounding_box)
    return [] if box is None else [(box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"])]


def _in_pixels(places: Places, width: int, height: int) -> list[Box]:
    """From the page's CSS pixels to the picture's own. Raises Unsafe if the two don't show the same."""
    across, down = width / places.width, height / places.height
    if places.zoom != 1 or abs(across - down) > 0.02 * across:
        raise Unsafe("the picture doesn't show what the page's viewport is, so its secrets can't be placed")
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


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise DeadlinePassed("the time for a picture was over")
    return left


def _share(deadline: float) -> float:
    """Half of what is left, so that the next rung has its chance."""
    return time.monotonic() + _left(deadline) / 2


def _reason(error: Exception) -> str:
    """In a line. Only the first: Playwright's call log below it quotes what was filled in."""
    first, _, _ = str(error).partition("\n")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
