"""A copy of a session for fresh pages, including sessionStorage, which isn't part of a storage state.

A page of another origin never gets a value.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

SESSION_STORAGE = "session_storage"
"""The field of a state that holds origin -> name -> value, besides Playwright's own `cookies` and `origins`."""

# Runs once for each origin and tab: a tab that already holds something keeps its own values.
_GIVE = """((kept) => {
  const items = kept[location.origin];
  try {
    if (items && sessionStorage.length === 0)
      for (const [name, value] of Object.entries(items)) sessionStorage.setItem(name, value);
  } catch {}  // a document without storage
})"""


def storage_state(state: Any) -> Any:
    """The part of a state that Playwright understands."""
    return state and {name: value for name, value in state.items() if name != SESSION_STORAGE}


def giving_script(session_storage: Mapping[str, Mapping[str, str]]) -> str:
    """The script that restores a page's sessionStorage, if its origin has an entry."""
    return f"{_GIVE}({json.dumps(session_storage)})"


def without_undeclared(state: Mapping[str, Any], indexed_db: Sequence[str]) -> dict[str, Any]:
    """The state without the IndexedDB of origins that aren't among `indexed_db`, the declared ones."""
    return {
        **state,
        "origins": [
            one if one["origin"] in indexed_db else {name: held for name, held in one.items() if name != "indexedDB"}
            for one in state.get("origins", ())
        ],
    }
