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
_YEAR_FIRST = re.compile(r"(?P<y>\d{4})([-/.])(?P<m>\d\d?)\2(?P<d>\d\d?)")
_DOTTED = re.compile(r"(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>\d{4})")
_ORDERED = {
    "dmy": re.compile(r"(?P<d>\d\d?)([-/.])(?P<m>\d\d?)\2(?P<y>\d{4}|\d\d)"),
    "mdy": re.compile(r"(?P<m>\d\d?)([-/.])(?P<d>\d\d?)\2(?P<y>\d{4}|\d\d)"),
    "ymd": re.compile(r"(?P<y>\d{4}|\d\d)([-/.])(?P<m>\d\d?)\2(?P<d>\d\d?)"),
}
_DAY_AND_TIME = re.compile(r"(\S+?),? (\d\d?):(\d\d)(?::(\d\d))?(?: ?([ap])\.?m\.?)?", re.IGNORECASE)


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
    plain, negative = without_sign(without_currency(plain))
    group = "." if decimal == "," else ","
    grouped = rf"[1-9]\d{{0,2}}(?P<mark>[{group} '\u2019])(?:\d{{2,3}}(?P=mark))*\d{{3}}"
    found = re.fullmatch(rf"(?P<whole>0|[1-9]\d*|{grouped})(?:{re.escape(decimal)}(?P<part>\d+))?", plain)
    if found is None:
        return None
    digits = re.sub(r"\D", "", found["whole"])
    value = Decimal(f"{digits}.{found['part']}" if found["part"] else digits)
    return -value if negative else value


def without_currency(text: str) -> str:
    """An amount's text without the currency in front of it or behind it."""
    text = text.strip("".join(c for c in set(text) if unicodedata.category(c) == "Sc") + " ")
    words = text.split(" ")
    if _CURRENCY.fullmatch(words[0]):
        words = words[1:]
    elif _CURRENCY.fullmatch(words[-1]):
        words = words[:-1]
    return " ".join(words)


def without_sign(text: str) -> tuple[str, bool]:
    """An amount's text without its sign, and whether it is negative."""
    for left, right in (("(", ")"), ("-", ""), ("", "-")):
        if len(text) > len(left + right) and text.startswith(left) and text.endswith(right):
            return without_currency(text[len(left) : len(text) - len(right)]), True
    return text.removeprefix("+"), False


def day(text: str, order: str = "") -> date | None:
    """`text` as a day, or None.

    Args:
        text: such as 2026-11-30 or 30.11.2026. The ambiguous 11/12/2026, and a year of two digits, need an order.
        order: how the site writes days: "dmy", "mdy" or "ymd"; "" = not declared.
    """
    for form in (_YEAR_FIRST, _ORDERED.get(order, _DOTTED)):
        if found := form.fullmatch(normal(text)):
            year = int(found["y"])
            try:
                return date(year if year > 99 else 2000 + year, int(found["m"]), int(found["d"]))
            except ValueError:
                return None
    return None


def moment(text: str, zone: str = "UTC", order: str = "") -> datetime | None:
    """A time in ISO 8601, or a day as `day` reads it with a time such as "21:31" or "9:31 pm", in UTC; None if it isn't
    one. Without an offset it is read in the IANA time zone `zone`."""
    plain = normal(text)
    try:
        read = datetime.fromisoformat(plain)
    except ValueError:
        if (written := _day_and_time(plain, order)) is None:
            return None
        read = written
    return (read if read.tzinfo else read.replace(tzinfo=ZoneInfo(zone))).astimezone(UTC)


def _day_and_time(plain: str, order: str) -> datetime | None:
    found = _DAY_AND_TIME.fullmatch(plain)
    on = day(found[1], order) if found else None
    if found is None or on is None:
        return None
    hour, minute, second = int(found[2]), int(found[3]), int(found[4] or 0)
    if found[5]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found[5].lower() == "p" else 0)
    try:
        return datetime(on.year, on.month, on.day, hour, minute, second)
    except ValueError:
        return None


def same(one: str, other: str, decimal: str = ".") -> bool:
    """Whether two cells mean the same: the same text, the same amount or the same day."""
    if normal(one) == normal(other):
        return True
    amounts = amount(one, decimal), amount(other, decimal)
    if None not in amounts:
        return amounts[0] == amounts[1]
    days = day(one), day(other)
    return None not in days and days[0] == days[1]


def value(text: str, decimal: str = ".") -> str:
    """`text` as a value for the task: an amount as plain digits with a point, anything else in normal form."""
    read = amount(text, decimal)
    return normal(text) if read is None else f"{read:f}"
