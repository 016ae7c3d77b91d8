"""What is sealed opens with its key and for its purpose only; a key is never made or read carelessly."""

from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

from browser_agent.errors import Misuse
from browser_agent.secrets.seal import KEY_VARIABLE, Seal, SealBroken, key_in_use, load_seal, new_key

KEY = b"k" * 32


@pytest.fixture(autouse=True)
def no_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


def test_what_was_sealed_opens_again_and_shows_nothing_meanwhile() -> None:
    sealed = Seal(KEY).close(b"cookie=1", "run-1 session")
    assert Seal(KEY).open(sealed, "run-1 session") == b"cookie=1"
    assert b"cookie" not in sealed and Seal(KEY).close(b"cookie=1", "run-1 session") != sealed


@pytest.mark.parametrize(
    ("key", "bound", "spoilt"),
    [(b"x" * 32, "run-1", None), (KEY, "run-2", None), (KEY, "run-1", 0), (KEY, "run-1", 15), (KEY, "run-1", -1)],
)
def test_another_key_another_purpose_or_an_altered_byte_opens_nothing(
    key: bytes, bound: str, spoilt: int | None
) -> None:
    sealed = bytearray(Seal(KEY).close(b"cookie=1", "run-1"))
    if spoilt is not None:
        sealed[spoilt] ^= 1
    with pytest.raises(SealBroken):
        Seal(key).open(bytes(sealed), bound)


def test_without_a_key_there_is_no_seal(tmp_path: Path) -> None:
    assert load_seal(tmp_path / "key") is None


def test_a_new_key_is_its_owners_alone_and_replaces_no_other(tmp_path: Path) -> None:
    path = new_key(tmp_path / "deep" / "key")
    assert path.stat().st_mode & 0o777 == 0o600
    kept = path.read_bytes()
    with pytest.raises(Misuse, match="There is a key already"):
        new_key(path)
    assert path.read_bytes() == kept and load_seal(path) is not None


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = new_key(tmp_path / "key")
    path.chmod(0o644)
    with pytest.raises(Misuse, match="chmod 600"):
        load_seal(path)


def test_the_environment_goes_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, urlsafe_b64encode(KEY).decode())
    seal = load_seal(new_key(tmp_path / "key"))
    assert seal is not None and seal.open(Seal(KEY).close(b"x", "y"), "y") == b"x"


@pytest.mark.parametrize("text", ["short", "!!!", urlsafe_b64encode(b"k" * 31).decode()])
def test_a_key_that_is_none_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, text)
    with pytest.raises(Misuse, match="holds no key"):
        load_seal()


class Locker(KeyringBackend):
    """A system's keyring in memory, which may be locked."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise KeyringLocked("it is locked")
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.held[service, username] = password


@pytest.fixture
def locker() -> Iterator[Locker]:
    before, locker = keyring.get_keyring(), Locker()
    keyring.set_keyring(locker)
    yield locker
    keyring.set_keyring(before)


@pytest.mark.process
def test_a_key_in_the_keyring_seals_and_stands_in_no_file(tmp_path: Path, locker: Locker) -> None:
    path = new_key(tmp_path / "key", in_keyring=True)
    seal = load_seal(path)
    assert seal is not None and path.read_text() == "keyring\n"
    assert "the system's keyring" in str(key_in_use(path))
    again = new_key(tmp_path / "other" / "key", in_keyring=True)
    other = load_seal(again)
    assert other is not None and other.open(seal.close(b"cookie=1", "run-1"), "run-1") == b"cookie=1"
    with pytest.raises(Misuse, match="There is a key already"):
        new_key(path, in_keyring=True)


@pytest.mark.process
def test_a_keyring_that_is_locked_or_empty_is_told_and_nothing_goes_on_unsealed(tmp_path: Path, locker: Locker) -> None:
    path = new_key(tmp_path / "key", in_keyring=True)
    locker.locked = True
    with pytest.raises(Misuse, match="KeyringLocked: it is locked"):
        load_seal(path)
    with pytest.raises(Misuse, match="No key was created"):
        new_key(tmp_path / "another", in_keyring=True)
    assert not (tmp_path / "another").exists()
    locker.locked = False
    locker.held.clear()
    with pytest.raises(Misuse, match="holds no key of browser-agent"):
        load_seal(path)
