"""How our browser appears to a site: language, time zone, window, proxy and client certificate.

Playwright can't set the options of the DEFAULT context that it attaches to. So each setting is made where it applies to
every page from its first request on: the command line, the environment, the profile's preferences. The rest (the
language of `Intl`, the exact viewport) is set page by page. An observer's fresh page gets them through `new_context`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from browser_agent.browser.client_certificate import ClientCertificate

LOOK_HEIGHT = 1600
"""The minimum height of an observer's page, in pixels, so that its screenshot shows the rows of a list."""


@dataclass(frozen=True)
class Appearance:
    """What a site can learn about our browser; empty = the machine's own setting.

    Args:
        locale: language and country, such as "de-DE".
        time_zone: a name from the tz database, such as "Europe/Berlin".
        viewport: width and height of a page, in pixels.
        proxy: the proxy for requests, such as "http://proxy.example:3128".
        proxy_bypass: hosts reached without the proxy; "<-loopback>" sends loopback addresses through it too.
        client: the client certificate that some sites ask for.
    """

    locale: str = ""
    time_zone: str = ""
    viewport: tuple[int, int] | None = None
    proxy: str = ""
    proxy_bypass: tuple[str, ...] = ()
    client: ClientCertificate | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        """Chromium's command line arguments."""
        wanted = {
            "--lang": self.locale,
            "--window-size": "{},{}".format(*self.viewport) if self.viewport else "",
            "--proxy-server": self.proxy,
            "--proxy-bypass-list": ";".join(self.proxy_bypass),
        }
        return tuple(f"{name}={value}" for name, value in wanted.items() if value)

    @property
    def environment(self) -> dict[str, str]:
        """Chromium's environment variables."""
        return {"TZ": self.time_zone} if self.time_zone else {}

    @property
    def preferences(self) -> dict[str, Any]:
        """A new profile's preferences: `--lang` alone changes neither Accept-Language nor navigator (measured)."""
        language = self.locale.partition("-")[0]
        accepted = ",".join(dict.fromkeys([self.locale, language]))
        spoken = {"intl": {"accept_languages": accepted, "selected_languages": accepted}} if self.locale else {}
        return {**spoken, **(self.client.preferences if self.client else {})}

    @property
    def context_options(self) -> dict[str, Any]:
        """The same for a fresh page, as options of Playwright's `new_context`; the proxy is set for the browser."""
        options: dict[str, Any] = {}
        if self.locale:
            options["locale"] = self.locale
        if self.time_zone:
            options["timezone_id"] = self.time_zone
        if self.viewport:
            width, height = self.viewport
            options["viewport"] = {"width": width, "height": max(height, LOOK_HEIGHT)}
        return options


AS_IT_IS = Appearance()
"""The machine's own settings."""
