"""The commit request that a gesture's control would send, read from the page without an input."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from playwright.sync_api import Error

from browser_agent.script.gestures import Gesture
from observers.evidence import plain_address
from observers.request_pattern import matches_request

READ_MS = 1000.0

# A page's script can send anything, whatever the form says. `scripted`: there is one, or an inline handler.
_READ = """(element) => {
  const button = "button:not([type]), [type=submit], input[type=image]";
  const form = element.form ?? element.closest("form");
  const link = element.closest("a[href]");
  const handled = (one) => one !== null && [...one.attributes].some((each) => each.name.startsWith("on"));
  let above = element;
  let scripted = [...document.scripts].some((one) => !/json|template/i.test(one.type));
  for (; above !== null; above = above.parentElement) scripted ||= handled(above);
  const from = (name, of) => of?.getAttribute(name);
  const absolute = (address) => new URL(address || location.href, document.baseURI).href;
  if (form && (element.matches(button) || element.matches("input:not([type=button], [type=reset])"))) {
    const by = element.matches(button) ? element : form.querySelector(button);
    scripted ||= handled(form);
    const method = (from("formmethod", by) ?? from("method", form) ?? "get").toUpperCase();
    return { method, address: absolute(from("formaction", by) ?? from("action", form)), scripted };
  }
  if (link && /^https?:/.test(link.href)) return { method: "GET", address: link.href, scripted };
  return null;
}"""


class Fit(StrEnum):
    """Whether the declared commit request is what the control sends.

    fits: its form, or its link, sends that. differs: it sends another one, and no script can change that.
    unseen: only a script sends it, so no look can show it. undeclared: `sends` isn't declared.
    """

    FITS = "fits"
    DIFFERS = "differs"
    UNSEEN = "unseen"
    UNDECLARED = "undeclared"


@dataclass(frozen=True)
class SendCheck:
    """A declared commit request beside the one that is found on the page; None = not declared, or not found."""

    declared: str | None
    found: str | None
    fit: Fit


def check_sends(gesture: Gesture[Any]) -> SendCheck:
    """Compare a gesture's declared commit request with what its control sends by itself."""
    read = _read(gesture)
    found = f"{read['method']} {plain_address(read['address'])}" if read is not None else None
    if gesture.sends is None:
        return SendCheck(None, found, Fit.UNDECLARED)
    if read is not None and matches_request(gesture.sends, read["method"], read["address"]):
        return SendCheck(gesture.sends, found, Fit.FITS)
    certain = read is not None and not read["scripted"]
    return SendCheck(gesture.sends, found, Fit.DIFFERS if certain else Fit.UNSEEN)


def _read(gesture: Gesture[Any]) -> dict[str, Any] | None:
    try:
        read: dict[str, Any] | None = gesture.target.evaluate(_READ, timeout=READ_MS)
    except Error:  # the control isn't there, or there are several: waiting for it says so
        return None
    return read
