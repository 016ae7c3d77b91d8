"""Named faults on the requests between a browser and the sites of a test.

with Faults([books]) as faults:
    faults.lose_answer("POST /invoices")
    ...  # a click on "Post": one invoice is made, and the browser receives no answer
assert not faults.untriggered
"""

import inspect
import re
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, ParamSpec, Self
from urllib.parse import urlsplit

from browser_agent.testing.proxy.address import SiteAddress
from browser_agent.testing.proxy.address_rewrite import AddressRewrite
from browser_agent.testing.proxy.fault_kinds import REFUSE, Fault
from browser_agent.testing.proxy.fault_proxy import HERE, FaultProxy
from browser_agent.testing.proxy.request_pattern import check_pattern
from observers.site import Site

P = ParamSpec("P")

_NOT_IN_A_HOST = re.compile(r"[^a-z0-9-]+")
EVERYTHING = "* /**"


@dataclass(frozen=True)
class InstalledFault:
    """A fault that a test has installed: its name, its site, and the requests that have triggered it so far."""

    name: str
    site: str
    fault: Fault

    @property
    def triggered(self) -> bool:
        """Whether a request has triggered it. A site that was down at once counts as triggered."""
        return self.fault.matched >= self.fault.skip if self.fault.name == REFUSE else self.fault.triggered > 0

    def __str__(self) -> str:
        what = f'{self.name}("{self.fault.pattern}") at {self.site}'
        if self.fault.matched:
            return f"{what} let {self.fault.matched} requests pass (after={self.fault.skip}) and was not triggered"
        return f"{what} was not triggered by any request"


