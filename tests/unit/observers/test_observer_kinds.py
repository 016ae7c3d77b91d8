"""Observers as data: declared in a few lines, stored, and read back unchanged or not at all."""

import sys
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta
from types import ModuleType

import pytest
from pydantic import ValidationError

from observers import (
    ConfirmationText,
    Evidence,
    KindTaken,
    Match,
    Observation,
    Observer,
    Record,
    SentMail,
    Sight,
    Site,
    UnknownKind,
    View,
)

BOOKS = Site("books", url="https://books.example", account="acme")
SITES = {"books": BOOKS}
AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"Invoice (?P<number>\S+) posted for S-7", "Invoice <number> posted for S-7"),
        (r"Paid: (?P<a>[^)(]+\)) on (?P<day>\d+(?:\.\d+)?)\b", "Paid: <a> on <day>"),
        (r"x (?P<outer>(?P<inner>y)z)", "x <outer>"),
        (r"Really post\?", "Really post?"),
    ],
)
def test_a_confirmation_names_its_pattern_in_words(pattern: str, words: str) -> None:
    assert str(ConfirmationText(pattern)) == f"the confirmation “{words}”"


class PaidOn(Observer):
    site: Site
    order: str

    def look(self, view: View) -> Observation:
        page = view.open(self.site / f"orders/{self.order}")
        return self.seen([hit.match() for hit in page.find(rf"Paid on (?P<day>\S+) for {self.order}")], fresh=True)


class Unlucky(Observer):
    def look(self, view: View) -> Observation:
        raise ZeroDivisionError("one by\nnothing")


class NoView:
    """A view through which nothing can be seen."""

    current = None
    looks = ()

    def open(self, address: str, *, scripts: bool = True) -> "object":
        raise ConnectionError(f"no way to {address}")

    def now(self) -> datetime:
        return AT


ALL = [
    PaidOn(BOOKS, "7"),
    ConfirmationText(r"Invoice (?P<number>\S+) posted", within="for .+", key="S-101"),
    Record(BOOKS, "invoices", key={"Reference": "S-101"}, complete=True, reads={"number": "Number"},
           staleness=timedelta(seconds=5), more=("drafts",), pending=("Processing",)),
    SentMail(BOOKS, to="ann@example.org", subject="Invoice INV-7", drafts=("drafts",)),
]  # fmt: skip


@pytest.mark.parametrize("observer", ALL, ids=lambda observer: type(observer).__name__)
def test_an_observer_comes_back_from_storage_as_it_was(observer: Observer) -> None:
    stored = observer.to_json()
    assert stored["kind"] == type(observer).__name__
    assert Observer.from_json(stored, sites=SITES) == observer


def test_a_kind_of_ones_own_is_ten_lines_and_validated() -> None:
    assert PaidOn(BOOKS, order="7") == PaidOn(BOOKS, "7")
    with pytest.raises(ValidationError):
        PaidOn(BOOKS, 7)  # type: ignore[arg-type]
    with pytest.raises(FrozenInstanceError):
        PaidOn(BOOKS, "7").order = "8"  # type: ignore[misc]


def test_what_a_kind_doesnt_declare_has_the_least_claim() -> None:
    own = Unlucky()
    assert (own.site, own.counts, own.supplies, own.staleness) == (None, False, frozenset(), timedelta(0))
    assert own.unique
    with pytest.raises(AttributeError, match="Unlucky has no 'colour'"):
        own.colour  # type: ignore[attr-defined]  # noqa: B018


def test_values_that_can_be_supplied_are_known_before_any_look() -> None:
    assert [observer.supplies for observer in ALL[1:]] == [{"number"}, {"number"}, set()]


def test_a_look_that_breaks_cannot_tell() -> None:
    said = Unlucky().observe(NoView())  # type: ignore[arg-type]
    assert (said.sight, said.reasons) == (Sight.cannot_tell, ("the look ended with ZeroDivisionError: one by",))
    assert PaidOn(BOOKS, "7").observe(NoView()).sight is Sight.cannot_tell  # type: ignore[arg-type]


def test_seen_without_a_match_is_cannot_tell() -> None:
    assert Unlucky().seen([]).sight is Sight.cannot_tell


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(UnknownKind, match="no observer of the kind 'Nowhere' is known here"):
        Observer.from_json({"kind": "Nowhere"})


def test_a_stored_field_that_isnt_known_any_more_is_not_dropped() -> None:
    with pytest.raises(UnknownKind, match="colour"):
        Observer.from_json({**ALL[0].to_json(), "colour": "red"}, sites=SITES)


def test_a_site_that_isnt_declared_is_named() -> None:
    with pytest.raises(UnknownKind, match="site 'books' isn't declared here; known are: none"):
        Observer.from_json(ALL[0].to_json())


def test_two_kinds_of_one_name_are_refused_and_both_are_named() -> None:
    with pytest.raises(KindTaken, match=r"declared twice: in .*test_observer_kinds as PaidOn and in .* as test_two"):
        type("PaidOn", (Unlucky,), {"__module__": __name__, "__qualname__": "test_two.PaidOn"})
    assert Observer.kinds()["PaidOn"] is PaidOn


def test_a_module_that_runs_as_main_and_is_imported_too_declares_one_kind() -> None:
    twin = ModuleType("twin_of_this_module")
    twin.__file__ = __file__
    sys.modules[twin.__name__] = twin
    try:
        again = type("Unlucky", (Unlucky,), {"__module__": twin.__name__, "__qualname__": "Unlucky"})
        assert Observer.kinds()["Unlucky"] is again
    finally:
        del sys.modules[twin.__name__]


def test_observers_that_would_fit_everything_are_refused() -> None:
    with pytest.raises(ValidationError, match="without a key fits every row"):
        Record(BOOKS, "invoices", key={})
    with pytest.raises(ValidationError, match="seen on every page"):
        ConfirmationText(".*")
    with pytest.raises(ValidationError, match="leads away"):
        Record(BOOKS, "//evil.example/x", key={"A": "1"})


def test_an_observation_comes_back_from_json_as_it_was() -> None:
    evidence = Evidence(kind="rows", words="1 row", rows=({"Number": "INV-7"},), blob="0" * 64, box=(0.1, 2, 3, 4),
                        address="https://books.example/invoices?page=2", at=AT)  # fmt: skip
    said = ALL[2].seen([Match(identity="x", values={"a": "\u00e9"})], evidence, at=AT, fresh=True, complete=True)
    assert Observation.model_validate_json(said.model_dump_json()) == said
    assert said.staleness == timedelta(seconds=5)
    assert said.counts


def test_evidence_never_holds_what_stands_in_a_query() -> None:
    address = "https://ann:secret@books.example:8443/a/b?token=secret&page=2#secret"
    evidence = Evidence(kind="page", words="a page", address=address, at=AT)
    assert evidence.address == "https://books.example:8443/a/b?token&page"
    for hidden in ("data:text/html,secret", "javascript:secret", "https://[secret"):
        kept = Evidence(kind="page", words="a page", address=hidden, at=AT).address
        assert kept is not None
        assert "secret" not in kept


def test_times_are_kept_in_utc_and_naive_ones_are_refused() -> None:
    there = datetime.fromisoformat("2026-11-30T14:00+02:00")
    assert Evidence(kind="page", words="a page", at=there).at.isoformat() == "2026-11-30T12:00:00+00:00"
    with pytest.raises(ValidationError):
        Evidence(kind="page", words="a page", at=datetime(2026, 11, 30))
