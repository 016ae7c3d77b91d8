"""A question says which declarations would have avoided it, and none that is there or that doesn't matter."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from browser_agent.run.helpful_declarations import helpful_declarations
from browser_agent.run.look import Case
from browser_agent.wire import WireFact, WireReport
from observers import ConfirmationText, ListFacts, Match, Observation, Observer, Record, Sight, Site

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
BARE = Site("shop", url="https://shop.example", account="acme")
SHOP = Site(
    "shop",
    url="https://shop.example",
    account="acme",
    late_commit=timedelta(seconds=9),
    signed_in="Sign out",
    harmless=["POST /draft"],
)
POSTED = WireFact(method="POST", address="https://shop.example/orders", at=NOW, released=True, declared=True)
NOTHING = WireReport()


def listed(site: Site = SHOP, *, complete: bool = False, unique: bool = True) -> Record:
    return Record(site, "orders", key={"Reference": "R-1"}, complete=complete, unique=unique)


def case_of(observer: Observer, site: Site | None = SHOP, sends: str | None = "POST /orders") -> Case:
    return Case("g-1", "order R-1", (observer,), (), site, sends)


def saw(sight: Sight = Sight.not_seen, **more: object) -> Observation:
    facts = {"kind": "Record", "observer": "the list", "counts": True, "at": NOW, "sight": sight, **more}
    return Observation.model_validate(facts)


def of(case: Case, seen: Observation | None = None, wire: WireReport = NOTHING) -> list[str]:
    """The first words of each declaration that is named."""
    named = helpful_declarations(case, [seen] if seen is not None else [], wire)
    return [words.split(":")[0].split(",")[0] for words in named]


def test_nothing_is_missing_where_all_is_declared() -> None:
    assert of(case_of(listed(complete=True)), saw(complete=True)) == []


def test_the_time_of_each_site_that_declares_none() -> None:
    found = of(case_of(listed(BARE, complete=True), BARE), saw(complete=True))
    assert found == ["late_commit of shop", "signed_in of shop"]
    elsewhere = replace(case_of(listed(complete=True)), written=(None,))
    assert of(elsewhere) == ["a Site for each address that the page writes to"]


def test_a_list_where_there_is_only_a_text() -> None:
    assert of(case_of(ConfirmationText("Order R-1 placed"))) == ["a list in the proof"]


def test_a_list_that_is_not_declared_complete() -> None:
    assert of(case_of(listed()), saw()) == ["complete=True of the list"]


def test_what_a_list_needs_that_no_look_could_load() -> None:
    refused = ListFacts(refused=("POST /graphql",), told_empty=True)
    assert of(case_of(listed(complete=True)), saw(listing=refused)) == ["reads=['POST /graphql'] of shop"]
    assert of(case_of(listed(complete=True)), saw(listing=ListFacts())) == ["empty= of the list"]
    for shows in (ListFacts(told_empty=True), ListFacts(told=(0,)), ListFacts(rows=3)):
        assert of(case_of(listed(complete=True)), saw(listing=shows)) == []


def test_a_routine_that_signs_in() -> None:
    assert of(case_of(listed(complete=True)), saw(Sight.cannot_tell, login=True)) == ["a routine for shop (@login)"]


def test_a_key_that_somebody_else_may_have_used() -> None:
    seen = saw(Sight.seen, matches=(Match(identity="R-1"),))
    assert of(case_of(listed(complete=True, unique=False)), seen) == ["sole_user of shop", "created= of the list"]


@pytest.mark.parametrize(
    ("answer", "contract"),
    [
        ({"status": 201}, "POST /orders -> 201"),
        ({"status": 303, "location": "https://shop.example/done/7"}, "POST /orders -> 303 /done/*"),
        ({"status": 303}, None),
        ({"status": 500}, None),
        ({}, None),
    ],
)
def test_the_contract_of_an_answer(answer: dict[str, object], contract: str | None) -> None:
    wire = WireReport(facts=(POSTED.model_copy(update=answer),), declared=True)
    found = of(case_of(listed(complete=True)), wire=wire)
    assert found == ([f"accepts=['{contract}'] of shop"] if contract else [])


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("count", ["harmless=['POST /count'] of shop"]),
        ("api/v2/drafts/D-7/save", ["harmless=['POST /api/v2/drafts/*/save'] of shop"]),
        ("17", ["harmless=['POST /17'] of shop"]),
        ("draft", []),
    ],
)
def test_a_write_that_was_made_beside_the_commit(path: str, named: list[str]) -> None:
    beside = WireFact(method="POST", address=f"https://shop.example/{path}", at=NOW, released=True, status=204)
    assert of(case_of(listed(complete=True)), wire=WireReport(facts=(POSTED, beside), declared=True)) == named


def test_the_request_that_makes_the_change() -> None:
    undeclared = WireReport(facts=(POSTED.model_copy(update={"declared": False}),))
    assert of(case_of(listed(complete=True), sends=None), wire=undeclared) == ["sends= of the gesture"]
