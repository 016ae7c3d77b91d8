"""Reads the error messages that a page shows, from visible text only, never from the value of a field."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Error, Page

from browser_agent.browser.deadline import DeadlinePassed, within

MOST_LINES = 5

# Returns two lists of lines: what looks like an error, and the text of the page's main part.
_READ = r"""(root) => {
  const FIELDS = "input, textarea, select, option, datalist, [contenteditable]:not([contenteditable=false])";
  const UNREAD = `script, style, noscript, template, iframe, ${FIELDS}`;
  const ERRORS = "[role=alert], [class*=error i], .invalid-feedback";
  const AROUND = "nav, header, footer, aside, [role=navigation], [role=banner], [role=contentinfo]";
  const shown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const read = (node, skipped) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data.replace(/\s+/g, " ");
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches(skipped) || !shown(node)) return "";
    const text = [...node.childNodes].map((child) => read(child, skipped)).join("");
    return node.tagName === "BR" || !/^(inline|contents)/.test(getComputedStyle(node).display) ? `\n${text}\n` : text;
  };
  const lines = (element, skipped = UNREAD) =>
    element && !element.closest(FIELDS) ? read(element, skipped).split("\n") : [];
  const named = [...root.querySelectorAll("[aria-invalid=true]")].flatMap((field) =>
    ["aria-errormessage", "aria-describedby"].flatMap((name) => (field.getAttribute(name) ?? "").split(/\s+/)));
  const errors = [...root.querySelectorAll(ERRORS), ...named.map((id) => id && document.getElementById(id))];
  const main = root.querySelector("main, [role=main]");
  return [
    errors.flatMap((element) => lines(element)),
    main ? lines(main) : lines(root.querySelector("body"), `${UNREAD}, ${AROUND}`),
  ];
}"""


def complaints(page: Page, seconds: float) -> list[str]:
    """The page's errors, else the first lines of its main part.

    Args:
        page: the page, read as it is.
        seconds: how long it may take to answer.

    Returns:
        At most `MOST_LINES` lines, each once; none if the page does not answer.
    """
    found, main = _read(page, seconds)
    return (found or main)[:MOST_LINES]


def errors(page: Page, seconds: float) -> list[str]:
    """What looks like an error on the page, as `complaints` reads it; none if nothing does.

    An error is an element with `role=alert` or a class named after errors, or the message of a field that is marked as
    invalid (`aria-errormessage`, `aria-describedby`).
    """
    found, _ = _read(page, seconds)
    return found[:MOST_LINES]


def _read(page: Page, seconds: float) -> tuple[list[str], list[str]]:
    """The lines of the page's errors and those of its main part, each once; empty if it does not answer."""
    try:
        found: Any = within(seconds, lambda: page.locator("html").evaluate(_READ, timeout=seconds * 1000))
    except (Error, DeadlinePassed):
        return [], []
    shown, main = (list(dict.fromkeys(filter(None, map(str.strip, lines)))) for lines in found)
    return shown, main
