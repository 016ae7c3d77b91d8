"""`login` and `show --checkpoint` on the command line: what is refused before a browser starts, listed, forgotten."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from browser_agent import settings_sources
from browser_agent.cli.desk import open_desk
from browser_agent.cli.login import _site
from browser_agent.errors import Misuse, UnknownName
from browser_agent.secrets.seal import KEY_VARIABLE
from browser_agent.states import QuestionKind
from browser_agent.store import NewQuestion, Store
from tests.fix_cli import Cli
from tests.store.building import claim

STATE = {"cookies": [{"name": "sid", "value": "very-secret"}]}


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, urlsafe_b64encode(b"k" * 32).decode())


@pytest.fixture
def keyless(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("DISPLAY", raising=False)


@pytest.mark.usefixtures("keyless")
def test_where_no_key_can_be_made_nobody_signs_in_and_no_store_is_made(cli: Cli, here: Path) -> None:
    (here / "config").write_text("a file where the folder would be")
    said = cli("login", "books", "--site", "books=http://books.example", "--account", "books=acme")
    assert (said.code, "browser-agent key --new" in said.err) == (2, True)
    assert "No key was created" in said.out
    assert not (here / "runs.db").exists()


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "Which site?"),
        (("books",), "Add --site books=URL"),
        (("books", "--site", "books=http://books.example"), "Add --account books=WHO"),
        (("books", "--site", "books=ftp://x", "--account", "books=acme"), "must begin with http"),
        (("invoices.py", "mail"), "declares no site 'mail'; it has: books"),
        (("nothing.py", "books"), "There is no file"),
    ],
)
def test_a_site_that_is_not_known_is_refused_with_what_to_add(cli: Cli, words: tuple[str, ...], told: str) -> None:
    said = cli("login", *words)
    assert (said.code, told in said.err.replace("\n", " ")) == (2, True), said.err


@pytest.mark.usefixtures("key")
def test_address_account_and_mark_come_from_the_file_the_settings_or_what_was_said(here: Path) -> None:
    task = (here / "invoices.py").read_text().replace('account="acme"', 'account="acme", signed_in="Hello {account}"')
    (here / "invoices.py").write_text(task)
    (here / settings_sources.FILE_NAME).write_text('[sites.mail]\nurl = "https://mail.example"\naccount = "ann"\n')
    desk = open_desk(None, False, new=True)

    def found(*words: str, url: str = "", account: str = "", mark: str = "") -> tuple[str, str, str]:
        urls, accounts = ({words[-1]: url} if url else {}), ({words[-1]: account} if account else {})
        site = _site(desk, list(words), urls, accounts, mark)
        return site.url, site.account, site.mark

    assert found("invoices.py", "books") == ("https://books.example", "acme", "Hello acme")
    assert found("invoices.py:invoice", "books", account="b") == ("https://books.example", "b", "Hello b")
    assert found("mail") == ("https://mail.example", "ann", "")
    assert found("mail", url="http://test.example", mark="Inbox") == ("http://test.example", "ann", "Inbox")
    with pytest.raises(UnknownName):
        found("invoices.py", "mail")
    with pytest.raises(Misuse):
        found("books")


@pytest.mark.usefixtures("key", "here")
def test_a_window_without_a_display_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("browser_agent.cli.login.has_display", lambda: False)
    said = cli("login", "books", "--site", "books=http://books.example", "--account", "books=acme")
    assert (said.code, "--headless" in said.err) == (2, True)


@pytest.mark.usefixtures("key")
def test_logins_are_listed_and_forgotten_and_nothing_secret_is_shown(cli: Cli, here: Path) -> None:
    with Store(here / "runs.db") as store:
        store.logins.save("books", "acme", STATE)
    listed = cli("login", "--list", "--json").document
    assert [(one["site"], one["account"]) for one in listed] == [("books", "acme")]
    assert "books (acme)" in cli("login", "--list").out and "very-secret" not in cli("login", "--list").out
    assert cli("login", "mail", "--forget").code == 2
    assert "Forgotten: books (acme)." in cli("login", "books", "--forget").out
    assert "No login is stored." in cli("login", "--list").out


@pytest.mark.usefixtures("key")
def test_a_checkpoint_is_shown_in_short_and_opened_with_the_key_alone(
    cli: Cli,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fields = [{"name": "Amount", "value": "380.00", "withheld": False}, {"name": "PIN", "value": "", "withheld": True}]
    page = {"address": "http://b.example/new", "title": "New", "scroll": [0, 7], "fields": fields}
    held = {"session_storage": {"token": "very-secret"}, "origin": "http://b.example"}
    with Store(here / "runs.db") as store:
        lease = claim(store)
        shown = {"of": "post()", "address": "http://b.example/new", "title": "New"}
        store.checkpoints.save(lease, page=({**page, **held}, shown))
    short, opened = cli("show", "last").out, cli("show", "last", "--checkpoint").out
    assert "“New” at http://b.example/new, post()" in short and "380.00" not in short
    assert "Amount: 380.00" in opened and "PIN: (withheld)" in opened and "very-secret" not in opened
    assert cli("show", "last", "--checkpoint", "--json").document["checkpoint"]["fields"] == fields
    cli("report", "last", "-o", "out.html")
    assert "http://b.example/new" in (here / "out.html").read_text()
    monkeypatch.setenv(KEY_VARIABLE, urlsafe_b64encode(b"x" * 32).decode())
    assert cli("show", "last", "--checkpoint").code == 2


@pytest.mark.usefixtures("keyless")
def test_a_run_whose_states_were_in_memory_only_says_so(cli: Cli, here: Path) -> None:
    with Store(here / "runs.db") as store:
        store.checkpoints.record_unsealed(claim(store))
    assert "kept in memory only, since there was no key: browser-agent key --new" in cli("show", "last").out
    assert cli("show", "last", "--checkpoint").code == 2


def test_an_ended_session_is_put_with_the_commands_that_begin_it_anew(cli: Cli, here: Path) -> None:
    command = "browser-agent login tasks.py books --site books=http://b.example"
    asked = NewQuestion(
        QuestionKind.SIGNED_OUT, "The session of books (acme) has ended.", details={"commands": [command]}
    )
    with Store(here / "runs.db") as store:
        lease = claim(store)
        question = store.inbox.ask(lease, asked)
    (put,) = cli("inbox", "--json").document
    abandon = f"browser-agent answer {question.id} abandon --by NAME --reason TEXT"
    assert put["commands"] == [command, f"browser-agent resume {lease.run}", abandon]
    assert json.loads(question.details)["commands"] == [command]
