"""The channel between keeper and worker: a socket pair, one JSON object per line, every question answered.

The worker asks and waits; unasked, the keeper sends only its first message, the work, and `{"stop": true}`. When the
channel ends, the other process is gone.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from browser_agent.errors import KeeperGone, MachineTrouble, Stop

Message = dict[str, Any]
Responder = Callable[..., Awaitable[Message]]
KEEPER_GONE_CODE = 70


class Channel:
    """The worker's end.

    Args:
        connection: the connected socket.

    Attributes:
        ended: called from the reading thread when the keeper is gone; by default it ends the process at once.
        stop_asked: set when the keeper asks the worker to stop.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket, self._replies = connection, queue.Queue[Message | None]()
        self.ended: Callable[[], None] = lambda: os._exit(KEEPER_GONE_CODE)
        self.stop_asked = threading.Event()
        threading.Thread(target=self._read, name="channel", daemon=True).start()

    def ask(self, what: str, **facts: Any) -> Message:
        """Ask the keeper and wait for its answer.

        Raises:
            KeeperGone: the channel has ended.
            MachineTrouble: the keeper could not do it; it says why.
        """
        self._send({"ask": what, **facts})
        reply = self._replies.get()
        if reply is None:
            raise KeeperGone("The keeper is gone; nothing can be sent any more.")
        if "error" in reply:
            raise MachineTrouble(reply["error"])
        return reply

    def report(self, **facts: Any) -> None:
        """Report something that needs no answer."""
        self._send({"report": facts})

    def close(self) -> None:
        """End the channel from this side, without ending the process."""
        self.ended = lambda: None
        self._socket.close()

    def _send(self, message: Message) -> None:
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise KeeperGone("The keeper is gone; nothing can be sent any more.") from error

    def _read(self) -> None:
        # A keeper that is killed before it has read everything resets the connection instead of ending it (measured).
        with suppress(OSError), self._socket.makefile("rb") as lines:
            for line in lines:
                message = json.loads(line)
                if message.get("stop"):
                    self.stop_asked.set()
                else:
                    self._replies.put(message)
        self._replies.put(None)
        self.ended()


class WorkerChannel:
    """The keeper's end; see `open`.

    Args:
        reader, writer: the connected socket.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, connection: socket.socket) -> WorkerChannel:
        """Open the channel on a connected socket."""
        return cls(*await asyncio.open_connection(sock=connection, limit=2**24))

    async def send(self, message: Message) -> None:
        """Send a message. A dead worker is no error here: `serve` sees its death."""
        with suppress(OSError):
            self._writer.write(json.dumps(message).encode() + b"\n")
            await self._writer.drain()

    async def serve(self, answers: Mapping[str, Responder], reported: Callable[[Message], None]) -> None:
        """Answer the worker until its end of the channel is closed.

        Args:
            answers: the function that answers each question, called with the question's facts as keyword arguments.
            reported: called with what the worker reports.
        """
        while line := await self._next():
            message = json.loads(line)
            if "report" in message:
                reported(message["report"])
                continue
            question = message.pop("ask")
            try:
                reply = await answers[question](**message)
            except (Exception, Stop) as error:  # always answer, because the worker waits
                reply = {"error": f"{type(error).__name__}: {error}"}
            await self.send(reply)

    def cut(self) -> None:
        """Stop reading although another process still holds the dead worker's end."""
        self._reader.feed_eof()

    def close(self) -> None:
        """Close this end."""
        self._writer.close()

    async def _next(self) -> bytes:
        """The worker's next whole line; empty when the channel has ended, or a death cut the line off."""
        try:
            line = await self._reader.readline()
        except (OSError, ValueError):  # a death with unread answers or within a line; a line that is too long
            return b""
        return line if line.endswith(b"\n") else b""
