"""A copy of a session for fresh pages: what lies in the tab itself (sessionStorage) is no part of a storage state.

This module must not know views or observers. May never happen: a value is given to a page of another origin.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

SESSION_STORAGE = "session_storage"
"""The name under which a state holds origin -> name -> value, beside Playwright's own `cookies` and `origins`."""

# Once for each origin and tab: a tab that holds something already has its own.
_GIVE = """((kept) => {
  const items = kept[location.origin];
  try {
    if (items && sessionStorage.length === 0)
      for (const [name, value] of Object.entries(items)) sessionStorage.setItem(name, value);
  } catch {}  // a document without storage
})"""


def storage_state(state: Any) -> Any:
    """The part of a state that Playwright knows."""
    return state and {name: value for name, value in state.items() if name != SESSION_STORAGE}


def giving_script(session_storage: Mapping[str, Mapping[str, str]]) -> str:
    """The script that gives a page what its tab held, if its origin is one of those."""
    return f"{_GIVE}({json.dumps(session_storage)})"


def without_undeclared(state: Mapping[str, Any], indexed_db: Sequence[str]) -> dict[str, Any]:
    """The state without the IndexedDB of origins for which no site declares it."""
    return {
        **state,
        "origins": [
            one if one["origin"] in indexed_db else {name: held for name, held in one.items() if name != "indexedDB"}
            for one in state.get("origins", ())
        ],
    }
