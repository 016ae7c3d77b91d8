"""The one table of what makes a field secret: its name, its `autocomplete`, or its kind.

The patterns are read by Python and by JavaScript, without regard to case: no lookbehind, no flags inside.
"""

from __future__ import annotations

SECRET_NAMES = (
    r"pass(?:word|wd|phrase|code)",
    "pwd",
    r"api[-_ ]?(?:key|token|secret)",
    r"(?:access|auth|client|refresh)[-_ ]?(?:key|token|secret)",
    "cvc2?",
    "cvv2?",
    "authorization",
    r"set[-_ ]cookie",
)
"""Names that mark a secret anywhere: in a text, in a record, at a control of a form."""

SECRET_CONTROL_NAMES = (
    *SECRET_NAMES,
    "secret",
    "token",
    r"\bpin\b",
    r"\botp\b",
    "one.?time",
    r"\b(?:cvc|cvv|csc)\d?\b",
    "card.?(?:no|num)",
)
"""Names that mark a secret at a control of a form. In a text some of them are everyday words, such as "token"."""

AUTOCOMPLETE_PARTS = ("password", "one-time-code", "cc-")
"""Parts of an `autocomplete` value that mark a secret. Source: HTML standard, autofill field names."""

SECRET_CONTROLS = "input[type=password], " + ", ".join(f"[autocomplete*='{part}' i]" for part in AUTOCOMPLETE_PARTS)
"""The CSS selector of the controls that are secret by their kind, whatever their name is."""


def any_of(names: tuple[str, ...]) -> str:
    """One pattern that finds any of the names."""
    return "|".join(f"(?:{name})" for name in names)
