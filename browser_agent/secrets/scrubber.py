"""The scrubber: masks secrets in every text before it is stored or shown.

It masks the secrets of this process (see `secret`), card numbers, tokens, named passwords, the values of fields that an
error quotes, and all of an address but scheme, host, path and the names in its query. Scrubbing a text again changes
nothing. Masks keep different secrets apart, since scrubbed texts are compared: a card by its last four digits, a token
by four digits of its hash.

It can't recognise a secret that was not declared and has no typical shape (a name, a PIN in a sentence), or one that
was encoded, split or translated. Secrets of one or two characters are not looked for.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus

from browser_agent.secrets.secret import known_secrets
from browser_agent.secrets.secret_fields import SECRET_NAMES, any_of
from browser_agent.secrets.shapes import SecretKind, SecretSpan, card_numbers, tokens
from observers.evidence import plain_address
from observers.normal import normal

T = TypeVar("T")

ANYWHERE = 6
"""A declared secret of this length is also found inside a word; a shorter one only as a whole word."""
SHORTEST = 3
"""Shorter secrets are not looked for."""
_ROUNDS = 5

_MASK = r"\[(?:secret|card|token|hidden)\b[^\]\n]*\]"
_OPEN = r"(?!\"?\[(?:secret|card|token|hidden)\b)"  # what follows is not masked yet
_DIGEST = re.compile(r"[0-9a-f]{64}")
_IN_ADDRESS = rf"(?:{_MASK}|[^\s\"'<>\\^`{{|}}])"
_ADDRESS = re.compile(rf"\b(?:https?|wss?|ftp|file|blob|chrome-error)://{_IN_ADDRESS}+", re.IGNORECASE)
_WHO = re.compile(rf"(?<=://)(?:{_MASK}|[^/?#\s])*@")
_CONTENT = re.compile(r"(?:data|javascript):(?=[\w.+-]+/[\w.+-]+[;,]|[;,])[^\s\"]*")
_PAIR = re.compile(rf"(?<=[?&#;])([\w.\-\[\]%]+=){_OPEN}[^\s&#;\"'<>)\]]+")
_NAMED = re.compile(
    rf"\b((?:{any_of(SECRET_NAMES)})[\"']?+[ \t]*+[=:][ \t]*+[\"']?+){_OPEN}(?:(?:Bearer|Basic|Digest)[ \t]+)?"
    rf"{_OPEN}[^\s\"'<>&,;]{{3,}}",
    re.IGNORECASE,
)
_NAME = re.compile(any_of(SECRET_NAMES), re.IGNORECASE)
_FIELD = re.compile(rf"(<(?:input|button|option|data)\b[^<>]*?\bvalue=){_OPEN}(?:\"[^\"]*\"|'[^']*'|[^\s>]+)", re.I)
_AREA = re.compile(rf"(<(?:textarea|option|select)\b[^<>]*>|<\w+[^<>]*contenteditable[^<>]*>){_OPEN}[^<]+(?=</)", re.I)
_CALL = re.compile(
    r"(\b(?:fill|type|press_?sequentially|insert_?text|select_?option|set_?input_?files)\()"
    rf"{_OPEN}(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\[[^\]]*\])",
    re.IGNORECASE,
)
_EXPECT = re.compile(
    rf"(\bto have values? |\b(?:actual|expected|received) values?: ?+){_OPEN}(?:\"[^\"\n]*\"|'[^'\n]*'|[^\n]+)", re.I
)
_EMAIL = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")


class Scrubber:
    """Scrubs texts and data, with all secrets of this process, including those that are declared later."""

    def __init__(self) -> None:
        self._compiled: tuple[int, re.Pattern[str] | None, dict[str, str]] = (0, None, {})

    def text(self, text: str) -> str:
        """The text with its secrets masked. A text that is only a SHA-256 in hex is none."""
        if len(text) < SHORTEST or _DIGEST.fullmatch(text):
            return text
        for _ in range(_ROUNDS):  # a mask may leave a word on its own that is now recognised
            before, text = text, self._once(text)
            if text == before:
                break
        return text

    def trace(self, error: BaseException) -> str:
        """A traceback of the error, scrubbed, since it may quote what was typed into a page."""
        return self.text("".join(traceback.format_exception(error)))

    def facts(self, value: T) -> T:
        """JSON data, or a frozen dataclass of it, with every text scrubbed, names included."""
        return self._facts(value)  # type: ignore[no-any-return]  # the same shape comes back

    def stored(self, text: str) -> str:
        """A column's text, scrubbed. In JSON the texts inside are scrubbed, so that it stays valid JSON."""
        if text[:1] not in ("{", "[", '"'):
            return self.text(text)
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return self.text(text)
        scrubbed = self._facts(data)
        return text if scrubbed == data else json.dumps(scrubbed, ensure_ascii=False)

    def value(self, text: str) -> str:
        """Data with only the declared secrets masked, since programs read it."""
        return self._without_known(text)

    def known_in(self, text: str) -> str | None:
        """The declared secret in the text, such as "the secret env:PASSWORD"; None if there is none."""
        return next((span.in_words for span in self._secrets(text)), None)

    def covered_unknown(self, text: str) -> str | None:
        """The name of a masked secret in a stored text that is not declared here, so that no text compares with it."""
        names = set(known_secrets().values())
        return next((name for name in re.findall(r"\[secret ([^\]\s]+)\]", text) if name not in names), None)

    def unfit(self, value: str) -> str | None:
        """The secret in a proven value, in words, because of which it may not be stored; None if there is none."""
        found = next(self._secrets(value), None) or next(card_numbers(value), None) or next(tokens(value), None)
        return found.in_words if found is not None else None

    def spans(self, text: str) -> list[SecretSpan]:
        """The parts of a page's text to mask in its picture: those that `text` masks, and e-mail addresses."""
        return [
            *self._secrets(text),
            *(SecretSpan(*hit.span(), SecretKind.EMAIL) for hit in (_EMAIL.finditer(text) if "@" in text else ())),
            *(SecretSpan(hit.end(1), hit.end(), SecretKind.NAMED) for hit in _NAMED.finditer(text)),
            *card_numbers(text),
            *tokens(text),
        ]

    def _once(self, text: str) -> str:
        text = self._without_known(text)
        for needs, pattern, instead in _RULES:
            text = pattern.sub(instead, text) if needs in text else text
        for found in (card_numbers, tokens):
            text = _masked(text, list(found(text)))
        return text

    def _facts(self, value: Any) -> Any:
        if type(value) is str:  # not a member of an enum, which must stay one
            return self.stored(value)
        match value:
            case Mapping():
                return {self._facts(name): self._entry(name, inner) for name, inner in value.items()}
            case list():
                return [self._facts(inner) for inner in value]
            case tuple():
                return tuple(self._facts(inner) for inner in value)
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{each.name: self._facts(getattr(value, each.name)) for each in fields(value)})
        return value

    def _entry(self, name: object, value: Any) -> Any:
        """A text under a name such as "password" is a secret, whatever its shape."""
        if isinstance(name, str) and isinstance(value, str) and value and _NAME.fullmatch(name):
            return value if re.fullmatch(_MASK, value) else "[hidden]"
        return self._facts(value)

    def _without_known(self, text: str) -> str:
        pieces, at = [], 0
        for span in self._secrets(text):
            pieces += [text[at : span.start], _mask(span, text)]
            at = span.end
        return "".join([*pieces, text[at:]])

    def _secrets(self, text: str) -> Iterator[SecretSpan]:
        pattern, names = self._known()
        plain = _key(text)
        if pattern is None or not any(form in plain for form in names):  # this is cheaper than the pattern
            return
        for hit in pattern.finditer(text):
            if hit["mask"] is None:
                yield SecretSpan(*hit.span(), SecretKind.DECLARED, names[_key(hit[0])])

    def _known(self) -> tuple[re.Pattern[str] | None, dict[str, str]]:
        known = known_secrets()
        if self._compiled[0] != len(known):  # secrets are never removed
            names = {_key(form): name for value, name in list(known.items()) for form in _forms(value)}
            longest_first = sorted(names, key=len, reverse=True)
            pattern = "|".join((rf"(?P<mask>{_MASK})", *map(_found_as, longest_first)))
            self._compiled = (len(known), re.compile(pattern, re.IGNORECASE) if names else None, names)
        return self._compiled[1:]


