"""A secret can be used; it can't be printed, pickled, returned, or given in clear text on a command line."""

from __future__ import annotations

import copy
import os
import pickle
from base64 import urlsafe_b64encode

import pytest
from pydantic import BaseModel

from browser_agent.errors import WrongArguments
from browser_agent.script.arguments import dump_arguments, load_arguments, parse_arguments
from browser_agent.script.canonical_json import canonical
from browser_agent.script.tasks import task
from browser_agent.secrets.seal import KEY_VARIABLE
from browser_agent.secrets.secret import Secret, SecretMissing, stored_secrets

VALUE = "correct horse battery"
OTHER = "an-0ther-planted-1"


class Login(BaseModel):
    user: str
    password: Secret


@task
def signing_in(run: object, login: Login, code: Secret | None = None) -> None:
    """A task that takes secrets."""


signing_in = task(signing_in.fn)


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, urlsafe_b64encode(os.urandom(32)).decode())


@pytest.fixture
def no_key(monkeypatch, tmp_path):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    monkeypatch.setattr("browser_agent.secrets.seal.key_file", lambda: tmp_path / "key")


@pytest.mark.parametrize("shown", [repr, str, "{}".format, "{:>40}".format, lambda s: f"{s}", lambda s: f"{[s]}"])
def test_a_secret_is_never_shown(shown):
    secret = Secret(VALUE, name="env:PW")
    assert VALUE not in shown(secret) and "env:PW" in shown(secret)
    assert VALUE not in repr(Login(user="a", password=secret))


def test_a_secret_is_not_pickled_and_a_copy_is_the_same_one():
    secret = Secret(VALUE)
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    assert copy.deepcopy(secret) is secret and copy.copy(secret) is secret


def test_equal_secrets_are_equal_and_others_are_not():
    assert Secret(VALUE, "a") == Secret(VALUE, "b") != Secret(VALUE + "!", "a")
    assert hash(Secret(VALUE)) == hash(Secret(VALUE))


@pytest.mark.parametrize(("value", "name"), [("", "x"), ("x", "")])
def test_a_secret_has_a_value_and_a_name(value, name):
    with pytest.raises(ValueError):
        Secret(value, name=name)


def test_with_a_key_its_canonical_form_is_its_name_and_a_keyed_digest(key):
    one, same, other = (canonical(Secret(value, "pw")) for value in (VALUE, VALUE, VALUE + "!"))
    assert one == same != other and one.startswith('{"$secret":"pw:')
    assert canonical(Secret(VALUE, "elsewhere")) != one


def test_without_a_key_its_canonical_form_is_its_name_alone(no_key):
    assert canonical(Secret(VALUE, "pw")) == canonical(Secret(VALUE + "!", "pw")) == '{"$secret":"pw"}'


def test_it_is_read_from_the_environment_and_no_child_inherits_it(monkeypatch):
    monkeypatch.setenv("SOME_PASSWORD", VALUE)
    assert Secret.read("env:SOME_PASSWORD").reveal() == VALUE
    assert "SOME_PASSWORD" not in os.environ
    assert Secret.read("env:SOME_PASSWORD").reveal() == VALUE  # this process knows it still


def test_it_is_read_from_a_file_without_its_last_line_end(tmp_path):
    (tmp_path / "pw").write_text(f"{VALUE}\n")
    assert Secret.read(f"@{tmp_path}/pw").reveal() == VALUE


@pytest.mark.parametrize("source", ["env:NOT_SET_ANYWHERE", "@/not/there", "prompt", "env:", "plain"])
def test_what_cannot_be_had_is_said_without_a_value(source, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(SecretMissing):
        Secret.read(source)


def test_a_secret_in_the_clear_is_refused_and_not_repeated():
    with pytest.raises(WrongArguments) as wrong:
        parse_arguments(signing_in, {"login": {"user": "a", "password": "hunter2 in clear text"}})
    assert "hunter2" not in str(wrong.value) and "env:NAME" in str(wrong.value)


def test_stored_arguments_hold_names_and_are_read_back_from_the_vault(no_key):
    given = {"login": Login(user="a", password=Secret(VALUE, "pw")), "code": Secret(OTHER, "pw")}
    vault: dict[str, str] = {}
    text = dump_arguments(signing_in, given, vault)
    assert VALUE not in text and OTHER not in text
    assert vault == {"pw": VALUE, "pw#2": OTHER}
    assert load_arguments(signing_in, text, vault) == given
    assert dict(stored_secrets({"a": [{"$secret": "x", "hmac": "y"}]})) == {"x": "y"}


def test_without_a_vault_a_secret_is_stored_nowhere():
    with pytest.raises(WrongArguments) as wrong:
        dump_arguments(signing_in, {"login": Login(user="a", password=Secret(VALUE, "pw")), "code": None})
    assert VALUE not in str(wrong.value)
