"""Pictures as objects in a bucket of an S3-compatible store, shared by all machines that can reach it.

Endpoint, region and key come from the environment by their AWS names (`AWS_ENDPOINT_URL`, `AWS_REGION`,
`AWS_ACCESS_KEY_ID` ...); they are never stored and never shown.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from browser_agent.errors import StoreUnusable, installing
from browser_agent.store.address import BUCKET

if TYPE_CHECKING:
    from obstore.store import S3Store

PATIENCE_SECONDS = 8.0
"""The limit for one request, and for its retries: all ends after twice that, well below a lease."""
CONNECT_SECONDS = 4.0
QUIET_SECONDS = 20.0
"""A slow bucket is not asked again for this time, since a look has a deadline and takes several pictures."""
_SLOW = 0.25  # of the patience
_TRIES = 5
_CODE = re.compile(r"<Code>(\w+)</Code>")
T = TypeVar("T")


class Bucket:
    """An evidence location in a bucket.

    Args:
        address: `s3://bucket/prefix`.
        store: the store's name; its objects' names begin with it, so that stores can share a bucket.
        patience: see `PATIENCE_SECONDS`.

    Attributes:
        shown: the location for a person.
    """

    def __init__(self, address: str, store: str, patience: float = PATIENCE_SECONDS) -> None:
        self.shown = f"{address}/{store}"
        self._patience = patience
        self._quiet, self._why = 0.0, ""

    def put(self, digest: str, content: bytes) -> None:
        """Store the bytes. An object appears whole or not at all."""
        self._request(
            "A picture could not be stored in",
            lambda: self._objects.put(_key(digest), content, use_multipart=False),
        )

    def get(self, digest: str) -> bytes | None:
        """The bytes; None if they are not there."""
        return self._request(
            "A picture could not be read from",
            lambda: _unless_missing(lambda: bytes(self._objects.get(_key(digest)).bytes())),
        )

    def holds(self, digest: str) -> bool:
        """Whether the object is there."""
        return (
            self._request(
                "A picture could not be stored in",
                lambda: _unless_missing(lambda: self._objects.head(_key(digest))),
            )
            is not None
        )

    def probe(self) -> float:
        """Write an object, read it and delete it; returns the seconds that this took.

        Raises:
            StoreUnusable: one of these failed.
        """
        began, name = time.monotonic(), "doctor"
        self._request("Nothing can be stored in", lambda: self._objects.put(name, b"doctor", use_multipart=False))
        self._request("Nothing can be read from", lambda: self._objects.get(name).bytes())
        self._request("Nothing can be deleted in", lambda: self._objects.delete(name))
        return time.monotonic() - began

    def _request(self, words: str, ask: Callable[[], T]) -> T:
        began = time.monotonic()
        if began < self._quiet:
            raise StoreUnusable(f"{words} {self.shown}: {self._why}.")
        try:
            return ask()
        except StoreUnusable:
            raise
        except Exception as error:  # the library documents no common class of its errors
            self._why = _in_words(error)
            if time.monotonic() - began > self._patience * _SLOW:
                self._quiet = time.monotonic() + QUIET_SECONDS
            raise StoreUnusable(f"{words} {self.shown}: {self._why}.") from error

    @cached_property
    def _objects(self) -> S3Store:
        try:
            from obstore.store import S3Store
        except ImportError as error:
            raise StoreUnusable(
                f"Pictures in a bucket need a library; {installing('s3')}. Nothing was done."
            ) from error
        bucket, _, prefix = self.shown.removeprefix(BUCKET).partition("/")
        patience = timedelta(seconds=self._patience)
        return S3Store(
            bucket,
            prefix=prefix,
            client_options={  # these replace client options from the environment
                "timeout": patience,
                "connect_timeout": min(patience, timedelta(seconds=CONNECT_SECONDS)),
                "allow_http": os.environ.get("AWS_ALLOW_HTTP", "").lower() in {"true", "1", "yes"},
            },
            retry_config={
                "max_retries": _TRIES,
                "retry_timeout": patience,
                "backoff": {"init_backoff": patience / 80, "max_backoff": patience / 4, "base": 2},
            },
        )


def _key(digest: str) -> str:
    return f"{digest[:2]}/{digest}"


def _unless_missing(ask: Callable[[], T]) -> T | None:
    try:
        return ask()
    except FileNotFoundError as error:
        if "NoSuchBucket" in str(error):
            raise
        return None


def _in_words(error: Exception) -> str:
    """The error in a few words, without the library's account of the request."""
    said = str(error)
    code = _CODE.search(said)
    if code is not None:
        return f"the bucket's server says {code[1]}"
    if "BadScheme" in said:
        return "AWS_ALLOW_HTTP=true is needed for an endpoint that begins with http://"
    first = said.partition("\n")[0].rpartition(" - ")[2].removeprefix("HTTP error: ").rstrip(".")
    for kind, words in (("Timeout", "it did not answer in time"), ("Connect", "it can't be reached")):
        if f"kind: {kind}," in said:
            return f"{words} ({first})"
    return first or type(error).__name__
