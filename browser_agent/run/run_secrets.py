"""The secrets of a run: sealed in the store if there is a key, held in this process, or read again from their source.

A run's arguments hold only their names. The keeper gathers the values before it takes the run over, and passes them to
its worker by their socket, never in an argument or the environment of a process. With a key, a run is never resumed
with a value other than the one that it was started with.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from browser_agent.errors import Misuse
from browser_agent.secrets.scrubber import Scrubber
from browser_agent.secrets.seal import SealBroken
from browser_agent.secrets.secret import Secret, SecretMissing, stored_secrets
from browser_agent.store import Store

PURPOSE = "secrets"

_held: dict[str, dict[str, str]] = {}  # run -> its secrets, of the runs that this process submitted


def hold(store: Store, run: str, values: Mapping[str, str]) -> None:
    """Hold the secrets of a run that was just submitted, and seal them in the store; secrets held before stay.

    Args:
        store: the run's store.
        run: its id.
        values: name -> value; if empty, nothing is done.
    """
    if values:
        _held.setdefault(run, dict(values))
        store.checkpoints.begin(run, PURPOSE, dict(values))


def gather(store: Store, run: str) -> dict[str, str]:
    """Gather the values of all secrets in a run's arguments.

    Raises:
        SecretMissing: one is neither sealed nor held here, and its source no longer has it, or has another value.
    """
    names = dict(stored_secrets(json.loads(store.leases.run(run).arguments)))
    known = {**_held.get(run, {}), **_sealed(store, run)} if names else {}
    for name, keyed in names.items():
        known[name] = known.get(name) or _read_again(run, name, keyed)
        Secret(known[name], name)  # from now on it is masked in all texts of this process
    return known


def _sealed(store: Store, run: str) -> dict[str, str]:
    try:
        return store.checkpoints.last(run, PURPOSE) or {}
    except SealBroken:
        return {}


def _read_again(run: str, name: str, keyed: str | None) -> str:
    """Read a secret from the source that its name gives (a name that ends in `#2` was a second value: it has none)."""
    try:
        secret = Secret.read(name)
    except SecretMissing as missing:
        raise SecretMissing(
            f"Run {run} needs the secret {name} again. It was not stored, or no key here opens it "
            f"(browser-agent key). {missing} Nothing was done; resume the run where the secret can be read."
        ) from None
    if keyed is not None and secret.mark != f"{name}:{keyed}":
        raise SecretMissing(f"{name} no longer holds the value that run {run} was started with. Nothing was done.")
    return secret.reveal()


def refuse_unreadable(store: Store, names: Iterable[str]) -> None:
    """Refuse secrets that another process, a worker, could not read.

    Args:
        store: the store of the run to submit: with a key, the values are stored with the run, sealed.
        names: the secrets.

    Raises:
        SecretMissing: one was typed in, came from a program, or is in a file with a relative path.
    """
    for name in () if store.checkpoints.sealed else names:
        if not name.startswith("env:") and not name.startswith(("@/", "@~")):
            raise SecretMissing(
                f"A worker can't read the secret {name}: it reads env:NAME in its own environment, or a file by its "
                "full path (@/...). Or make a key (browser-agent key), and the value is stored with the run, sealed. "
                "Nothing was written."
            )


def refuse_in_the_clear(*texts: str) -> None:
    """Refuse texts to be stored with a run that hold a secret's value in clear text.

    Raises:
        Misuse: one does; the message names the secret.
    """
    scrubber = Scrubber()
    for text in texts:
        if held := scrubber.known_in(text):
            raise Misuse(f"An argument or key holds {held} in clear text: declare it a Secret. Nothing was written.")
