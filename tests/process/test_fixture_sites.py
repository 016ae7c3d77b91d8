"""The fixture sites: what a visitor sees, and what their ledgers say. No browser, plain HTTP."""

import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from decimal import Decimal

import httpx
import pytest

from browser_agent.testing import Books, Mail
from browser_agent.testing.sites.books import Shipment
from tests.fix_sites import INVOICE, MESSAGE, Visitor, cells


@pytest.fixture
def books() -> Iterator[Books]:
    with Books() as site:
        yield site


@pytest.fixture
def mail() -> Iterator[Mail]:
    with Mail() as site:
        yield site


@pytest.fixture
def visitor(books: Books) -> Iterator[Visitor]:
    with Visitor(base_url=books.url) as client:
        yield client


@pytest.fixture
def writer(mail: Mail) -> Iterator[Visitor]:
    with Visitor(base_url=mail.url) as client:
        yield client


# Posting


def test_a_posted_invoice_is_in_the_ledger_and_the_browser_is_redirected_to_it(books: Books, visitor: Visitor) -> None:
    answer = visitor.post_invoice()
    assert (answer.status_code, answer.headers["location"]) == (303, "/invoices/INV-1")
    page = visitor.get(answer.headers["location"]).text
    assert "Invoice INV-1 posted for S-101" in page
    assert "Northwind Traders" in page and "1240.50" in page
    (effect,) = books.ledger.effects
    assert effect.kind == "invoice"
    assert effect.values["number"] == "INV-1"
    assert effect.values["amount"] == "1240.50"
    assert effect.account == "acme"
    asked = books.ledger.requests[(effect.request or 0) - 1]
    assert (asked.method, asked.path) == ("POST", "/invoices")


def test_posting_the_same_reference_twice_makes_two_invoices(books: Books, visitor: Visitor) -> None:
    values = {"token": visitor.token("/invoices/new"), **INVOICE}
    visitor.post("/invoices", data=values)
    visitor.post("/invoices", data=values)
    assert [invoice.reference for invoice in books.invoices] == ["S-101", "S-101"]
    assert [row[6] for row in cells(visitor.get("/shipments").text) if row[0] == "S-101"] == ["INV-1, INV-2"]


def test_a_form_with_a_wrong_token_has_no_effect(books: Books, visitor: Visitor) -> None:
    assert visitor.post_invoice(token="stolen").status_code == 403
    assert books.ledger.effects == []


def test_missing_and_wrong_fields_are_named_and_what_was_typed_stays(books: Books, visitor: Visitor) -> None:
    answer = visitor.post_invoice(customer=" ", amount="a lot", contract="C-99")
    assert answer.status_code == 422
    assert "Customer is missing." in answer.text
    assert "Amount must be a number above zero." in answer.text
    assert 'value="C-99"' in answer.text
    assert books.ledger.effects == []


@pytest.mark.parametrize("amount", ["0", "-5", "NaN", "Infinity", ""])
def test_an_amount_that_is_no_positive_number_is_refused(books: Books, visitor: Visitor, amount: str) -> None:
    assert visitor.post_invoice(amount=amount).status_code == 422
    assert books.invoices == []


def test_a_script_is_answered_in_json(books: Books, visitor: Visitor) -> None:
    answer = visitor.fetch_invoice()
    assert answer.status_code == 201
    assert answer.json() == {"number": "INV-1", "message": "Invoice INV-1 posted for S-101"}
    wrong = visitor.fetch_invoice(reference="")
    assert (wrong.status_code, wrong.json()) == (422, {"errors": ["Reference is missing."]})
    assert len(books.invoices) == 1


def test_what_was_typed_is_shown_as_text_never_as_markup(visitor: Visitor) -> None:
    visitor.post_invoice(customer="<script>alert(1)</script>")
    assert "<script>alert" not in visitor.get("/invoices").text


# Lists


def test_looking_writes_nothing(books: Books, visitor: Visitor) -> None:
    for path in ("/shipments", "/invoices", "/invoices/new", "/invoices/INV-1"):
        visitor.get(path)
    assert books.ledger.writes == []
    assert books.ledger.effects == []
    assert [asked.path for asked in books.ledger.requests][-1] == "/invoices/INV-1"


def test_shipments_are_listed_for_the_day_that_was_asked_for(visitor: Visitor) -> None:
    heads, *rows = cells(visitor.get("/shipments?day=2026-11-30").text)
    assert heads == ["Shipment", "Customer", "E-mail", "Contract", "Amount", "Date", "Invoice"]
    assert rows[0] == ["S-101", "Northwind Traders", "billing@northwind.example", "C-7", "1240.50", "2026-11-30", ""]
    assert len(rows) == 3
    assert "0 shipments" in visitor.get("/shipments?day=2026-12-01").text


