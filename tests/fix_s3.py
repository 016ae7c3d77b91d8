"""A real S3-compatible server (SeaweedFS, whose program comes in a wheel) on this machine, to be struck at will."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser_agent.store.evidence_bucket import Bucket
from tests.support.free_port import free_port

KEY, SECRET = "ann", "s3/planted+secret"
_PORTS = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc")
_NOT_NEEDED = ("s3.port.iceberg=0", "s3.port.lance=0", "master.telemetry=false")
_SOON = ("master.electionTimeout=1s", "master.heartbeatInterval=100ms")  # a restart takes seconds
_DEADLINE_SECONDS = 120.0


def _state(thread: Path) -> str:
    """The letter of its state. Source: proc_pid_stat(5), field 3."""
    return (thread / "stat").read_text().rpartition(")")[2].split()[0]


class Server:
    """A server with one identity, which may do everything; its buckets are made by whoever writes into them.

    Attributes:
        environment: what a process needs to reach it, by AWS's own names.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        *ports, port, grpc = (free_port() for _ in range(len(_PORTS) + 2))
        self._ports = [*ports, port, grpc]
        identity = {"name": KEY, "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": ["Admin"]}
        (folder / "who.json").write_text(json.dumps({"identities": [identity]}))
        words = [f"{name}={number}" for name, number in zip(_PORTS, ports, strict=True)]
        self._words = [*words, f"s3.port={port}", f"s3.port.grpc={grpc}", f"s3.config={folder / 'who.json'}"]
        self.environment = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
        }

    def start(self) -> None:
        """Start it with what it holds, and wait until it takes an object."""
        program = shutil.which("weed", path=sysconfig.get_path("scripts")) or "weed"
        where = ["ip=127.0.0.1", "ip.bind=127.0.0.1", f"dir={self._folder}", f"filer.localSocket={self._folder}/filer"]
        room = ["volume.max=16", "master.volumeSizeLimitMB=32"]
        words = [f"-{word}" for word in (*where, *room, *self._words, *_NOT_NEEDED, *_SOON)]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [program, "server", "-s3", *words], stdout=log, stderr=log, start_new_session=True
            )

    def until_it_answers(self) -> None:
        """Wait for it; its address and key must be in the environment."""
        end = time.monotonic() + _DEADLINE_SECONDS
        while True:
            try:
                Bucket("s3://pictures", "ready", patience=2).probe()
                return
            except Exception as error:
                assert time.monotonic() < end, f"{error}\n{(self._folder / 'log').read_text()[-4000:]}"
            time.sleep(0.2)

    def kill(self) -> None:
        """SIGKILL, and see it dead."""
        self._process.kill()
        self._process.wait(30)

    def alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def stop(self) -> None:
        """It takes connections, and answers nothing: each of its threads has stopped when this returns."""
        self._process.send_signal(signal.SIGSTOP)
        threads = Path(f"/proc/{self._process.pid}/task")
        while any(_state(thread) != "T" for thread in threads.iterdir()):
            time.sleep(0.01)

    def resume(self) -> None:
        """After `stop`."""
        self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """End it, whatever it does, with the sockets that it leaves."""
        self.kill()
        for port in self._ports:
            for left in Path(tempfile.gettempdir()).glob(f"seaweedfs-*-{port}.sock"):
                left.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Server]:
    folder = Path(tempfile.mkdtemp(prefix="browser-agent-s3-"))
    server = Server(folder)
    try:
        server.start()
        yield server
    finally:
        server.end()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def s3(s3_server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The server, with what is needed to reach it in the environment."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    s3_server.until_it_answers()
    yield s3_server
    s3_server.resume()
    if not s3_server.alive():
        s3_server.start()
