"""A cable to a server of this machine, which can be pulled: first nothing comes through, then the connections end.

What may never happen: what was under way when it was pulled arrives after all.
"""

from __future__ import annotations

import asyncio
from typing import Self

from browser_agent.testing.proxy.loop_thread import LoopThread

HERE = "127.0.0.1"
SILENT_SECONDS = 3.0
"""So long a pulled cable looks like a slow one; then its ends are told that they have lost each other."""


class Cable:
    """From `port` here to the server's.

    Args:
        server: the port of the server.
    """

    def __init__(self, server: int) -> None:
        self._server, self._whole, self._pulled = server, asyncio.Event(), 0
        self._ends: set[asyncio.StreamWriter] = set()
        self._loop = LoopThread("cable")
        self._whole.set()
        self._loop.run(self._open())

    async def _open(self) -> None:
        self._door = await asyncio.start_server(self._connected, HERE, 0)
        self.port: int = self._door.sockets[0].getsockname()[1]

    def pull(self) -> None:
        """Let nothing through any more, and soon no connection live."""
        self._loop.call(self._whole.clear)
        self._loop.call(lambda: self._loop.spawn(self._lose()))

    def plug(self) -> None:
        """Let new connections through; the old ones are lost."""
        self._loop.call(self._cut)
        self._loop.call(self._whole.set)

    def close(self) -> None:
        self._loop.call(self._cut)
        self._loop.call(self._door.close)
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # on the loop's thread

    async def _lose(self) -> None:
        await asyncio.sleep(SILENT_SECONDS)
        if not self._whole.is_set():
            self._cut()

    def _cut(self) -> None:
        self._pulled += 1
        for end in list(self._ends):
            end.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._loop.spawn(self._serve(reader, writer))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = self._pulled
        self._ends.add(writer)
        try:
            await self._whole.wait()
            if number != self._pulled:
                return
            there, sender = await asyncio.open_connection(HERE, self._server)
            self._ends.add(sender)
            try:
                await asyncio.gather(self._carry(reader, sender), self._carry(there, writer))
            finally:
                self._ends.discard(sender)
                sender.transport.abort()
        except OSError:  # the server isn't there, or one end has left
            pass
        finally:
            self._ends.discard(writer)
            writer.transport.abort()

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        number = self._pulled
        while data := await source.read(65536):
            await self._whole.wait()
            if number != self._pulled:
                return
            sink.write(data)
            await sink.drain()
        sink.transport.abort()
