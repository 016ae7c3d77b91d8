"""Toasts: records every text that a page begins to show, however briefly, from before the gesture's input on.

A script runs in an isolated world, in every frame and in every later document: the page can neither see nor fool it,
and a navigation doesn't end it. Text that the page already shows when `mark` is called is old, and must never count.

Not recorded: a frame of another site that is added later; a closed shadow root; a text that stays for less than 50 ms.
An exception in here must never cost a gesture.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from importlib.resources import files
from typing import Any

from playwright.sync_api import CDPSession, Error, Frame, Page

from browser_agent.browser.deadline import DeadlinePassed, within
from observers.reading import snapshot_script
from observers.recording import Toast
from observers.text import VisibleText

SECONDS = 2.0
MOST_TOASTS = 200
MOST_CHARACTERS = 400
"""A longer text is a new view rather than a toast: it is recorded line by line."""
_WORLD = "browser-agent recorder"
_REPORT = "report"


class Toasts:
    """The texts that one page began to show.

    Args:
        page: the page.
        clock: returns the time, in UTC.
    """

    def __init__(self, page: Page, clock: Callable[[], datetime]) -> None:
        self._page, self._clock = page, clock
        self._listeners: list[_TextListener] = []
        self._old: set[str] = set()
        self._marked = False
        self.shown: list[Toast] = []
        self.failure = ""
        self.truncated = False

    def install(self) -> None:
        """Begin to listen. Never raises: if that fails, `failure` says why."""
        try:
            self._listeners = [self._listener(self._page)]
            for frame in self._page.frames[1:]:
                with suppress(Error):  # a frame in the page's own process is covered by the page's session
                    self._listeners.append(self._listener(frame))
        except (Error, DeadlinePassed) as error:
            self.failure = f"toasts could not be recorded: {_first_line(error)}"

    def mark(self) -> None:
        """Count new text from now on; what is shown now is old. Never raises."""
        try:
            for listener in self._listeners:
                for text in listener.mark():
                    self._old.update(text.splitlines())
        except (Error, DeadlinePassed) as error:
            self.failure = f"the page's text before the gesture could not be read: {_first_line(error)}"
        self._marked = not self.failure

    def close(self) -> None:
        """Stop listening; `shown` stays."""
        for listener in self._listeners:
            listener.close()
        self._listeners = []

    def _listener(self, where: Page | Frame) -> _TextListener:
        session = within(SECONDS, lambda: self._page.context.new_cdp_session(where))
        return _TextListener(session, self._record)

    def _record(self, text: str) -> None:
        lines = [line for line in text.splitlines() if line not in self._old]
        if not self._marked or not lines:
            return
        fresh = "\n".join(lines)
        for one in [fresh] if len(fresh) <= MOST_CHARACTERS else [line[:MOST_CHARACTERS] for line in lines]:
            if len(self.shown) >= MOST_TOASTS:
                self.truncated = True
            elif all(one != toast.text for toast in self.shown):
                self.shown.append(Toast(text=one, at=self._clock()))


class _TextListener:
    """One connection to a page, or to a frame that has its own process."""

    def __init__(self, session: CDPSession, record: Callable[[str], None]) -> None:
        self._session, self._record = session, record
        self._worlds: list[int] = []
        session.on("Runtime.executionContextCreated", self._world_created)
        session.on("Runtime.executionContextDestroyed", self._world_destroyed)
        session.on("Runtime.bindingCalled", self._binding_called)
        self._ask("Page.enable")
        self._ask("Runtime.enable")
        self._ask("Runtime.addBinding", name=_REPORT, executionContextName=_WORLD)
        source = _script()
        self._ask("Page.addScriptToEvaluateOnNewDocument", source=source, worldName=_WORLD, runImmediately=True)

    def mark(self) -> list[str]:
        """The current text of every document; everything the page reported before has arrived by then."""
        return [_text(json.loads(said)) for world in list(self._worlds) if (said := self._in(world, "recorder.mark()"))]

    def close(self) -> None:
        with suppress(Error, DeadlinePassed):
            for world in list(self._worlds):
                self._in(world, "recorder.stop()")
            within(SECONDS, self._session.detach)

    def _in(self, world: int, expression: str) -> str | None:
        """The string that an expression gives in a world; None if its document is gone."""
        try:
            answer = self._ask("Runtime.evaluate", expression=expression, contextId=world, returnByValue=True)
        except Error as error:
            if "context" in error.message:
                return None
            raise
        value = answer["result"].get("value")
        return value if isinstance(value, str) else None

    def _ask(self, method: str, **arguments: Any) -> dict[str, Any]:
        return within(SECONDS, lambda: self._session.send(method, arguments))

    def _world_created(self, event: dict[str, Any]) -> None:
        if event["context"]["name"] == _WORLD:
            self._worlds.append(event["context"]["id"])

    def _world_destroyed(self, event: dict[str, Any]) -> None:
        if event["executionContextId"] in self._worlds:
            self._worlds.remove(event["executionContextId"])

    def _binding_called(self, event: dict[str, Any]) -> None:
        if event["name"] == _REPORT:
            self._record(_text(json.loads(event["payload"])))


def _script() -> str:
    script = files(__package__).joinpath("toasts.js").read_text(encoding="utf-8")
    return script.replace("SNAPSHOT;", f"{snapshot_script().strip()};", 1)


def _text(pieces: list[str]) -> str:
    return VisibleText((piece, None) for piece in pieces).text


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
