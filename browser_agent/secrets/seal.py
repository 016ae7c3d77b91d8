"""The seal: encrypts what is stored of a session, bound to its run and purpose.

AES-256-GCM (NIST SP 800-38D) with a random nonce. Run and purpose are the associated data, so that a sealed state does
not open for another run. The key comes from the environment, from a file that only this user may read, or from the
system's keyring. A key is never replaced: what it has sealed would never open again.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from pathlib import Path
from tempfile import NamedTemporaryFile

import platformdirs
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from browser_agent.errors import Misuse, installing

KEY_VARIABLE = "BROWSER_AGENT_KEY"
IN_KEYRING = "keyring"
"""The content of the key file if the system's keyring holds the key."""
_NO_KEYRING = f"The system's keyring can't be used; it needs a desktop's keyring, and {installing('keyring')}"
_SERVICE, _ENTRY = "browser-agent", "key"
_KEY_BYTES = 32
_NONCE_BYTES = 12


class SealBroken(Misuse):
    """The seal does not open: it was made with another key or for another purpose, or was altered."""


class Seal:
    """Seals and opens with one key of 32 bytes."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)
        self._marks = hmac.digest(key, b"browser-agent marks", hashlib.sha256)  # never the sealing key itself

    def close(self, content: bytes, bound: str) -> bytes:
        """Encrypt the content, bound to a purpose."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, content, bound.encode())

    def mark(self, text: str) -> str:
        """64 bits of a keyed HMAC-SHA256 in hex: it tells equal texts, and can't be guessed without the key."""
        return hmac.digest(self._marks, text.encode(), hashlib.sha256).hex()[:16]

    def open(self, sealed: bytes, bound: str) -> bytes:
        """Decrypt the content. Raises `SealBroken` if key or purpose differ, or a byte was altered."""
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound.encode())
        except InvalidTag as error:
            raise SealBroken("This key can't decrypt what was stored.") from error


def key_file() -> Path:
    """The path of this user's key file, which may not exist."""
    return platformdirs.user_config_path("browser-agent") / "key"


def load_seal(file: Path | None = None) -> Seal | None:
    """The seal with the key from the environment, else from the file or the keyring; None if there is no key.

    Args:
        file: the key file, if it is not this user's own.

    Raises:
        Misuse: the key is malformed, other users may read the file, or the keyring does not return the key.
    """
    if named := os.environ.get(KEY_VARIABLE):
        return Seal(_read(named, KEY_VARIABLE))
    path = file or key_file()
    if not path.is_file():
        return None
    if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Misuse(f"The key {path} may be read by others: chmod 600 {path}.")
    held = path.read_text(encoding="ascii").strip()
    return Seal(_read(_from_keyring(path), "The keyring") if held == IN_KEYRING else _read(held, str(path)))


def key_in_use(file: Path | None = None) -> str | None:
    """Where the key in use comes from, in words; None if there is no key.

    Raises:
        Misuse: see `load_seal`.
    """
    if load_seal(file) is None:
        return None
    if os.environ.get(KEY_VARIABLE):
        return f"the environment ({KEY_VARIABLE})"
    path = file or key_file()
    in_keyring = path.read_text(encoding="ascii").strip() == IN_KEYRING
    return f"the system's keyring ({path} says so)" if in_keyring else str(path)


def new_key(file: Path | None = None, *, in_keyring: bool = False) -> Path:
    """Make a key in the key file, or in the system's keyring, which the file then names. Returns the file's path.

    A key that the keyring holds already is used, not replaced.

    Raises:
        Misuse: there is one already, what it has sealed would never open again; it can't be written; or the keyring
            can't be used.
    """
    path, key = file or key_file(), urlsafe_b64encode(os.urandom(_KEY_BYTES)).decode()
    if in_keyring and not path.exists():
        key = _store_in_keyring(key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write_once(path, f"{key}\n")
    except FileExistsError as error:
        raise Misuse(f"There is a key already: {path}. A new one could not decrypt what it has encrypted.") from error
    except OSError as error:
        raise Misuse(f"No key was created: {path} can't be written ({error.strerror}).") from error
    return path


def _write_once(path: Path, text: str) -> None:
    """Write a new file of this user's alone, in one step: another process sees all of it, or nothing."""
    with NamedTemporaryFile("w", dir=path.parent, prefix=".key-", encoding="ascii") as whole:  # mode 0600
        whole.write(text)
        whole.flush()
        os.fsync(whole.fileno())
        os.link(whole.name, path)


def _from_keyring(named_by: Path) -> str:
    try:
        import keyring

        found = keyring.get_password(_SERVICE, _ENTRY)
    except Exception as error:  # each keyring has errors of its own
        raise Misuse(f"{_NO_KEYRING} ({type(error).__name__}: {error}), and {named_by} says it has the key.") from error
    if found is None:
        raise Misuse(f"The system's keyring holds no key of browser-agent, and {named_by} says that it does.")
    return found


def _store_in_keyring(key: str) -> str:
    """Store the key in the keyring unless it has one already; returns the content for the key file."""
    try:
        import keyring

        if keyring.get_password(_SERVICE, _ENTRY) is None:
            keyring.set_password(_SERVICE, _ENTRY, key)
    except Exception as error:
        raise Misuse(f"{_NO_KEYRING} ({type(error).__name__}: {error}). No key was created.") from error
    return IN_KEYRING


def _read(text: str, where: str) -> bytes:
    try:
        key = urlsafe_b64decode(text.strip())
    except (NotBase64, ValueError) as error:
        raise Misuse(f"{where} holds no key: it must be 32 bytes in URL-safe base64.") from error
    if len(key) != _KEY_BYTES:
        raise Misuse(f"{where} holds no key: it must be 32 bytes in URL-safe base64, not {len(key)}.")
    return key
