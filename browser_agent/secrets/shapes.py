"""Secrets that are recognised by their shape: card numbers and tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise


class SecretKind(Enum):
    """What a part of a text is; the value names it in messages."""

    DECLARED = "the secret"
    CARD = "a card number"
    TOKEN = "a token"
    EMAIL = "an e-mail address"
    NAMED = "a named secret"


@dataclass(frozen=True)
class SecretSpan:
    """A secret part of a text. `name` is that of a declared secret."""

    start: int
    end: int
    kind: SecretKind
    name: str = ""

    @property
    def in_words(self) -> str:
        """What it is, such as "the secret env:PASSWORD"."""
        return f"{self.kind.value} {self.name}".rstrip()


TOKEN_LENGTH = 24
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
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


def card_numbers(text: str) -> Iterator[SecretSpan]:
    """Digits in the range of a card issuer, with the right check digit (ISO/IEC 7812, Luhn)."""
    for run in _DIGITS.finditer(text):
        if _IBAN.search(text, max(0, run.start() - 6), run.start()):
            continue
        groups = [(hit.start(), hit.end()) for hit in re.finditer(r"\d+", run[0])]
        first = 0
        while first < len(groups):
            last = next((n for n in range(len(groups), first, -1) if _is_card(run[0], groups[first:n])), first)
            if last > first:
                yield SecretSpan(run.start() + groups[first][0], run.start() + groups[last - 1][1], SecretKind.CARD)
            first = max(last, first + 1)


def _is_card(run: str, groups: Sequence[tuple[int, int]]) -> bool:
    """Whether the groups of digits are a card number. Only the last group may be shorter than three digits."""
    if any(end - start < 3 for start, end in groups[:-1]):
        return False
    digits = "".join(run[start:end] for start, end in groups)
    return _ISSUED.fullmatch(digits) is not None and _luhn(digits)


def _luhn(digits: str) -> bool:
    doubled = (int(digit) * (1 + position % 2) for position, digit in enumerate(reversed(digits)))
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def tokens(text: str) -> Iterator[SecretSpan]:
    """Tokens with a known prefix, and long words that look random."""
    for shaped in _SHAPED.finditer(text):
        yield SecretSpan(*shaped.span(), SecretKind.TOKEN)
    for word in _WORD.finditer(text):
        if _is_random(word[0]):
            yield SecretSpan(*word.span(), SecretKind.TOKEN)


def _is_random(word: str) -> bool:
    """Whether letters and digits alternate more often than in words, dates and numbers."""
    signs = re.sub(r"[+=_-]", "", word)
    kinds = ["d" if each.isdigit() else "u" if each.isupper() else "l" for each in signs]
    changes = sum(one != other for one, other in pairwise(kinds))
    mixed = "d" in kinds and len(set(kinds)) > 1
    return mixed and len(signs) >= 20 and changes >= 0.34 * len(signs) and not _UUID.fullmatch(word)
