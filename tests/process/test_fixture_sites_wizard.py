"""The wizard: what a visitor sees, and what its ledger says. Plain HTTP."""

from collections.abc import Iterator

import httpx
import pytest

from browser_agent.testing import Wizard
from tests.fix_sites import Visitor, cells

FILLED = ({"name": "Ann", "email": "a@b.example"}, {"purpose": "Travel", "reference": "R-1"}, {"amount": "10.00"})


@pytest.fixture
def wizard() -> Iterator[Wizard]:
    with Wizard() as site:
        yield site


@pytest.fixture
def visitor(wizard: Wizard) -> Iterator[Visitor]:
    with Visitor(base_url=wizard.url) as client:
        yield client


def fill(visitor: Visitor) -> httpx.Response:
    """Fill the three pages; the last answer is the summary."""
    for number, values in enumerate(FILLED, start=1):
        answer = visitor.submit(f"/apply/{number}", f"/apply/{number + 1}", **values)
    return answer


def submit(visitor: Visitor, by: str = "form") -> httpx.Response:
    return visitor.submit("/apply/4", "/applications", by)


def test_each_next_is_a_post_that_is_answered_by_the_next_page_and_makes_nothing(
    wizard: Wizard, visitor: Visitor
) -> None:
    summary = fill(visitor)
    assert summary.status_code == 200 and "Step 4 of 4" in summary.text and ">Submit</button>" in summary.text
    assert "Ann" in summary.text and "R-1" in summary.text
    assert [asked.path for asked in wizard.ledger.writes] == ["/apply/2", "/apply/3", "/apply/4"]
    assert wizard.ledger.effects == []


@pytest.mark.parametrize("by", ["form", "fetch"])
def test_submit_makes_the_application_and_a_second_one_makes_another(wizard: Wizard, visitor: Visitor, by: str) -> None:
    fill(visitor)
    answer = submit(visitor, by)
    if by == "fetch":
        assert answer.json() == {"number": "W-1", "message": "Application W-1 submitted for R-1"}
    else:
        assert answer.headers["location"] == "/applications/W-1?submitted=1"
        assert "Application W-1 submitted for R-1" in visitor.get("/applications/W-1?submitted=1").text
    assert "submitted for" not in visitor.get("/applications/W-1").text
    submit(visitor)
    heads, *rows = cells(visitor.get("/applications").text)
    assert heads == ["Number", "Name", "Purpose", "Reference", "Amount", "Submitted"]
    assert [row[:5] for row in rows] == [[number, "Ann", "Travel", "R-1", "10.00"] for number in ("W-2", "W-1")]
    assert [effect.values["number"] for effect in wizard.ledger.effects] == ["W-1", "W-2"]


def test_a_next_that_is_posted_again_keeps_what_it_brings_and_makes_nothing(wizard: Wizard, visitor: Visitor) -> None:
    fill(visitor)
    visitor.submit("/apply/2", "/apply/3", purpose="Other", reference="R-2")
    assert "R-2" in visitor.get("/apply/4").text and "Ann" in visitor.get("/apply/4").text
    assert len(wizard.ledger.writes) == 4
    assert wizard.ledger.effects == []


def test_what_is_typed_is_saved_as_a_draft_and_makes_no_application(wizard: Wizard, visitor: Visitor) -> None:
    answer = visitor.submit("/apply/1", "/draft/1", "fetch", name="An")
    assert (answer.status_code, answer.json()) == (201, {"message": "Draft saved"})
    assert 'value="An"' in visitor.get("/apply/1").text
    assert [effect.kind for effect in wizard.ledger.effects] == ["draft"]
    assert (wizard.drafts, wizard.applications) == ([{"name": "An", "email": ""}], [])
    assert visitor.post("/draft/1", json={"token": "stolen", "name": "X"}).status_code == 403
    assert visitor.submit("/apply/1", "/draft/4", "fetch").status_code == 403


def test_what_is_missing_is_named_on_its_page_and_before_submitting(wizard: Wizard, visitor: Visitor) -> None:
    answer = visitor.submit("/apply/1", "/apply/2", name="")
    assert (answer.status_code, "Name is missing." in answer.text, "Step 1 of 4" in answer.text) == (422, True, True)
    answer = submit(visitor)
    assert answer.status_code == 422 and "Reference is missing." in answer.text
    assert visitor.post("/apply/2", data={"token": "stolen"}).status_code == 403
    assert (visitor.get("/apply/5").status_code, visitor.post("/apply/1").status_code) == (404, 404)
    assert wizard.ledger.effects == []


def test_another_session_has_nothing_of_what_was_filled(wizard: Wizard, visitor: Visitor) -> None:
    fill(visitor)
    with Visitor(base_url=wizard.url) as other:
        assert "Ann" not in other.get("/apply/4").text


def test_the_wizard_has_the_switches_of_all_sites_at_its_last_page(wizard: Wizard, visitor: Visitor) -> None:
    wizard.reject(409, "Closed.")
    fill(visitor)
    assert "Closed." in submit(visitor).text
    wizard.accept()
    wizard.commit_late(30, count=1)
    assert (submit(visitor).status_code, wizard.applications) == (504, [])
    wizard.clock.advance(30)
    assert len(wizard.applications) == 1
    wizard.answer_post_in_place = True
    assert "Application W-2 submitted" in submit(visitor).text
    wizard.confirm_dialog = True
    assert "Really submit" in visitor.get("/apply/4").text and "Really submit" not in visitor.get("/apply/3").text
    wizard.expire_sessions()
    assert "Sign in to Wizard" in visitor.get("/apply/1").text
