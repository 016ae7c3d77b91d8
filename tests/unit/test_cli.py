"""The command line: what it says, how it ends, and that a program can read it. No browser: nothing is kept here."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import browser_agent.keeper
from browser_agent import settings
from browser_agent.claiming import own_process
from browser_agent.cli import app, trying
from browser_agent.cli.exits import WORDS, Exit, exit_of
from browser_agent.cli.plain import one_line, plain
from browser_agent.errors import InOtherHands, Misuse
from browser_agent.keeping import Ended, Event, KillAt, Options, Tell
from browser_agent.sealing import KEY_VARIABLE
from browser_agent.states import Answer, GestureState, Point, QuestionKind, QuestionState, RunState
from browser_agent.store import Store
from tests.store.building import asked, brought, claim, submit, without_triggers

TASK = """
from datetime import date
from browser_agent import Site, task

books = Site("books", url="https://books.example", account="acme")

@task(sites=[books])
def invoice(run, day: date, most: int = 5) -> list[str]:
    return []
"""


@dataclass
class Said:
    """What a command wrote, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Said]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that the commands run in, with a task and no settings; no command knows of another."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(settings.STORE_VARIABLE, str(tmp_path / "runs.db"))
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "invoices.py").write_text(TASK)
    yield tmp_path
    sys.modules.pop("invoices", None)


