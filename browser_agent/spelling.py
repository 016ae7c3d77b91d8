"""A name that isn't known: which one was probably meant. Knows no names of its own."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """A question after the known name that is most like this one; if none is, all of them; empty if there are none."""
    names = list(known)
    spelled = (word, word.lower().replace("-", "_"))
    near = next((found for each in spelled if (found := difflib.get_close_matches(each, names, 1))), None)
    return f"; did you mean {near[0]}?" if near else f"; there is {', '.join(names)}" if names else ""
