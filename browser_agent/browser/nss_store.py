"""The NSS store in its process's home folder, from which Chromium on Linux takes its client certificates.

It runs as a separate program, because NSS keeps its state until the process ends. It reads PKCS #12 from standard input
and puts it into a new store. It uses only libraries that Chromium itself requires, and nothing of this project.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

PLACE = Path(".pki") / "nssdb"
"""Where Chromium looks, relative to its home folder (crypto/nss_util.cc)."""


class _Item(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int), ("data", ctypes.c_char_p), ("size", ctypes.c_uint))


_Collision = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class _Nss:
    """The few NSS functions that are needed."""

    def __init__(self) -> None:
        self._libraries = [ctypes.CDLL(name) for name in ("libnss3.so", "libsmime3.so", "libnspr4.so")]

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that returns 0 on success. Raises OSError otherwise."""
        if self._function(name)(*arguments) != 0:
            raise OSError(f"{name}: NSS error {self._function('PR_GetError')()}")

    def make(self, name: str, *arguments: Any) -> ctypes.c_void_p:
        """Call a function that returns a pointer."""
        function = self._function(name)
        function.restype = ctypes.c_void_p
        return ctypes.c_void_p(function(*arguments))

    def _function(self, name: str) -> Any:
        return next(getattr(library, name) for library in self._libraries if hasattr(library, name))


def fill(folder: str, passphrase: str, packed: bytes) -> None:
    """Create a store without a password in that folder, and put the certificate and its key into it."""
    nss = _Nss()
    nss.call("NSS_Initialize", f"sql:{folder}".encode(), b"", b"", b"secmod.db", 0)
    slot = nss.make("PK11_GetInternalKeySlot")
    nss.call("PK11_InitPin", slot, None, b"")
    words = passphrase.encode("utf-16-be") + b"\0\0"  # the encoding of PKCS #12
    item = _Item(0, words, len(words))
    decoder = nss.make("SEC_PKCS12DecoderStart", ctypes.byref(item), slot, *[None] * 6)
    nss.call("SEC_PKCS12DecoderUpdate", decoder, packed, len(packed))
    nss.call("SEC_PKCS12DecoderVerify", decoder)
    nss.call("SEC_PKCS12DecoderValidateBags", decoder, _Collision(lambda *_: None))
    nss.call("SEC_PKCS12DecoderImportBags", decoder)
    nss.make("SEC_PKCS12DecoderFinish", decoder)
    nss.make("PK11_FreeSlot", slot)
    nss.call("NSS_Shutdown")


if __name__ == "__main__":
    fill(sys.argv[1], sys.argv[2], sys.stdin.buffer.read())
