"""What may befall a request between a browser and a site, by name, for as long as a test lasts.

    with Faults([books]) as faults:
        faults.lose_answer("POST /invoices")
        ...  # a click on "Post": one invoice was made, and the browser is told nothing of it
    assert not faults.unmet

Must not know: gestures, runs, pytest. May never happen: that a site keeps an address of a proxy that is closed.
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

from browser_agent.testing.proxy.address import Address
from browser_agent.testing.proxy.address_rewrite import Homes
from browser_agent.testing.proxy.fault_kinds import REFUSE, Fault
from browser_agent.testing.proxy.fault_proxy import HERE, FaultProxy
from browser_agent.testing.proxy.request_pattern import check_pattern
from observers.site import Site

P = ParamSpec("P")

_NOT_IN_A_HOST = re.compile(r"[^a-z0-9-]+")
EVERYTHING = "* /**"


@dataclass(frozen=True)
class Laid:
    """A fault that lies in wait: the word by which it was laid, the site, and how it has gone so far."""

    word: str
    site: str
    fault: Fault

    @property
    def met(self) -> bool:
        """Whether it has befallen a request yet. A site that was down at once has no way to tell."""
        return self.fault.seen >= self.fault.skip if self.fault.name == REFUSE else self.fault.bitten > 0

    def __str__(self) -> str:
        where = f'{self.word}("{self.fault.pattern}") at {self.site}'
        if self.fault.seen:
            return f"{where} has let {self.fault.seen} requests pass (after={self.fault.skip}) and met no other"
        return f"{where} has met no request"


def word(lay: Callable[P, None]) -> Callable[P, None]:
    """A word that says how it is written when it is given an option that it doesn't have."""
    signature = inspect.signature(lay)
    told = signature.replace(parameters=list(signature.parameters.values())[1:], return_annotation=signature.empty)

    @wraps(lay)
    def checked(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as wrong:
            raise TypeError(f"{lay.__name__}: {wrong}; it is written {lay.__name__}{told}") from None
        lay(*args, **kwargs)

    return checked


class Faults:
    """Fault proxies before the sites of a test, and what befalls the requests to them, in words.

    From now on each site is reached by its proxy, whoever uses the `Site`; `close()` gives it its address back. Sites
    of one origin have one proxy. Sites on different hosts don't see each other's cookies behind their proxies either:
    the first is called 127.0.0.1, the others NAME.localhost.

    Every word takes:
        pattern: the request, as "METHOD /path", with stars as in a gesture's `sends`. The path is the whole one:
            "/app/invoices" at a site whose address ends in "/app".
        site: which site's, as `Site` or by its name; needed only where there are several.
        times: how many requests it befalls, one after the other; None: all, until `heal()`.
        after: how many that fit pass before.

    Several that fit the same request queue up: each request is befallen by the first that isn't used up.

    Arguments:
        sites: one `Site`, or all that the test uses.
        ca_file: PEM certificates of authorities that are trusted besides those that this machine trusts, for sites
            with https addresses.
        say: called with a sentence when a page leads past its proxy or a site can't be reached.

    Raises ValueError for no site, or two of one name; what `FaultProxy` raises.
    """

    def __init__(
        self,
        sites: Site | Iterable[Site],
        *,
        ca_file: str | Path | None = None,
        say: Callable[[str], object] | None = None,
    ) -> None:
        self._sites = {site.name: site for site in _apart([sites] if isinstance(sites, Site) else list(sites))}
        self._roads: dict[str, FaultProxy] = {}
        self._laid: list[Laid] = []
        self._homes = Homes()
        with ExitStack() as ending:
            for site in self._sites.values():
                self._put_before(site, ca_file, say, ending)
            self._ending = ending.pop_all()

    def _put_before(
        self, site: Site, ca_file: str | Path | None, say: Callable[[str], object] | None, ending: ExitStack
    ) -> None:
        """Bind a site to the proxy of its origin, which is started if it is the first there."""
        was, address = site.url, Address.read(site.url)
        road = next((road for road in self._roads.values() if road.site.origin == address.origin), None)
        if road is None:
            host = self._host_for(site.name, address.host)
            road = FaultProxy(was, ca_file=ca_file, host=host, homes=self._homes, say=say)
            ending.callback(road.close)
        self._roads[site.name] = road
        ending.callback(site.bind, url=was)
        site.bind(url=road.origin + address.prefix)

    def _host_for(self, name: str, host: str) -> str:
        """Sites on one host share their cookies behind their proxies too, and others don't."""
        for road in self._roads.values():
            if road.site.host == host:
                return urlsplit(road.origin).hostname or HERE
        return f"{_NOT_IN_A_HOST.sub('-', name.lower()).strip('-')}.localhost" if self._roads else HERE

    # The words

    @word
    def lose_answer(
        self, pattern: str, *, site: Site | str | None = None, times: int | None = 1, after: int = 0
    ) -> None:
        """Carried out, and the browser isn't told: an answer begins, and the connection ends before its first word.

        Chromium doesn't send such a request again by itself.
        """
        self._lay("lose_answer", "cut_after_head", pattern, site=site, times=times, after=after)

    @word
    def lose_request(
        self, pattern: str, *, site: Site | str | None = None, times: int | None = 1, after: int = 0
    ) -> None:
        """Never reaches the site, and looks to the browser as if its answer were lost.

        Chromium doesn't send such a request again by itself.
        """
        self._lay("lose_request", "cut_before_commit", pattern, site=site, times=times, after=after)

    @word
    def drop_connection(
        self,
        pattern: str,
        *,
        committed: bool = True,
        site: Site | str | None = None,
        times: int | None = 1,
        after: int = 0,
    ) -> None:
        """The connection is reset before any byte of an answer; carried out before, or not.

        An unguarded Chromium may send the request again by itself, and the copy meets no fault once `times` is used up:
        one click makes two, behind a page that says that all is well.
        """
        name = "drop_after_commit" if committed else "drop_before_commit"
        self._lay("drop_connection", name, pattern, site=site, times=times, after=after)

    @word
    def late_commit(
        self,
        pattern: str,
        *,
        seconds: float,
        site: Site | str | None = None,
        times: int | None = 1,
        after: int = 0,
    ) -> None:
        """504 at once; the site is given the request seconds later, whoever still waits. `let_go()` gives it sooner."""
        self._lay("late_commit", "commit_late", pattern, site=site, times=times, after=after, seconds=seconds)

    @word
    def answer_late(
        self,
        pattern: str,
        *,
        seconds: float,
        site: Site | str | None = None,
        times: int | None = 1,
        after: int = 0,
    ) -> None:
        """Carried out at once; the true answer comes seconds later."""
        self._lay("answer_late", "answer_late", pattern, site=site, times=times, after=after, seconds=seconds)

    @word
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
        """The proxy answers in the site's place, with that status and text; carried out before, or not.

        After 408 and 421 Chromium may send the request again by itself.
        """
        if not 200 <= code <= 599:
            raise ValueError(f"an answer's code is a number from 200 to 599, not {code}")
        name = "status_after_commit" if committed else "status"
        self._lay("answer", name, pattern, site=site, times=times, after=after, code=code, text=text)

    @word
    def hang(
        self,
        pattern: str,
        *,
        committed: bool = True,
        site: Site | str | None = None,
        times: int | None = 1,
        after: int = 0,
    ) -> None:
        """No answer, ever: the browser waits until it gives up. Carried out before, or not."""
        self._lay("hang", "hang" if committed else "hang_before", pattern, site=site, times=times, after=after)

    @word
    def refuse(self, pattern: str | None = None, *, site: Site | str | None = None, after: int = 1) -> None:
        """The site is down until `heal()`: at once, or, with a pattern, as soon as `after` such requests are answered.

        It stands beside the other words: those requests may be befallen by something else before.
        """
        if pattern is None:
            self._lay("refuse", REFUSE, EVERYTHING, site=site, times=None, after=0)
        elif after < 1:
            raise ValueError("refuse: after= is 1 or more; without a pattern the site is down at once")
        else:
            self._lay("refuse", REFUSE, pattern, site=site, times=None, after=after)

    # The end of a fault

    def heal(self, site: Site | str | None = None) -> None:
        """Nothing more befalls a request to that site, or to any, and a site that was down is up again.

        What hangs goes on hanging, and what was put off is still given to the site in its time.
        """
        for road in self._all() if site is None else [self.road(site)]:
            road.clear()

    def let_go(self, site: Site | str | None = None) -> None:
        """Give the site at once what `late_commit` has put off."""
        for road in self._all() if site is None else [self.road(site)]:
            road.let_go()

    # What came of it

    @property
    def unmet(self) -> list[Laid]:
        """The faults that have befallen no request: a test that passes without them has shown nothing.

        Ask before or after `close()`. `str()` of one says it in words.
        """
        return [laid for laid in self._laid if not laid.met]

    @property
    def past(self) -> list[str]:
        """What in the sites' pages leads past their proxies, in words: what is done there meets no fault."""
        return [what for road in self._all() for what in road.past]

    def road(self, site: Site | str | None = None) -> FaultProxy:
        """The proxy before a site, with its log, and what else can be asked of it."""
        return self._roads[self._named(site)]

    def close(self) -> None:
        """Give the sites their addresses back and stop the proxies; closing twice is harmless."""
        self._ending.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self.close()
        else:
            with suppress(Exception):  # the test's own error matters more than a hook's
                self.close()

    if not TYPE_CHECKING:  # a type checker that sees this would take every misspelled word for one

        def __getattr__(self, name: str) -> None:
            if name.startswith("_"):
                raise AttributeError(name)
            raise AttributeError(f"no such fault: {name}; there are {', '.join(WORDS)}")

    # How it is done

    def _lay(
        self,
        word: str,
        name: str,
        pattern: str,
        *,
        site: Site | str | None,
        times: int | None,
        after: int,
        **options: object,
    ) -> None:
        """Lay a fault of the road under one of our words."""
        try:
            check_pattern(pattern)
        except ValueError as wrong:
            raise ValueError(f"{word}: {wrong}") from None
        if (times is not None and times < 1) or after < 0:
            raise ValueError(f"{word}: times= is 1 or more, or None for all; after= is 0 or more")
        named = self._named(site)
        fault = self._roads[named].fault(name, pattern, times, after, **options)
        self._laid.append(Laid(word, named, fault))

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
        return list(dict.fromkeys(self._roads.values()))


WORDS = tuple(name for name, value in vars(Faults).items() if hasattr(value, "__wrapped__"))
"""The words by which a fault is laid."""


def _apart(sites: list[Site]) -> list[Site]:
    names = [site.name for site in sites]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"faults are put before one site or more, each of a name of its own; not before {names}")
    return sites
