"""What may be concluded from what was seen, each row as a fact."""

from datetime import UTC, datetime

import pytest

from browser_agent.rules import (
    Move,
    acceptance,
    never_sent,
    next_move,
    nothing_left,
    rejection,
    was_performed,
    was_refused,
)
from browser_agent.wire import NOTHING_SEEN, Restart, WireFact, WireReport, restarts_in_words
from observers import Accepted, Outcome, Site

NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
CALM = "click: Timeout\nCall log:\n  - waiting for get_by_role('button')\n"
DONE = CALM + "  - performing click action\n"


def fact(**facts: object) -> WireFact:
    base = {"method": "POST", "address": "http://books.example/invoices", "at": NOW, "released": True, "declared": True}
    return WireFact.model_validate({**base, **facts})


def seen(*facts: WireFact, **report: object) -> WireReport:
    return WireReport.model_validate({"armed": True, "facts": facts, **report})


@pytest.mark.parametrize(
    ("outcome", "clear", "move"),
    [
        (Outcome.happened, True, Move.CARRY_ON),
        (Outcome.happened, False, Move.ASK),
        (Outcome.not_happened, True, Move.MAY_BE_MADE_AGAIN),
        (Outcome.unknown, True, Move.ASK),
    ],
)
def test_only_a_proven_absence_allows_another_gesture(outcome: Outcome, clear: bool, move: Move) -> None:
    assert next_move(outcome, clear=clear) is move


POINTER = ("click", "check", "double click", "right click", "hold", "drag")
KINDS = (*POINTER, "press", "select", "upload")
FOUND = CALM + "    - locator resolved to <input/>\n"


def refused(kind: str, log: str, *, seen: bool | None = False, answers: bool = True, alive: bool = True) -> bool:
    return was_refused(kind, log, seen_in_page=seen, page_answers=answers, processes_alive=alive)


@pytest.mark.parametrize("kind", KINDS)
def test_an_input_that_reached_nothing_is_refused(kind: str) -> None:
    assert refused(kind, CALM)


@pytest.mark.parametrize("kind", KINDS)
def test_any_sign_that_it_may_have_arrived_leaves_it_in_doubt(kind: str) -> None:
    assert not refused(kind, DONE)
    assert not refused(kind, CALM, seen=True)
    assert not refused(kind, CALM, seen=None)
    assert not refused(kind, CALM, answers=False)
    assert not refused(kind, CALM, alive=False)


@pytest.mark.parametrize(("kind", "known"), [(kind, kind in POINTER) for kind in KINDS])
def test_keys_lists_and_files_are_in_doubt_once_their_control_was_found(kind: str, known: bool) -> None:
    assert refused(kind, FOUND) is known


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_without_a_call_log_says_nothing(kind: str) -> None:
    assert not refused(kind, "Locator.click: Connection closed")


def test_a_kind_without_a_row_of_its_own_is_in_doubt() -> None:
    assert not refused("draw", CALM)
    assert not refused("", CALM)


@pytest.mark.parametrize("line", ["- performing click action", "    performing click action", "2 \u00d7 performing"])
def test_a_line_that_begins_with_performing_is_found_however_it_is_told(line: str) -> None:
    assert was_performed(f"{CALM}  {line}\n")


@pytest.mark.parametrize("line", ["- locator resolved to <b>performing</b>", "- done", "1) performing"])
def test_what_the_log_quotes_of_a_page_is_no_performing(line: str) -> None:
    assert not was_performed(f"{CALM}  {line}\n")


def test_a_gate_that_let_nothing_go_proves_that_nothing_left() -> None:
    assert nothing_left(seen())
    assert nothing_left(seen(fact(released=False, refused="the worker is dead")))


@pytest.mark.parametrize(
    "report",
    [NOTHING_SEEN, seen(fact()), seen(sockets=1), seen(workers=1), seen(armed=False), seen(restarts=1)],
    ids=repr,
)
def test_without_a_gate_throughout_or_with_another_way_out_nothing_is_proven(report: WireReport) -> None:
    assert not nothing_left(report)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 406, 411, 413, 414, 415, 422, 428, 431])
def test_a_clean_no_to_the_declared_request_is_a_rejection(status: int) -> None:
    assert rejection(seen(fact(status=status))) == fact(status=status)


@pytest.mark.parametrize("status", [200, 202, 303, 408, 409, 423, 425, 429, 500, 502, 503, 504])
def test_any_other_answer_is_no_rejection(status: int) -> None:
    assert rejection(seen(fact(status=status))) is None


def test_a_documented_status_is_a_rejection_but_never_an_answer_of_acceptance() -> None:
    assert rejection(seen(fact(status=409)), documented=[409]) is not None
    assert rejection(seen(fact(status=200)), documented=[200]) is None


@pytest.mark.parametrize(
    "report",
    [
        seen(fact(status=422, declared=False)),
        seen(fact(status=422), fact(status=422)),
        seen(fact(status=422), workers=1),
        seen(fact(status=422), workers=1),
        seen(fact(status=422, fresh=False)),
        seen(fact(status=422), armed=False),
        seen(fact(status=422), restarts=1),
        seen(fact(status=422), armed=False, restarts=1),
        seen(fact(status=422), workers=1, restarts=0),
        seen(fact(status=422), workers=1, restarts=0),
        seen(fact()),
    ],
    ids=repr,
)
def test_a_no_that_may_be_the_answer_to_another_copy_is_no_rejection(report: WireReport) -> None:
    assert rejection(report) is None


