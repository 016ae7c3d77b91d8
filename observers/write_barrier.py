"""The barrier against writes of fresh pages: the browser pauses each of their requests, and refuses those that write.

Pausing at the page is not enough: a page's last requests, those of its shared workers and of `fetchLater` bypass it
(measured, Chromium 156). The browser pauses all of them, whoever sends them. WebSockets can't be paused at all; a
content security policy, given to each document and worker before its first script, forbids them instead.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from .evidence import plain_address
from .reading import _playwright_error
from .request_pattern import SAFE_METHODS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

OnlyReads = Callable[[str, str], bool]
_ALL_REQUESTS = {"patterns": [{"urlPattern": "*", "requestStage": "Request"}]}
_POLICY = "connect-src http: https: blob: data:"  # anything but WebSockets
# Runs before a document's first script, when it has no root element yet. A policy stays in force after its element is
# removed.
_NO_SOCKETS = f"""(() => {{
  const make = (name) => document.createElementNS("http://www.w3.org/1999/xhtml", name);
  const [html, head, meta] = [make("html"), make("head"), make("meta")];
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = "{_POLICY}";
  head.append(meta);
  if (document.documentElement) {{
    document.documentElement.append(head);
    head.remove();
  }} else {{
    html.append(head);
    document.append(html);
    html.remove();
  }}
}})()"""
# The barrier ends with the process that looks. If that is killed, its pages end at once, and what they send at their
# end would arrive. So the functions that send at a page's end are disabled.
_NO_SENDING_AT_THE_END = """(() => {
  const define = (on, name, value) => Object.defineProperty(on, name, {value, configurable: true, writable: true});
  const fetch = globalThis.fetch;
  const writes = (asked) => !/^(get|head)$/i.test(asked.method ?? "get");
  let ending = false;
  for (const end of ["pagehide", "visibilitychange"]) addEventListener(end, () => { ending = true; }, {capture: true});
  define(Navigator.prototype, "sendBeacon", () => false);
  define(globalThis, "fetchLater", undefined);
  define(globalThis, "fetch", function (input, options) {
    const asked = { method: input?.method, keepalive: input?.keepalive, ...options };
    const refused = writes(asked) && (ending || asked.keepalive);
    return refused ? Promise.reject(new TypeError("Failed to fetch")) : fetch.apply(this, arguments);
  });
})()"""


class FreshPage(NamedTuple):
    """A page behind the barrier, and the lists in which its refused requests and WebSockets are recorded."""

    page: "Page"
    refused: list[str]
    sockets: list[str]


def is_safe(method: str, address: str) -> bool:
    """Whether a request only reads by its method."""
    return method in SAFE_METHODS


class WriteBarrier:
    """Covers one browser from the first fresh page of a view until all of them are closed.

    Other pages are not affected, with one exception: a write of a frame that can't be attributed to a page
    waits. If it belongs to a fresh page, it ends with that page; otherwise it continues when the barrier is removed.

    Args:
        browser: the browser in which the view opens fresh pages.
        covers_all: every request of the browser, whoever sends it, must be one that the first fresh page may send.
    """

    def __init__(self, browser: "Browser", *, covers_all: bool = False) -> None:
        self._covers_all = covers_all
        self._first: str | None = None  # the browser context of the first fresh page
        self._contexts: dict[str, str] = {}  # frame or worker -> its browser context
        self._windows: set[str] = set()  # main frames of pages that nobody opened through `open_page`
        self._refused: dict[str, list[str]] = {}  # browser context of a fresh page -> what was refused in it
        self._only_reads: dict[str, OnlyReads] = {}  # browser context of a fresh page -> what it may send
        self._waiting: list[dict[str, Any]] = []  # requests of frames that are not known yet
        self._session = browser.new_browser_cdp_session()
        self._session.on("Target.targetCreated", self._target_created)
        self._session.on("Fetch.requestPaused", self._request_paused)
        self._session.send("Target.setDiscoverTargets", {"discover": True})
        self._session.send("Fetch.enable", _ALL_REQUESTS)

    def open_page(self, context: "BrowserContext", only_reads: OnlyReads = is_safe) -> FreshPage:
        """Open the first page of a new context.

        Args:
            context: the context, without a page.
            only_reads: whether a request, by its method and address, only reads and may be sent.

        Returns:
            The page, and the lists to which its refused requests and the addresses of its WebSockets are added.
        """
        for script in (_NO_SOCKETS, _NO_SENDING_AT_THE_END):
            context.add_init_script(script)
        page = context.new_page()
        session = context.new_cdp_session(page)
        target = session.send("Target.getTargetInfo")["targetInfo"]
        own = target["browserContextId"]
        session.on("Page.frameAttached", lambda event: self._attribute(event["frameId"], own))
        session.send("Page.enable")
        sockets: list[str] = []
        session.on("Audits.issueAdded", lambda event: sockets.extend(_refused_socket(event["issue"])))
        session.send("Audits.enable")
        self._windows.discard(target["targetId"])
        self._only_reads[own] = only_reads
        self._first = self._first or own
        refused = self._refused[own] = []
        return FreshPage(page, refused, sockets)

    def remove(self) -> None:
        """Remove it after every fresh page is closed. The browser then releases the waiting requests of other pages."""
        with suppress(_playwright_error()):  # a browser that is gone has no barrier
            self._session.detach()

    def _target_created(self, event: dict[str, Any]) -> None:
        target = event["targetInfo"]
        if target["type"] == "page":
            self._windows.add(target["targetId"])
        self._attribute(target["targetId"], target.get("browserContextId", ""))

    def _attribute(self, frame: str, context: str) -> None:
        self._contexts[frame] = context
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            self._request_paused(event)

    def _request_paused(self, event: dict[str, Any]) -> None:
        if "responseStatusCode" in event or "responseErrorReason" in event:
            self._answer_with_policy(event)
            return
        request, other = event["request"], event["resourceType"] == "Other"
        icon = other and request["headers"].get("Accept", "").startswith("image/")
        context = self._contexts.get(event.get("frameId", ""), self._first if self._covers_all else None)
        judge = self._first if self._covers_all and context not in self._refused else context
        write = not self._only_reads.get(judge or "", is_safe)(request["method"], request["url"])
        if write and judge is not None and judge != context:
            self._refuse(event, judge)
        elif context is None and (write or other):
            self._waiting.append(event)
        elif context is None or context not in self._refused:
            self._answer("continueRequest", event)
        elif write or self._opens_window(event):
            self._refuse(event, context)
        elif icon:  # for a tab that is never shown
            self._answer("failRequest", event, errorReason="BlockedByClient")
        else:
            self._answer("continueRequest", event, interceptResponse=other)

    def _refuse(self, event: dict[str, Any], context: str) -> None:
        request = event["request"]
        self._refused[context].append(f"{request['method']} {plain_address(request['url'])}")
        self._answer("failRequest", event, errorReason="BlockedByClient")

    def _opens_window(self, event: dict[str, Any]) -> bool:
        """Whether it loads another window that a fresh page opened. No look needs one, and its scripts may run before
        its policy applies."""
        return event["resourceType"] == "Document" and event["frameId"] in self._windows

    def _answer_with_policy(self, event: dict[str, Any]) -> None:
        """Add the policy to the response of a worker's script: a worker takes its policy from these headers."""
        if "responseErrorReason" in event:
            self._answer("continueRequest", event)
            return
        policy = {"name": "Content-Security-Policy", "value": _POLICY}
        headers = [*event.get("responseHeaders", []), policy]
        self._answer("continueResponse", event, responseCode=event["responseStatusCode"], responseHeaders=headers)

    def _answer(self, command: str, event: dict[str, Any], **more: Any) -> None:
        with suppress(_playwright_error()):  # its page may be closed by now, and the request with it
            self._session.send(f"Fetch.{command}", {"requestId": event["requestId"], **more})


def _refused_socket(issue: dict[str, Any]) -> Iterator[str]:
    """The address of the WebSocket that a page's policy forbade, if this issue is about one."""
    violation = issue["details"].get("contentSecurityPolicyIssueDetails", {})
    address = violation.get("blockedURL", "")
    if urlsplit(address).scheme in {"ws", "wss"}:
        yield plain_address(address)
