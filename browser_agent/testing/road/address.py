"""Where a site is: scheme, host, port, the path below which it lies, and how its certificate is checked.

Must not know: requests. May never happen: that a certificate is accepted which neither this machine nor the given file
trusts.
"""

import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Address:
    """The address of a site. `prefix` is the path that its pages begin with: "/app", or empty."""

    scheme: str
    host: str
    port: int
    prefix: str
    tls: ssl.SSLContext | None = None

    @classmethod
    def read(cls, url: str, ca_file: str | Path | None = None) -> "Address":
        """Read an address such as "https://staging.example/app".

        Arguments:
            url: http or https, with a host, without user name, query and fragment.
            ca_file: PEM certificates of authorities that are trusted besides those that this machine trusts.

        Raises ValueError for another kind of address or file, OSError if the file can't be read.
        """
        parts = urlsplit(url)
        if parts.scheme not in PORTS or not parts.hostname:
            raise ValueError(f"the site's address must begin with http:// or https:// and a host: {parts.scheme!r}")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("the site's address must be without user name, password, query and fragment")
        host = parts.hostname.encode("idna").decode()
        port = parts.port or PORTS[parts.scheme]
        tls = _trusting(ca_file) if parts.scheme == "https" else None
        return cls(parts.scheme, host, port, parts.path.rstrip("/"), tls)

    @property
    def authority(self) -> str:
        """Host and port as a browser writes them: without the port that goes without saying."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"


def _trusting(ca_file: str | Path | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if ca_file is not None:
        try:
            context.load_verify_locations(cadata=Path(ca_file).read_text(encoding="ascii", errors="replace"))
        except ssl.SSLError as error:
            raise ValueError(f"{ca_file} holds no certificates in PEM form") from error
    context.set_alpn_protocols(["http/1.1"])
    return context