CONTRACT = [Accepted.read("POST /invoices -> 303 /invoices/*"), Accepted.read("POST /orders -> 201")]


@pytest.mark.parametrize(
    ("report", "carried_out"),
    [
        (seen(fact(status=303, location="https://books.test/invoices/INV-7")), True),
        (seen(fact(status=303, location="https://books.test/login")), False),
        (seen(fact(status=303)), False),
        (seen(fact(status=302, location="https://books.test/invoices/INV-7")), False),
        (seen(fact(status=303, location="https://books.test/invoices/INV-7", declared=False)), False),
        (seen(fact(status=303, location="https://books.test/invoices/INV-7"), armed=False), False),
        (seen(fact(status=201)), False),
        (NOTHING_SEEN, False),
    ],
)
def test_only_the_sites_written_contract_makes_an_answer_mean_carried_out(
    report: WireReport, carried_out: bool
) -> None:
    assert (acceptance(report, CONTRACT) is not None) is carried_out
    assert acceptance(report, []) is None


@pytest.mark.parametrize(
    "text", ["POST /orders", "POST /orders -> 404", "POST /orders -> 303", "POST /orders -> 201 /orders/*", "x -> 200"]
)
def test_a_contract_that_could_mean_anything_is_refused_when_the_site_is_declared(text: str) -> None:
    with pytest.raises(ValueError, match="isn't a contract"):
        Site("shop", url="https://shop.test", account="ada", accepts=[text])


@pytest.mark.parametrize(
    "error", ["net::ERR_INTERNET_DISCONNECTED", "net::ERR_NAME_NOT_RESOLVED", "net::ERR_CERT_INVALID"]
)
def test_a_connection_that_was_never_made_sent_nothing(error: str) -> None:
    assert never_sent(seen(fact(error=error))) is not None


@pytest.mark.parametrize(
    "report",
    [
        seen(fact(error="net::ERR_CONNECTION_RESET")),
        seen(fact(error="net::ERR_CONNECTION_REFUSED")),
        seen(fact(error="net::ERR_ADDRESS_UNREACHABLE")),
        seen(fact(error="net::ERR_NAME_NOT_RESOLVED"), fact(declared=False)),
        seen(fact(error="net::ERR_NAME_NOT_RESOLVED"), armed=False),
        seen(fact(error="net::ERR_NAME_NOT_RESOLVED"), restarts=1),
        seen(fact(error="net::ERR_NAME_NOT_RESOLVED", status=303)),
        seen(fact()),
        NOTHING_SEEN,
    ],
    ids=repr,
)
def test_any_other_end_may_have_been_sent(report: WireReport) -> None:
    assert never_sent(report) is None


def test_the_wire_reads_aloud() -> None:
    assert str(fact(status=303, location="/invoices/INV-7")).endswith("answered 303 to /invoices/INV-7")
    assert str(fact(released=False, refused="the worker is dead")).endswith("refused at the gate (the worker is dead)")
    assert str(fact(error="net::ERR_EMPTY_RESPONSE")).endswith("no answer (net::ERR_EMPTY_RESPONSE)")
    assert str(fact()).endswith("no answer so far")
    assert str(fact(released=False)).endswith("held at the gate")


def test_a_wire_is_given_up_when_no_answer_promises_a_confirmation() -> None:
    assert seen(fact(status=504)).given_up and seen(fact(error="net::ERR_EMPTY_RESPONSE")).given_up
    assert not seen(fact(status=303)).given_up and not seen(fact()).given_up and not seen().given_up
    assert seen(fact(status=303)).answered and not seen(fact()).answered and not seen().answered


def test_a_get_that_passed_unheld_leaves_a_doubt_unless_the_declared_commit_request_was_held() -> None:
    assert not nothing_left(seen(reads=1))
    assert not nothing_left(seen(reads=1, declared=True)), "the GET may have been the commit"
    held = fact(released=False, refused="the worker is dead")
    assert nothing_left(seen(held, reads=1, declared=True))


def test_a_second_declared_request_that_is_still_held_makes_a_no_no_rejection() -> None:
    assert rejection(seen(fact(status=401), fact(released=False))) is None


def test_zero_restarts_in_the_network_log_stand_for_the_guard() -> None:
    report = seen(fact(status=422), armed=False, restarts=0)
    assert rejection(report) is not None and not report.guarded
    assert never_sent(seen(fact(error="net::ERR_NAME_NOT_RESOLVED"), armed=False, restarts=0)) is not None


def test_a_stored_report_tells_what_was_sent_again_whatever_its_age() -> None:
    again = Restart(method="POST", address="http://books.example/invoices", error="net::ERR_EMPTY_RESPONSE", at=NOW)
    report = seen(fact(status=303), restarts=1, resent=[again])
    words = "the browser sent POST http://books.example/invoices again by itself (net::ERR_EMPTY_RESPONSE)"
    assert restarts_in_words(report.model_dump_json()) == [words]
    assert restarts_in_words(None) == restarts_in_words('{"armed": true}') == []
