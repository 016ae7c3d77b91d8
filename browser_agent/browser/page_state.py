"""The state of a page: address, title, scroll and form values for a person, session storage for the next browser.

It is read in one call with a deadline; if that fails, there is no state and no error, so a page that doesn't answer
never delays anything. Form values are evidence: nothing here fills a form. Passwords, card numbers and one-time codes
must never be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Error, Page, Route
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator
from pydantic import Field as Data

from browser_agent.browser.deadline import DeadlinePassed, within
from browser_agent.secrets.secret_fields import SECRET_CONTROL_NAMES, SECRET_CONTROLS, any_of
from observers.evidence import plain_address
from observers.session import giving_script

READ_SECONDS = 1.0
GIVE_SECONDS = 5.0
MOST_FIELDS = 100
MOST_ORIGINS = 10
MOST_HELD = 1_000_000
"""Characters of a tab's session storage; a larger one isn't carried over. A page controls its size, hence a limit."""

# A field's value is withheld because of what the field is (its type, its autocomplete, how it is drawn), because of its
# name, or if the value is a card number by the Luhn check (ISO/IEC 7812-1).
_READ = r"""([most, secret, names]) => {
  const NAMED = new RegExp(names, "i");
  const card = (text) => {
    const digits = text.replace(/[ -]/g, "");
    if (!/^\d{12,19}$/.test(digits)) return false;
    const sum = [...digits].reverse().reduce((all, digit, at) => {
      const twice = at % 2 ? 2 * digit : +digit;
      return all + (twice > 9 ? twice - 9 : twice);
    }, 0);
    return sum % 10 === 0;
  };
  const labels = new Map([...document.querySelectorAll("label[for]")].map((label) => [label.htmlFor, label]));
  const label = (field) => (labels.get(field.id) ?? field.closest("label"))?.textContent;  // `.labels` walks the page
  const called = (field) =>
    (label(field) || field.ariaLabel || field.name || field.id || field.placeholder || "")
      .replace(/\s+/g, " ").trim().slice(0, 100);
  const withheld = (field) =>
    field.matches(secret) ||
    NAMED.test([called(field), field.name, field.id, field.placeholder].join(" ").replace(/[_-]/g, " ")) ||
    (getComputedStyle(field).webkitTextSecurity ?? "none") !== "none" || card(field.value ?? "");
  const value = (field) =>
    field.type === "checkbox" || field.type === "radio" ? String(field.checked)
    : field.type === "file" ? [...field.files].map((file) => file.name).join(", ")
    : field.matches("select") ? [...field.selectedOptions].map((option) => option.label).join(", ")
    : field.value;
  const fields = [...document.querySelectorAll("input, textarea, select")]
    .filter((field) => !/^(hidden|submit|button|image|reset)$/.test(field.type)).slice(0, most)
    .map((field) => ({ name: called(field), kind: field.type, withheld: withheld(field), value: value(field) }))
    .map((field) => ({ ...field, value: field.withheld ? "" : field.value.slice(0, 2000) }));
  let held = {};
  try { held = { ...sessionStorage }; } catch {}  // a document without storage
  return {
    title: document.title.slice(0, 200), scroll: [Math.round(scrollX), Math.round(scrollY)], fields,
    origin: location.origin, session_storage: held,
  };
}"""
_ASKED = (MOST_FIELDS, SECRET_CONTROLS, any_of(SECRET_CONTROL_NAMES))
_EMPTY_PAGE = '<!doctype html><link rel="icon" href="data:,">'


class Field(BaseModel):
    """One form control; if it is withheld, `value` is empty."""

    model_config = ConfigDict(frozen=True)

    name: str = Data(max_length=100)
    kind: str = Data(max_length=20)
    value: str = Data(max_length=2000)
    withheld: bool = False


class PageState(BaseModel):
    """The state of a page when it was read. `session_storage` is what its tab held for `origin`."""

    model_config = ConfigDict(frozen=True)

    address: str
    title: str = Data(max_length=200)
    scroll: tuple[int, int]
    fields: tuple[Field, ...] = Data(max_length=MOST_FIELDS)
    origin: str = Data(max_length=300)
    session_storage: Mapping[str, str]

    @field_validator("session_storage")
    @classmethod
    def _not_too_much(cls, held: Mapping[str, str]) -> Mapping[str, str]:
        return held if sum(len(name) + len(value) for name, value in held.items()) <= MOST_HELD else {}

    @property
    def shown(self) -> dict[str, str]:
        """What may be shown without the key: the address without query and fragment, and the title."""
        return {"address": plain_address(self.address), "title": self.title}


def read_page_state(page: Page, seconds: float = READ_SECONDS) -> PageState | None:
    """The page's current state; None if it doesn't answer in time.

    Args:
        page: the page, which isn't changed.
        seconds: how long it may take to answer.
    """
    try:
        found: Any = within(seconds, lambda: page.evaluate(_READ, _ASKED))
        return PageState(address=page.url[:2000], **found)
    except (Error, DeadlinePassed, ValidationError):
        return None


def give_session_storage(page: Page, kept: Mapping[str, Mapping[str, str]]) -> bool:
    """Give a new tab the session storage of an earlier one, origin by origin, once; the page is then blank again.

    No request leaves: each origin is opened as an empty page of ours. Since it is done only once, storage that the site
    itself has cleared, as on a sign-out, isn't restored.

    Args:
        page: a tab that has not opened any page yet.
        kept: origin -> name -> value.

    Returns:
        False if the storage could not be set.
    """
    origins = [origin for origin, held in kept.items() if held and origin.startswith(("http://", "https://"))]
    if not origins:
        return True
    try:
        with _answered_by_us(page):
            for origin in origins[:MOST_ORIGINS]:
                page.goto(f"{origin}/", timeout=GIVE_SECONDS * 1000)
                within(GIVE_SECONDS, lambda: page.evaluate(giving_script(kept)))
    except (Error, DeadlinePassed):
        return False
    return True


@contextmanager
def _answered_by_us(page: Page) -> Iterator[None]:
    page.route("**/*", _empty)
    try:
        yield
    finally:
        try:
            page.goto("about:blank", timeout=GIVE_SECONDS * 1000)
        finally:
            page.unroute("**/*", _empty)


def _empty(route: Route) -> None:
    route.fulfill(body=_EMPTY_PAGE, content_type="text/html")
