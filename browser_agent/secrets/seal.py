"""Sealing: what is kept of a session lies encrypted at rest, bound to its run and purpose, or is not kept at all.

AES-256-GCM (NIST SP 800-38D) with a random nonce; run and purpose are the associated data, so that a seal moved to
another run doesn't open. The key comes from the environment, or from a file that nobody else may read; the file may
say that the system's keyring holds it. A key is never replaced: what it has sealed would never open again.
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
"""What stands in the file instead of the key, where the system's keyring holds it."""
_NO_KEYRING = f"The system's keyring can't be used; it needs a desktop's keyring, and {installing('keyring')}"
_SERVICE, _ENTRY = "browser-agent", "key"
_KEY_BYTES = 32
_NONCE_BYTES = 12


class SealBroken(Misuse):
    """A seal that this key doesn't open: it was made with another key, for another purpose, or was altered."""


class Seal:
    """Closes and opens with one key of 32 bytes."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)
        self._marks = hmac.digest(key, b"browser-agent marks", hashlib.sha256)  # never the sealing key itself

    def close(self, content: bytes, bound: str) -> bytes:
        """Encrypt the content, bound to a purpose in words."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, content, bound.encode())

    def mark(self, text: str) -> str:
        """64 bits of a keyed HMAC-SHA256, as hex: equal texts are known again, none is guessed without the key."""
        return hmac.digest(self._marks, text.encode(), hashlib.sha256).hex()[:16]

    def open(self, sealed: bytes, bound: str) -> bytes:
        """The content. Raises `SealBroken` if key or purpose are others, or a byte was altered."""
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound.encode())
        except InvalidTag as error:
            raise SealBroken("What was sealed does not open with this key.") from error


def key_file() -> Path:
    """Where this user's key lies, if it was ever made."""
    return platformdirs.user_config_path("browser-agent") / "key"


def load_seal(file: Path | None = None) -> Seal | None:
    """The seal with the key of the environment, else of the file or the keyring that it names; None if there is none.

    Args:
        file: where the key lies, if not in this user's own place.

    Raises:
        Misuse: a key that isn't one, a file that others may read, or a keyring that doesn't hand it out.
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
    """Where the key in use lies, in words: the environment, the file or the keyring; None if there is no key.

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
    """Make a key in its file, for this user alone; or in the system's keyring, which the file then names.

    A key that the keyring holds already is taken, not replaced.

    Raises:
        Misuse: there is one already, what it has sealed would never open again; it can't be written; or the keyring
            can't be used.
    """
    path, key = file or key_file(), urlsafe_b64encode(os.urandom(_KEY_BYTES)).decode()
    if in_keyring and not path.exists():
        key = _kept_in_keyring(key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write_once(path, f"{key}\n")
    except FileExistsError as error:
        raise Misuse(f"There is a key already: {path}. What it has sealed would never open again.") from error
    except OSError as error:
        raise Misuse(f"No key was made: {path} can't be written ({error.strerror}).") from error
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
    except Exception as error:  # each of the systems behind it has errors of its own
        raise Misuse(f"{_NO_KEYRING} ({type(error).__name__}: {error}), and {named_by} says it has the key.") from error
    if found is None:
        raise Misuse(f"The system's keyring holds no key of browser-agent, and {named_by} says that it does.")
    return found


def _kept_in_keyring(key: str) -> str:
    """Keep the key there, unless it has one already; what is to stand in the file."""
    try:
        import keyring

        if keyring.get_password(_SERVICE, _ENTRY) is None:
            keyring.set_password(_SERVICE, _ENTRY, key)
    except Exception as error:
        raise Misuse(f"{_NO_KEYRING} ({type(error).__name__}: {error}). No key was made.") from error
    return IN_KEYRING


def _read(text: str, where: str) -> bytes:
    try:
        key = urlsafe_b64decode(text.strip())
    except (NotBase64, ValueError) as error:
        raise Misuse(f"{where} holds no key: it must be 32 bytes in URL-safe base64.") from error
    if len(key) != _KEY_BYTES:
        raise Misuse(f"{where} holds no key: it must be 32 bytes in URL-safe base64, not {len(key)}.")
    return key
