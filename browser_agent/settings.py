"""The settings: each one's name, meaning, type and default.

The names are the same in the file, in the environment and on the command line (read by `settings_sources`), and in
`Options`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from browser_agent.browser.appearance import Appearance
from browser_agent.browser.client_certificate import ClientCertificate
from browser_agent.options import Options
from browser_agent.setting_values import (
    AbsolutePath,
    ChromiumArguments,
    EvidenceAddress,
    Hosts,
    Locale,
    NotNegative,
    Origins,
    Positive,
    Proxy,
    Receiver,
    Seconds,
    Size,
    StoreAddress,
    TimeZone,
    host_of,
    is_address,
)
from browser_agent.store import address as store_address
from browser_agent.store.address import is_database, located


class Bound(BaseModel):
    """The address of a site and the account there. What is not set stays as the task declares it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str | None = None
    account: str | None = None


class Settings(BaseModel):
    """All settings. `browser-agent config` and the documentation show each field's description."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    store: StoreAddress | None = Field(
        default=None,
        description="the file of runs and questions, or a database as postgresql://user@host/name; in your data "
        "folder if not set",
    )
    evidence: EvidenceAddress | None = Field(
        default=None,
        description="the folder of pictures, or a bucket as s3://bucket/prefix; as the store says if not set, else "
        "beside it, for a database in your data folder",
    )
    chromium: Path | None = Field(default=None, description="the Chromium to start; the one that is found if not set")
    chromium_arguments: ChromiumArguments = Field(default=(), description="extra arguments for Chromium")
    headed: bool = Field(default=Options.headed, description="show the browser")
    slow_mo: NotNegative = Field(default=Options.slow_mo, description="milliseconds to wait before every page call")
    netlog: bool = Field(default=Options.netlog, description="record each write that Chromium sends again by itself")
    downloads: AbsolutePath = Field(
        default=None,
        description="the folder that keeps the files that a step's pages download; they are deleted if not set",
    )
    locale: Locale | None = Field(default=None, description="language and country of the browser, such as de-DE")
    time_zone: TimeZone | None = Field(default=None, description="time zone of the browser, such as Europe/Berlin")
    viewport: Size | None = Field(default=None, description="width and height of a page in pixels, such as 1280x960")
    proxy: Proxy | None = Field(
        default=None, description="where the browser's requests go, such as http://proxy.example:3128"
    )
    proxy_bypass: Hosts = Field(
        default=(), description='hosts that are reached without it; "<-loopback>" sends this machine\'s own there too'
    )
    client_certificate: AbsolutePath = Field(
        default=None,
        description="the certificate that identifies us to sites, as PEM or PKCS #12 (.p12, .pfx); Linux only",
    )
    client_key: AbsolutePath = Field(default=None, description="its key as PEM, if it is not in the same file")
    client_origins: Origins = Field(default=(), description="the sites that receive it, such as https://books.example")
    page_timeout: Seconds | None = Field(
        default=None,
        description="seconds that one call of the page may take while a step prepares it; Playwright's if not set",
    )
    step_timeout: Seconds | None = Field(
        default=None,
        description="seconds that a step may take before its worker is ended and another one starts; no limit if not "
        "set",
    )
    gesture_timeout: Seconds = Field(
        default=Options.gesture_timeout,
        description="seconds that a gesture waits for its control, if it does not say so itself",
    )
    look_timeout: Seconds = Field(
        default=Options.look_timeout, description="seconds that one look at one page may take"
    )
    approval_timeout: Seconds = Field(
        default=Options.approval_timeout,
        description="seconds that an approval may be used, if its task does not say so itself",
    )
    keep_looking: NotNegative = Field(
        default=Options.keep_looking, description="seconds that an open question looks again by itself"
    )
    attempts: Annotated[int, Field(ge=1)] = Field(
        default=Options.attempts, description="how often in a row a worker may die before a person is asked"
    )
    memory: Positive | None = Field(
        default=None,
        description="MB that a worker and its browser may use together before they are ended; no limit if not set",
    )
    host: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="the name of this machine where several share a store; its own if not set"
    )
    on_question: Receiver = Field(
        default=(), description="the command or the address that is notified of each question"
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
        default=None,
        description="the lowest level that is logged: debug, info, warning, error; info if only log_file is set",
    )
    log_file: Path | None = Field(
        default=None, description="where log lines go; standard error if only log_level is set"
    )
    log_format: Literal["text", "json"] = Field(default="text", description="how a log line is written: text, json")
    sites: Mapping[str, Bound] = Field(default={}, description="[sites.NAME]: url and account of a site")

    @property
    def appearance(self) -> Appearance:
        """How the browser appears to sites."""
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
        return ClientCertificate(self.client_certificate, self.client_key, self.client_origins)

    def options(self, **more: Any) -> Options:
        """The keeper's options with these settings; `more` are fields of `Options` that aren't settings."""
        shared = Settings.model_fields.keys() & {field.name for field in fields(Options)}
        return Options(**{name: getattr(self, name) for name in shared}, appearance=self.appearance, **more)


AS_SHIPPED = Settings()
"""The defaults: the settings when nothing is set."""


def shown(name: str, value: Any) -> str:
    """A setting's value for a person. An address for questions is cut to its host, because its path may be a key."""
    if value is None or value in ((), {}):
        return ""
    if name == "store":
        value = store_address.shown(located(value)) if is_database(value) else value
    if name == "on_question":
        return host_of(value[0]) if is_address(value) else shlex.join(value)
    if name == "viewport":
        return "{}x{}".format(*value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return shlex.join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
