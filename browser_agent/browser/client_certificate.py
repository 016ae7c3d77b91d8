"""Our client certificate: its files, the sites that it is presented to, and its packed form for a browser.

The key and its passphrase must never be part of a run's options, nor be shown.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import PrivateFormat, load_pem_private_key, pkcs12

from browser_agent.browser import nss_store
from browser_agent.errors import Misuse

PASSPHRASE_VARIABLE = "BROWSER_AGENT_CLIENT_PASSPHRASE"
PACKED_WITH = "on the way"
"""The passphrase of the packed form, which always needs one. It protects nothing: that form is never on a disk."""


@dataclass(frozen=True)
class ClientCertificate:
    """A certificate with its key.

    Args:
        file: PEM, optionally with the key in it, or PKCS #12.
        key: a separate file with the key, PEM.
        origins: the origins it is presented to, such as "https://books.example:443".
    """

    file: Path
    key: Path | None
    origins: tuple[str, ...]

    def check(self) -> None:
        """Check that it can be presented on this machine. Raises Misuse."""
        if sys.platform != "linux":
            raise Misuse("A client certificate can be presented on Linux only. Nothing was started.")
        if not self.origins:
            raise Misuse(
                "client_certificate is set and client_origins is not: say who is shown it. Nothing was started."
            )
        self.packed()

    def packed(self) -> bytes:
        """Certificate, key and chain as PKCS #12.

        Raises:
            Misuse: they can't be read, or don't belong together.
        """
        try:
            key, certificate, chain = self._read()
        except (OSError, ValueError, TypeError) as error:
            raise Misuse(
                f"The client certificate {self.file} can't be used: {error}. Its passphrase, if it has one, is what "
                f"{PASSPHRASE_VARIABLE} holds. Nothing was started."
            ) from error
        way = PrivateFormat.PKCS12.encryption_builder().kdf_rounds(2048)
        way = way.key_cert_algorithm(pkcs12.PBES.PBESv1SHA1And3KeyTripleDESCBC).hmac_hash(hashes.SHA1())
        return pkcs12.serialize_key_and_certificates(
            b"browser-agent", key, certificate, chain, way.build(PACKED_WITH.encode())
        )

    @property
    def preferences(self) -> dict[str, Any]:
        """A new profile's preferences, which make Chromium present it without asking."""
        shown: dict[str, Any] = {f"{origin},*": {"setting": {"filters": [{}]}} for origin in self.origins}
        return {"profile": {"content_settings": {"exceptions": {"auto_select_certificate": shown}}}}

    def _read(self) -> tuple[Any, x509.Certificate, list[x509.Certificate]]:
        content, said = self.file.read_bytes(), os.environ.get(PASSPHRASE_VARIABLE, "").encode() or None
        if b"-----BEGIN" in content:
            certificate, *chain = x509.load_pem_x509_certificates(content)
            key: Any = load_pem_private_key(self.key.read_bytes() if self.key else content, said)
        else:
            key, found, chain = pkcs12.load_key_and_certificates(content, said)
            if key is None or found is None:
                raise ValueError("it holds no certificate with its key")
            certificate = found
        if key.public_key() != certificate.public_key():
            raise ValueError("the key is that of another certificate")
        return key, certificate, chain


_IN_THE_HOME = {
    "XDG_DATA_HOME": ".local/share",
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
    "XAUTHORITY": ".Xauthority",
}
"""What else programs look for in a home folder, such as fonts and access to the screen: these stay the user's own."""


def presenting(profile: Path, certificate: ClientCertificate | None) -> dict[str, str]:
    """Create the NSS store in a new profile.

    Returns:
        The environment variables that Chromium needs to find it.

    Raises:
        Misuse: the certificate can't be used, or NSS isn't installed.
    """
    if certificate is None:
        return {}
    folder = profile / nss_store.PLACE
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True)
        _fill(folder, certificate)
    return {**_of_the_user(os.environ), "HOME": str(profile)}


def _fill(folder: Path, certificate: ClientCertificate) -> None:
    program = (sys.executable, "-I", nss_store.__file__, str(folder), PACKED_WITH)
    done = subprocess.run(program, input=certificate.packed(), capture_output=True, check=False)
    if done.returncode != 0:
        why = (done.stderr.decode(errors="replace").strip().splitlines() or ["it says nothing"])[-1]
        raise Misuse(f"The client certificate {certificate.file} can't be given to Chromium: {why}.")


def _of_the_user(environment: Mapping[str, str]) -> dict[str, str]:
    home = os.path.expanduser("~")  # $HOME may be unset, as in a container
    return {name: environment.get(name) or os.path.join(home, place) for name, place in _IN_THE_HOME.items()}
