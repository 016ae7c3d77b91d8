"""Logins: sealed, bound to site and account, one each, gone when they are forgotten, and never there without a key."""

import pytest

from browser_agent.errors import Misuse, Superseded
from browser_agent.secrets.seal import Seal, SealBroken
from browser_agent.store import Lease, Store
from browser_agent.store.logins import Logins
from tests.store.building import by_raw_sql, claim, everything, stored_bytes

STATE = {"cookies": [{"name": "sid", "value": "very-secret"}]}


def logins(store: Store, key: bytes | None = b"k" * 32) -> Logins:
    return Logins(store.database, store.clock, Seal(key) if key else None)


def test_the_last_login_of_an_account_is_kept_and_nothing_of_it_in_the_clear(store: Store) -> None:
    kept = logins(store)
    kept.check_key()
    kept.save("books", "acme", {"cookies": []})
    kept.save("books", "acme", STATE)
    kept.save("books", "other", {})
    found = kept.find("books", "acme")
    assert found is not None and (found.state, found.at) == (STATE, store.clock.now())
    assert [(row.site, row.account) for row in kept.rows()] == [("books", "acme"), ("books", "other")]
    assert kept.find("books", "nobody") is None and kept.find("mail", "acme") is None
    assert [line["kind"] for line in store.audit_lines()] == ["login_kept"] * 3
    store.close()
    assert b"very-secret" not in stored_bytes(store)


def test_without_a_key_none_is_kept_and_none_opens(store: Store) -> None:
    logins(store).save("books", "acme", STATE)
    keyless = logins(store, None)
    for act in (keyless.check_key, lambda: keyless.save("mail", "ann", STATE)):
        with pytest.raises(Misuse, match="browser-agent key --new"):
            act()
    assert keyless.find("books", "acme") is None
    assert len(everything(store)["login"]) == 1


@pytest.mark.parametrize("moved", ["site = 'mail'", "account = 'other'", "site = 'book', account = 'sacme'"])
def test_a_login_opens_for_its_own_site_and_account_only(store: Store, moved: str) -> None:
    logins(store).save("books", "acme", STATE)
    with pytest.raises(SealBroken):
        logins(store, b"x" * 32).find("books", "acme")
    by_raw_sql(store, f"UPDATE login SET {moved}")
    (row,) = logins(store).rows()
    with pytest.raises(SealBroken):
        logins(store).find(row.site, row.account)


def test_a_forgotten_login_is_gone_and_the_log_says_so(store: Store) -> None:
    kept = logins(store)
    for site, account in (("books", "acme"), ("books", "other"), ("mail", "acme")):
        kept.save(site, account, STATE)
    assert kept.forget("books", "nobody") == []
    assert kept.forget("books", "other") == ["other"]
    assert kept.forget("books") == ["acme"]
    assert [(row.site, row.account) for row in kept.rows()] == [("mail", "acme")]
    assert [line["account"] for line in store.audit_lines() if line["kind"] == "login_forgotten"] == ["other", "acme"]


def test_only_the_runs_own_attempt_says_that_it_has_signed_in(store: Store, lease: Lease) -> None:
    logins(store).signed_in(lease, "books", "acme", "sign_in")
    assert store.audit_lines(lease.run)[-1]["tool"] == "sign_in"
    claim(store, lease.run)
    with pytest.raises(Superseded):
        logins(store).signed_in(lease, "books", "acme", "sign_in")
