"""The scrubber: the one place that a free text passes before it is stored or shown, a picture before it is kept.

It covers the secrets of this process (see `secret`), card numbers, tokens, passwords that a text names, the values of
fields that an error quotes, and what an address holds besides scheme, host and path (the names of its query stay).
What it puts in their place is never covered again, so that scrubbing twice is scrubbing once, and it keeps different
things apart: a card by its last four digits, a token by four digits of its digest. Texts are compared by it.

What it can't do: know a secret that nobody declared and that looks like nothing (a name, a PIN in a sentence); see one
that was encoded, cut in two or translated; a secret of one or two characters is not looked for. What a program
needs to go on (a task's arguments, a step's value, a proof) is never changed here: it is refused, or kept out and said.
Knows nothing of stores and pages.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus

from browser_agent.secrets.secret import known_secrets
from browser_agent.secrets.secret_fields import SECRET_NAMES, any_of
from observers.evidence import plain_address
from observers.normal import normal

T = TypeVar("T")

ANYWHERE = 6
"""From so many characters on, a known secret is found inside of a word too; a shorter one only as a word."""
SHORTEST = 3
TOKEN_LENGTH = 24
_AT_MOST = 5

_MASK = r"\[(?:secret|card|token|hidden)\b[^\]\n]*\]"
_OPEN = r"(?!\"?\[(?:secret|card|token|hidden)\b)"  # what follows is not covered yet
_DIGEST = re.compile(r"[0-9a-f]{64}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
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
_SHAPED = re.compile(
    r"\beyJ[\w-]{6,}\.[\w-]{6,}(?:\.[\w-]*)?"
    r"|\b(?:sk|pk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{8,}"
    r"|\b(?:gh[oprsu]|glpat|github_pat|npm|pypi|xox[abeprs]|sk|dop_v1|hf|shpat)[_-][\w-]{16,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\bSG\.[\w-]{16,}\.[\w-]{16,}"
    r"|(?<=Bearer )[\w.~+/-]{8,}=*|(?<=Basic )[\w+/]{8,}=*"
)
_WORD = re.compile(rf"(?<![\w+=-])[\w+=-]{{{TOKEN_LENGTH},}}", re.ASCII)
_GAP = r"[ \u00a0\u2000-\u200a\u202f.\u2010-\u2015-]"
_DIGITS = re.compile(rf"(?<!\d)\d(?:{_GAP}?\d){{13,30}}(?!\d)")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}\s?$")
_ISSUED = re.compile(  # ISO/IEC 7812 ranges of the large schemes, with their lengths
    r"4\d{15}(?:\d{3})?|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|220[0-4]\d{12}|3[47]\d{13}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12,15}|62\d{14,17}|3(?:0[0-59]|[689]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12}"
    r"|(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{10,15}"
)
_EMAIL = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")


@dataclass(frozen=True)
class Span:
    """A part of a text that may not be seen, and what it is, in words."""

    start: int
    end: int
    what: str


class Scrubber:
    """Scrubs texts and data; knows every secret of this process, also those that are made later."""

    def __init__(self) -> None:
        self._compiled: tuple[int, re.Pattern[str] | None, dict[str, str]] = (0, None, {})

    def text(self, text: str) -> str:
        """The text without what may not be stored; a whole SHA-256 in hex is never one."""
        if len(text) < SHORTEST or _DIGEST.fullmatch(text):
            return text
        for _ in range(_AT_MOST):  # what was covered may leave a word of its own behind, which is covered then
            before, text = text, self._once(text)
            if text == before:
                break
        return text

    def trace(self, error: BaseException) -> str:
        """A traceback of the error: it may quote what a page was given."""
        return self.text("".join(traceback.format_exception(error)))

    def facts(self, value: T) -> T:
        """JSON data, or a frozen dataclass of it, with every text in it scrubbed, names too."""
        return self._facts(value)  # type: ignore[no-any-return]  # the same shape comes back

    def stored(self, text: str) -> str:
        """A column's text: scrubbed inside if it is JSON, so that it stays JSON."""
        if text[:1] not in ("{", "[", '"'):
            return self.text(text)
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return self.text(text)
        scrubbed = self._facts(data)
        return text if scrubbed == data else json.dumps(scrubbed, ensure_ascii=False)

    def value(self, text: str) -> str:
        """Data without known secrets, and else as it is: it is handed on to programs."""
        return self._without_known(text)

    def known_in(self, text: str) -> str | None:
        """The known secret that the text holds, such as "the secret env:PASSWORD"; None if it holds none."""
        return next((span.what for span in self._secrets(text)), None)

    def covered_unknown(self, text: str) -> str | None:
        """The name of a secret that was covered in a stored text and isn't known here: nothing compares with it."""
        names = set(known_secrets().values())
        return next((name for name in re.findall(r"\[secret ([^\]\s]+)\]", text) if name not in names), None)

    def unfit(self, value: str) -> str | None:
        """Why a proven value may not be kept: what it is, in words. None if it may."""
        found = next(self._secrets(value), None) or next(_cards(value), None) or next(_tokens(value), None)
        return found.what if found is not None else None

    def spans(self, text: str) -> list[Span]:
        """Where a text that stands on a page may not be seen in its picture: as `text`, and e-mail addresses."""
        return [
            *self._secrets(text),
            *(Span(*hit.span(), "an e-mail address") for hit in (_EMAIL.finditer(text) if "@" in text else ())),
            *(Span(hit.end(1), hit.end(), "a named secret") for hit in _NAMED.finditer(text)),
            *_cards(text),
            *_tokens(text),
        ]

    def _once(self, text: str) -> str:
        text = self._without_known(text)
        for needs, pattern, instead in _RULES:
            text = pattern.sub(instead, text) if needs in text else text
        for found in (_cards, _tokens):
            text = _covered(text, list(found(text)))
        return text

    def _facts(self, value: Any) -> Any:
        if type(value) is str:  # a word of an enum stays one
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
        """A text under a name such as "password" is one, whatever it looks like."""
        if isinstance(name, str) and isinstance(value, str) and value and _NAME.fullmatch(name):
            return value if re.fullmatch(_MASK, value) else "[hidden]"
        return self._facts(value)

    def _without_known(self, text: str) -> str:
        pieces, at = [], 0
        for span in self._secrets(text):
            pieces += [text[at : span.start], f"[{span.what.removeprefix('the ')}]"]
            at = span.end
        return "".join([*pieces, text[at:]])

    def _secrets(self, text: str) -> Iterator[Span]:
        pattern, names = self._known()
        plain = _key(text)
        if pattern is None or not any(form in plain for form in names):  # a search for many costs more
            return
        for hit in pattern.finditer(text):
            if hit["mask"] is None:
                yield Span(*hit.span(), f"the secret {names[_key(hit[0])]}")

    def _known(self) -> tuple[re.Pattern[str] | None, dict[str, str]]:
        known = known_secrets()
        if self._compiled[0] != len(known):  # secrets are only ever added
            names = {_key(form): name for value, name in list(known.items()) for form in _forms(value)}
            longest_first = sorted(names, key=len, reverse=True)
            pattern = "|".join((rf"(?P<mask>{_MASK})", *map(_found_as, longest_first)))
            self._compiled = (len(known), re.compile(pattern, re.IGNORECASE) if names else None, names)
        return self._compiled[1:]


