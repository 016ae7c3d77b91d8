"""The session that a run resumes with: its sites' stored logins and its last checkpoint, merged into one cookie jar.

Of two states the newer one wins. It is stored at each checkpoint, sealed; without a key it stays in memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from browser_agent.errors import StoreUnusable, Superseded
from browser_agent.secrets.seal import SealBroken
from browser_agent.store import Lease, Store
from browser_agent.store.checkpoints import PAGE, SESSION
from observers.session import SESSION_STORAGE
from observers.site import origin_of

State = Mapping[str, Any]


class RunSession:
    """The session of one run, for its keeper.

    Args:
        store: the run's store.
        run: its id.
        notify: called with a kind and words for the person who watches the run.
    """

    def __init__(self, store: Store, run: str, notify: Callable[[str, str], None]) -> None:
        self._store, self._run, self._notify = store, run, notify
        self._sites: dict[str, dict[str, Any]] = json.loads(store.leases.run(run).sites)

    @property
    def indexed_db(self) -> tuple[str, ...]:
        """The origins whose IndexedDB belongs to the session, as their sites declare it."""
        return tuple(origin_of(bound["url"]) for bound in self._sites.values() if bound.get("indexed_db"))

    def initial_state(self, lease: Lease) -> dict[str, Any]:
        """The state that the attempt's first browser starts with."""
        if not self._store.checkpoints.sealed:
            self._store.checkpoints.record_unsealed(lease)
        states = [*self._logins(), *self._left()]
        return merged(state for _, state in sorted(states, key=lambda one: one[0]))

    def checkpoint(self, lease: Lease, session: State, page: State | None) -> None:
        """Store the session, and the page's state if it names its step. A failed checkpoint doesn't stop the run."""
        with suppress(Superseded):  # the next fence raises it, where it can be acted on
            try:
                named = page is not None and page["of"] is not None
                of_page = {PAGE: (page["state"], {"of": page["of"], **page["shown"]})} if page and named else {}
                self._store.checkpoints.save(lease, **{SESSION: (session, {})}, **of_page)
            except StoreUnusable as unusable:
                self._notify("session", f"No checkpoint: {unusable}")

    def _logins(self) -> Iterable[tuple[datetime, State]]:
        accounts = {site: bound.get("account", "") for site, bound in self._sites.items()}  # an older run names none
        return stored_logins(self._store, accounts, self._notify)

    def _left(self) -> Iterable[tuple[datetime, State]]:
        checkpoints = self._store.checkpoints
        try:
            state, at = checkpoints.last(self._run, SESSION), checkpoints.saved_at(self._run, SESSION)
        except SealBroken as broken:
            self._notify("session", f"The last attempt's session can't be used: {broken}")
            return
        if state is not None and at is not None:
            yield at, state


def stored_logins(
    store: Store, accounts: Mapping[str, str], notify: Callable[[str, str], None]
) -> Iterable[tuple[datetime, State]]:
    """The stored logins of sites, each with the time when it was stored.

    Args:
        store: where they are stored.
        accounts: the name of each site, and our account there.
        notify: see `RunSession`.
    """
    for site, account in accounts.items():
        try:
            login = store.logins.find(site, account)
        except SealBroken as broken:
            notify("session", f"The stored login of {site} ({account}) can't be used: {broken}")
            continue
        if login is not None:
            at = f"{login.at:%Y-%m-%d %H:%M} UTC"
            notify("session", f"Using the login of {site} ({login.account}) stored at {at}.")
            yield login.at, login.state


def merged(states: Iterable[State]) -> dict[str, Any]:
    """Merge states, oldest first, into one cookie jar: the newer value wins. Empty if all of them are."""
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
