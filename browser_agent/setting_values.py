"""The types of settings, each with the parser of its text and its check."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, Field

from browser_agent.errors import Misuse
from browser_agent.store.address import evidence_located, located

_LOCALE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_SIZE = re.compile(r"(\d+) *[x, ] *(\d+)")
_SMALLEST, _LARGEST = 200, 10_000
_PROXIES = frozenset({"http", "https", "socks4", "socks5"})
_OWN_SETTING = {
    "--lang": "locale",
    "--window-size": "viewport",
    "--proxy-server": "proxy",
    "--proxy-bypass-list": "proxy_bypass",
    "--headless": "headed",
    "--log-net-log": "netlog",
}
"""Chromium arguments that have their own setting."""
_RESERVED = frozenset(
    {
        *("--user-data-dir", "--remote-debugging-port", "--remote-debugging-pipe", "--enable-net-benchmarking"),
        *("--enable-quic", "--origin-to-force-quic-on"),  # the gate can't hold QUIC requests
    }
)
"""Chromium arguments that we set ourselves: without our values the browser could not be found, guarded or ended."""


def _words(value: Any) -> Any:
    """Split a text into words as a shell does; return a list unchanged."""
    return shlex.split(value) if isinstance(value, str) else value


def _hosts(value: Any) -> Any:
    """Split a text into hosts at commas, semicolons or spaces; return a list unchanged."""
    return [host for host in re.split(r"[,; ]+", value) if host] if isinstance(value, str) else value


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def _absolute(path: Path | None) -> Path | None:
    return path.expanduser().absolute() if path is not None else None


def _readable(read: Callable[[str], object]) -> Callable[[str], str]:
    """Make a check that `read` accepts the text, and that returns the text unchanged."""

    def checked(said: str) -> str:
        try:
            read(said)
        except Misuse as misuse:
            raise ValueError(str(misuse).rstrip(".")) from misuse
        return said

    return checked


def _size(value: Any) -> Any:
    """Parse a text such as "1280x960" into width and height."""
    found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    return (int(found[1]), int(found[2])) if found else value


def _checked_size(size: tuple[int, int]) -> tuple[int, int]:
    if not all(_SMALLEST <= each <= _LARGEST for each in size):
        raise ValueError(f"each side must be {_SMALLEST} to {_LARGEST} pixels")
    return size


def _checked_locale(locale: str) -> str:
    if not _LOCALE.fullmatch(locale):
        raise ValueError(f"{locale!r} is not of the form de or de-DE")
    return locale


def _checked_zone(zone: str) -> str:
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"no time zone {zone!r} is known here; write it as Europe/Berlin") from error
    return zone


def _checked_proxy(proxy: str) -> str:
    parts = urlsplit(proxy)
    if parts.scheme not in _PROXIES or not parts.hostname or parts.path.strip("/"):
        raise ValueError(f"write scheme://host:port, with one of: {', '.join(sorted(_PROXIES))}")
    if parts.username or parts.password:
        raise ValueError("a proxy that asks for a password can't be used: Chromium takes none on its command line")
    return proxy.rstrip("/")


def _checked_origin(origin: str) -> str:
    parts = urlsplit(origin)
    if parts.scheme != "https" or not parts.hostname or parts.path.strip("/") or "@" in parts.netloc:
        raise ValueError(f"{origin!r} is not of the form https://host or https://host:port")
    return f"https://{parts.netloc.lower().removesuffix(':')}" + ("" if parts.port else ":443")


def _checked_origins(origins: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(_checked_origin, origins))


def _checked_arguments(arguments: tuple[str, ...]) -> tuple[str, ...]:
    for argument in arguments:
        name = argument.partition("=")[0]
        if not name.startswith("--"):
            raise ValueError(f"{argument!r} is no argument of Chromium: write --name or --name=value")
        if name in _OWN_SETTING:
            raise ValueError(f"{name} has a setting of its own: {_OWN_SETTING[name]}")
        if name in _RESERVED:
            raise ValueError(f"{name} can't be given: without ours no gesture can be guarded")
    return arguments


def _checked_receiver(receiver: tuple[str, ...]) -> tuple[str, ...]:
    if receiver and not is_address(receiver) and shutil.which(receiver[0]) is None:
        raise ValueError(
            f"{receiver[0]!r} is neither a program here nor an address that begins with http:// or https://"
        )
    return receiver


def is_address(receiver: Sequence[str]) -> bool:
    """Whether the receiver of questions is an address, not a command."""
    return len(receiver) == 1 and urlsplit(receiver[0]).scheme in {"http", "https"}


def host_of(address: str) -> str:
    """An address without the parts that may contain a secret."""
    parts = urlsplit(address)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}/..."


Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Seconds = Positive
AbsolutePath = Annotated[Path | None, AfterValidator(_absolute)]
"""A path that may be written as relative, or with a leading "~"."""
Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
Hosts = Annotated[tuple[str, ...], BeforeValidator(_hosts)]
StoreAddress = Annotated[str, BeforeValidator(_text), AfterValidator(_readable(located))]
EvidenceAddress = Annotated[str, BeforeValidator(_text), AfterValidator(_readable(evidence_located))]
ChromiumArguments = Annotated[Words, AfterValidator(_checked_arguments)]
Locale = Annotated[str, AfterValidator(_checked_locale)]
TimeZone = Annotated[str, AfterValidator(_checked_zone)]
Size = Annotated[tuple[int, int], BeforeValidator(_size), AfterValidator(_checked_size)]
Proxy = Annotated[str, AfterValidator(_checked_proxy)]
Origins = Annotated[Hosts, AfterValidator(_checked_origins)]
Receiver = Annotated[Words, AfterValidator(_checked_receiver)]
"""Who is notified of questions: a command, word by word, or one address."""
