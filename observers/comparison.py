"""The comparison of a cell with a key has three answers: it holds the key, it doesn't, or they can't be compared.

A "no" lets an absence be proven, so it is never guessed.
"""

import re
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple
from zoneinfo import ZoneInfo

from .normal import amount, day, moment, normal, without_currency, without_sign

_PYTHON = re.compile(r"-?\d+(\.\d+)?")
_SUM = re.compile(r"\d+(?:[., '\u2019]\d+)+")
"""Digits with marks between them: an amount in some notation, perhaps not in the declared one."""
_PERCENTAGE = re.compile(r"\d+([.,]\d+)? ?%")
_DAY = re.compile(r"(\d{1,4})[/.-](\d{1,2})[/.-](\d{1,4})(?:,? .*)?")
_HAS_SECONDS = re.compile(r"\d:\d\d:\d\d")


class Notation(NamedTuple):
    """How a site writes amounts and times: its decimal mark, its IANA time zone, and the order of day, month and year
    ("" = not declared)."""

    decimal: str = "."
    zone: str = "UTC"
    date_order: str = ""


_PLAIN = Notation()


def compared(cell: str, key: str, notation: Notation = _PLAIN) -> bool | None:
    """Whether a cell holds the key: True, False, or None if they can't be compared.

    Args:
        cell: as the page shows it.
        key: as the task gives it: an amount in Python's notation ("1234.50"), a day as 2026-11-30 or 30.11.2026, a time
            in ISO 8601.
        notation: the site's.
    """
    shown, wanted = normal(cell), normal(key)
    if shown == wanted:
        return True
    if shown.endswith("..."):
        return None if wanted.startswith(shown.rstrip(". ")) else False
    sum_wanted = amount(wanted) if _PYTHON.fullmatch(wanted) else amount(wanted, notation.decimal)
    if sum_wanted is not None:
        return _compared_amount(shown, sum_wanted, notation.decimal)
    if (day_wanted := day(wanted)) is not None:
        return _compared_day(shown, day_wanted, notation)
    if (time_wanted := moment(wanted, notation.zone)) is not None:
        return _compared_time(shown, time_wanted, notation)
    return False


def _compared_amount(shown: str, wanted: Decimal, decimal: str) -> bool | None:
    read = amount(shown, decimal)
    if read is None and (leading := _leading_amount(shown, decimal)):
        return _compared_with_words(*leading, wanted, decimal)
    if read == wanted:
        return True
    if amount(shown, _other(decimal)) == wanted:  # equal, if read with the other decimal mark
        return None
    if read is None and (_SUM.fullmatch(without_sign(without_currency(shown))[0]) or _names(shown, wanted, decimal)):
        return None
    return False


def _compared_with_words(first: str, words: str, wanted: Decimal, decimal: str) -> bool | None:
    """An amount that words follow, such as "1.234,56 EUR incl. VAT". A bare number may be of something else, and so may
    an amount that is followed by more numbers."""
    if amount(first, decimal) == wanted:
        alone = not re.search(r"\d", _PERCENTAGE.sub("", words))
        return True if alone and _is_money(first, decimal) else None
    return None if amount(first, _other(decimal)) == wanted or _names(words, wanted, decimal) else False


def _leading_amount(shown: str, decimal: str) -> tuple[str, str] | None:
    """The longest beginning that is an amount, and the words after it."""
    words = shown.split(" ")
    for end in range(len(words) - 1, 0, -1):
        if amount(first := " ".join(words[:end]), decimal) is not None:
            return first, " ".join(words[end:])
    return None


def _names(words: str, wanted: Decimal, decimal: str) -> bool:
    """Whether the amount is named among other words."""
    return any(
        _is_money(word, mark) and amount(word, mark) == wanted
        for word in words.split(" ")
        for mark in (decimal, _other(decimal))
    )


def _is_money(text: str, decimal: str) -> bool:
    return decimal in text or without_currency(text) != text


def _other(decimal: str) -> str:
    return "," if decimal == "." else "."


def _compared_day(shown: str, wanted: date, notation: Notation) -> bool | None:
    read = _shown_day(shown, notation)
    if read is not None:
        return read == wanted
    if (parts := _DAY.fullmatch(shown)) is None:
        return _unreadable(shown)
    written = sorted(int(part) for part in parts.groups())
    years = (wanted.year, wanted.year % 100)
    return None if any(written == sorted((wanted.day, wanted.month, year)) for year in years) else False


def _shown_day(shown: str, notation: Notation) -> date | None:
    """The day that a cell names, perhaps with a time, as it is at the site."""
    if (only := day(shown, notation.date_order)) is not None:
        return only
    at = moment(shown, notation.zone, notation.date_order)
    return at.astimezone(ZoneInfo(notation.zone)).date() if at is not None else None


def _compared_time(shown: str, wanted: datetime, notation: Notation) -> bool | None:
    """Compared to the minute where the cell shows no seconds; a cell with a day alone can only rule the time out."""
    if (on := day(shown, notation.date_order)) is not None:
        return None if on == wanted.astimezone(ZoneInfo(notation.zone)).date() else False
    at = moment(shown, notation.zone, notation.date_order)
    if at is None:
        return _unreadable(shown)
    if not _HAS_SECONDS.search(shown):
        wanted = wanted.replace(second=0, microsecond=0)
    return at == wanted


def _unreadable(shown: str) -> bool | None:
    """A cell with words instead of a date, such as "today 21:31" or "2 Dec": only an empty one is a "no"."""
    return None if any(letter.isalnum() for letter in shown) else False
