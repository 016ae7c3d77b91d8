"""Observers that read in what was recorded: what proves, what supports, and what is gone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from observers import (
    NOT_BEGUN,
    Address,
    Both,
    ConfirmationText,
    Download,
    Downloaded,
    ErrorShown,
    NewPage,
    Observation,
    Observer,
    Opened,
    OpenedPage,
    OrderStatus,
    Record,
    Recording,
    SentMail,
    Sight,
    Site,
    Toast,
    ToastLog,
)
from observers.key_in_text import holds, of_one_key

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
SHOP = Site("shop", url="https://shop.example", account="acme")
HASH = "0" * 64
TOAST = ToastLog(r"Order (?P<number>\S+) placed", key="S-7")
PAGE = NewPage(r"Receipt (?P<number>\S+)", key="S-7")
FILE = Download(r"receipt.*", within=r"Order;(?P<number>\S+)", key="S-7")


class Heard:
    """A view through which only a recording is seen."""

    current = None
    looks = ()

    def __init__(self, recorded: Recording | None) -> None:
        self.recorded = recorded

    def open(self, address: str, *, scripts: bool = True) -> Any:
        raise AssertionError(f"nothing may be opened: {address}")

    def now(self) -> datetime:
        return AT


def look(observer: Observer, recorded: Recording | None = None, **more: Any) -> Observation:
    return observer.observe(Heard(Recording(**more) if more else recorded))


def file(name: str = "receipt.csv", **more: Any) -> Downloaded:
    return Downloaded(name=name, at=AT, **{"size": 1234, "sha256": HASH, "text": "Order;ORD-9\nKey;S-7\n", **more})


@pytest.mark.parametrize("observer", [TOAST, PAGE, FILE], ids=str)
def test_what_was_recorded_is_gone_with_its_worker_and_a_look_says_nothing_else(observer: Observer) -> None:
    gone = look(observer, None)
    assert (gone.sight, gone.reasons, gone.evidence) == (
        Sight.cannot_tell,
        ("the recorder died with its worker",),
        (),
    )
    assert look(observer, NOT_BEGUN).reasons == ("nothing is recorded before the gesture",)
    assert observer.records and not observer.counts and not observer.opens


@pytest.mark.parametrize(
    ("text", "key", "there"),
    [
        ("Order S-7 placed", "S-7", True),
        ("Order S-70 placed", "S-7", False),
        ("Order XS-7 placed", "S-7", False),
        ("Order S-7-2 placed", "S-7", False),
        ("receipt_S-7.csv", "S-7", True),
        ("/orders/S-7/thanks", "S-7", True),
        ("Order S\u20117\u00a0placed", "S-7", True),
        ("Total 17.00", "17", False),
        ("Order S-7", None, False),
    ],
)
def test_a_key_is_held_as_a_whole_or_not_at_all(text: str, key: str | None, there: bool) -> None:
    assert holds(text, key) is there


def test_a_toast_with_our_key_is_seen_and_one_without_is_a_candidate() -> None:
    ours = look(TOAST, toasts=(Toast(text="Order ORD-9 placed\nfor S-7", at=AT),))
    assert [match.values for match in ours.matches] == [{"number": "ORD-9"}]
    assert (ours.observer, ours.evidence[0].words) == ("the toast", "shown at 12:00:00 UTC, after the gesture")
    other = look(TOAST, toasts=(Toast(text="Order ORD-8 placed for S-70", at=AT),))
    assert (other.sight, [match.values for match in other.candidates]) == (Sight.cannot_tell, [{"number": "ORD-8"}])
    assert look(TOAST, toast_failure="toasts could not be recorded").reasons == ("toasts could not be recorded",)
    assert "more than is recorded" in look(TOAST, truncated=True).reasons[0]


def test_a_receipt_that_has_closed_is_seen_and_an_unread_one_is_named() -> None:
    receipt = OpenedPage(address="https://shop.example/r?token=x", at=AT, text="Receipt R-1\nfor S-7", closed=True)
    said = look(PAGE, pages=(receipt,))
    assert [match.values for match in said.matches] == [{"number": "R-1"}]
    assert said.evidence[0].words == "a page that has closed since says: Receipt R-1"
    assert said.evidence[0].address == "https://shop.example/r?token"
    unread = receipt.model_copy(update={"text": "", "unread": "it closed before it could be read"})
    assert look(PAGE, pages=(unread,)).reasons == ("a page opened, and it closed before it could be read",)
    assert look(PAGE, begun=True).reasons == ("no page opened after the gesture, and that proves nothing",)


def test_a_file_is_seen_when_it_is_complete_and_holds_our_key() -> None:
    said = look(FILE, downloads=(file(),))
    assert [(match.values, match.identity) for match in said.matches] == [
        ({"number": "ORD-9"}, "receipt.csv (1,234 bytes)")
    ]
    assert (said.evidence[0].kind, said.evidence[0].text) == ("file", "Order;ORD-9")
    named = look(Download(r"receipt-(?P<number>\S+)\.pdf", key="S-7"), downloads=(file("receipt-S-7.pdf", text=None),))
    assert (named.sight, named.evidence[0].text) == (Sight.seen, None)


@pytest.mark.parametrize(
    ("came", "reason"),
    [
        (file("other.csv"), "no such file came"),
        (file(size=None, sha256=None, text=None), "has begun and isn't complete"),
        (file(size=None, sha256=None, text=None, failure="canceled"), "did not finish: canceled"),
        (file(text=None), "isn't text that can be looked through"),
        (file(text="Order number"), "no line of it holds"),
        (file(text="Order;ORD-9"), "doesn't hold our key"),
    ],
)
def test_any_other_file_proves_nothing_and_it_is_said_why(came: Downloaded, reason: str) -> None:
    said = look(FILE, downloads=(came,))
    assert said.sight is Sight.cannot_tell
    assert reason in said.reasons[0]


def test_what_only_supports_supplies_nothing_and_never_proves() -> None:
    keyless = [ToastLog(r"Order (?P<number>\S+)"), NewPage(r"R (?P<number>\S+)"), Download(r"(?P<number>.+)\.csv"),
               Address(r"/orders/(?P<number>\d+)"), ConfirmationText(r"R (?P<number>\S+)"),
               ErrorShown("(?P<number>.+) failed")]  # fmt: skip
    for observer in keyless:
        assert not observer.proves and not observer.supplies and observer.offers == {"number"}
        assert not Both(Record(SHOP, "orders", key={"A": "1"}), observer).proves
        assert Opened(SHOP, "orders/{number}", by=observer, key="S-7").supplies == {"number"}


LISTED = Record(SHOP, "orders", key={"Reference": "S-7"})
TEXT = ConfirmationText(r"Order (?P<number>\S+) placed for S-7")


@pytest.mark.parametrize("beside", [LISTED, TOAST, Both(LISTED, PAGE)], ids=str)
def test_a_text_without_a_key_takes_the_one_by_which_the_rest_of_its_proof_looks(beside: Observer) -> None:
    text, other, both = of_one_key([TEXT, beside, Both(TEXT, LISTED)])
    assert (text, other) == (ConfirmationText(TEXT.pattern, key="S-7"), beside)
    assert both.parts == (text, LISTED)


@pytest.mark.parametrize(
    "beside",
    [
        (),
        (LISTED, Record(SHOP, "orders", key={"Reference": "S-8"})),
        (Record(SHOP, "orders", key={"Reference": "S-7", "Article": "A-1"}),),
        (Record(SHOP, "orders", key={"Reference": "S-7"}, unique=False),),
        (ToastLog("placed"),),
    ],
    ids=["nothing", "two keys", "a key of two columns", "a key that isn't unique", "no key"],
)
def test_a_text_is_given_no_key_of_which_the_proof_isnt_sure(beside: tuple[Observer, ...]) -> None:
    assert of_one_key([TEXT, *beside]) == (TEXT, *beside)


def test_a_key_of_ones_own_is_kept() -> None:
    own = ConfirmationText("placed", key="S-9")
    assert own.with_key("S-7") == own


ALL = [
    TOAST,
    PAGE,
    FILE,
    Address(r"/orders/(?P<number>\d+)", answer=True, site=SHOP),
    ErrorShown("failed"),
    OrderStatus(SHOP, "orders", key={"Reference": "S-7"}, means={"Received": "happened"}),
    Opened(SHOP, "orders/{number}", by=ToastLog(r"Order (?P<number>\S+) placed"), key="S-7"),
    Both(ConfirmationText("placed for S-7", key="S-7"), Both(TOAST, SentMail(SHOP, to="a@b.example", subject="S-7"))),
    SentMail(SHOP, to="a@b.example", subject="S-7", log="log", delivery={"ok": "delivered"}),
]


@pytest.mark.parametrize("observer", ALL, ids=lambda observer: type(observer).__name__)
def test_an_observer_comes_back_from_storage_as_it_was_with_all_that_is_in_it(observer: Observer) -> None:
    assert Observer.from_json(observer.to_json(), sites={"shop": SHOP}) == observer
    assert "\n" not in str(observer), "it explains itself in one line"


def test_what_is_needed_is_recorded_whatever_it_is_wrapped_in() -> None:
    assert ALL[6].records == {"toasts"} and ALL[7].records == {"toasts"} and ALL[3].records == {"answers"}
    assert Both(TOAST, PAGE).records == {"toasts", "pages"}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ToastLog(".*"),
        lambda: NewPage("x", key=" "),
        lambda: Download("x", within="y*"),
        lambda: Opened(SHOP, "orders", by=TOAST, key="S-7"),
        lambda: Both(TOAST, "not an observer"),  # type: ignore[arg-type]
        lambda: SentMail(SHOP, to="a", subject="b", log="log"),
        lambda: SentMail(SHOP, to="a", subject="b", log="log", delivery={"a": "b"}, reads={"delivery": "X"}),
    ],
)
def test_what_would_fit_everything_or_nothing_is_refused(wrong: Any) -> None:
    with pytest.raises(ValidationError):
        wrong()


def test_two_parts_that_nobody_can_tell_of_are_no_part_of_anything() -> None:
    said = look(Both(TOAST, PAGE), None)
    assert (said.sight, said.partial, said.complete) == (Sight.cannot_tell, False, False)
    assert said.reasons == (f"{TOAST}: the recorder died with its worker", f"{PAGE}: the recorder died with its worker")