def test_a_site_can_be_seeded_with_other_shipments() -> None:
    shipment = Shipment("S-9", "Litware", "ap@litware.example", "C-1", Decimal("5.00"), date(2027, 1, 2))
    with Books(shipments=[shipment], account="other") as books, Visitor(base_url=books.url) as visitor:
        assert cells(visitor.get("/shipments?day=2027-01-02").text)[1][0] == "S-9"
        assert "Signed in as other" in visitor.get("/invoices").text


def test_a_long_list_is_cut_into_pages_and_says_how_long_it_is(books: Books, visitor: Visitor) -> None:
    for number in range(1, 42):
        books.enter(customer=f"Customer {number}", amount="10", reference=f"R-{number}")
    first = visitor.get("/invoices").text
    assert "41 invoices" in first and "page 1 of 3" in first
    assert cells(first)[0] == [
        "Number", "Customer", "Contract", "Amount", "Period", "Reference", "Status", "Posted",
    ]  # fmt: skip
    assert [row[0] for row in cells(first)[1:]] == [f"INV-{number}" for number in range(41, 21, -1)]
    assert 'rel="next" href="/invoices?page=2">Next' in first
    last = visitor.get("/invoices?page=3").text
    assert [row[0] for row in cells(last)[1:]] == ["INV-1"]
    assert "Next" not in last


def test_a_filter_stays_on_the_way_through_the_pages(books: Books, visitor: Visitor) -> None:
    for number in range(25):
        books.enter(customer="Contoso" if number < 21 else "Litware", amount="10", reference=f"R-{number}")
    page = visitor.get("/invoices?customer=contoso").text
    assert "21 invoices" in page
    following = re.search(r'rel="next" href="([^"]+)"', page)
    assert following
    assert len(cells(visitor.get(following[1].replace("&amp;", "&")).text)) == 2
    assert "1 invoice<" in visitor.get("/invoices?reference=R-24").text


def test_an_unknown_invoice_is_not_found(visitor: Visitor) -> None:
    answer = visitor.get("/invoices/INV-404")
    assert answer.status_code == 404
    assert "posted for" not in answer.text


# Sessions


def test_every_page_shows_the_account(visitor: Visitor) -> None:
    for path in ("/shipments", "/invoices", "/invoices/new", "/nowhere"):
        assert '<header data-account="acme">' in visitor.get(path).text


def test_two_sites_on_one_host_keep_their_sessions_apart(books: Books, mail: Mail) -> None:
    with Visitor() as visitor:
        visitor.get(f"{books.url}/invoices")
        visitor.get(f"{mail.url}/sent")
        assert sorted(visitor.cookies) == ["books_session", "mail_session"]


def test_an_expired_session_sees_a_login_page_that_looks_like_no_error(books: Books, visitor: Visitor) -> None:
    books.enter(customer="Contoso", amount="1", reference="R-1")
    token = visitor.token("/invoices/new")
    books.expire_sessions()
    page = visitor.get("/invoices")
    assert page.status_code == 200
    assert "Password" in page.text and "data-account" not in page.text and "<table" not in page.text
    answer = visitor.post("/invoices", data={"token": token, **INVOICE})
    assert answer.status_code == 200 and "Password" in answer.text
    answer = visitor.post("/invoices", json=INVOICE, headers={"accept": "application/json"})
    assert answer.status_code == 401
    assert len(books.ledger.effects) == 1
    assert books.ledger.requests[-1].account is None


def test_a_login_leads_back_to_the_page_that_was_asked_for(books: Books, visitor: Visitor) -> None:
    books.require_login()
    assert 'name="next" value="/invoices?page=1"' in visitor.get("/invoices?page=1").text
    assert "do not match" in visitor.log_in("ben", password="guess").text
    answer = visitor.log_in("ben")
    assert (answer.status_code, answer.headers["location"]) == (303, "/invoices?page=1")
    assert "Signed in as ben" in visitor.get("/invoices").text
    visitor.post_invoice()
    assert books.ledger.effects[0].account == "ben"
    books.expire_sessions()
    assert "Password" in visitor.get("/invoices").text


def test_a_login_leads_to_no_other_site(books: Books, visitor: Visitor) -> None:
    books.require_login()
    assert visitor.log_in("ben", goal="//evil.example/").headers["location"] == "/"


# Switches


def test_an_answer_in_place_is_a_page_without_a_redirect(books: Books, visitor: Visitor) -> None:
    books.answer_post_in_place = True
    answer = visitor.post_invoice()
    assert answer.status_code == 200
    assert "Invoice INV-1 posted for S-101" in answer.text


