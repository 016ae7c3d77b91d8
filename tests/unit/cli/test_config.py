"""Settings: who says what, what wins, and what is refused; and the key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from browser_agent import settings_sources
from browser_agent.browser.client_certificate import ClientCertificate
from browser_agent.errors import Misuse
from browser_agent.options import Options
from browser_agent.secrets.seal import KEY_VARIABLE
from browser_agent.settings import Settings, shown
from browser_agent.store import Store
from tests.fix_cli import Cli, Keeper


@pytest.fixture
def folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the commands, and an environment that says nothing."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"{settings_sources.PREFIX}{name.upper()}", raising=False)
    return here


# who says it


def test_what_is_said_wins_over_the_environment_and_that_over_the_file(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / settings_sources.FILE_NAME).write_text(
        'store = "file.db"\nlocale = "de"\nslow_mo = 5\ntime_zone = "Asia/Tokyo"'
    )
    monkeypatch.setenv("BROWSER_AGENT_LOCALE", "fr-FR")
    monkeypatch.setenv("BROWSER_AGENT_SLOW_MO", "6")
    shown = cli("config", "--set", "slow_mo=7", "--json").document
    told = {row["setting"]: (row["value"], row["from"]) for row in shown if row["from"] != settings_sources.DEFAULT}
    file = str(folder / settings_sources.FILE_NAME)
    assert told == {
        "store": (str(folder / "file.db"), file),
        "time_zone": ("Asia/Tokyo", file),
        "locale": ("fr-FR", "BROWSER_AGENT_LOCALE"),
        "slow_mo": ("7", "the command line"),
    }
    assert [row["setting"] for row in shown] == [name for name in Settings.model_fields if name != "sites"]
    assert "BROWSER_AGENT_LOCALE" in cli("config").out


def test_the_store_is_the_one_that_is_named_or_set_or_your_own(folder: Path) -> None:
    assert settings_sources.store_meant(None, settings_sources.load()) == settings_sources.default_store()
    (folder / settings_sources.FILE_NAME).write_text('store = "file.db"')
    assert settings_sources.store_meant(None, settings_sources.load()) == folder / "file.db"
    assert settings_sources.store_meant(Path("said.db"), settings_sources.load()) == folder / "said.db"


def test_a_flag_of_a_command_wins_over_all(cli: Cli, keeper: Keeper, folder: Path) -> None:
    (folder / settings_sources.FILE_NAME).write_text('store = "file.db"\nkeep_looking = 9\nslow_mo = 5\nnetlog = false')
    words = "run invoices.py day=2026-11-30 --slow-mo 0 --set slow_mo=9 --set locale=de-DE"
    assert cli(*words.split()).code == 0
    kept = keeper.options[0]
    assert (kept.slow_mo, kept.keep_looking, kept.netlog) == (0, 9, False)
    assert kept.appearance.locale == "de-DE"
    assert (folder / "file.db").exists()


def test_the_sites_of_the_file_are_used_unless_others_are_said(cli: Cli, keeper: Keeper, here: Path) -> None:
    (here / settings_sources.FILE_NAME).write_text('[sites.books]\nurl = "http://127.0.0.1:9"\naccount = "bob"\n')
    cli("run", "invoices.py", "day=2026-11-30", "--site", "books=http://127.0.0.1:8")
    sites = cli("show", "last", "--json").document["run"]["sites"]
    assert sites == {"books": {"url": "http://127.0.0.1:8", "account": "bob"}}


# what reaches a run

TEMPORAL = {"temporal_address", "temporal_namespace", "temporal_queue", "temporal_heartbeat"}
OF_THE_CERTIFICATE = {"client_key", "client_origins"}
MEANT_OTHERWISE = {"store", "evidence", "log_level", "log_file", "log_format", "sites", "host", *TEMPORAL}
SAID = {
    "chromium": "/usr/bin/true",
    "chromium_arguments": "--mute-audio --disable-features=Foo",
    "headed": "true",
    "slow_mo": "5",
    "netlog": "no",
    "locale": "de-DE",
    "time_zone": "Europe/Berlin",
    "viewport": "900x700",
    "proxy": "socks5://127.0.0.1:1080",
    "proxy_bypass": "localhost, *.internal",
    "page_timeout": "5",
    "step_timeout": "5",
    "downloads": "/tmp/kept",
    "client_certificate": "client.pem",
    "gesture_timeout": "5",
    "look_timeout": "5",
    "approval_timeout": "5",
    "keep_looking": "5",
    "attempts": "2",
    "memory": "2000",
    "on_question": "sh -c 'cat > asked.json'",
}


def test_every_setting_is_one_that_reaches_a_run_or_is_used_before_it() -> None:
    assert set(SAID) | OF_THE_CERTIFICATE | MEANT_OTHERWISE == set(Settings.model_fields)


def test_a_client_certificate_is_shown_to_the_origins_that_are_said_with_it(folder: Path) -> None:
    (folder / settings_sources.FILE_NAME).write_text(
        'client_certificate = "a.pem"\nclient_key = "a.key"\nclient_origins = ["https://Books.example", "https://b:8443/"]'
    )
    client = settings_sources.load().options().appearance.client
    assert client == ClientCertificate(
        folder / "a.pem", folder / "a.key", ("https://books.example:443", "https://b:8443")
    )
    assert client.preferences["profile"]["content_settings"]["exceptions"]["auto_select_certificate"].keys() == {
        "https://books.example:443,*",
        "https://b:8443,*",
    }


@pytest.mark.parametrize("name", SAID)
def test_a_setting_reaches_the_run_however_it_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    by_command = settings_sources.resolve(said={name: SAID[name]}).settings.options()
    monkeypatch.setenv(f"BROWSER_AGENT_{name.upper()}", SAID[name])
    assert settings_sources.load().options() == by_command != Settings().options()
    assert TypeAdapter(Options).validate_json(TypeAdapter(Options).dump_json(by_command)) == by_command


def test_pictures_lie_where_it_is_set_and_are_found_by_whoever_opens_the_store(
    cli: Cli, keeper: Keeper, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("disk") / "pictures"
    (folder / settings_sources.FILE_NAME).write_text(f'store = "runs.db"\nevidence = "{elsewhere}"')
    assert cli("run", "invoices.py", "day=2026-11-30").code == 0
    (folder / settings_sources.FILE_NAME).unlink()
    with Store(folder / "runs.db") as store:
        kept = store.artifacts.save(b"a picture", "image/webp")
        assert (elsewhere / kept[:2] / kept).read_bytes() == b"a picture"
    said = cli("run", "invoices.py", "day=2026-11-30", "--store", "runs.db", "--set", "evidence=other")
    assert (said.code, (folder / "other").exists()) == (2, False)
    assert f"are in {elsewhere} already" in said.err


def test_one_setting_is_explained(cli: Cli, folder: Path) -> None:
    (folder / settings_sources.FILE_NAME).write_text('viewport = "900x700"\n[sites.books]\nurl = "http://x"')
    said = cli("config", "viewport").out
    assert "width and height of a page in pixels" in said
    assert f"viewport = 900x700  ({folder / settings_sources.FILE_NAME})" in said
    assert "BROWSER_AGENT_VIEWPORT=..." in said
    assert cli("config", "sites", "--json").document[0]["value"] == "http://x"
    assert "did you mean viewport?" in cli("config", "view-port").err


# what is refused


def test_all_that_is_wrong_is_told_together_and_who_has_said_it(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / settings_sources.FILE_NAME).write_text('stor = "x"\nviewport = "9x9"\n[sites.books]\nurls = "http://x"')
    monkeypatch.setenv("BROWSER_AGENT_LOCAL", "de")
    monkeypatch.setenv("BROWSER_AGENT_DEPLOYMENT", "blue")  # like no setting: somebody else's
    monkeypatch.setenv("BROWSER_AGENT_KEY", "x")
    said = cli("config", "--set", "time_zone=Berlin")
    assert (said.code, said.out) == (2, "")
    file = folder / settings_sources.FILE_NAME
    assert set(said.err.splitlines()[1:]) == {
        f"  {file}: stor: there is no such setting; did you mean store?",
        f"  {file}: viewport: each side must be 200 to 10000 pixels.",
        f"  {file}: sites.books.urls: there is no such setting; did you mean url?",
        "  BROWSER_AGENT_LOCAL: there is no such setting; did you mean BROWSER_AGENT_LOCALE?",
        "  the command line: time_zone: no time zone 'Berlin' is known here; write it as Europe/Berlin.",
    }


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("slow-mo", "5", "did you mean slow_mo?"),
        ("slow_mo", "-5", "greater than or equal to 0"),
        ("gesture_timeout", "nan", "finite"),
        ("headed", "perhaps", "boolean"),
        ("locale", "german!", "not of the form"),
        ("time_zone", "../../etc/passwd", "no time zone"),
        ("viewport", "wide", "valid tuple"),
        ("proxy", "proxy.example", "scheme://host:port"),
        ("proxy", "http://ann:secret@proxy.example:3128", "asks for a password"),
        ("chromium_arguments", "mute", "no argument of Chromium"),
        ("chromium_arguments", "--lang=de", "a setting of its own: locale"),
        ("chromium_arguments", "--user-data-dir=/tmp/x", "without ours"),
        ("on_question", "no-such-program --now", "neither a program"),
        ("log_level", "loud", "'debug'"),
    ],
)
def test_a_value_that_cannot_be_one_is_refused(folder: Path, name: str, value: str, complaint: str) -> None:
    with pytest.raises(Misuse, match="The settings cannot be used") as refused:
        settings_sources.resolve(said={name: value})
    assert complaint in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("text", ["stores = 1", "store = ", "[sites.books]\ntoken = 'x'"])
def test_a_settings_file_that_cannot_be_read_is_never_ignored(here: Path, text: str) -> None:
    (here / settings_sources.FILE_NAME).write_text(text)
    with pytest.raises(Misuse, match=r"browser-agent.toml(:| cannot be)"):
        settings_sources.load()


def test_of_an_address_that_is_told_of_questions_only_its_host_is_shown(cli: Cli, folder: Path) -> None:
    said = cli("config", "--set", "on_question=https://hooks.example/T0/secret").out
    assert "https://hooks.example/..." in said
    assert "secret" not in said


def test_the_page_on_settings_tells_of_each_one_what_the_program_does() -> None:
    page = (Path(settings_sources.__file__).parents[1] / "docs" / "settings.md").read_text(encoding="utf-8")
    for name, field in Settings.model_fields.items():
        if name != "sites":
            assert f"| `{name}` | {shown(name, field.default) or '-'} | {field.description} |" in page
    assert len(re.findall(r"^\| `", page, re.MULTILINE)) == len(Settings.model_fields) - 1


# the key


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
