"""The secrets of a run: sealed with it if there is a key, held in this process, or had again from their source.

A run's arguments hold names alone. Its keeper gathers the values before it takes the run over, and hands them to its
worker by their line: never in an argument or in the environment of a process. What may never happen: a run goes on
with another value than it was started with, where that can be known (there is a key); a value in the store unsealed.
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

_held: dict[str, dict[str, str]] = {}  # run -> its secrets, of runs that this process has begun


def hold(store: Store, run: str, values: Mapping[str, str]) -> None:
    """Keep the secrets of a run that has just been written down; those of a run that has them already stay.

    Args:
        store: where the run is written.
        run: its id.
        values: name -> value; with none, nothing is done.
    """
    if values:
        _held.setdefault(run, dict(values))
        store.checkpoints.begin(run, PURPOSE, dict(values))


def gather(store: Store, run: str) -> dict[str, str]:
    """The values of all secrets in a run's arguments.

    Raises:
        SecretMissing: one is neither sealed nor held here, and its source has it no more, or another value.
    """
    names = dict(stored_secrets(json.loads(store.leases.run(run).arguments)))
    known = {**_held.get(run, {}), **_sealed(store, run)} if names else {}
    for name, keyed in names.items():
        known[name] = known.get(name) or _again(run, name, keyed)
        Secret(known[name], name)  # from here on no text of this process shows it
    return known


def _sealed(store: Store, run: str) -> dict[str, str]:
    try:
        return store.checkpoints.last(run, PURPOSE) or {}
    except SealBroken:
        return {}


def _again(run: str, name: str, keyed: str | None) -> str:
    """From its source, which its name tells (a `#2` behind it: a second value of the same one can't be had again)."""
    try:
        secret = Secret.read(name)
    except SecretMissing as missing:
        raise SecretMissing(
            f"Run {run} needs the secret {name} again, and it was not kept, since there is no key that opens it "
            f"(browser-agent key). {missing} Nothing was done; resume the run where it can be had."
        ) from None
    if keyed is not None and secret.mark != f"{name}:{keyed}":
        raise SecretMissing(
            f"{name} does not hold the value any more that run {run} was started with. Nothing was done."
        )
    return secret.reveal()


def refuse_unreadable(store: Store, names: Iterable[str]) -> None:
    """Refuse secrets that a worker process, which is not this one, could not have.

    Args:
        store: where the run will be written: with a key the values travel with it, sealed.
        names: the secrets.

    Raises:
        SecretMissing: one was typed in, given by a program, or lies in a file that is named by a relative path.
    """
    for name in () if store.checkpoints.sealed else names:
        if not name.startswith("env:") and not name.startswith(("@/", "@~")):
            raise SecretMissing(
                f"A worker could not have the secret {name}: it reads env:NAME in its own environment, or a file by "
                "its full path (@/...). Or make a key (browser-agent key), and the value travels with the run, sealed. "
                "Nothing was written."
            )


def refuse_in_the_clear(*texts: str) -> None:
    """Refuse what is stored of a run as it is, if it holds a secret's value outside of the secret.

    Raises:
        Misuse: see above; the message names the secret.
    """
    scrubber = Scrubber()
    for text in texts:
        if held := scrubber.known_in(text):
            raise Misuse(f"An argument or key holds {held} in the clear: declare it a Secret. Nothing was written.")