def test_a_rejection_holds_until_it_is_taken_back(books: Books, visitor: Visitor) -> None:
    books.reject(409, "The period is closed.")
    for _ in range(2):
        answer = visitor.post_invoice()
        assert (answer.status_code, "The period is closed." in answer.text) == (409, True)
    assert visitor.fetch_invoice().json() == {"errors": ["The period is closed."]}
    books.accept()
    assert visitor.post_invoice().status_code == 303
    assert len(books.ledger.effects) == 1


def test_a_rejection_with_a_count_uses_itself_up(books: Books, visitor: Visitor) -> None:
    books.reject(503, "Try later.", count=1)
    assert [visitor.post_invoice().status_code for _ in range(2)] == [503, 303]
    assert len(books.invoices) == 1


@pytest.mark.parametrize(("status", "words"), [(504, "too long"), (202, "accepted for processing")])
def test_a_late_commit_appears_when_the_sites_clock_reaches_it(
    books: Books, visitor: Visitor, status: int, words: str
) -> None:
    books.commit_late(30, status=status, count=1)
    answer = visitor.post_invoice()
    assert (answer.status_code, words in answer.text) == (status, True)
    books.clock.advance(29)
    assert (books.invoices, books.clock.waiting) == ([], 1)
    books.clock.advance(1)
    assert [invoice.reference for invoice in books.invoices] == ["S-101"]
    assert "INV-1" in visitor.get("/invoices").text
    (effect,) = books.ledger.effects
    assert effect.request == 2


def test_a_late_commit_bears_the_time_at_which_it_was_due(books: Books, visitor: Visitor) -> None:
    books.commit_late(30)
    before = books.clock.now()
    visitor.post_invoice()
    books.clock.advance(3600)
    assert 30 <= (books.ledger.effects[0].at - before).total_seconds() < 60


def test_late_commits_also_happen_by_themselves_when_real_time_reaches_them(books: Books, visitor: Visitor) -> None:
    books.commit_late(0)
    visitor.post_invoice()
    assert len(books.ledger.effects) == 1


def test_the_confirm_dialog_is_asked_for_by_the_page(books: Books, visitor: Visitor) -> None:
    assert "confirm(" not in visitor.get("/invoices/new").text
    books.confirm_dialog = True
    assert "Really post this invoice?" in visitor.get("/invoices/new").text


@pytest.mark.parametrize("by", ["form", "fetch", "popup"])
def test_a_form_is_posted_by_its_button_and_by_nothing_else(visitor: Visitor, by: str) -> None:
    page = visitor.get(f"/invoices/new?by={by}").text
    assert ">Post</button>" in page and "requestSubmit" not in page


@pytest.mark.parametrize("by", ["check", "select", "upload"])
def test_a_control_that_writes_at_once_posts_the_form_when_it_is_changed(visitor: Visitor, by: str) -> None:
    page = visitor.get(f"/invoices/new?by={by}").text
    assert 'onchange="this.form.requestSubmit()"' in page and ">Post</button>" not in page


def test_of_a_file_that_comes_with_an_invoice_name_and_size_are_kept(books: Books, visitor: Visitor) -> None:
    values = {name: value for name, value in INVOICE.items() if name != "contract"}
    token = visitor.token("/invoices/new?by=upload")
    visitor.post("/invoices", data={"token": token, **values}, files={"contract": ("c.pdf", b"signed")})
    assert [invoice.contract for invoice in books.invoices] == ["c.pdf (6 bytes)"]


def test_an_invoice_entered_by_hand_came_by_no_request(books: Books) -> None:
    books.enter(customer="Contoso", amount="1", reference="R-1")
    (effect,) = books.ledger.effects
    assert effect.request is None
    assert books.ledger.requests == []


# From another process


def test_truth_clock_and_switches_can_be_reached_over_http_and_leave_no_trace(books: Books, visitor: Visitor) -> None:
    assert visitor.post("/_control", json={"commit_late": {"seconds": 30, "status": 202}}).status_code == 200
    visitor.post_invoice()
    truth = visitor.get("/_truth").json()
    assert (truth["effects"], truth["waiting"]) == ([], 1)
    assert visitor.post("/_clock", json={"advance": 30}).json()["waiting"] == 0
    truth = visitor.get("/_truth").json()
    assert [effect["values"]["reference"] for effect in truth["effects"]] == ["S-101"]
    assert [asked["path"] for asked in truth["requests"]] == ["/invoices/new", "/invoices"]
    assert len(books.ledger.requests) == 2


