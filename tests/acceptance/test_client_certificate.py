"""A site that speaks with nobody who has no certificate: the page that acts and the looks have it, under the gate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from browser_agent.browser.appearance import Appearance
from browser_agent.browser.client_certificate import PASSPHRASE_VARIABLE, ClientCertificate
from browser_agent.errors import Misuse
from browser_agent.settings import Settings
from browser_agent.states import RunState
from fixtures.till.certificate import Certificate
from fixtures.till.till import Till
from tests.fix_matrix import chosen
from tests.fix_world import World

PASSPHRASE = "Wörter"


def on_disk(folder: Path, certificate: Certificate, passphrase: str = "") -> dict[str, Any]:
    """A client's certificate and key as files; the settings that name them."""
    shown, key = certificate.of_a_client("robot@acme.example")
    (folder / "client.pem").write_bytes(shown)
    how = BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
    sealed = load_pem_private_key(key, None).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how)
    (folder / "client.key").write_bytes(sealed)
    return {"client_certificate": folder / "client.pem", "client_key": folder / "client.key"}


@pytest.mark.parametrize("how", chosen([True, "released:1"], others=[[False, None], [True, None]]))
def test_an_order_is_made_once_where_a_certificate_is_demanded(
    world: World,
    certificate: Certificate,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: tuple[bool, str | None],
) -> None:
    http2, kill = how
    monkeypatch.setenv(PASSPHRASE_VARIABLE, PASSPHRASE)
    with Till(certificate, http2=http2, demands=True) as till:
        settings = Settings(**on_disk(tmp_path, certificate, PASSPHRASE), client_origins=(till.url,))
        run = world.submit("order_one", "ordering.py", till=till.url, item="T-1")
        flag = (certificate.chromium_flag,)
        ended = world.keep(run, kill, chromium_arguments=flag, appearance=settings.appearance)
        (gesture,) = world.store.journal.gestures(run)
        assert (ended.state, ended.result, len(till.orders)) == (RunState.FINISHED, '"1"', 1), ended
        assert gesture.guarded
        assert "/orders" in till.looks  # a fresh page of an observer
    assert [*world.store.profiles.rglob("key4.db")] == []


def test_a_connection_that_dies_with_the_order_makes_no_second_one_under_a_certificate(
    world: World, certificate: Certificate, tmp_path: Path
) -> None:
    with Till(certificate, demands=True) as till:
        till.end("rst")
        settings = Settings(**on_disk(tmp_path, certificate), client_origins=(till.url,))
        run = world.submit("order_one", "ordering.py", till=till.url, item="T-1")
        ended = world.keep(run, chromium_arguments=(certificate.chromium_flag,), appearance=settings.appearance)
        assert (ended.result, len(till.arrived)) == ('"1"', 1), ended


def test_whoever_is_not_among_the_origins_is_not_shown_it(
    world: World, certificate: Certificate, tmp_path: Path
) -> None:
    with Till(certificate, demands=True) as till:
        settings = Settings(**on_disk(tmp_path, certificate), client_origins=("https://books.example",))
        run = world.submit("order_one", "ordering.py", till=till.url, item="T-1")
        flag = (certificate.chromium_flag,)
        ended = world.keep(run, chromium_arguments=flag, appearance=settings.appearance, page_timeout=10.0)
        assert ended.state is RunState.RAISED
        assert (till.arrived, till.looks) == ([], [])


def test_a_certificate_that_cannot_be_used_is_told_before_anything_starts(
    world: World, certificate: Certificate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = world.submit("order_one", "ordering.py", till="https://127.0.0.1:1", item="T-1")
    files = on_disk(tmp_path, certificate, PASSPHRASE)
    shown = {**files, "client_origins": ("https://books.example",)}
    wrong = [
        (Settings(**files), "say who is shown it"),
        (Settings(**shown), PASSPHRASE_VARIABLE),
        (Settings(**{**shown, "client_key": tmp_path / "none"}), "No such file"),
    ]
    for settings, why in wrong:
        with pytest.raises(Misuse, match=why):
            world.keep(run, appearance=settings.appearance)
    monkeypatch.setenv(PASSPHRASE_VARIABLE, PASSPHRASE)
    other = on_disk(tmp_path, certificate, PASSPHRASE)["client_key"]
    (tmp_path / "other.pem").write_bytes(certificate.of_a_client("ann@acme.example")[0])
    with pytest.raises(Misuse, match="another certificate"):
        world.keep(
            run, appearance=Appearance(client=ClientCertificate(tmp_path / "other.pem", other, ("https://a:443",)))
        )
    assert world.store.leases.run(run).state is RunState.NEW
