"""The words of the pytest plugin: points, kills, crossings, the names of reports, and how outcomes are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from browser_agent.errors import Misuse
from browser_agent.options import KillAt
from browser_agent.states import GestureState, Point, Victim
from browser_agent.testing.guarded import GUARD_FLAG
from browser_agent.testing.suite.interruptions import crossings, names
from browser_agent.testing.suite.kill_plan import KillPlan
from browser_agent.testing.suite.kill_points import MEANING, WORDS, point_of, word_of
from browser_agent.testing.suite.outcomes import OUTCOMES, MadeGesture, OpenQuestion, Outcomes, outcome_of
from browser_agent.testing.suite.report_folder import ReportEntry, file_name, write_index

ROOT = Path(__file__).parents[3]
ASKED = OpenQuestion(
    "q-1", "outcome", "Did this happen: post?", ("nobody has seen it",), ("browser-agent answer q-1 ...",)
)
DOUBT = MadeGesture("post", "unknown", ("it is not on the list",), (), ASKED)
MADE = MadeGesture("send", "happened", (), ("POST /messages: answered 303",), None)


def test_every_point_has_a_word_a_meaning_and_its_own_name() -> None:
    assert set(WORDS.values()) == set(MEANING) == set(Point)
    assert list(WORDS.values()) == list(Point), "in the order in which a gesture reaches them"
    for point in Point:
        assert point_of(word_of(point)) is point_of(str(point)) is point


def test_an_unknown_point_is_told_with_all_that_there_are() -> None:
    with pytest.raises(Misuse, match="no point 'lunch'") as told:
        point_of("lunch")
    assert all(word in str(told.value) for word in WORDS)


def test_a_kill_is_due_once_at_its_own_gesture() -> None:
    kills = KillPlan()
    kills.plan(Victim.WORKER, "dispatch", 2)
    assert kills.due(Point.DISPATCHING, 1) is None
    assert str(kills) == "the worker was to be killed after dispatch of gesture 2"
    assert kills.due(Point.DISPATCHING, 2) == KillAt(Point.DISPATCHING, 2)
    assert kills.due(Point.DISPATCHING, 2) is None
    assert kills.pending is None


def test_a_test_has_one_kill() -> None:
    kills = KillPlan()
    kills.plan(Victim.BROWSER, "settled", 1)
    with pytest.raises(Misuse, match="already has a kill: the browser was to be killed after settled"):
        kills.plan(Victim.WORKER, "intent", 1)
    with pytest.raises(Misuse, match="at gesture 0"):
        KillPlan().plan(Victim.WORKER, "intent", 0)


def test_crossings_are_named_after_what_happens_in_them() -> None:
    assert names(crossings(["before intent", "dispatch"], gestures=2)) == [
        "undisturbed",
        "killed before intent",
        "killed after dispatch",
        "killed before intent of gesture 2",
        "killed after dispatch of gesture 2",
    ]
    assert len(crossings()) == 1 + len(Point)


@pytest.mark.parametrize(("points", "gestures"), [([], 1), (["intent"], 0)])
def test_a_crossing_with_nothing_to_kill_at_is_refused(points: list[str], gestures: int) -> None:
    with pytest.raises(Misuse, match="needs a point and a gesture"):
        crossings(points, gestures)


def test_a_reports_name_is_safe_readable_and_its_tests_own() -> None:
    name = file_name("tests/test_it.py::test_one[killed after dispatch]")
    assert name.startswith("tests-test_it.py-test_one-killed-after-dispatch-") and name.endswith(".html")
    hostile = [file_name(f"../../{'é' * 300}/<b>{number}") for number in range(2)]
    assert hostile[0] != hostile[1] and all("/" not in each and len(each) < 200 for each in hostile)
    assert file_name("a::b") != file_name("a::b", 2) != file_name("a::b", 2, execution=2)


def test_an_index_takes_no_tests_name_for_html(tmp_path: Path) -> None:
    entry = ReportEntry("test_<script>", ["happened", "unknown"], 1, ["a b.html"], "failed")
    assert ReportEntry.read(entry.dump()) == entry
    text = write_index(tmp_path / "new", [entry]).read_text(encoding="utf-8")
    assert "test_&lt;script&gt;" in text and "happened, unknown" in text and 'href="a%20b.html"' in text
    assert "<script" not in text


def test_made_and_not_settled_is_unknown() -> None:
    assert {str(state): outcome_of(state) for state in GestureState if outcome_of(state) == "unknown"} == {
        state: "unknown" for state in ("dispatching", "in_doubt", "unknown", "asked")
    }
    assert outcome_of(GestureState.NOT_HAPPENED) == "not_happened"


def test_outcomes_are_a_list_that_tells_what_differs_and_why() -> None:
    outcomes = Outcomes([DOUBT, MADE])
    assert outcomes == ["unknown", "happened"] and json.dumps(outcomes) == '["unknown", "happened"]'
    assert outcomes.explain(["happened"]) == [
        "outcomes ['unknown', 'happened'] == ['happened']",
        "  gesture 1: expected happened, seen unknown: post",
        "    question q-1 waits: Did this happen: post?",
        "      browser-agent answer q-1 ...",
        "    why: it is not on the list",
        "    why: nobody has seen it",
        "    on the wire: nothing was seen",
        "  gesture 2: expected nothing, seen happened: send",
        "    on the wire: POST /messages: answered 303",
    ]
    assert outcomes.lines()[0] == "gesture 1: unknown: post"


def test_a_word_that_is_no_outcome_is_told_so() -> None:
    told = Outcomes([MADE]).explain(["did not happen"])
    assert told[1].startswith("  no outcome is 'did not happen': there are happened, not_happened, unknown")
    assert not any("no outcome is" in line for line in Outcomes([MADE]).explain(["refused"]))


def test_every_state_of_a_gesture_has_one_of_the_outcomes() -> None:
    assert {outcome_of(state) for state in GestureState} == set(OUTCOMES)


def test_the_flag_of_the_guard_is_the_one_of_our_own_chromium() -> None:
    assert f'"{GUARD_FLAG}",' in (ROOT / "browser_agent" / "browser" / "chromium.py").read_text(encoding="utf-8")