def test_every_switch_can_be_set_over_http(books: Books, visitor: Visitor) -> None:
    visitor.post("/_control", json={"answer_post_in_place": True, "confirm_dialog": True})
    assert (books.answer_post_in_place, books.confirm_dialog) == (True, True)
    visitor.post("/_control", json={"reject": {"status": 423, "text": "Locked."}})
    assert visitor.post_invoice().status_code == 423
    visitor.post("/_control", json={"accept": True, "commit_at_once": True})
    assert visitor.post_invoice().status_code == 200
    visitor.post("/_control", json={"expire_sessions": True})
    assert "Password" in visitor.get("/invoices").text
    visitor.post("/_control", json={"require_login": {"required": False}})
    assert "Signed in as acme" in visitor.get("/invoices").text


def test_an_unknown_switch_is_named_and_sets_nothing(books: Books, visitor: Visitor) -> None:
    answer = visitor.post("/_control", json={"confirm_dialog": True, "explode": True})
    assert answer.status_code == 400
    assert "no such switch: explode" in answer.json()["errors"][0]
    assert books.confirm_dialog is False


def test_the_command_line_serves_a_site_and_prints_its_address() -> None:
    command = [sys.executable, "-m", "browser_agent.testing", "books", "--account", "zoe", "--day", "2027-01-02"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as site:
        assert site.stdout
        address = site.stdout.readline().removeprefix("books: ").strip()
        page = httpx.get(f"{address}/shipments").text
        site.terminate()
        assert site.wait(10) == 0
    assert "Signed in as zoe" in page and "Shipments of 2027-01-02" in page


# Mail


def test_a_sent_mail_is_in_the_ledger_and_in_the_sent_folder(mail: Mail, writer: Visitor) -> None:
    answer = writer.send_mail()
    assert (answer.status_code, answer.headers["location"]) == (303, "/sent?just=M-1")
    page = writer.get(answer.headers["location"]).text
    assert "Message sent" in page
    heads, row = cells(page)
    assert heads == ["To", "Subject", "Message", "Sent", "Id"]
    assert (row[0], row[1], row[2], row[4]) == ("billing@northwind.example", "Invoice INV-1", "Attached.", "M-1")
    assert [(effect.kind, effect.values["to"]) for effect in mail.ledger.effects] == [("mail", MESSAGE["to"])]
    assert "Message sent" not in writer.get("/sent").text
    assert "Message sent" not in writer.get("/sent?just=M-99").text


def test_sending_twice_sends_two_mails(mail: Mail, writer: Visitor) -> None:
    writer.send_mail()
    writer.send_mail()
    assert len(mail.messages) == 2


def test_a_draft_is_no_sent_mail(mail: Mail, writer: Visitor) -> None:
    values = {"token": writer.token("/compose"), **MESSAGE}
    assert writer.post("/drafts", data=values).headers["location"] == "/drafts"
    assert cells(writer.get("/drafts").text)[1][1] == "Invoice INV-1"
    assert writer.post("/drafts", data={**values, "token": "stolen"}).status_code == 403
    assert "0 messages" in writer.get("/sent").text
    assert (mail.messages, len(mail.drafts)) == ([], 1)
    assert [effect.kind for effect in mail.ledger.effects] == ["draft"]


def test_a_mail_without_address_or_subject_is_not_sent(mail: Mail, writer: Visitor) -> None:
    answer = writer.send_mail(to="nobody", subject="")
    assert answer.status_code == 422
    assert "To must be a mail address." in answer.text and "Subject is missing." in answer.text
    assert mail.ledger.effects == []


def test_mail_has_the_same_switches(mail: Mail, writer: Visitor) -> None:
    mail.reject(429, "Too many.", count=1)
    assert writer.send_mail().status_code == 429
    mail.commit_late(60, count=1)
    assert writer.send_mail().status_code == 504
    assert mail.messages == []
    mail.clock.advance(60)
    assert len(mail.messages) == 1
    mail.answer_post_in_place = True
    assert "Message sent" in writer.send_mail().text
    mail.confirm_dialog = True
    assert "Really send this message?" in writer.get("/compose").text
    mail.expire_sessions()
    assert "Sign in to Mail" in writer.get("/sent").text


def test_the_sent_folder_is_cut_into_pages(mail: Mail, writer: Visitor) -> None:
    for number in range(21):
        mail.enter(to="a@b.example", subject=f"Subject {number}")
    page = writer.get("/sent").text
    assert "21 messages" in page and "page 1 of 2" in page
    assert cells(writer.get("/sent?page=2").text)[1][1] == "Subject 0"


def test_a_mail_by_script_is_answered_in_json(mail: Mail, writer: Visitor) -> None:
    values = {"token": writer.token("/compose?by=fetch"), **MESSAGE}
    answer = writer.post("/messages", json=values, headers={"accept": "application/json"})
    assert (answer.status_code, answer.json()) == (201, {"number": "M-1", "message": "Message sent"})
    assert len(mail.messages) == 1
