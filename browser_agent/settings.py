"""Every setting there is: its word, what it means, what it may be, and what it is when nobody says anything.

The words are the same in the file, in the environment and on the command line; `settings` reads them from there. Knows
no file and no environment. What may never happen: a setting that reaches nothing; a secret of an address is shown.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from browser_agent.browser.appearance import Appearance
from browser_agent.browser.client_certificate import ClientCertificate
from browser_agent.errors import Misuse
from browser_agent.options import Options
from browser_agent.store import address as whereabouts
from browser_agent.store.address import evidence_located, is_database, located

_LOCALE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_SIZE = re.compile(r"(\d+) *[x, ] *(\d+)")
_SMALLEST, _LARGEST = 200, 10_000
_PROXIES = frozenset({"http", "https", "socks4", "socks5"})
_ELSEWHERE = {
    "--lang": "locale",
    "--window-size": "viewport",
    "--proxy-server": "proxy",
    "--proxy-bypass-list": "proxy_bypass",
    "--headless": "headed",
    "--log-net-log": "netlog",
}
"""Arguments of Chromium that have a setting of their own."""
_OURS = frozenset(
    {
        *("--user-data-dir", "--remote-debugging-port", "--remote-debugging-pipe", "--enable-net-benchmarking"),
        *("--enable-quic", "--origin-to-force-quic-on"),  # the gate knows nothing of QUIC
    }
)
"""Arguments of Chromium without which it could not be found, guarded or ended."""


def _words(value: Any) -> Any:
    """A text as words, as a shell would split it; a list stays one."""
    return shlex.split(value) if isinstance(value, str) else value


def _hosts(value: Any) -> Any:
    """A text as hosts, between commas, semicolons or spaces."""
    return [host for host in re.split(r"[,; ]+", value) if host] if isinstance(value, str) else value


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def _checked(read: Callable[[str], object]) -> Callable[[str], str]:
    """The text as it is, if it can be read as what it names."""

    def checked(said: str) -> str:
        try:
            read(said)
        except Misuse as misuse:
            raise ValueError(str(misuse).rstrip(".")) from misuse
        return said

    return checked


def _size(value: Any) -> Any:
    """A text such as "1280x960" as width and height."""
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


def _checked_arguments(arguments: tuple[str, ...]) -> tuple[str, ...]:
    for argument in arguments:
        name = argument.partition("=")[0]
        if not name.startswith("--"):
            raise ValueError(f"{argument!r} is no argument of Chromium: write --name or --name=value")
        if name in _ELSEWHERE:
            raise ValueError(f"{name} has a setting of its own: {_ELSEWHERE[name]}")
        if name in _OURS:
            raise ValueError(f"{name} can't be given: without ours no gesture can be guarded")
    return arguments


def _checked_told(told: tuple[str, ...]) -> tuple[str, ...]:
    if told and not is_address(told) and shutil.which(told[0]) is None:
        raise ValueError(f"{told[0]!r} is neither a program here nor an address that begins with http:// or https://")
    return told


def is_address(told: Sequence[str]) -> bool:
    """Whether who is told of a question is an address, and not a command."""
    return len(told) == 1 and urlsplit(told[0]).scheme in {"http", "https"}


Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Words = Annotated[tuple[str, ...], BeforeValidator(_words)]


class Bound(BaseModel):
    """Where a site is in this place, and who we are there; what is not set stays as the task declares it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str | None = None
    account: str | None = None