def _forms(value: str) -> set[str]:
    """A secret as it may appear in a text: plain, in a page's normal form, or quoted for an address, HTML or JSON."""
    if len(value) < SHORTEST:
        return set()
    forms = {
        value,
        value.strip(),
        value.upper(),
        normal(value),
        quote(value, safe=""),
        quote_plus(value),
        html.escape(value),
    }
    forms |= {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]}
    if len(value) >= ANYWHERE:
        forms.add(base64.b64encode(value.encode()).decode())
    return {form for form in forms if len(form) >= SHORTEST}


def _key(form: str) -> str:
    return " ".join(form.lower().split()) or form


def _found_as(form: str) -> str:
    spaced = r"\s+".join(map(re.escape, form.split())) or re.escape(form)
    return spaced if len(form) >= ANYWHERE else rf"(?<!\w){spaced}(?!\w)"


def _address(hit: re.Match[str]) -> str:
    address = hit[0].rstrip(".,;:!?)]}") if not hit[0].endswith("]") else hit[0]
    return plain_address(_WHO.sub("", address)) + hit[0][len(address) :]


_RULES: Sequence[tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]]] = (
    ("<", _FIELD, r"\1[hidden]"),
    ("<", _AREA, r"\1[hidden]"),
    ("(", _CALL, r"\1[hidden]"),
    ("alue", _EXPECT, r"\1[hidden]"),
    ("://", _ADDRESS, _address),
    (":", _CONTENT, lambda hit: f"{hit[0].partition(':')[0]}:"),
    ("=", _PAIR, r"\1[hidden]"),
    ("", _NAMED, r"\1[hidden]"),
)
"""The text that must occur for a rule to be tried, the rule, and its mask."""


def _masked(text: str, spans: Sequence[SecretSpan]) -> str:
    pieces, at = [], 0
    for span in sorted(spans, key=lambda each: each.start):
        if span.start >= at:
            pieces += [text[at : span.start], _mask(span, text)]
            at = span.end
    return "".join([*pieces, text[at:]])


def _mask(span: SecretSpan, text: str) -> str:
    found = text[span.start : span.end]
    match span.kind:
        case SecretKind.DECLARED:
            return f"[secret {span.name}]"
        case SecretKind.CARD:
            return f"[card ..{''.join(filter(str.isdigit, found))[-4:]}]"
        case _:
            return f"[token ~{hashlib.sha256(found.encode()).hexdigest()[:4]}]"
