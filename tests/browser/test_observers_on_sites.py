"""Observers at real sites: what they see is what the site's ledger says, and they write nothing there."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, Page

from browser_agent.testing import Books, Mail
from observers import (
    NOT_BEGUN,
    Circumstances,
    ConfirmationText,
    Match,
    Observation,
    Observer,
    Outcome,
    Record,
    Recording,
    SentMail,
    Sight,
    Site,
    View,
    open_view,
    weigh,
)

DEAD_AND_WAITED = Circumstances(
    sender_dead=True, waited=timedelta(seconds=31), late_commit=timedelta(seconds=30), spaced_looks_agree=True
)
COUNT = r"(\d+) invoices?\b"


@pytest.fixture
def books() -> Iterator[Books]:
    with Books() as books:
        yield books


@pytest.fixture
def site(books: Books) -> Site:
    return Site("books", url=books.url, account="acme", signed_in="Signed in as {account}")


def invoice(site: Site, reference: str = "S-101", **more: object) -> Record:
    return Record(site, "invoices", key={"Reference": reference}, reads={"number": "Number", "amount": "Amount"},
                  **{"complete": True, "count": COUNT, **more})  # type: ignore[arg-type]  # fmt: skip


def look(browser: Browser, observer: Observer, page: Page | None = None) -> Observation:
    with open_view(browser, page, deadline=5, save=lambda *_: "b" * 64) as view:
        return observer.observe(view)


def enter_many(books: Books, count: int) -> None:
    for number in range(count):
        books.enter(customer="Contoso Ltd", amount="10.00", reference=f"T-{number}")


def test_a_confirmation_is_read_from_the_page_as_it_stands(
    attached: Browser, page: Page, books: Books, site: Site
) -> None:
    books.enter(customer="Northwind", amount="1240.50", reference="S-101")
    page.goto(site / "invoices/INV-1")
    asked = len(books.ledger.requests)
    confirmation = ConfirmationText(r"Invoice (?P<number>\S+) posted for S-101", key="S-101")
    said = look(attached, confirmation, page)
    assert [match.values for match in said.matches] == [{"number": "INV-1"}]
    assert (said.counts, said.fresh, said.evidence[0].blob) == (False, False, "b" * 64)
    assert len(books.ledger.requests) == asked, "the site wasn't asked"
    verdict = weigh([said], [None], [confirmation], Circumstances(guarded=True, restarts=0))
    assert verdict.reasons == ("the confirmation saw “Invoice INV-1 posted for S-101”",)


def test_a_confirmation_that_isnt_there_proves_nothing(attached: Browser, page: Page, site: Site) -> None:
    page.goto(site / "invoices")
    said = look(attached, ConfirmationText("Invoice INV-1 posted"), page)
    assert (said.sight, said.reasons) == (
        Sight.cannot_tell,
        ("the text isn't on the page, and a text that isn't there proves nothing",),
    )
    assert look(attached, ConfirmationText("x y"), None).reasons == ("the task's page is lost, or doesn't answer",)


def test_a_line_must_hold_what_is_asked_beside_the_text(attached: Browser, page: Page) -> None:
    page.set_content("<p>Paid: A-1 by Ann for S-7</p><p>Paid: A-2 by Bob for S-7</p><p>Paid: A-3 by Bob for S-70</p>")
    said = look(attached, ConfirmationText(r"Paid: (?P<id>\S+)", within="by Bob", key="S-7"), page)
    assert [match.values for match in said.matches] == [{"id": "A-2"}]


@pytest.mark.parametrize(
    ("shown", "numbers"),
    [
        ("Order O-1 received for S-7", ["O-1"]),
        ("Order O-1 received for S-70", []),
        ("Order O-1 received for S-70. Order O-2 received for S-7.", ["O-2"]),
        ("Order O-1 received for S-9, not for S-7", []),
    ],
)
def test_a_text_proves_only_with_our_key_as_a_whole_in_it(
    attached: Browser, page: Page, shown: str, numbers: list[str]
) -> None:
    page.set_content(f"<p>Your reference: S-7<p>{shown}")
    said = look(attached, ConfirmationText(r"Order (?P<number>\S+) received for S-\d", key="S-7"), page)
    assert [match.values["number"] for match in said.matches] == numbers
    assert said.evidence, "what doesn't prove is shown to a person"


def test_a_text_without_a_key_proves_while_the_page_is_the_declared_answer(
    attached: Browser, page: Page, books: Books, site: Site
) -> None:
    books.enter(customer="Northwind", amount="1240.50", reference="S-101")
    page.goto(site / "invoices/INV-1")
    posted = ConfirmationText(r"Invoice (?P<number>\S+) posted", answer=True)

    def said(recorded: Recording | None) -> Observation:
        with open_view(attached, page, deadline=5, recorded=recorded) as view:
            return posted.observe(view)

    assert said(Recording(document=page.url)).sight is Sight.seen
    for other in (Recording(document=site / "invoices/INV-2"), Recording(answers=(page.url,)), NOT_BEGUN):
        assert "doesn't hold our key" in said(other).reasons[0]
    died = said(None)
    assert (died.reasons, died.candidates[0].values) == (("the recorder died with its worker",), {"number": "INV-1"})


def test_a_record_is_found_on_whatever_page_of_the_list(attached: Browser, books: Books, site: Site) -> None:
    books.enter(customer="Northwind", amount="1240.50", reference="S-101")
    enter_many(books, 44)
    said = look(attached, invoice(site))
    assert [match.values for match in said.matches] == [{"number": "INV-1", "amount": "1240.50"}]
    assert said.complete, said.reasons
    assert said.evidence[0].words == "1 of the 45 rows on 3 pages is it"
    assert said.evidence[0].rows[0]["Customer"] == "Northwind"
    assert said.evidence[0].box is not None
    assert books.ledger.writes == []


def test_two_invoices_of_one_reference_happened_more_than_once(attached: Browser, books: Books, site: Site) -> None:
    record = invoice(site)
    before = look(attached, record)
    for _ in range(2):
        books.enter(customer="Northwind", amount="1240.50", reference="S-101")
    verdict = weigh([look(attached, record)], [before], [record], DEAD_AND_WAITED)
    assert (verdict.outcome, verdict.count, verdict.more_than_once) == (Outcome.happened, 2, True)
    assert len(books.invoices) == 2


def test_a_whole_list_without_it_proves_absence_when_nothing_can_come(
    attached: Browser, books: Books, site: Site
) -> None:
    enter_many(books, 21)
    said = look(attached, invoice(site))
    assert (said.sight, said.complete, said.fresh, said.counts) == (Sight.not_seen, True, True, True)
    assert said.evidence[0].words == "none of the 21 rows on 2 pages is it"
    assert weigh([said], [], [invoice(site)], DEAD_AND_WAITED).outcome is Outcome.not_happened
    assert books.ledger.writes == []


def test_a_list_that_isnt_declared_complete_never_proves_absence(attached: Browser, site: Site) -> None:
    said = look(attached, invoice(site, complete=False))
    assert (said.sight, said.complete) == (Sight.not_seen, False)
    assert said.reasons == ("the list isn't declared complete, so it proves presence only",)


def test_a_login_page_is_not_an_empty_list(attached: Browser, books: Books, site: Site) -> None:
    books.require_login()
    said = look(attached, invoice(site))
    assert said.sight is Sight.cannot_tell
    assert "sign of being signed in" in said.reasons[0]
    unmarked = look(attached, invoice(Site("books", url=site.url, account="acme")))
    assert unmarked.sight is Sight.cannot_tell
    assert unmarked.reasons == ("/invoices: the page asks for a password: a login page is not an empty list",)
    assert unmarked.evidence[0].words == "a login page came instead of the list"


def test_an_empty_list_is_said_in_words_and_asks_for_the_sign_of_the_session(attached: Browser, site: Site) -> None:
    assert look(attached, invoice(site)).evidence[0].words == "the list is empty"
    unmarked = look(attached, invoice(Site("books", url=site.url, account="acme")))
    assert any("shows no sign that the session lives" in reason for reason in unmarked.reasons)


def test_another_accounts_list_tells_nothing_of_ours(attached: Browser, books: Books, site: Site) -> None:
    books.enter(customer="Northwind", amount="1240.50", reference="S-101")
    site.bind(account="somebody else")
    assert look(attached, invoice(site)).sight is Sight.cannot_tell


def test_a_count_that_doesnt_agree_keeps_the_list_from_being_whole(attached: Browser, books: Books, site: Site) -> None:
    enter_many(books, 2)
    said = look(attached, invoice(site, count=r"page (\d+) of"))
    assert not said.complete
    assert "rows, and 2 were read" in said.reasons[0]
    assert not look(attached, invoice(site, count=r"(\d+) apples")).complete


def test_a_missing_column_is_told(attached: Browser, books: Books, site: Site) -> None:
    enter_many(books, 1)
    said = look(attached, Record(site, "invoices", key={"Ref": "S-101"}, complete=True))
    assert said.sight is Sight.cannot_tell
    assert said.reasons[0].startswith("/invoices: there is no table with the columns 'Ref' (there is: Number, Customer")


def test_a_page_that_isnt_there_or_doesnt_answer_cannot_tell(attached: Browser, site: Site) -> None:
    gone = look(attached, Record(site, "nothing", key={"Reference": "S-101"}, complete=True))
    assert gone.sight is Sight.cannot_tell
    assert "status 404" in gone.reasons[0]
    site.bind(url="http://127.0.0.1:1")
    dead = look(attached, invoice(site))
    assert dead.sight is Sight.cannot_tell
    assert "ERR_UNSAFE_PORT" in dead.reasons[0] or "couldn't be read" in dead.reasons[0]
    unmarked = look(attached, invoice(Site("books", url="http://127.0.0.1:1", account="acme"), count=None))
    assert len(unmarked.reasons) == 1, "what could not be read is not called an empty list as well"


def test_a_row_that_the_site_isnt_done_with_is_pending(attached: Browser, books: Books, site: Site) -> None:
    books.enter(customer="Northwind", amount="1240.50", reference="S-101")
    assert look(attached, invoice(site, pending=("posted",))).pending
    assert not look(attached, invoice(site, pending=("Processing",))).pending


def test_what_stands_only_in_another_list_is_a_part_or_still_waits(attached: Browser, books: Books, site: Site) -> None:
    books.enter(customer="Northwind", amount="1240.50", reference="S-101")
    empty = "invoices?customer=nobody"
    part = look(attached, Record(site, empty, key={"Reference": "S-101"}, complete=True, more=("invoices",)))
    assert (part.sight, part.partial, part.pending) == (Sight.seen, True, False)
    waits = look(attached, Record(site, empty, key={"Reference": "S-101"}, complete=True, outbox=("invoices",)))
    assert (waits.sight, waits.partial, waits.pending) == (Sight.seen, False, True)


def test_amounts_in_a_key_are_compared_as_amounts(attached: Browser, books: Books, site: Site) -> None:
    books.enter(customer="Northwind", amount="1240.50", reference="S-101")
    key = {"Customer": "North\u00adwind", "Amount": "1,240.5"}
    assert look(attached, Record(site, "invoices", key=key)).sight is Sight.seen


def test_a_sent_mail_is_found_and_draft_folders_are_read(attached: Browser) -> None:
    with Mail() as mail:
        site = Site("mail", url=mail.url, account="ann")
        sent = SentMail(
            site, to="billing@northwind.example", subject="Invoice INV-1", complete=True, drafts=("drafts",)
        )
        assert look(attached, sent).sight is Sight.not_seen
        mail.enter(to="billing@northwind.example", subject="Invoice INV-1", message="Attached.")
        said = look(attached, sent)
        assert (said.sight, said.kind, len(said.matches), said.partial) == (Sight.seen, "SentMail", 1, False)
        assert said.observer == str(sent)
        assert mail.ledger.writes == []


class OpenInvoice(Observer):
    site: Site
    number: str

    def look(self, view: View) -> Observation:
        page = view.open(self.site / f"invoices/{self.number}")
        if page.status == 200 and page.has(self.number):
            return self.seen([Match(identity=self.number, values={"number": self.number})], fresh=page.fresh)
        return self.cannot_tell(f"the invoice's page answered {page.status}")


def test_an_observer_of_ones_own_looks_through_the_same_door(attached: Browser, books: Books, site: Site) -> None:
    assert look(attached, OpenInvoice(site, "INV-1")).reasons == ("the invoice's page answered 404",)
    books.enter(customer="Northwind", amount="1240.50", reference="S-101")
    assert look(attached, OpenInvoice(site, "INV-1")).sight is Sight.seen
