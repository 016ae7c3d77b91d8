"""The report, opened in a real browser: it shows what is known, and does nothing else."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import Page
from sqlalchemy import text as sql

from browser_agent.errors import Misuse, UnknownName
from browser_agent.reporting.html_report import write_report
from browser_agent.states import Answer, EndKind, GestureState, QuestionKind, RunState, StepState
from browser_agent.store import AttemptEnd, Consent, Lease, NewQuestion, PersonAnswer, Store
from observers import Condition
from tests.store.building import NOON, HandClock, called, claim, folder_of, intent, submit

HOSTILE = "<script>document.title = 'owned'</script><img src=http://evil.example/x onerror=\"document.title='owned'\">"
UNREAD = "the list could not be read to its end"
TARGET = [40, 300, 90, 36]


def picture(words: str, *, done: bool = False) -> bytes:
    """A page as a picture: a form, or the sentence that confirms it."""
    image = Image.new("RGB", (900, 460), "#ffffff")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 900, 56), fill="#22406b")
    draw.text((24, 20), "acme books", fill="#ffffff", font_size=18)
    for number, line in enumerate(words.split("\n")):
        draw.rectangle((40, 90 + 64 * number, 520, 126 + 64 * number), outline="#9aa4b5")
        draw.text((52, 98 + 64 * number), line, fill="#1d2330", font_size=17)
    if done:
        draw.rectangle((40, 380, 700, 424), fill="#dff3e6")
        draw.text((56, 391), f"Invoice posted for {words.splitlines()[0]}", fill="#116b3a", font_size=18)
    draw.rectangle((40, 300, 130, 336), fill="#22406b")
    draw.text((66, 308), "Post", fill="#ffffff", font_size=17)
    written = io.BytesIO()
    image.save(written, "WEBP", quality=80, method=0)
    return written.getvalue()


class Story:
    """Tells a run into a store: what was made, seen and asked."""

    def __init__(self, store: Store, clock: HandClock) -> None:
        self.store, self.clock, self.run = store, clock, submit(store, key="invoices of 30 November")
        self.lease: Lease = claim(store, self.run)

    def make(self, shipment: str, customer: str, beside: dict[str, Any] | None = None, **more: Any) -> str:
        """A gesture with its pictures, dispatched."""
        self.store.leases.beat(self.lease)
        kept = self.store.artifacts.save(picture(f"{shipment}\n{customer}\n120.00"), "image/webp")
        step = self.store.journal.begin_step(self.lease, called(f"post_invoice({shipment})"))
        wanted = intent(f"post an invoice of 120.00 to {customer}", before=kept, target_box=json.dumps(TARGET), **more)
        wanted = replace(wanted, intent=json.dumps({**json.loads(wanted.intent), **(beside or {})}))
        gesture = self.store.journal.intend(self.lease, step, 1, wanted)
        self.clock.sleep(1)
        self.store.journal.dispatch(self.lease, gesture.id, guarded=True)
        self.clock.sleep(1)
        return gesture.id

    def look(self, gesture: str, *said: dict[str, Any]) -> list[str]:
        """One look of all observers."""
        self.clock.sleep(2)
        texts = [json.dumps({"at": NOON.isoformat(), "reasons": [], **one}) for one in said]
        return self.store.journal.observe(self.lease, gesture, texts)[1]

    def settle(self, gesture: str, shipment: str, number: str) -> None:
        """It happened, proven by a confirmation and a record."""
        after = self.store.artifacts.save(picture(f"{shipment}\nNordwind\n120.00", done=True), "image/webp")
        fact = {"method": "POST", "address": "http://127.0.0.1:8001/invoices", "released": True, "status": 303}
        again = {**fact, "at": NOON.isoformat(), "error": "net::ERR_EMPTY_RESPONSE"}
        wire = {
            "armed": True,
            "facts": [{**fact, "location": f"/invoices/{number}", "declared": True}],
            "resent": [{name: again[name] for name in ("method", "address", "at", "error")}],
        }
        change = {"ratio": 0.071, "box": [40, 380, 700, 424]}
        seen = {"observer": "the confirmation", "sight": "seen", "fresh": False}
        ids = self.look(gesture, {**seen, "matches": [match(number)], "evidence": [text(f"Invoice {number} posted")]})
        facts: dict[str, Any] = {"after": after, "change": json.dumps(change), "wire": json.dumps(wire), "count": 1}
        self.store.journal.move(
            self.lease,
            gesture,
            GestureState.HAPPENED,
            values=json.dumps({"number": number}),
            proven_by=json.dumps(ids),
            reasons='["one new match of its key"]',
            conditions=[
                Condition(of="presence", observer="the confirmation", needs="it is new", holds=True, seen="not before"),
                Condition(of="presence", needs="it happened once", holds=False, seen="two matches"),
            ],
            **facts,
        )
        step = self.store.journal.gesture(gesture).step_id
        self.store.journal.end_step(self.lease, step, StepState.FINISHED, json.dumps({"number": number}))

    def ask(self, gesture: str, *evidence: dict[str, Any]) -> str:
        """Nothing proves it: a person is asked."""
        self.store.journal.move(self.lease, gesture, GestureState.IN_DOUBT)
        self.store.journal.move(self.lease, gesture, GestureState.UNKNOWN, reasons=f'["{UNREAD}"]')
        row = self.store.journal.gesture(gesture)
        asked = NewQuestion(
            QuestionKind.OUTCOME,
            f"Did this happen: {row.words}?",
            (UNREAD, "late_commit of books is not declared"),
            evidence,
            last_confirmed="invoice INV-2301 posted for S-101",
            safe_step="Look at books yourself; if it is there, answer happened.",
            step=row.step_id,
            gesture=gesture,
        )
        return self.store.inbox.ask(self.lease, asked).id


def match(number: str) -> dict[str, Any]:
    return {"values": {"number": number}, "identity": f"Invoice {number} posted", "note": "", "box": None}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"kind": "text", "words": "the page says", "text": words, "at": NOON.isoformat(), **more}


def told(store: Store, clock: HandClock) -> Story:
    """Two attempts: one invoice that happened, a worker that died, one gesture that nothing has proven."""
    story = Story(store, clock)
    reading = store.journal.begin_step(story.lease, called("find_shipments(2026-11-30)", writes=False))
    store.journal.end_step(story.lease, reading.id, StepState.FINISHED, "[]")
    story.settle(story.make("S-101", "Nordwind"), "S-101", "INV-2301")
    lost = story.make("S-102", f"Suedwind {HOSTILE}")
    store.journal.release(story.lease, lost, "POST", "http://127.0.0.1:8001/invoices")
    store.leases.end_attempt(story.lease, AttemptEnd("ended by signal 9", EndKind.WORKER_ENDED, -9))
    story.lease = claim(store, story.run)
    rows = [{"Reference": "S-101", "Number": "INV-2301"}, {"Reference": HOSTILE, "Number": "INV-2299"}]
    listed = store.artifacts.save(picture("Invoices\nS-101 INV-2301\nS-099 INV-2299"), "image/webp")
    page = {"kind": "picture", "words": "the list of invoices", "blob": listed, "box": [40, 154, 480, 36]}
    record = {"observer": "Record(books, invoices)", "sight": "cannot_tell", "reasons": [f"2 of 4 pages: {HOSTILE}"]}
    table = {"kind": "rows", "words": "rows read", "rows": rows, "address": "http://127.0.0.1:8001/invoices"}
    story.look(lost, {**record, "matches": [], "evidence": [table, page, text(HOSTILE)]}, {**record, "matches": []})
    story.ask(lost, text(HOSTILE))
    store.leases.end(story.lease, RunState.WAITING, ended_by="Unknown whether this happened: an invoice to Suedwind.")
    return story


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def store(tmp_path: Path, clock: HandClock) -> Iterator[Store]:
    with Store(tmp_path / "runs.db", clock) as opened:
        yield opened


@pytest.fixture
def opened(store: Store, clock: HandClock, page: Page, tmp_path: Path) -> Iterator[Page]:
    """The report of the two attempts in the browser, which may ask the world for nothing."""
    written = write_report(store, told(store, clock).run, tmp_path / "run.html")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(written.as_uri())
    yield page
    assert [address for address in asked if not address.startswith(("file:", "data:"))] == []


def test_a_reviewer_sees_the_changes_and_what_proves_them(opened: Page) -> None:
    first, second = opened.locator("table.summary tbody tr").all()
    assert re.search(r"post an invoice of 120.00 to Nordwind.*happened\s+number: INV-2301", first.inner_text(), re.S)
    assert "the confirmation “Invoice INV-2301 posted” (look 1)" in first.inner_text()
    assert "unknown" in second.inner_text()
    assert "INV-2301" not in second.inner_text()


def test_the_conditions_of_a_verdict_are_folded_unless_they_are_asked_for(
    opened: Page, store: Store, tmp_path: Path
) -> None:
    folded = opened.locator("details", has_text="Conditions of “happened”")
    assert folded.get_attribute("open") is None and "1 of 2 hold" in folded.inner_text()
    opened.goto(write_report(store, store.leases.runs()[0].id, tmp_path / "why.html", explain=True).as_uri())
    said = opened.locator("details[open]", has_text="Conditions of “happened”").inner_text()
    assert "yes the confirmation: it is new\nnot before" in said
    assert "no it happened once\ntwo matches" in said


def test_what_the_browser_sent_again_by_itself_stands_with_its_gesture(opened: Page) -> None:
    words = "the browser sent POST http://127.0.0.1:8001/invoices again by itself (net::ERR_EMPTY_RESPONSE)"
    assert words in opened.locator("article.green").inner_text()
    assert "by itself" not in opened.locator("article.red").inner_text()


def test_a_gesture_without_a_verdict_is_red_and_named_at_the_top(opened: Page) -> None:
    red = opened.locator("article.red")
    assert red.count() == 1
    assert red.locator(".alarm").inner_text() == "This gesture was made, and nothing proves what it did."
    assert opened.locator(".head .alarm a").get_attribute("href") == f"#{red.get_attribute('id')}"


def test_the_question_stands_with_its_gesture(opened: Page) -> None:
    question = opened.locator("article.red .question.open").inner_text()
    for words in (
        "Did this happen",
        "invoice INV-2301 posted for S-101",
        "Look at books yourself",
        "waiting for a person",
    ):
        assert words in question


def test_what_speaks_for_a_doubt_is_said_once(opened: Page) -> None:
    assert opened.locator("article.red").inner_text().count(UNREAD) == 1


def test_the_question_holds_the_commands_that_answer_it(opened: Page, store: Store) -> None:
    name = store.inbox.questions()[0].id
    commands = opened.locator("article.red .commands").inner_text().splitlines()
    assert [line.split()[:4] for line in commands] == [
        ["browser-agent", "answer", name, answer] for answer in ("happened", "not-happened", "abandon")
    ]


def test_the_top_counts_the_outcomes_and_tells_the_interruption(opened: Page) -> None:
    head = opened.locator(".head")
    assert head.locator(".counts .pill").all_inner_texts() == ["1 unknown, asked", "1 happened"]
    assert "Resumed after 1 interruption: its worker was ended by signal 9 at" in head.inner_text()


def test_a_picture_is_enlarged_by_a_click_and_small_again_by_the_next(opened: Page) -> None:
    picture = opened.locator("article.green img").first
    small = picture.bounding_box()
    picture.click()
    large = picture.bounding_box()
    assert small and large and large["width"] == 902 > small["width"], "as large as it was taken, and its frame"
    picture.click()
    again = picture.bounding_box()
    assert again and again["width"] == small["width"]


def test_pictures_are_shown_with_their_marks_and_the_stored_ones_have_none(
    opened: Page, store: Store, tmp_path: Path
) -> None:
    opened.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    pictures = opened.locator("img")
    pictures.evaluate_all("all => Promise.all(all.map(one => one.decode()))")
    assert pictures.count() == 4
    before = store.artifacts.read(store.journal.gestures(store.leases.runs()[0].id)[0].before or "")[0]
    assert before == picture("S-101\nNordwind\n120.00")
    shown = opened.locator("article.green img").first.get_attribute("src") or ""
    assert shown.startswith("data:image/webp;base64,")
    assert _pink(shown) > 100


def _pink(source: str) -> int:
    """Pixels in the ink of a mark."""
    image = Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))).convert("RGB")
    content = image.tobytes()
    pixels = zip(content[::3], content[1::3], content[2::3], strict=True)
    return sum(1 for red, green, blue in pixels if red > 180 and green < 60 and 60 < blue < 160)


def test_hostile_text_is_shown_as_text_and_does_nothing(opened: Page) -> None:
    assert opened.title().startswith("invoice_shipments")
    assert opened.locator("script").count() == 0
    assert opened.locator("body").inner_text().count("<script>document.title") >= 3


def test_the_death_of_the_worker_is_in_the_time_line(opened: Page) -> None:
    lanes = opened.locator(".lane")
    assert "ended by signal 9" in lanes.nth(0).locator(".lanehead").inner_text()
    assert lanes.nth(0).locator("article").count() == 2
    assert "find_shipments" in lanes.nth(0).locator(".read").inner_text()


def test_it_is_read_on_a_phone_without_scrolling_sideways(opened: Page) -> None:
    opened.set_viewport_size({"width": 390, "height": 800})
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_audit_chain_is_named_with_its_size_and_head(opened: Page, store: Store) -> None:
    chain = store.verify()
    footer = opened.locator("footer").inner_text()
    assert f"{chain.size} lines" in footer
    assert chain.head in footer
    assert "holds" in footer


def test_an_answer_names_the_person(store: Store, clock: HandClock, page: Page, tmp_path: Path) -> None:
    story = told(store, clock)
    question = store.inbox.questions(story.run, open_only=True)[0]
    store.inbox.answer(question.id, PersonAnswer(Answer.HAPPENED, "ann", "it is on the list", {"number": "INV-2302"}))
    page.goto(write_report(store, story.run, tmp_path / "run.html").as_uri())
    answer = page.locator(".answer").inner_text()
    assert "happened" in answer and "ann" in answer and "it is on the list" in answer and "INV-2302" in answer
    assert page.locator("article.red").count() == 0
    gesture = page.locator(".gesture").nth(1)
    assert not gesture.get_by_text(UNREAD).is_visible(), "what the observers could not tell does not contradict her"
    gesture.get_by_text("What was known before the answer").click()
    assert gesture.get_by_text(UNREAD).is_visible()
    assert f"answer to {question.id} by ann" in page.locator("table.summary").inner_text()


def test_its_commands_find_the_store_and_its_pictures_are_there_before_anybody_scrolls(
    store: Store, clock: HandClock, page: Page, tmp_path: Path
) -> None:
    story = told(store, clock)
    more = f"--store {store.address}"
    page.goto(write_report(store, story.run, tmp_path / "run.html", more).as_uri())
    commands = page.locator(".commands").inner_text().splitlines()
    assert len(commands) == 3 and all(more in command for command in commands)
    shown = "pictures => pictures.every(picture => picture.complete && picture.naturalWidth > 0)"
    assert page.locator("img").evaluate_all(shown)


def test_a_lost_picture_is_said_to_be_lost(store: Store, clock: HandClock, page: Page, tmp_path: Path) -> None:
    story = told(store, clock)
    before = store.journal.gestures(story.run)[0].before or ""
    (folder_of(store) / before[:2] / before).unlink()
    page.goto(write_report(store, story.run, tmp_path / "run.html").as_uri())
    assert f"The file of blob {before} is missing" in page.locator("article.green .absent").inner_text()


def test_a_gesture_that_has_no_picture_after_it_says_why(
    store: Store, clock: HandClock, page: Page, tmp_path: Path
) -> None:
    story = Story(store, clock)
    cut, refused = story.make("S-1", "Nordwind"), story.make("S-2", "Nordwind")
    store.journal.record(story.lease, cut, change='{"no_picture": "the page is gone"}')
    store.journal.move(story.lease, refused, GestureState.REFUSED, reasons='["not ready"]')
    page.goto(write_report(store, story.run, tmp_path / "run.html").as_uri())
    assert page.locator(".absent").all_inner_texts() == ["no picture: the page is gone", "no picture: nothing was made"]


def test_a_change_of_most_of_the_page_is_said_and_not_framed(
    store: Store, clock: HandClock, page: Page, tmp_path: Path
) -> None:
    story = Story(store, clock)
    after = store.artifacts.save(picture("S-1\nPosted"), "image/webp")
    box = [0, 0, 900, 300]  # two thirds of it
    store.journal.record(
        story.lease, story.make("S-1", "Nordwind"), after=after, change=json.dumps({"ratio": 0.3, "box": box})
    )
    page.goto(write_report(store, story.run, tmp_path / "run.html").as_uri())
    assert "After: most of the page changed" in page.locator("figcaption").nth(1).inner_text()
    assert _pink(page.locator("img").nth(1).get_attribute("src") or "") == 0


def test_a_no_of_the_site_is_told_with_what_its_page_said_and_how_it_is_known(
    store: Store, clock: HandClock, page: Page, tmp_path: Path
) -> None:
    story = Story(store, clock)
    said = json.dumps(["the site said no: 422", f"The period is closed. {HOSTILE}"])
    wire = json.dumps({"armed": True, "facts": [], "restarts": 0})
    chosen = story.make("S-1", "Nordwind", {"option": "November", "by": "label"})
    store.journal.move(story.lease, chosen, GestureState.REJECTED, reasons=said, proven_by='["wire"]', wire=wire)
    page.goto(write_report(store, story.run, tmp_path / "run.html").as_uri())
    assert page.locator(".verdict li").all_inner_texts() == ["the site said no: 422"]
    assert page.locator(".verdict blockquote").inner_text().startswith("The period is closed. <script>")
    words = page.locator("article").inner_text()
    assert "Proven by: what the gate saw on the wire" in words
    assert "option “November”" in words and "guarded at the wire" in words
    assert "The network log shows no request that the browser sent a second time by itself." in words


def test_a_broken_chain_is_said_to_be_broken(store: Store, clock: HandClock, page: Page, tmp_path: Path) -> None:
    story = told(store, clock)
    with store.database.write() as session:
        session.connection().execute(sql("DROP TRIGGER audit_keeps_its_lines"))
        session.connection().execute(sql("UPDATE audit SET body = CAST('{}' AS BLOB) WHERE seq = 3"))
    page.goto(write_report(store, story.run, tmp_path / "run.html").as_uri())
    assert "line 3: its text was changed" in page.locator("footer").inner_text()


def test_a_reviewer_sees_which_calls_were_approved_and_on_whose_yes_a_gesture_was_made(
    store: Store, clock: HandClock, page: Page, tmp_path: Path
) -> None:
    story = Story(store, clock)
    calls = [
        {"step": "post_invoice@1", "arguments": f'{{"id": "S-{number}"}}', "words": f"post_invoice(S-{number})"}
        for number in (101, 102)
    ]
    details = {"calls": calls, "valid_seconds": 3600.0}
    asked = store.inbox.ask(story.lease, NewQuestion(QuestionKind.APPROVAL, "Post these?", details=details))
    store.inbox.answer(asked.id, PersonAnswer(Answer.APPROVE, by="Ann", reason="checked", consent=Consent(only=(1,))))
    step = store.journal.begin_step(story.lease, called())
    made = store.journal.intend(story.lease, step, 1, intent(reverse="cancel_invoice"))
    yes = store.approvals.of_question(asked.id)[0]
    store.journal.dispatch(story.lease, made.id, guarded=True, approval=yes.id)
    page.goto(write_report(store, story.run, tmp_path / "run.html").as_uri())
    assert [line.split()[-1] for line in page.locator(".question li").all_inner_texts()] == ["approved", "refused"]
    words = page.locator("article.gesture").inner_text()
    assert f"approved by Ann ({asked.id})" in words and "can be reversed by cancel_invoice" in words


@pytest.fixture
def long_run(store: Store, clock: HandClock) -> str:
    """A run of a hundred gestures, each with two pictures of its own."""
    story = Story(store, clock)
    for number in range(100):
        story.settle(story.make(f"S-{number}", f"Customer {number}"), f"S-{number} for {number}", f"INV-{number}")
    store.leases.end(story.lease, RunState.FINISHED, ended_by="the task completed")
    return story.run


@pytest.mark.matrix
def test_the_report_of_a_hundred_steps_shows_every_picture_offline(
    store: Store, long_run: str, page: Page, tmp_path: Path
) -> None:
    written = write_report(store, long_run, tmp_path / "run.html")
    page.context.set_offline(True)
    try:
        page.goto(written.as_uri())
        pictures = page.locator("img")
        assert pictures.count() == 200
        for picture in pictures.all():
            picture.scroll_into_view_if_needed()
        broken = "images => images.filter(image => !image.complete || !image.naturalWidth).length"
        assert pictures.evaluate_all(broken) == 0
        assert page.locator("article.green").count() == 100
        assert page.locator("table.summary tbody tr").count() == 100
    finally:
        page.context.set_offline(False)


def test_an_empty_run_has_a_report(store: Store, page: Page, tmp_path: Path) -> None:
    page.goto(write_report(store, submit(store), tmp_path / "deep" / "run.html").as_uri())
    assert "None: no step of this run makes a gesture" in page.locator("body").inner_text()


def test_a_report_of_no_run_or_to_no_place_is_not_written(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UnknownName):
        write_report(store, "run-nowhere", tmp_path / "run.html")
    with pytest.raises(Misuse, match="could not be written"):
        write_report(store, submit(store), tmp_path)
    assert not (tmp_path / "run.html").exists()