def named_fault(install: Callable[P, None]) -> Callable[P, None]:
    """Decorate a fault so that its error for a wrong argument shows the fault's signature."""
    signature = inspect.signature(install)
    shown = signature.replace(parameters=list(signature.parameters.values())[1:], return_annotation=signature.empty)

    @wraps(install)
    def checked(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as wrong:
            raise TypeError(f"{install.__name__}: {wrong}; it is written {install.__name__}{shown}") from None
        install(*args, **kwargs)

    return checked


class Faults:
    """Fault proxies in front of a test's sites, and the faults that requests to these sites trigger.

    Each `Site` is bound to its proxy until `close()` restores its address. Sites of one origin share a proxy. Sites on
    different hosts don't share cookies behind their proxies either: the first proxy's host is 127.0.0.1, the others'
    NAME.localhost.

    Every fault takes:
        pattern: the request, as "METHOD /path", with stars as in a gesture's `sends`. The path is the whole one:
            "/app/invoices" at a site whose address ends in "/app".
        site: the site, as `Site` or by its name; needed only if there are several.
        times: how many requests it applies to, one after the other; None = all, until `heal()`.
        after: how many matching requests pass first.

    Faults that match the same request queue up: the request triggers the first one that isn't used up.

    Args:
        sites: one `Site`, or all sites that the test uses.
        ca_file: PEM certificates of authorities to trust in addition to those that this machine trusts, for sites with
            https addresses.
        warn: called with a sentence when a page leads past its proxy or a site can't be reached.

    Raises:
        ValueError: there is no site, or two have the same name; see also `FaultProxy`.
    """

    def __init__(
        self,
        sites: Site | Iterable[Site],
        *,
        ca_file: str | Path | None = None,
        warn: Callable[[str], object] | None = None,
    ) -> None:
        self._sites = {site.name: site for site in _distinct([sites] if isinstance(sites, Site) else list(sites))}
        self._proxies: dict[str, FaultProxy] = {}
        self._installed: list[InstalledFault] = []
        self._rewrite = AddressRewrite()
        with ExitStack() as ending:
            for site in self._sites.values():
                self._put_before(site, ca_file, warn, ending)
            self._ending = ending.pop_all()

    def _put_before(
        self, site: Site, ca_file: str | Path | None, warn: Callable[[str], object] | None, ending: ExitStack
    ) -> None:
        """Bind a site to its origin's proxy, which is started for the first site of that origin."""
        was, address = site.url, SiteAddress.read(site.url)
        proxy = next((proxy for proxy in self._proxies.values() if proxy.site.origin == address.origin), None)
        if proxy is None:
            host = self._host_for(site.name, address.host)
            proxy = FaultProxy(was, ca_file=ca_file, host=host, rewrite=self._rewrite, warn=warn)
            ending.callback(proxy.close)
        self._proxies[site.name] = proxy
        ending.callback(site.bind, url=was)
        site.bind(url=proxy.origin + address.prefix)

    def _host_for(self, name: str, host: str) -> str:
        """The host of a site's proxy. Sites on one host share cookies, so their proxies share a host too."""
        for proxy in self._proxies.values():
            if proxy.site.host == host:
                return urlsplit(proxy.origin).hostname or HERE
        return f"{_NOT_IN_A_HOST.sub('-', name.lower()).strip('-')}.localhost" if self._proxies else HERE

    # The faults

    @named_fault
    def lose_answer(
        self, pattern: str, *, site: Site | str | None = None, times: int | None = 1, after: int = 0
    ) -> None:
        """The request is carried out and the answer is lost: its head is sent, then the connection ends.

        Chromium doesn't send such a request again by itself.
        """
        self._install("lose_answer", "cut_after_head", pattern, site=site, times=times, after=after)

    @named_fault
    def lose_request(
        self, pattern: str, *, site: Site | str | None = None, times: int | None = 1, after: int = 0
    ) -> None:
        """The request is not carried out: the site never receives it. To the browser it looks like a lost answer.

        Chromium doesn't send such a request again by itself.
        """
        self._install("lose_request", "cut_before_commit", pattern, site=site, times=times, after=after)

    @named_fault
    def drop_connection(
        self,
        pattern: str,
        *,
        committed: bool = True,
        site: Site | str | None = None,
        times: int | None = 1,
        after: int = 0,
    ) -> None:
        """The connection is reset before any byte of an answer.

        An unguarded Chromium may send the request again by itself, and the copy triggers no fault once `times` is used
        up: one click then makes two invoices, and the page shows success.

        Args:
            committed: the site carries the request out first.
        """
        name = "drop_after_commit" if committed else "drop_before_commit"
        self._install("drop_connection", name, pattern, site=site, times=times, after=after)

    @named_fault
    def late_commit(
        self,
        pattern: str,
        *,
        seconds: float,
        site: Site | str | None = None,
        times: int | None = 1,
        after: int = 0,
    ) -> None:
        """The browser gets a 504 at once; the site receives the request later.

        Args:
            seconds: the delay; `let_go()` ends it earlier.
        """
        self._install("late_commit", "commit_late", pattern, site=site, times=times, after=after, seconds=seconds)

    @named_fault
    def answer_late(
        self,
        pattern: str,
        *,
        seconds: float,
        site: Site | str | None = None,
        times: int | None = 1,
        after: int = 0,
    ) -> None:
        """The request is carried out at once; the site's own answer comes later.

        Args:
            seconds: the delay of the answer.
        """
        self._install("answer_late", "answer_late", pattern, site=site, times=times, after=after, seconds=seconds)

    @named_fault
    def answer(
        self,
        pattern: str,
        *,
        code: int,
        committed: bool = False,
        text: str = "",
        site: Site | str | None = None,
        times: int | None = 1,
        after: int = 0,
    ) -> None:
        """The proxy answers instead of the site.

        After 408 and 421 Chromium may send the request again by itself.

        Args:
            code: the status of the answer, 200 to 599.
            committed: the site carries the request out first.
            text: the body of the answer.
        """
        if not 200 <= code <= 599:
            raise ValueError(f"an answer's code is a number from 200 to 599, not {code}")
        name = "status_after_commit" if committed else "status"
        self._install("answer", name, pattern, site=site, times=times, after=after, code=code, text=text)

    @named_fault
    def hang(
        self,
        pattern: str,
        *,
        committed: bool = True,
        site: Site | str | None = None,
        times: int | None = 1,
        after: int = 0,
    ) -> None:
        """No answer ever comes: the browser waits until it gives up.

        Args:
            committed: the site carries the request out.
        """
        self._install("hang", "hang" if committed else "hang_before", pattern, site=site, times=times, after=after)

    @named_fault
    def refuse(self, pattern: str | None = None, *, site: Site | str | None = None, after: int = 1) -> None:
        """The site is down until `heal()`: at once, or, with a pattern, as soon as `after` such requests are answered.

        It doesn't queue up with the other faults: those requests may also trigger another one.

        Args:
            pattern: the requests that are counted, as "METHOD /path"; None = the site is down at once.
            after: how many of them are answered before that.
        """
        if pattern is None:
            self._install("refuse", REFUSE, EVERYTHING, site=site, times=None, after=0)
        elif after < 1:
            raise ValueError("refuse: after= is 1 or more; without a pattern the site is down at once")
        else:
            self._install("refuse", REFUSE, pattern, site=site, times=None, after=after)

    # The end of a fault

    def heal(self, site: Site | str | None = None) -> None:
        """Remove the faults of that site, or of all sites, and bring it up again if it was down.

        A hanging request keeps hanging, and a delayed one still reaches the site at its time.

        Args:
            site: the site, as `Site` or by its name; None = all sites.
        """
        for proxy in self._all() if site is None else [self.proxy(site)]:
            proxy.clear()

    def let_go(self, site: Site | str | None = None) -> None:
        """Forward at once the requests that `late_commit` has delayed.

        Args:
            site: the site, as `Site` or by its name; None = all sites.
        """
        for proxy in self._all() if site is None else [self.proxy(site)]:
            proxy.let_go()

    # What has happened

    @property
    def untriggered(self) -> list[InstalledFault]:
        """The faults that no request has triggered: a test that passes with one of them untriggered has shown nothing.

        Known before and after `close()`. `str()` of one is a sentence.
        """
        return [installed for installed in self._installed if not installed.triggered]

    @property
    def bypasses(self) -> list[str]:
        """What in the sites' pages leads past their proxies, in words: no fault applies there."""
        return [what for proxy in self._all() for what in proxy.bypasses]

    def proxy(self, site: Site | str | None = None) -> FaultProxy:
        """The proxy in front of a site, with its log, hooks and holds.

        Args:
            site: the site, as `Site` or by its name; needed only if there are several.
        """
        return self._proxies[self._named(site)]

    def close(self) -> None:
        """Restore the sites' addresses and stop the proxies. Closing twice is harmless."""
        self._ending.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self.close()
        else:
            with suppress(Exception):  # the test's own error matters more than a hook's
                self.close()

    if not TYPE_CHECKING:  # a type checker that sees this would accept every misspelled name

        def __getattr__(self, name: str) -> None:
            if name.startswith("_"):
                raise AttributeError(name)
            raise AttributeError(f"no such fault: {name}; there are {', '.join(NAMES)}")

    def _install(
        self,
        name: str,
        kind: str,
        pattern: str,
        *,
        site: Site | str | None,
        times: int | None,
        after: int,
        **options: object,
    ) -> None:
        """Install one of the proxy's faults under one of our names."""
        try:
            check_pattern(pattern)
        except ValueError as wrong:
            raise ValueError(f"{name}: {wrong}") from None
        if (times is not None and times < 1) or after < 0:
            raise ValueError(f"{name}: times= is 1 or more, or None for all; after= is 0 or more")
        named = self._named(site)
        fault = self._proxies[named].fault(kind, pattern, times, after, **options)
        self._installed.append(InstalledFault(name, named, fault))

    def _named(self, site: Site | str | None) -> str:
        there = ", ".join(self._sites)
        if site is None:
            if len(self._sites) > 1:
                raise ValueError(f"which site? Say site=, one of: {there}")
            return next(iter(self._sites))
        if str(site) not in self._sites:
            raise ValueError(f"no proxy stands before a site {str(site)!r}; there are: {there}")
        return str(site)

    def _all(self) -> list[FaultProxy]:
        return list(dict.fromkeys(self._proxies.values()))


NAMES = tuple(name for name, value in vars(Faults).items() if hasattr(value, "__wrapped__"))
"""The names of the faults."""


def _distinct(sites: list[Site]) -> list[Site]:
    names = [site.name for site in sites]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"faults need at least one site, and each site needs a name of its own; given: {names}")
    return sites
