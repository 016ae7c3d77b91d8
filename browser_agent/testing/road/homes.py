"""What is said differently on the two sides of a proxy: the site must hear its own address, the browser the proxy's.

A site that checks where a form comes from would refuse it otherwise, its redirects would lead past the proxy, and its
cookies would belong to nobody. Proxies that share their `Homes` also know each other's sites: a redirect from one
to another stays on the road.
Must not know: sockets, faults. May never happen: that a body is changed, or a header beyond those named here.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from browser_agent.testing.road.address import PORTS, Address
from browser_agent.testing.road.wire import Head, Header, Request

_ABSOLUTE = re.compile(rb"(?<![:\w])(?:(https?|wss?):)?//([^/?#\\\s;]+)", re.IGNORECASE)
_HTTP = {"ws": "http", "wss": "https"}
_REFRESH = re.compile(rb"(\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?[\"']?)(.*)", re.IGNORECASE | re.DOTALL)
_ONE_CONNECTION_ONLY = {b"connection", b"keep-alive", b"proxy-connection"}
_READABLE = b"gzip, deflate"


class Homes:
    """Which proxy stands before which site, by their origins."""

    def __init__(self) -> None:
        self._own_of: dict[str, str] = {}

    def add(self, site: str, own: str) -> None:
        """Note that the site of one origin is reached at the other."""
        self._own_of[site] = own

    def take_out(self, site: str) -> None:
        self._own_of.pop(site, None)

    # Towards the site

    def outward(self, request: Request, site: Address) -> Request:
        """The request as the site would have heard it without a proxy: Host, Origin and Referer are its own.

        A document is asked for in encodings that can be read here, so that links which lead past the proxy are seen.
        """
        reads = any(name.lower() == b"accept" and b"text/html" in value for name, value in request.headers)
        headers = [self._told(header, site, reads) for header in request.headers]
        return replace(
            request, headers=[(name, value) for name, value in headers if name.lower() != b"proxy-connection"]
        )

    def _told(self, header: Header, site: Address, reads: bool) -> Header:
        name, value = header
        match name.lower():
            case b"host":
                return name, site.authority.encode()
            case b"origin" | b"referer":
                return name, self._away(value)
            case b"accept-encoding" if reads and b"gzip" in value:
                return name, _READABLE
            case _:
                return header

    def _away(self, value: bytes) -> bytes:
        """An address at one of the proxies, as its site knows it; any other as it is."""
        for site, own in list(self._own_of.items()):
            rest = value.removeprefix(own.encode())
            if rest != value and rest[:1] in (b"", b"/"):
                return site.encode() + rest
        return value

    # Towards the browser

    def homeward(self, head: Head, site: Address) -> Head:
        """The head of an answer as the browser must hear it: redirects, permissions and cookies are the proxy's own.

        What was said of the connection to the site (Connection, Keep-Alive) isn't said of the one to the browser.
        """
        upgrade = head.status == 101
        headers = [
            self._brought(header, site)
            for header in head.headers
            if upgrade or header[0].lower() not in _ONE_CONNECTION_ONLY
        ]
        return replace(head, headers=headers)

    def _brought(self, header: Header, site: Address) -> Header:
        name, value = header
        match name.lower():
            case b"location" | b"content-location" | b"access-control-allow-origin":
                return name, self.home(value, site)
            case b"refresh" if found := _REFRESH.match(value):
                return name, found[1] + self.home(found[2], site)
            case b"content-security-policy" | b"content-security-policy-report-only":
                return name, _ABSOLUTE.sub(self._home_of(site), value)
            case b"set-cookie":
                return name, cookie_home(value, site.host)
            case _:
                return header

    def home(self, value: bytes, site: Address) -> bytes:
        """An absolute address, brought home if a proxy stands before it; any other as it is."""
        found = _ABSOLUTE.match(value)
        return value if found is None else self._home_of(site)(found) + value[found.end() :]

    def past(self, address: str, site: Address) -> bool:
        """Whether an address that was seen in a page or a redirect of `site` leads to a site, but not by its proxy."""
        found = _ABSOLUTE.match(address.strip().encode())
        if found is None:
            return False
        scheme = (found[1] or site.scheme.encode()).decode().lower()
        said = _said_as(_HTTP.get(scheme, scheme), found[2])
        moved = site.scheme == "http" and f"https://{site.host}" in said
        return moved or not self._own_of.keys().isdisjoint(said)

    @property
    def hosts(self) -> set[str]:
        """The hosts of the sites."""
        return {urlsplit(site).hostname or "" for site in list(self._own_of)}

    def _home_of(self, site: Address) -> Callable[[re.Match[bytes]], bytes]:
        def home(found: re.Match[bytes]) -> bytes:
            scheme = (found[1] or site.scheme.encode()).decode().lower()
            for said in _said_as(_HTTP.get(scheme, scheme), found[2]):
                if (own := self._own_of.get(said)) is not None:
                    return (own.replace("http", "ws", 1) if scheme in _HTTP else own).encode()
            return found[0]

        return home


def _said_as(scheme: str, authority: bytes) -> list[str]:
    """The origins that may be meant: a site behind TLS that ends before it often says http of itself."""
    try:
        parts = urlsplit(f"{scheme}://{authority.decode('latin-1')}")
        port = parts.port or PORTS[scheme]
    except ValueError:
        return []
    host = parts.hostname or ""
    said = [Address(scheme, host, port, "").origin]
    if scheme == "http":
        said.append(Address("https", host, 443 if port == PORTS["http"] else port, "").origin)
    return said


def cookie_home(value: bytes, host: str) -> bytes:
    """A Set-Cookie of a site on `host`, as it must read to be kept for the proxy.

    Domain goes, if the browser would have let the site set it. Secure goes too, except where a cookie isn't kept
    without it (a `__Host-` or `__Secure-` name, SameSite=None, Partitioned): Chromium keeps those on the loopback
    interface (measured).
    """
    pair, *attributes = value.split(b";")
    named = [tuple(part.strip().lower() for part in attribute.partition(b"=")[::2]) for attribute in attributes]
    needs_secure = pair.strip().startswith((b"__Host-", b"__Secure-")) or any(
        attribute in named for attribute in ((b"samesite", b"none"), (b"partitioned", b""))
    )

    def goes(name: bytes, said: bytes) -> bool:
        if name == b"domain":
            domain = said.lstrip(b".").decode("latin-1")
            return host == domain or host.endswith(f".{domain}")
        return name == b"secure" and not needs_secure

    kept = [attribute for attribute, (name, said) in zip(attributes, named, strict=True) if not goes(name, said)]
    return b";".join([pair, *kept])
