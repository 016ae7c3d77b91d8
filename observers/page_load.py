"""When a fresh page is complete: it was scrolled to its end, and its rows have stopped changing.

A loaded page may not show all of its rows yet: some arrive late, or only on scrolling. `Rest` says whether the page
came to rest in time; if it didn't, its list is doubted. Nothing is clicked.
"""

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import Page

QUIET_SECONDS = 0.25
"""Rows that haven't changed for this long have stopped changing."""
_SCROLLS_AT_MOST = 200

_GLANCE_MS = 50

# Starts to watch the rows of the page's lists. A clock that ticks elsewhere on the page doesn't count.
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

# Milliseconds since the rows last changed. It is polled: a promise that a timer of the page resolves would wait for
# ever on a page that has no timers or has replaced them.
_STILL = "(root, watch) => performance.now() - watch.changed"
_UNWATCH = "(root, watch) => watch.watcher.disconnect()"

# Scrolls the window and each box that contains rows to the end. Returns their total height and the texts of the rows.
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
    """Whether a page came to rest. `settled`: its rows stopped changing. `all_rows_stay`: scrolling removes none."""

    settled: bool
    all_rows_stay: bool = True


def come_to_rest(page: "Page", deadline: float, wait_for_network: Callable[[], bool]) -> Rest:
    """Wait until all rows of a page are there: scroll to the end until nothing more appears, then back to the top.

    Args:
        page: a fresh page whose document has loaded.
        deadline: seconds for the whole wait.
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
    """Wait until the rows have stopped changing; False if they still change when no time is `left` (ms)."""
    html = page.locator("html")
    watch = html.evaluate_handle(_WATCH, timeout=left() + 1000)
    while (still := html.evaluate(_STILL, watch, timeout=left() + 1000)) < QUIET_SECONDS * 1000:
        if not left():
            break
        page.wait_for_timeout(_GLANCE_MS)
    html.evaluate(_UNWATCH, watch, timeout=left() + 1000)
    return bool(still >= QUIET_SECONDS * 1000)