@pytest.fixture
def cli(here: Path) -> Cli:
    """Runs a command line and hands back what it said."""

    def call(*words: str) -> Said:
        result = CliRunner().invoke(app, list(words), prog_name="browser-agent")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
        return Said(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def store(here: Path) -> Iterator[Store]:
    with Store(here / "runs.db") as opened:
        yield opened


class Keeper:
    """Stands in the keeper's place: notes what it was asked for, and leaves the run in a state."""

    def __init__(self) -> None:
        self.options: list[Options] = []
        self.looks = 0
        self.state, self.events = RunState.FINISHED, list[Event]()
        self.busy = False
        self.on_look: Callable[[Store, str], None] = lambda store, run: None

    def keep(self, store: Store, run: str, options: Options, tell: Tell) -> Ended:
        if self.busy:
            raise InOtherHands(f"Run {run} is being worked on. Nothing was done.")
        self.options.append(options)
        for event in self.events:
            tell(event)
        lease = store.leases.claim(run, keeper="{}", keeper_dead=True)
        store.leases.end(lease, self.state, ended_by="so it ended", result='["INV-1"]')
        questions = tuple(row.id for row in store.inbox.questions(run, open_only=True))
        return Ended(run, self.state, "so it ended", '["INV-1"]', questions, lease.attempt)

    def look(self, store: Store, run: str, options: Options, tell: Tell) -> Ended:
        if self.busy:
            raise InOtherHands(f"Run {run} is being worked on. Nothing was done.")
        self.looks += 1
        self.on_look(store, run)
        return Ended(run, RunState.WAITING, "looked once")


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Keeper:
    standing = Keeper()
    monkeypatch.setattr(browser_agent.keeper, "keep", standing.keep)
    monkeypatch.setattr(browser_agent.keeper, "look", standing.look)
    return standing


def waiting(store: Store, kind: QuestionKind = QuestionKind.OUTCOME, **more: Any) -> str:
    """A run that waits with one open question; the question's id."""
    lease = claim(store)
    question = asked(store, lease, kind, **more)
    store.leases.end(lease, RunState.WAITING, ended_by="a question waits")
    return question.id


# exit codes and help


def test_every_state_of_a_run_has_its_exit_code_and_every_code_its_words(cli: Cli) -> None:
    assert {exit_of(state) for state in RunState} == set(Exit) - {Exit.MISUSE}
    said = cli("--help").out
    assert all(f"{code.value}  {WORDS[code].partition('`')[0].split('(')[0].strip()[:40]}" in said for code in Exit)


COMMANDS = [
    *("run", "resume", "runs", "show", "inbox", "answer", "approve", "refuse", "report", "key", "doctor", "demo"),
    *("audit verify", "audit show"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches_with_an_example_and_speaks_json(cli: Cli, command: str) -> None:
    said = cli(*command.split(), "--help")
    assert said.code == 0
    assert f"Example:  browser-agent {command}" in said.out
    assert "--json" in said.out


def test_a_flag_is_shown_without_a_type(cli: Cli) -> None:
    said = cli("run", "--help").out
    flags = [line for line in said.splitlines() if "<bool>" in line]
    assert [line.split()[1] for line in flags] == ["--help"], "typer's own"


def test_the_interruptions_of_the_demo_are_listed(cli: Cli) -> None:
    from browser_agent.demo import INTERRUPTIONS

    assert tuple(INTERRUPTIONS) == trying.FAULTS
    said = cli("demo", "--help").out
    assert all(fault in said for fault in trying.FAULTS)


def test_ctrl_c_before_there_is_anything_to_stop_ends_quietly(
    cli: Cli, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> Ended:
        raise KeyboardInterrupt

    monkeypatch.setattr(browser_agent.keeper, "keep", interrupted)
    said = cli("run", "invoices.py", "day=2026-11-30")
    assert (said.code, said.err) == (130, "")


def test_ctrl_c_while_all_is_read_in_ends_quietly() -> None:
    program = (
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from browser_agent.__main__ import main\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_no_other_command_is_there(cli: Cli) -> None:
    from browser_agent.cli import audit

    named = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
    assert {*named, *(f"audit {command.name}" for command in audit.registered_commands)} == set(COMMANDS)


def test_the_points_of_a_kill_are_listed(cli: Cli) -> None:
    said = " ".join(cli("run", "--help").out.replace("│", " ").split())
    assert "End the worker with SIGKILL at that point of the run's Nth gesture" in said
    assert all(point in said for point in Point)


# run and resume


def test_a_run_is_written_down_with_its_sites_and_arguments(cli: Cli, keeper: Keeper, store: Store) -> None:
    words = "run invoices.py day=2026-11-30 most=2 --site books=http://127.0.0.1:8001 --account books=ann --key nov-30"
    said = cli(*words.split(), "--json")
    assert (said.code, said.document["state"], said.document["result"]) == (0, "finished", ["INV-1"])
    run = store.leases.run(said.document["run"])
    assert json.loads(run.sites) == {"books": {"url": "http://127.0.0.1:8001", "account": "ann"}}
    assert json.loads(run.arguments) == {"day": "2026-11-30", "most": 2}
    assert (run.task_name, run.key, Path(run.task_file).name) == ("invoice", "nov-30", "invoices.py")


@pytest.mark.parametrize(
    ("option", "complaint"),
    [("--headed", "There is no display"), ("--pause-before-gesture", "needs a terminal to answer at")],
)
def test_a_run_that_nobody_could_attend_does_not_start(
    cli: Cli, keeper: Keeper, monkeypatch: pytest.MonkeyPatch, option: str, complaint: str
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    said = cli("run", "invoices.py", "day=2026-11-30", option)
    assert (said.code, keeper.options, Path("runs.db").exists()) == (2, [], False)
    assert complaint in said.err


def test_the_display_options_reach_the_keeper(cli: Cli, keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    words = "run invoices.py:invoice day=2026-11-30 --headed --slow-mo 50 --keep-looking 5"
    assert cli(*words.split(), "--no-netlog", "--kill-at", "released:2").code == 0
    kill_at = KillAt(Point.RELEASED, 2)
    wanted = Options(headed=True, slow_mo_ms=50, keep_looking_seconds=5, kill_at=kill_at, netlog=False)
    assert keeper.options == [wanted]


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (RunState.FINISHED, 0),
        (RunState.RAISED, 1),
        (RunState.WAITING, 3),
        (RunState.STOPPED, 4),
        (RunState.NEEDS_ATTENTION, 5),
    ],
)
def test_a_run_ends_with_the_code_of_its_state(cli: Cli, keeper: Keeper, state: RunState, code: int) -> None:
    keeper.state = state
    said = cli("run", "invoices.py", "day=2026-11-30")
    assert said.code == code
    assert ("browser-agent resume run-" in said.out) == (state is not RunState.FINISHED)


def test_the_same_key_is_the_same_run(cli: Cli, keeper: Keeper, store: Store) -> None:
    first = cli("run", "invoices.py", "day=2026-11-30", "--key", "nov-30", "--json").document
    again = cli("run", "invoices.py", "day=2026-11-30", "--key", "nov-30", "--json").document
    assert (again["run"], again["result"], len(keeper.options)) == (first["run"], ["INV-1"], 1)
    assert len(store.leases.runs()) == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("run nowhere.py", "nowhere.py"),
        ("run invoices.py", "day: is missing"),
        ("run invoices.py day=soon most=few", "most"),
        ("run invoices.py day=30.11.2026", "day: '30.11.2026' is not of the form YYYY-MM-DD"),
        ("run invoices.py day", "write name=value"),
        ("run invoices.py day=2026-11-30 day=2026-12-01", "given twice"),
        ("run invoices.py day=2026-11-30 --site shop=http://127.0.0.1", "has no site 'shop'; it has: books"),
        ("run invoices.py day=2026-11-30 --site books=ftp://x", "must begin with http"),
        ("run invoices.py day=2026-11-30 --kill-at noon", "is not a point"),
        ("resume last", "There is no store"),
        ("runs", "There is no store"),
    ],
)
def test_a_mistake_is_one_sentence_and_changes_nothing(
    cli: Cli, keeper: Keeper, here: Path, words: str, complaint: str
) -> None:
    said = cli(*words.split())
    assert said.code == 2
    assert complaint in said.err
    assert "Traceback" not in said.err + said.out
    as_json = cli(*words.split(), "--json")
    assert as_json.code == 2
    assert complaint in as_json.document["error"]
    assert as_json.document["kind"]
    assert not keeper.options
    with Store(here / "runs.db") as store:
        assert store.leases.runs() == []


def test_resume_takes_no_other_site(cli: Cli, keeper: Keeper, store: Store) -> None:
    submit(store)
    assert cli("resume", "last", "--site", "books=http://127.0.0.1").code == 2
    assert not keeper.options


def test_last_is_the_newest_run_and_an_ended_one_is_only_told(cli: Cli, keeper: Keeper, store: Store) -> None:
    run = submit(store)
    assert cli("resume", "last", "--json").document["run"] == run
    again = cli("resume", "last")
    assert (again.code, len(keeper.options)) == (0, 1)
    assert "has ended already; nothing was done" in again.out
    assert cli("resume", run[:6]).code == 2


def test_other_work_under_the_same_key_says_what_differs(cli: Cli, keeper: Keeper) -> None:
    cli("run", "invoices.py", "day=2026-11-30", "--key", "nov-30")
    said = cli("run", "invoices.py", "day=2026-12-01", "--key", "nov-30", "--json")
    assert (said.code, said.document["kind"]) == (2, "InOtherHands")
    error = said.document["error"].replace(" ", "")
    assert 'witharguments{"day":"2026-11-30","most":5},not{"day":"2026-12-01","most":5}.' in error
    assert "sites" not in said.document["error"] and "task " not in said.document["error"]


def test_a_run_in_other_hands_is_left_alone(cli: Cli, keeper: Keeper, store: Store) -> None:
    submit(store)
    keeper.busy = True
    said = cli("resume", "last", "--json")
    assert (said.code, said.document["kind"]) == (2, "InOtherHands")


def test_a_live_line_says_what_was_done_and_what_proves_it(cli: Cli, keeper: Keeper) -> None:
    details = {"outcome": "happened", "values": {"number": "INV-7"}, "reasons": ["the order list has it"]}
    keeper.events = [
        Event("step", "find_shipments()", "r", 1, {"value": ["a", "b", "c", "d"], "writes": False}),
        Event("dispatching", "post an invoice", "r", 1),
        Event("settled", "happened: post an invoice", "r", 1, details),
        Event("step", "post_invoice(S-1)", "r", 1, {"value": {"number": "INV-7"}, "writes": True}),
        Event("worker_died", "The worker died (\x1b[31msignal 9).", "r", 1),
    ]
    lines = cli("run", "invoices.py", "day=2026-11-30").out.splitlines()
    assert lines[1] == "✔ find_shipments()  4 found"
    assert lines[2] == "✔ happened: post an invoice  number INV-7 · known by: the order list has it"
    assert lines[3] == "! The worker died (\ufffd[31msignal 9)."
    json_lines = cli("run", "invoices.py", "day=2026-11-30", "--json")
    assert json_lines.document["state"] == "finished"
    assert "known by: the order list has it" in json_lines.err


# reading


def test_a_question_is_put_in_full_and_with_the_commands_that_answer_it(cli: Cli, store: Store) -> None:
    evidence = ({"kind": "text", "words": "the page", "text": "Order \x1b[2J7", "address": "http://x/orders"},)
    safe = datetime(2036, 1, 1, tzinfo=UTC)
    more: dict[str, Any] = {"evidence": evidence, "reasons": ("2 of 4 pages read",), "earliest_safe": safe}
    question = waiting(store, last_confirmed="invoice INV-1 posted", safe_step="Look at the list.", **more)
    said = cli("inbox").out
    for words in (
        "Was invoice S-101 posted?",
        "2 of 4 pages read",
        "the page (http://x/orders): Order \ufffd[2J7",
        "Last confirmed: invoice INV-1 posted",
        "2036-01-01 00:00:00 UTC (in ",
        "Safe next step: Look at the list.",
        f"browser-agent answer {question} happened --by NAME --reason TEXT [--value NAME=VALUE]...",
        f"browser-agent answer {question} not-happened --by NAME --reason TEXT",
        f"browser-agent answer {question} abandon --by NAME --reason TEXT",
    ):
        assert words in said
    assert "failed" not in said
    assert "try again" not in said.lower()


def test_an_approval_shows_every_argument_of_every_call(cli: Cli, store: Store) -> None:
    calls = [
        {"step": "email_invoice", "arguments": '{"to":"' + "a" * 400 + '@example"}', "words": "email_invoice(...)"}
    ]
    waiting(store, QuestionKind.APPROVAL, reasons=("email_invoice(...)",), details={"calls": calls})
    said = cli("inbox").out
    assert "Exactly these would be made" in said
    assert f'email_invoice {{"to":"{"a" * 400}@example"}}' in said
    waiting(store, QuestionKind.APPROVAL, details={"calls": [{**calls[0], "words": "email_invoice(to='a@example')"}]})
    assert "1. email_invoice(to='a@example')\n" in cli("inbox").out


@pytest.mark.parametrize("kind", QuestionKind)
def test_every_command_that_a_question_prints_is_taken(
    cli: Cli, keeper: Keeper, store: Store, kind: QuestionKind
) -> None:
    past = datetime.now(UTC) - timedelta(minutes=1)
    waiting(store, kind, earliest_safe=past)
    for number in range(len(cli("inbox", "--json").document[0]["commands"])):
        question = waiting(store, kind, earliest_safe=past)
        command = cli("inbox", "--json").document[-1]["commands"][number]
        said = cli(*command.replace(" [--value NAME=VALUE]...", "").split()[1:])
        assert said.code == 0, said
        assert (store.inbox.question(question).state is QuestionState.OPEN) == (" resume " in command)


def test_another_store_is_named_in_the_printed_command(cli: Cli, here: Path) -> None:
    other = here / "other store.db"
    with Store(other) as store:
        waiting(store)
    assert f"--reason TEXT --store '{other}'" in cli("inbox", "--store", str(other)).out


def test_nothing_to_answer_is_said(cli: Cli, store: Store) -> None:
    assert "Nothing waits for a person." in cli("inbox").out
    assert cli("inbox", "--json").document == []
    assert "There is no run in" in cli("show", "last").err


def test_a_run_is_shown_with_what_is_known_of_each_gesture(cli: Cli, store: Store) -> None:
    lease = claim(store)
    brought(store, lease, GestureState.HAPPENED)
    store.leases.end_attempt(lease, "ended by signal 9")
    said = cli("show", "last").out
    assert "attempt 1" in said
    assert "ended by signal 9" in said
    assert (
        "click (attempt 1): post an invoice of 120.00 to Nordwind: happened (count 1), known by: one new record" in said
    )
    shown = cli("show", lease.run, "--json").document
    gesture = shown["steps"][0]["gestures"][0]
    assert (gesture["state"], gesture["values"]) == ("happened", {"number": "INV-2301"})
    assert lease.token not in json.dumps(shown)


def test_the_runs_are_listed(cli: Cli, store: Store) -> None:
    run = submit(store, key="nov-30")
    said = cli("runs").out
    assert run in said
    assert "nov-30" in said
    assert cli("runs", "--json").document[0]["arguments"] == {"day": "2026-11-30"}


def test_no_more_runs_are_listed_than_fit_a_screen_and_none_is_cut(
    cli: Cli, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    runs = [submit(store, key=f"a-rather-long-key-of-the-caller-{number}") for number in range(22)]
    said = cli("runs").out
    assert max(map(len, said.splitlines())) <= 80
    assert [run for run in runs if run in said] == runs[2:]
    assert "2 older ones: browser-agent runs --all" in said
    assert all(run in cli("runs", "--all").out for run in runs)
    assert len(cli("runs", "--json").document) == 22


def test_a_run_whose_keeper_is_dead_says_so_everywhere(cli: Cli, store: Store) -> None:
    question = asked(store, claim(store))
    told = f"its keeper is dead; `browser-agent resume {question.run_id}` goes on: it begins by looking"
    for command in ("runs", "show last", "inbox"):
        assert told in cli(*command.split()).out
    assert cli("runs", "--json").document[0]["keeper_alive"] is False
    assert cli("show", "last", "--json").document["run"]["keeper_alive"] is False
    assert cli("inbox", "--json").document[0]["keeper_alive"] is False


def test_a_run_that_is_kept_or_has_stopped_has_no_dead_keeper(cli: Cli, store: Store) -> None:
    store.leases.claim(submit(store), keeper=own_process(), keeper_dead=True)
    waiting(store)
    assert "keeper" not in cli("runs").out + cli("inbox").out
    assert {run["keeper_alive"] for run in cli("runs", "--json").document} == {True, None}


def test_a_person_s_word_is_named_and_an_open_question_too(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)
    assert f": asked: {question} waits in the inbox" in cli("show", "last").out
    cli("answer", question, *HAPPENED, "--no-resume")
    assert ": happened, by the word of ann: it is on the list" in cli("show", "last").out


def test_a_document_has_always_the_same_order_and_nothing_of_the_lease(cli: Cli, store: Store) -> None:
    submit(store)
    (listed,), shown = cli("runs", "--json").document, cli("show", "last", "--json").document["run"]
    assert list(listed) == list(shown) == [name for name in list(listed) if name not in {"token", "lease_until"}]
    assert list(listed)[:3] == ["id", "key", "task_file"]


def test_a_key_is_told_and_made_once(cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(here))
    monkeypatch.setenv("HOME", str(here))
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert cli("key", "--json").document == {"sealed": False, "key": None}
    assert "kept in memory only" in cli("key").out
    made = cli("key", "--new", "--json").document
    file = Path(made["key"])
    content = file.read_bytes()
    assert made["sealed"] and file.is_relative_to(here) and file.stat().st_mode & 0o777 == 0o600
    again = cli("key", "--new")
    assert (again.code, file.read_bytes()) == (2, content)
    assert str(file) in cli("key").out
    monkeypatch.setenv(KEY_VARIABLE, content.decode().strip())
    assert f"the environment ({KEY_VARIABLE})" in cli("key").out


def test_a_report_is_written_where_it_was_asked_for(cli: Cli, store: Store, here: Path) -> None:
    run = submit(store)
    said = cli("report", "last", "-o", "out.html", "--json")
    assert said.document == {"run": run, "report": str(here / "out.html")}
    assert run in (here / "out.html").read_text()


def test_the_audit_log_is_verified_and_shown(cli: Cli, store: Store) -> None:
    lease = claim(store)
    brought(store, lease, GestureState.HAPPENED)
    kept = store.artifacts.keep(b"a picture", "image/webp")
    assert cli("audit", "verify").code == 0
    assert "verdict" in cli("audit", "show", "last").out
    assert [line["seq"] for line in cli("audit", "show", "--json").document] == list(range(1, 7))[: store.verify().size]
    (store.artifacts.folder / kept[:2] / kept).unlink()
    said = cli("audit", "verify", "--json")
    assert (said.code, said.document["holds"], said.document["missing"]) == (1, False, [kept])
    without_triggers(store.path)
    with store.database.write() as session:
        session.connection().exec_driver_sql("DELETE FROM audit WHERE seq = 2")
    said = cli("audit", "verify")
    assert said.code == 1
    assert "line 3: line 2 is not there" in said.out


# answering


def answered(store: Store, question: str) -> tuple[QuestionState, Answer | None, str | None]:
    row = store.inbox.question(question)
    return row.state, row.answer, row.by


HAPPENED = ("happened", "--by", "ann", "--reason", "it is on the list", "--value", "number=INV-9")


def test_an_answer_is_taken_after_one_more_look_and_the_run_goes_on(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)
    said = cli("answer", question, *HAPPENED)
    assert (said.code, keeper.looks, len(keeper.options)) == (0, 1, 1)
    assert answered(store, question) == (QuestionState.ANSWERED, Answer.HAPPENED, "ann")
    assert json.loads(store.inbox.question(question).values or "") == {"number": "INV-9"}
    assert "Taken: happened, by ann." in said.out
    assert "Finished" in said.out


def test_without_resume_the_run_waits_for_its_resume(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)
    said = cli("answer", question, *HAPPENED, "--no-resume", "--json")
    assert (said.code, said.document["taken"], said.document["ended"], keeper.options) == (0, True, None, [])


def test_a_look_that_settles_it_takes_no_answer(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)

    def settle(store: Store, run: str) -> None:
        store.inbox.close(claim(store, run), question, "the order list has it now")

    keeper.on_look = settle
    said = cli("answer", question, "not-happened", "--by", "ann", "--reason", "not there", "--override")
    assert answered(store, question) == (QuestionState.CLOSED, None, None)
    assert "One more look has settled it: the order list has it now. No answer was taken." in said.out
    assert len(keeper.options) == 1


def test_a_run_in_other_hands_is_answered_without_a_look_of_our_own(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)
    keeper.busy = True
    assert cli("answer", question, *HAPPENED).code == 0
    assert answered(store, question) == (QuestionState.ANSWERED, Answer.HAPPENED, "ann")
    assert (keeper.looks, keeper.options) == (0, [])


def test_what_the_run_must_know_is_asked_for_before_anything_is_looked_at(
    cli: Cli, keeper: Keeper, store: Store
) -> None:
    question = waiting(store, details={"needs": ["number", "total"]})
    said = cli("answer", question, *HAPPENED)
    assert (said.code, keeper.looks, answered(store, question)[0]) == (2, 0, QuestionState.OPEN)
    assert "needs to know its total: add --value total=... Nothing was changed." in " ".join(said.err.split())
    put = cli("inbox").out
    assert "If it happened, the run needs to know its: number, total" in put
    assert "happened --by NAME --reason TEXT --value number=... --value total=..." in put
    assert cli("answer", question, *HAPPENED, "--value", "total=120.00").code == 0


def test_answering_an_ended_question_says_who_ended_it_and_what_is_open_now(
    cli: Cli, keeper: Keeper, store: Store
) -> None:
    question = waiting(store)
    cli("answer", question, *HAPPENED)
    words = ("answer", question, "abandon", "--by", "bob", "--reason", "late", "--json")
    said = cli(*words)
    assert (said.code, keeper.looks) == (2, 1)
    assert "by ann: happened (it is on the list). No question of run" in said.document["error"]
    lease = claim(store, submit(store))
    first = asked(store, lease)
    store.inbox.close(lease, first.id, "a later look has proven it")
    second = asked(store, lease, QuestionKind.ATTEMPTS)
    error = cli("answer", first.id, *words[2:]).document["error"]
    assert "without an answer: a later look has proven it. Open in run" in error and f"now: {second.id}." in error


def test_no_answer_is_taken_that_could_not_be_carried_out_before_a_person_s_eyes(
    cli: Cli, keeper: Keeper, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    question = waiting(store)
    assert cli("answer", question, *HAPPENED, "--headed").code == 2
    assert answered(store, question)[0] is QuestionState.OPEN
    assert cli("demo", "--headed").code == 2


def test_an_abandoned_run_does_not_go_on(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)
    assert cli("answer", question, "abandon", "--by", "ann", "--reason", "not wanted").code == 0
    assert not keeper.options
    assert store.leases.runs()[0].state is RunState.ABANDONED
    assert cli("resume", "last").code == 4


def test_too_early_an_answer_is_refused_and_changes_nothing(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)
    words = ("answer", question, "not-happened", "--by", "ann", "--reason", "not there")
    said = cli(*words)
    assert said.code == 2
    assert "Too early" in said.err
    assert answered(store, question)[0] is QuestionState.OPEN
    assert cli(*words, "--override").code == 0


@pytest.mark.parametrize(("command", "answer"), [("approve", Answer.APPROVE), ("refuse", Answer.REFUSE)])
def test_an_approval_is_given_or_refused_by_name(
    cli: Cli, keeper: Keeper, store: Store, command: str, answer: Answer
) -> None:
    calls = [{"step": "email", "arguments": "{}", "words": f"email({number})"} for number in range(2)]
    question = waiting(store, QuestionKind.APPROVAL, details={"calls": calls})
    said = cli(command, question, "--by", "ann", "--reason", "checked")
    assert (said.code, "2 calls were refused and NOT made." in said.out) == (0, answer is Answer.REFUSE)
    assert answered(store, question) == (QuestionState.ANSWERED, answer, "ann")
    assert (keeper.looks, len(keeper.options)) == (0, 1)


def test_an_answer_without_name_or_to_no_question_is_misuse(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store)
    assert cli("answer", question, "happened", "--reason", "seen").code == 2
    assert cli("answer", question, "happened", "--by", " ", "--reason", "seen").code == 2
    assert "No question 'q-x'" in cli("answer", "q-x", "happened", "--by", "ann", "--reason", "seen").err
    assert answered(store, question)[0] is QuestionState.OPEN


# settings and texts


def test_what_is_said_wins_over_the_environment_and_that_over_the_file(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / settings.FILE_NAME).write_text('store = "file.db"\n[sites.books]\nurl = "http://127.0.0.1:9"\n')
    found = settings.load()
    assert found.sites["books"].url == "http://127.0.0.1:9"
    assert settings.store_path(Path("said.db"), found) == Path("said.db")
    assert settings.store_path(None, found) == here / "runs.db"
    monkeypatch.delenv(settings.STORE_VARIABLE)
    assert settings.store_path(None, found) == here / "file.db"
    assert settings.store_path(None, settings.Settings()) == settings.default_store()


def test_the_sites_of_the_file_are_used_unless_others_are_said(cli: Cli, keeper: Keeper, here: Path) -> None:
    (here / settings.FILE_NAME).write_text('[sites.books]\nurl = "http://127.0.0.1:9"\naccount = "bob"\n')
    cli("run", "invoices.py", "day=2026-11-30", "--site", "books=http://127.0.0.1:8")
    sites = cli("show", "last", "--json").document["run"]["sites"]
    assert sites == {"books": {"url": "http://127.0.0.1:8", "account": "bob"}}


@pytest.mark.parametrize("text", ["stores = 1", "store = ", "[sites.books]\ntoken = 'x'"])
def test_a_settings_file_that_cannot_be_read_is_never_ignored(here: Path, text: str) -> None:
    (here / settings.FILE_NAME).write_text(text)
    with pytest.raises(Misuse, match=r"browser-agent.toml cannot be"):
        settings.load()


def test_no_text_of_a_page_steers_the_terminal() -> None:
    assert plain("a\x1b[31m\u202eb\n\tc\u200d") == "a\ufffd[31m\ufffdb\n\tc\u200d"
    assert one_line("a\n  b" + "c" * 300, 10) == "a bcccc..."
