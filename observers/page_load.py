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

# Resolves to whether the rows of the page's lists stayed as they are for `quiet` ms, within `most` ms. A clock that
# ticks elsewhere on the page does not count.
_QUIET = """(root, [quiet, most]) => new Promise((resolve) => {
  const LISTS = "table, ul, ol, [role=table], [role=grid], [role=treegrid], [role=list], [role=feed]";
  let timer;
  const done = (still) => { watcher.disconnect(); clearTimeout(timer); clearTimeout(end); resolve(still); };
  const again = () => { clearTimeout(timer); timer = setTimeout(() => done(true), quiet); };
  const ofAList = ({ target }) => {
    const element = target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement;
    return element && (element.closest(LISTS) || element.querySelector(LISTS));
  };
  const watcher = new MutationObserver((changes) => changes.some(ofAList) && again());
  const end = setTimeout(() => done(false), most);
  watcher.observe(root, { subtree: true, childList: true, characterData: true });
  again();
})"""

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
        return (
            left() > 0
            and wait_for_network()
            and bool(html.evaluate(_QUIET, [QUIET_SECONDS * 1000, left()], timeout=left() + 1000))
        )

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
