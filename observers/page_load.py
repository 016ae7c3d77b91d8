"""When a fresh page is whole: scrolled to its end, and its rows have stopped changing.

A page that answers is not a page that shows all it has: rows come late, or only when somebody scrolls to them. What did
not come to rest in time is said (`Rest`), and whoever reads the page then doubts its list. Nothing is clicked.
"""

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import Page

QUIET_SECONDS = 0.25
"""Rows that have not changed for so long have stopped changing."""
_SCROLLS_AT_MOST = 200

_GLANCE_MS = 50

# Begins to watch the rows of the page's lists. A clock that ticks elsewhere on the page does not count.
_WATCH = """(root) => {
  const LISTS = "table, ul, ol, [role=table], [role=grid], [role=treegrid], [role=list], [role=feed]";
  const watch = { changed: performance.now() };
  const ofAList = ({ target }) => {
    const element = target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement;
    return element && (element.closest(LISTS) || element.querySelector(LISTS));
  };
  watch.watcher = new MutationObserver((changes) => {
    if (changes.some(ofAList)) watch.changed = performance.now();
  });
  watch.watcher.observe(root, { subtree: true, childList: true, characterData: true });
  return watch;
}"""

# For how many ms the rows have stayed as they are. It is asked for again and again: a promise that the page resolves
# by a timer would wait for ever where the page has no timers, or timers of its own.
_STILL = "(root, watch) => performance.now() - watch.changed"
_UNWATCH = "(root, watch) => watch.watcher.disconnect()"

# Scrolls the window and each box that holds rows to the end. Returns the height of all of it and the texts of the rows.
_SCROLL = """(root, down) => {
  const ROWS = "tr, li, [role=row], [role=listitem], [role=article]";
  const rows = [...root.querySelectorAll(ROWS)];
  const boxes = new Set([document.scrollingElement ?? root]);
  for (const row of rows) {
    for (let up = row.parentElement; up && up !== document.body; up = up.parentElement) {
      if (boxes.has(up)) break;
      if (up.scrollHeight > up.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(up).overflowY)) boxes.add(up);
    }
  }
  const low = [...boxes].filter((box) => box.scrollHeight > box.clientHeight + 1);
  for (const box of low) box.scrollTop = down ? box.scrollHeight : 0;
  return { height: low.reduce((sum, box) => sum + box.scrollHeight, 0), rows: rows.map((row) => row.textContent) };
}"""


class Rest(NamedTuple):
    """How a page has come to rest: its rows have stopped changing; all of them stay in the page when it is scrolled."""

    settled: bool
    all_rows_stay: bool = True


def come_to_rest(page: "Page", deadline: float, wait_for_network: Callable[[], bool]) -> Rest:
    """Wait until a page's rows are all there: scroll to the end as long as more comes, then back to the top.

    Arguments:
        page: a fresh page, whose document has loaded.
        deadline: seconds that it may take altogether.
        wait_for_network: waits until nothing is loading; False if something still is.
    """
    until = monotonic() + deadline
    html = page.locator("html")

    def left() -> float:
        return max(until - monotonic(), 0.0) * 1000

    def quiet() -> bool:
        return left() > 0 and wait_for_network() and _rows_stay(page, left)

    settled = quiet()
    seen: set[str] = set()
    height = -1
    for _ in range(_SCROLLS_AT_MOST):
        found = html.evaluate(_SCROLL, True, timeout=left() + 1000)
        seen |= set(found["rows"])
        if found["height"] == height or found["height"] == 0 or not settled:
            break
        height = found["height"]
        settled = quiet()
    else:
        settled = False
    if height < 0:
        return Rest(settled)
    last = html.evaluate(_SCROLL, False, timeout=left() + 1000)
    return Rest(settled, seen <= set(last["rows"]))


def _rows_stay(page: "Page", left: Callable[[], float]) -> bool:
    """Wait until the rows have stopped changing; False if they still change when no ms are `left`."""
    html = page.locator("html")
    watch = html.evaluate_handle(_WATCH, timeout=left() + 1000)
    while (still := html.evaluate(_STILL, watch, timeout=left() + 1000)) < QUIET_SECONDS * 1000:
        if not left():
            break
        page.wait_for_timeout(_GLANCE_MS)
    html.evaluate(_UNWATCH, watch, timeout=left() + 1000)
    return bool(still >= QUIET_SECONDS * 1000)
