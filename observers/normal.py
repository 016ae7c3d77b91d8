"""Normal forms: when two texts on a page mean the same thing.

Two different keys must never become equal: upper and lower case and leading zeros stay as they are.
"""

import re
import unicodedata
from datetime import UTC, date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

# Invisible characters: bidi marks, zero-width marks, the soft hyphen.
_UNSEEN = dict.fromkeys(
    map(
        ord,
        "\xad\u061c\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff",
    )
)
# The hyphen, the non-breaking hyphen (which keeps a number on one line), and the typographic minus.
_HYPHENS = {0x2010: "-", 0x2011: "-", 0x2212: "-"}
_CURRENCY = re.compile(
    "AED|AUD|BGN|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KRW|KZT|MXN|MYR|NOK|NZD|PHP|PLN|RON|RSD|"
    "RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|USD|VND|ZAR"
)
_PYTHON = re.compile(r"-?\d+(\.\d+)?")
_SUM = re.compile(r"\d+(?:[., '\u2019]\d+)+")
"""Digits with marks between them: an amount in some notation, perhaps not in the declared one."""
_NUMBERS = re.compile(r"(\d{1,4})[/.-](\d{1,2})[/.-](\d{1,4})")
_DAYS = (re.compile(r"(?P<y>\d{4})-(?P<m>\d\d?)-(?P<d>\d\d?)"), re.compile(r"(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>\d{4})"))


def normal(text: str) -> str:
    """`text` in NFKC, trimmed, with single spaces, ASCII digits, plain hyphens and no invisible characters."""
    return " ".join(normal_part(text).split())


def normal_part(text: str) -> str:
    """`normal` for a piece of a longer text: a space at either end is kept."""
    plain = unicodedata.normalize("NFKC", text.translate(_UNSEEN)).translate(_HYPHENS)
    digits = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in plain)
    return re.sub(r"[\s\u0085]+", " ", digits)


def amount(text: str, decimal: str = ".") -> Decimal | None:
    """`text` as an amount, or None: digits with thousands marks, the decimal mark, a sign and a currency.

    Digits with a leading zero ("007") are an identifier, not an amount.
    """
    plain = normal(text).replace("\u066c", "\u2019").replace("\u066b", decimal)
    plain, negative = _without_sign(_without_currency(plain))
    group = "." if decimal == "," else ","
    grouped = rf"[1-9]\d{{0,2}}(?P<mark>[{group} '\u2019])(?:\d{{2,3}}(?P=mark))*\d{{3}}"
    found = re.fullmatch(rf"(?P<whole>0|[1-9]\d*|{grouped})(?:{re.escape(decimal)}(?P<part>\d+))?", plain)
    if found is None:
        return None
    digits = re.sub(r"\D", "", found["whole"])
    value = Decimal(f"{digits}.{found['part']}" if found["part"] else digits)
    return -value if negative else value


def _without_currency(text: str) -> str:
    text = text.strip("".join(c for c in set(text) if unicodedata.category(c) == "Sc") + " ")
    words = text.split(" ")
    if _CURRENCY.fullmatch(words[0]):
        words = words[1:]
    elif _CURRENCY.fullmatch(words[-1]):
        words = words[:-1]
    return " ".join(words)


def _without_sign(text: str) -> tuple[str, bool]:
    for left, right in (("(", ")"), ("-", ""), ("", "-")):
        if len(text) > len(left + right) and text.startswith(left) and text.endswith(right):
            return _without_currency(text[len(left) : len(text) - len(right)]), True
    return text.removeprefix("+"), False


def day(text: str) -> date | None:
    """`text` as a day, written 2026-11-30 or 30.11.2026; None for the ambiguous 11/12/2026 and anything else."""
    for form in _DAYS:
        if found := form.fullmatch(normal(text)):
            try:
                return date(int(found["y"]), int(found["m"]), int(found["d"]))
            except ValueError:
                return None
    return None


def moment(text: str, zone: str = "UTC") -> datetime | None:
    """An ISO 8601 text as a time in UTC; without an offset it is read in the IANA time zone `zone`."""
    try:
        read = datetime.fromisoformat(normal(text))
    except ValueError:
        return None
    return (read if read.tzinfo else read.replace(tzinfo=ZoneInfo(zone))).astimezone(UTC)


def same(one: str, other: str, decimal: str = ".") -> bool:
    """Whether two cells mean the same: the same text, the same amount or the same day."""
    if normal(one) == normal(other):
        return True
    amounts = amount(one, decimal), amount(other, decimal)
    if None not in amounts:
        return amounts[0] == amounts[1]
    days = day(one), day(other)
    return None not in days and days[0] == days[1]


def compared(cell: str, key: str, decimal: str = ".") -> bool | None:
    """Whether a cell holds the key: True, False, or None if they can't be compared. It never guesses.

    Args:
        cell: as the page shows it, in the site's notation.
        key: as the task gives it: an amount in Python's notation ("1234.50"), a day as 2026-11-30 or 30.11.2026.
        decimal: the decimal mark of the site's amounts.
    """
    shown, wanted = normal(cell), normal(key)
    if shown == wanted:
        return True
    if shown.endswith("..."):
        return None if wanted.startswith(shown.rstrip(". ")) else False
    if (sum_wanted := amount(wanted) if _PYTHON.fullmatch(wanted) else amount(wanted, decimal)) is not None:
        return _compared_amount(shown, sum_wanted, decimal)
    if (day_wanted := day(wanted)) is not None:
        return _compared_day(shown, day_wanted)
    return False


def _compared_amount(shown: str, wanted: Decimal, decimal: str) -> bool | None:
    read = amount(shown, decimal)
    if read == wanted:
        return True
    if amount(shown, "," if decimal == "." else ".") == wanted:  # equal, if read with the other decimal mark
        return None
    return None if read is None and _SUM.fullmatch(_without_sign(_without_currency(shown))[0]) else False


def _compared_day(shown: str, wanted: date) -> bool | None:
    read = day(shown)
    if read is not None or (parts := _NUMBERS.fullmatch(shown)) is None:
        return read == wanted
    written = sorted(int(part) for part in parts.groups())
    years = (wanted.year, wanted.year % 100)
    return None if any(written == sorted((wanted.day, wanted.month, year)) for year in years) else False


def value(text: str, decimal: str = ".") -> str:
    """`text` as a value for the task: an amount as plain digits with a point, anything else in normal form."""
    read = amount(text, decimal)
    return normal(text) if read is None else f"{read:f}"