class Settings(BaseModel):
    """What may be set. A field's description is what `browser-agent config` and the documentation say of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    store: Annotated[str, BeforeValidator(_text), AfterValidator(_checked(located))] | None = Field(
        default=None,
        description="the file of runs and questions, or a database as postgresql://user@host/name; in your data "
        "folder if not set",
    )
    evidence: Annotated[str, BeforeValidator(_text), AfterValidator(_checked(evidence_located))] | None = Field(
        default=None,
        description="the folder of pictures, or a bucket as s3://bucket/prefix; as the store says if not set, else "
        "beside it, for a database in your data folder",
    )
    chromium: Path | None = Field(default=None, description="the Chromium to start; the one that is found if not set")
    chromium_arguments: Annotated[Words, AfterValidator(_checked_arguments)] = Field(
        default=(), description="extra arguments for Chromium"
    )
    headed: bool = Field(default=False, description="show the browser")
    slow_mo: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0, description="milliseconds to wait before every page call"
    )
    netlog: bool = Field(default=True, description="note each write that Chromium sends again by itself")
    downloads: Path | None = Field(
        default=None, description="the folder in which files stay that a step's pages download; none stays if not set"
    )
    locale: Annotated[str, AfterValidator(_checked_locale)] | None = Field(
        default=None, description="language and country of the browser, such as de-DE"
    )
    time_zone: Annotated[str, AfterValidator(_checked_zone)] | None = Field(
        default=None, description="time zone of the browser, such as Europe/Berlin"
    )
    viewport: Annotated[tuple[int, int], BeforeValidator(_size), AfterValidator(_checked_size)] | None = Field(
        default=None, description="width and height of a page in pixels, such as 1280x960"
    )
    proxy: Annotated[str, AfterValidator(_checked_proxy)] | None = Field(
        default=None, description="where the browser's requests go, such as http://proxy.example:3128"
    )
    proxy_bypass: Annotated[tuple[str, ...], BeforeValidator(_hosts)] = Field(
        default=(), description='hosts that are reached without it; "<-loopback>" sends this machine\'s own there too'
    )
    client_certificate: Path | None = Field(
        default=None, description="the certificate by which sites know us, as PEM or PKCS #12 (.p12, .pfx); Linux only"
    )
    client_key: Path | None = Field(default=None, description="its key as PEM, if it is not in the same file")
    client_origins: Annotated[
        tuple[str, ...], BeforeValidator(_hosts), AfterValidator(lambda said: tuple(map(_checked_origin, said)))
    ] = Field(default=(), description="the sites that are shown it, such as https://books.example")
    page_timeout: Seconds | None = Field(
        default=None,
        description="seconds that one call of the page may take while a step prepares it; Playwright's if not set",
    )
    step_timeout: Seconds | None = Field(
        default=None,
        description="seconds that a step may take before its worker is ended and the next one looks; any if not set",
    )
    gesture_timeout: Seconds = Field(
        default=10, description="seconds that a gesture waits for its control, if it does not say so itself"
    )
    look_timeout: Seconds = Field(default=8, description="seconds that one look at one page may take")
    approval_timeout: Seconds = Field(
        default=24 * 3600, description="seconds that an approval may be used, if its task does not say so itself"
    )
    keep_looking: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=60, description="seconds that an open question looks again by itself"
    )
    attempts: Annotated[int, Field(ge=1)] = Field(
        default=5, description="how often a worker may die before a person is asked"
    )
    memory: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description="MB that a worker and its browser may use together before they are ended; any if not set",
    )
    host: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="what this machine is called where several share a store; its own name if not set"
    )
    on_question: Annotated[Words, AfterValidator(_checked_told)] = Field(
        default=(), description="the command or the address that is told of each question"
    )
    temporal_address: str | None = Field(
        default=None, description="host and port of Temporal; as its own settings say, else localhost:7233"
    )
    temporal_namespace: str | None = Field(
        default=None, description="the namespace there; as its own settings say, else default"
    )
    temporal_queue: str = Field(default="browser-agent", description="the task queue of browser workers")
    temporal_heartbeat: Annotated[float, Field(ge=1, allow_inf_nan=False)] = Field(
        default=10, description="seconds of silence after which Temporal gives a run to another browser worker"
    )
    log_level: Literal["debug", "info", "warning", "error"] | None = Field(
        default=None, description="what is worth a log line: debug, info, warning, error; info if only log_file is set"
    )
    log_file: Path | None = Field(
        default=None, description="where log lines go; to standard error if only log_level is set"
    )
    log_format: Literal["text", "json"] = Field(default="text", description="how a log line is written: text, json")
    sites: Mapping[str, Bound] = Field(default={}, description="[sites.NAME]: url and account of a site")

    @property
    def appearance(self) -> Appearance:
        """How our browser appears to sites."""
        return Appearance(
            locale=self.locale or "",
            time_zone=self.time_zone or "",
            viewport=self.viewport,
            proxy=self.proxy or "",
            proxy_bypass=self.proxy_bypass,
            client=self._client,
        )

    @property
    def _client(self) -> ClientCertificate | None:
        if self.client_certificate is None:
            return None
        key = self.client_key.expanduser().absolute() if self.client_key else None
        return ClientCertificate(self.client_certificate.expanduser().absolute(), key, self.client_origins)

    def options(self, **more: Any) -> Options:
        """How runs are kept with these settings; `more` are fields of `Options` that are no setting."""
        return Options(
            headed=self.headed,
            slow_mo_ms=self.slow_mo,
            keep_looking_seconds=self.keep_looking,
            attempts=self.attempts,
            chromium=self.chromium_arguments,
            netlog=self.netlog,
            executable=self.chromium,
            downloads=self.downloads.expanduser().absolute() if self.downloads else None,
            appearance=self.appearance,
            page_seconds=self.page_timeout,
            step_seconds=self.step_timeout,
            gesture_seconds=self.gesture_timeout,
            look_seconds=self.look_timeout,
            approval_seconds=self.approval_timeout,
            on_question=self.on_question,
            memory_mb=self.memory,
            **more,
        )


AS_SHIPPED = Settings()
"""Nobody has said anything."""


def shown(name: str, value: Any) -> str:
    """A setting's value for a person; of an address that is told of questions the host only: its path may be a key."""
    if value is None or value in ((), {}):
        return ""
    if name == "store":
        value = whereabouts.shown(located(value)) if is_database(value) else value
    if name == "on_question":
        return host_of(value[0]) if is_address(value) else shlex.join(value)
    if name == "viewport":
        return "{}x{}".format(*value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return shlex.join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def host_of(address: str) -> str:
    """An address without what may be a secret in it."""
    parts = urlsplit(address)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}/..."
