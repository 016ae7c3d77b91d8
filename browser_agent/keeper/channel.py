"""The line between keeper and worker: one socket pair, one JSON object a line, every request answered.

The worker asks and waits; the keeper answers, and may say one thing by itself: `{"stop": true}`. When the line ends,
the other side is gone: the worker then stops at once, since it can send nothing any more.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from browser_agent.errors import KeeperGone, MachineTrouble

Message = dict[str, Any]
KEEPER_GONE_CODE = 70


class Channel:
    """The worker's end.

    Args:
        line: the connected socket.

    Attributes:
        ended: called from the reading thread when the keeper is gone; at first it ends the process at once.
    """

    def __init__(self, line: socket.socket) -> None:
        self._line, self._replies = line, queue.Queue[Message | None]()
        self.ended: Callable[[], None] = lambda: os._exit(KEEPER_GONE_CODE)
        self.stop_asked = threading.Event()
        threading.Thread(target=self._read, name="channel", daemon=True).start()

    def ask(self, what: str, **facts: Any) -> Message:
        """Ask the keeper and wait for its answer.

        Raises:
            KeeperGone: the line has ended.
            MachineTrouble: the keeper could not do it; its words.
        """
        self._send({"ask": what, **facts})
        reply = self._replies.get()
        if reply is None:
            raise KeeperGone("The keeper is gone; nothing can be sent any more.")
        if "error" in reply:
            raise MachineTrouble(reply["error"])
        return reply

    def tell(self, **facts: Any) -> None:
        """Say something that needs no answer."""
        self._send({"tell": facts})

    def close(self) -> None:
        """End the line from this side, without ending the process."""
        self.ended = lambda: None
        self._line.close()

    def _send(self, message: Message) -> None:
        try:
            self._line.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise KeeperGone("The keeper is gone; nothing can be sent any more.") from error

    def _read(self) -> None:
        # A keeper that is killed while it has unread words of ours resets the line instead of ending it (measured).
        with suppress(OSError), self._line.makefile("rb") as lines:
            for line in lines:
                message = json.loads(line)
                if message.get("stop"):
                    self.stop_asked.set()
                else:
                    self._replies.put(message)
        self._replies.put(None)
        self.ended()


async def next_line(reader: asyncio.StreamReader) -> bytes:
    """The worker's next whole line; empty when its line has ended, or was cut off by its death."""
    try:
        line = await reader.readline()
    except (OSError, ValueError):  # a death with unread answers, or in the middle of ours; a line beyond all measure
        return b""
    return line if line.endswith(b"\n") else b""
