"""The addresses in a page by which its reader leaves the proxy: a form, a link, a frame that names the site itself.

A page isn't changed on its way, so they can only be seen and told. Must not know: proxies, connections.
May never happen: that a page which can't be read ends in an error.
"""

import zlib
from collections.abc import Callable, Collection
from contextlib import suppress
from html.parser import HTMLParser

LONGEST = 4_000_000
"""Of how many bytes of a page are looked at."""
_ADDRESSES = {
    "a": "href",
    "area": "href",
    "base": "href",
    "button": "formaction",
    "form": "action",
    "frame": "src",
    "iframe": "src",
    "input": "formaction",
}


def leads_past(page: bytes, encoding: str, hosts: Collection[str], is_past: Callable[[str], bool]) -> list[str]:
    """The tags of a page whose address fits, each once, such as `<form action="https://staging.example/invoices">`.

    Arguments:
        page: its bytes as they came.
        encoding: its Content-Encoding; one that can't be read here gives nothing.
        hosts: a page that names none of them isn't read any further.
        is_past: whether an address is one of those.
    """
    text = _plain(page, encoding).decode("utf-8", "replace")
    lower = text.lower()
    if not any(host in lower for host in hosts):
        return []
    reader = _Reader(is_past)
    with suppress(AssertionError):  # the parser's own word for a declaration that it doesn't know
        reader.feed(text)
        reader.close()
    return list(dict.fromkeys(reader.found))


class _Reader(HTMLParser):
    def __init__(self, is_past: Callable[[str], bool]) -> None:
        super().__init__()
        self.found: list[str] = []
        self._is_past = is_past

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name = _ADDRESSES.get(tag, "")
        address = dict(attrs).get(name) or ""
        if address and self._is_past(address):
            self.found.append(f'<{tag} {name}="{address}">')


def _plain(page: bytes, encoding: str) -> bytes:
    match encoding.strip().lower():
        case "" | "identity":
            return page[:LONGEST]
        case "gzip" | "x-gzip" | "deflate":
            try:
                return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(page, LONGEST)
            except zlib.error:
                return b""
        case _:
            return b""
