"""What a script is told when the site says no: what looks like an error, not the bar above it, no field's value."""

import pytest
from playwright.sync_api import Page

from browser_agent.browser.error_texts import complaints

BAR = "<header><nav><a>Books</a> <a>Shipments</a></nav></header>"


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        ("<p role=alert>The period is closed.</p><p>Post an invoice</p>", ["The period is closed."]),
        ("<input aria-invalid=true aria-describedby='a b'><i id=a>Late.</i><i id=b>See §4.</i>", ["Late.", "See §4."]),
        ("<input aria-invalid=true aria-errormessage=a><i id=a>Not a date.</i>", ["Not a date."]),
        ("<ul class=formErrors><li>No amount.</li><li>No date.</li></ul>", ["No amount.", "No date."]),
        ("<div class=invalid-feedback>No amount.</div>", ["No amount."]),
        ("<div class=error><p role=alert>Closed.</p></div>", ["Closed."]),
        ("<div class=error style='display:none'>Nobody sees this.</div><main>Post</main>", ["Post"]),
        ("<main><h1>Sorry</h1><p>Not <b>now</b>.</p></main><aside>Ads</aside>", ["Sorry", "Not now."]),
        ("<p>Sorry</p><footer>Imprint</footer>", ["Sorry"]),
        ("<p class=error>" + "<br>".join("abcdefgh") + "</p>", list("abcde")),
    ],
)  # fmt: skip
def test_what_looks_like_an_error_is_told_before_anything_else(page: Page, html: str, texts: list[str]) -> None:
    page.set_content(BAR + html)
    assert complaints(page, 5) == texts


def test_what_a_field_holds_is_never_told(page: Page) -> None:
    fields = "<input value=hunter2><textarea>hunter2</textarea><select><option>hunter2</select>"
    page.set_content(f"{BAR}<div class=error>Wrong. {fields}<b contenteditable class=error>hunter2</b></div>")
    assert complaints(page, 5) == ["Wrong."]
    page.set_content(f"{BAR}<main>Sign in {fields}<textarea class=has-error>hunter2</textarea></main>")
    assert complaints(page, 5) == ["Sign in"]


def test_a_page_that_does_not_answer_tells_nothing(page: Page) -> None:
    page.close()
    assert complaints(page, 1) == []
