"""A run's secrets are sealed with it, or had again from their source; another value than the first one is refused."""

from __future__ import annotations

import json
import os
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from browser_agent.run import run_secrets
from browser_agent.secrets.seal import KEY_VARIABLE
from browser_agent.secrets.secret import Secret, SecretMissing
from browser_agent.store import Store

VALUE = "vault-planted-31"


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(KEY_VARIABLE, urlsafe_b64encode(os.urandom(32)).decode())


def begin(store: Store, source: str, keyed: str | None = None) -> str:
    """A run with one secret, kept as another process would have kept it."""
    secret = {"$secret": source, **({"hmac": keyed} if keyed else {})}
    arguments = json.dumps({"login": {"password": secret}})
    run = store.leases.submit(task_file="t.py", task_name="t", arguments=arguments, sites="{}").id
    run_secrets.hold(store, run, {source: VALUE})
    run_secrets._held.pop(run)
    return run


def test_what_was_sealed_is_had_again_without_its_source(key, tmp_path: Path):
    with Store(tmp_path / "runs.db") as store:
        run = begin(store, "env:GONE_NOW")
        run_secrets.hold(store, run, {"env:GONE_NOW": "another-planted-32"})  # submitted again by its key: it stays
        run_secrets._held.pop(run)
        assert run_secrets.gather(store, run) == {"env:GONE_NOW": VALUE}
        assert VALUE.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("runs.db*"))


def test_without_a_key_it_is_had_again_from_its_source_or_the_run_waits(store: Store, tmp_path: Path):
    run = begin(store, f"@{tmp_path}/word")
    with pytest.raises(SecretMissing, match="Nothing was done"):
        run_secrets.gather(store, run)
    (tmp_path / "word").write_text(VALUE)
    assert run_secrets.gather(store, run) == {f"@{tmp_path}/word": VALUE}


def test_a_source_that_holds_another_value_is_refused_where_that_can_be_known(store: Store, key, tmp_path: Path):
    source = f"@{tmp_path}/word"
    keyed = Secret(VALUE, source).mark.removeprefix(f"{source}:")
    run = begin(store, source, keyed)  # this store was opened without the key, so nothing was sealed
    (tmp_path / "word").write_text("another-planted-33")
    with pytest.raises(SecretMissing, match="no longer holds the value"):
        run_secrets.gather(store, run)
    (tmp_path / "word").write_text(VALUE)
    assert run_secrets.gather(store, run) == {source: VALUE}


def test_a_run_without_secrets_needs_none(store: Store):
    run = store.leases.submit(task_file="t.py", task_name="t", arguments='{"a": [1]}', sites="{}").id
    run_secrets.hold(store, run, {})
    assert run_secrets.gather(store, run) == {}
