"""The session that a run goes on with: the logins of its sites, and what its last keeper has left, in one cookie jar.

What is younger wins. Kept sealed with the run at each checkpoint, or, without a key, in the keeper's memory only, which
is said. Knows nothing of browsers; never runs task code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from browser_agent.errors import StoreUnusable, Superseded
from browser_agent.secrets.seal import SealBroken
from browser_agent.store import Lease, Store
from browser_agent.store.checkpoints import PAGE, SESSION
from observers.session import SESSION_STORAGE

State = Mapping[str, Any]


class RunSession:
    """The session of one run, for its keeper.

    Args:
        store: where the run is written.
        run: its id.
        say: tells the person who watches.
    """

    def __init__(self, store: Store, run: str, say: Callable[[str, str], None]) -> None:
        self._store, self._run, self._say = store, run, say
        self._sites: dict[str, dict[str, Any]] = json.loads(store.leases.run(run).sites)

    @property
    def indexed_db(self) -> tuple[str, ...]:
        """The origins whose IndexedDB belongs to the session, as their sites declare it."""
        return tuple(origin_of(bound["url"]) for bound in self._sites.values() if bound.get("indexed_db"))

    def first(self, lease: Lease) -> dict[str, Any]:
        """What the run's first browser is given."""
        if not self._store.checkpoints.sealed:
            self._store.checkpoints.note_unsealed(lease)
        states = [*self._logins(), *self._left()]
        return merged(state for _, state in sorted(states, key=lambda one: one[0]))

    def keep(self, lease: Lease, session: State, page: State | None) -> None:
        """Keep the session, and how the page stands if it is told of what; what can't be kept changes nothing."""
        with suppress(Superseded):  # whoever has the run now says so at the next fence
            try:
                told = page is not None and page["of"] is not None
                stood = {PAGE: (page["state"], {"of": page["of"], **page["shown"]})} if page and told else {}
                self._store.checkpoints.keep(lease, **{SESSION: (session, {})}, **stood)
            except StoreUnusable as unusable:
                self._say("session", f"No checkpoint: {unusable}")

    def _logins(self) -> Iterable[tuple[datetime, State]]:
        for site, bound in self._sites.items():
            account = bound.get("account", "")  # a run that was written down by other hands may name none
            try:
                login = self._store.logins.find(site, account)
            except SealBroken as broken:
                self._say("session", f"The login of {site} ({account}) is lost: {broken}")
                continue
            if login is not None:
                self._say("session", f"The login of {site} ({login.account}) of {login.at:%Y-%m-%d %H:%M} UTC is used.")
                yield login.at, login.state

    def _left(self) -> Iterable[tuple[datetime, State]]:
        checkpoints = self._store.checkpoints
        try:
            state, at = checkpoints.last(self._run, SESSION), checkpoints.kept_at(self._run, SESSION)
        except SealBroken as broken:
            self._say("session", f"The session of the last attempt is lost: {broken}")
            return
        if state is not None and at is not None:
            yield at, state


def merged(states: Iterable[State]) -> dict[str, Any]:
    """One cookie jar of several states; where two say something else, the later one wins. Empty if all are."""
    cookies: dict[Sequence[str], Any] = {}
    origins: dict[str, Any] = {}
    in_tab: dict[str, Any] = {}
    for state in states:
        cookies |= {(one["name"], one["domain"], one["path"]): one for one in state.get("cookies", ())}
        origins |= {one["origin"]: one for one in state.get("origins", ())}
        in_tab |= state.get(SESSION_STORAGE, {})
    if not (cookies or origins or in_tab):
        return {}
    return {"cookies": [*cookies.values()], "origins": [*origins.values()], SESSION_STORAGE: in_tab}


def origin_of(address: str) -> str:
    """Scheme, host and port of an address, as a page's `location.origin` has them."""
    parts = urlsplit(address)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    port = "" if parts.port in (None, default) else f":{parts.port}"
    return f"{parts.scheme}://{parts.hostname or ''}{port}"
