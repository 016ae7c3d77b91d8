"""What the scrubber takes out of a text, and what it leaves: business keys, amounts, dates, ids and digests."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser_agent.secrets.scrubber import Scrubber
from browser_agent.secrets.secret import Secret

SECRET = 'Tr0ub4dor "&3 süß'
SHORT = "8714"
scrub = Scrubber()


@pytest.fixture(scope="module", autouse=True)
def secrets():
    Secret(SECRET, name="env:SCRUBBED")
    Secret(SHORT, name="pin")


@pytest.mark.parametrize(
    "text",
    [
        f"typed {SECRET} here",
        SECRET.upper(),
        "at https://h.example/x?p=Tr0ub4dor%20%22%263%20s%C3%BC%C3%9F",
        "p=Tr0ub4dor+%22%263+s%C3%BC%C3%9F",
        "<b>Tr0ub4dor &quot;&amp;3 süß</b>",
        json.dumps({"said": SECRET}),
        json.dumps([f"in {SECRET}"], ensure_ascii=False),
        "VHIwdWI0ZG9yICImMyBzw7zDnw==",
        'Tr0ub4dor   "&3\n süß',
    ],
)
def test_a_known_secret_is_found_however_it_is_written(text):
    said = scrub.stored(text)
    assert "env:SCRUBBED" in said or "hidden" in said or said.endswith("?p")
    assert "Tr0ub4dor" not in said and "VHIw" not in said and "s%C3" not in said


def test_a_short_secret_is_found_as_a_word_only():
    assert scrub.text("pin 8714, order 87140, 8714") == "pin [secret pin], order 87140, [secret pin]"


@pytest.mark.parametrize(
    "kept",
    [
        *("S-101", "INV-1", "INV-2026-11-30-0001-ABCD", "1Z999AA10123456784", "380.00", "1,240.50", "C-12"),
        *("2026-11-30 12:00:00", "+44 20 7946 0958", "DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
        *("FR76 3000 6000 0112 3456 7890 189", "GB29 NWBK 6016 1331 9268 19", "accounts@contoso.example"),
        *("550e8400-e29b-41d4-a716-446655440000", "run-7k2m9qxa", "aQuiteLongNameOfAFunctionThatSomebodyWrote"),
        *("4006381333931", "1234 5678 9012 3456", "Password", "Token of thanks: none", "net::ERR_CONNECTION_REFUSED"),
        *("POST http://127.0.0.1:8001/invoices -> 303 /invoices/INV-1", 'button "Post"', "a" * 64, "Account: acme"),
    ],
)
def test_what_a_reviewer_goes_by_is_left_alone(kept):
    assert scrub.stored(kept) == kept


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("card 4111 1111 1111 1111 12/27", "card [card ..1111] 12/27"),
        ("4111111111111111", "[card ..1111]"),
        ("5500-0000-0000-0004, 3782 822463 10005", "[card ..0004], [card ..0005]"),
        ("4111\u00a01111\u00a01111\u00a01111", "[card ..1111]"),
        ("refcc4111111111111111x", "refcc[card ..1111]x"),
        ("4111 1111 1111 1112", "4111 1111 1111 1112"),
    ],
)
def test_a_card_number_leaves_its_last_four_digits(text, said):
    assert scrub.text(text) == said


@pytest.mark.parametrize(
    "token",
    [
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.s5c",
        "sk_live_51H8abcdEFGH2345",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "AKIAIOSFODNN7EXAMPLE",
        "xoxb-123456789012-abcdefABCDEF",
        "Xk29dPq83LmZ0aB7vTn41QwE",
        "9f86d081884c7d659a2feaa0c55ad015",
        "9f86-d081884c7d659a2feaa0c55ad015a3bf4f1b",
    ],
)
def test_a_token_leaves_four_digits_of_its_digest(token):
    said = scrub.text(f"the key {token} of /reset/{token}/now")
    assert token not in said and said.count("[token ~") == 2 and said.startswith("the key [") and said.endswith("/now")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("at https://u:p@h.example:84/a/b;jsessionid=1?token=abc&day=1#frag.", "at https://h.example:84/a/b?token&day."),
        ("see /login?code=x&state=y#a_token=z", "see /login?code=[hidden]&state=[hidden]#a_token=[hidden]"),
        ("net::ERR_FAILED at data:text/html,<p>hunter2</p>", "net::ERR_FAILED at data:"),
        ("Password: hunter2, api_key=abc123", "Password: [hidden], api_key=[hidden]"),
        ("Authorization: Bearer abc.def", "Authorization: [hidden]"),
        ('resolved to <input value="hunter2" id=a/>', "resolved to <input value=[hidden] id=a/>"),
        ("<textarea id=a>hunter2</textarea>", "<textarea id=a>[hidden]</textarea>"),
        ('  - fill("hunter2 \\" 3")', "  - fill([hidden])"),
        ("to have value 'hunter2'\nActual value: hunter2", "to have value [hidden]\nActual value: [hidden]"),
    ],
)  # fmt: skip
def test_what_an_error_quotes_is_hidden(text, said):
    assert scrub.text(text) == said


def test_data_keeps_its_shape_and_numbers_and_loses_what_stands_in_its_texts():
    data = {"rows": [{"Card": "4111 1111 1111 1111", "Password": "x", "n": 4111111111111111}], "at": ("S-101", None)}
    said = {"rows": [{"Card": "[card ..1111]", "Password": "[hidden]", "n": 4111111111111111}], "at": ("S-101", None)}
    assert scrub.facts(data) == said


@pytest.mark.parametrize("name", ["refresh-token", "Authorization", "Set-Cookie", "api_secret", "cvv2"])
def test_what_lies_under_a_secret_name_is_hidden_in_data_as_in_a_text(name):
    assert scrub.facts({name: "plain"}) == {name: "[hidden]"}
    assert scrub.text(f"{name}: plain") == f"{name}: [hidden]"


def test_different_things_stay_different():
    cards = ("4111 1111 1111 1111", "4012 8888 8888 1881")
    assert len({scrub.text(f"paid by {card}") for card in cards}) == 2
    assert len({scrub.text(token) for token in ("Xk29dPq83LmZ0aB7vTn41QwE", "Xk29dPq83LmZ0aB7vTn41QwF")}) == 2


def test_a_value_that_may_not_be_kept_is_named():
    assert scrub.unfit("INV-1") is None
    assert scrub.unfit("4111111111111111") == "a card number"
    assert scrub.unfit(f"no. {SECRET}") == "the secret env:SCRUBBED"


def test_a_secret_that_is_not_known_here_is_told_from_one_that_is():
    assert scrub.covered_unknown("[secret env:SCRUBBED]") is None
    assert scrub.covered_unknown("a [secret env:ELSEWHERE]") == "env:ELSEWHERE"


PIECES = st.sampled_from(
    [
        *(SECRET, SHORT, "4111 1111 1111 1111", "4111111111111111", "https://u:p@h/x?a=b#c", "eyJhbGciOi.eyJzdWIiOi.x"),
        *("password=", "Password: ", "?a=", "&", "<input value=", '"', "'", ">", "</", "<textarea>", "fill(", ")", " "),
        *("Xk29dPq83LmZ0aB7vTn41QwE", "data:,x", "[", "]", "secret", "[secret pin]", "[hidden]", "Actual value: "),
        *("\n", "-", ";", "sk_live_51H8abcdEFGH2345", "Bearer ", "ann@x.example", "://", "S-101"),
    ]
)  # fmt: skip


@given(st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=8).map("".join))
def test_scrubbing_twice_is_scrubbing_once(text):
    once = scrub.stored(text)
    assert scrub.stored(once) == once