def _forms(value: str) -> set[str]:
    """A secret as it may stand in a text: as it is, in a page's normal form, quoted for an address, HTML or JSON."""
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
"""What a text must hold for a rule to be tried, the rule, and what is put in its place."""


def _cards(text: str) -> Iterator[Span]:
    """Runs of digits that an issuer could have given out and whose check digit is right (ISO/IEC 7812, Luhn)."""
    for run in _DIGITS.finditer(text):
        if _IBAN.search(text, max(0, run.start() - 6), run.start()):
            continue
        groups = [(hit.start(), hit.end()) for hit in re.finditer(r"\d+", run[0])]
        first = 0
        while first < len(groups):
            last = next((n for n in range(len(groups), first, -1) if _is_card(run[0], groups[first:n])), first)
            if last > first:
                yield Span(run.start() + groups[first][0], run.start() + groups[last - 1][1], "a card number")
            first = max(last, first + 1)


def _is_card(run: str, groups: Sequence[tuple[int, int]]) -> bool:
    """Written in one, or in groups as on a card: none but the last is shorter than three digits."""
    if any(end - start < 3 for start, end in groups[:-1]):
        return False
    digits = "".join(run[start:end] for start, end in groups)
    return _ISSUED.fullmatch(digits) is not None and _luhn(digits)


def _luhn(digits: str) -> bool:
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def _tokens(text: str) -> Iterator[Span]:
    for shaped in _SHAPED.finditer(text):
        yield Span(*shaped.span(), "a token")
    for word in _WORD.finditer(text):
        if _is_random(word[0]):
            yield Span(*word.span(), "a token")


def _is_random(word: str) -> bool:
    """Letters and digits as if they were drawn: their kind changes more often than in words, dates and numbers."""
    drawn = re.sub(r"[+=_-]", "", word)
    kinds = ["d" if each.isdigit() else "u" if each.isupper() else "l" for each in drawn]
    changes = sum(one != other for one, other in pairwise(kinds))
    mixed = "d" in kinds and len(set(kinds)) > 1
    return mixed and len(drawn) >= 20 and changes >= 0.34 * len(drawn) and not _UUID.fullmatch(word)


def _covered(text: str, spans: Sequence[Span]) -> str:
    """The text with the spans replaced by what keeps them apart."""
    pieces, at = [], 0
    for span in sorted(spans, key=lambda each: each.start):
        if span.start >= at:
            pieces += [text[at : span.start], _stand_in(text[span.start : span.end], span.what)]
            at = span.end
    return "".join([*pieces, text[at:]])


def _stand_in(found: str, what: str) -> str:
    if what == "a card number":
        return f"[card ..{''.join(filter(str.isdigit, found))[-4:]}]"
    return f"[token ~{hashlib.sha256(found.encode()).hexdigest()[:4]}]"
