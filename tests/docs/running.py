"""Runs a page: one shell for all of its blocks, in a folder of their own, against practice sites at free ports.

What is another one each time and comes up in later commands (a question's id) is learned from what was said. Everything
that a page leaves running is ended with it.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from contextlib import suppress
from pathlib import Path

from browser_agent.browser.chromium import find_chromium
from tests.docs.pages import Block, expected, ids, in_pairs, ports
from tests.support.free_port import free_port

DEADLINE_SECONDS = 600.0
"""The longest that one block may take; on a machine that has nothing else to do it is some seconds."""
END = "@@ended"
STARTED = re.compile(r"--port (\d+).*&$", re.M)


class Shell:
    """A shell that is fed one block after the other. Use it with `with`."""

    def __init__(self, folder: Path) -> None:
        path = os.pathsep.join([sysconfig.get_path("scripts"), str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {**os.environ, "PATH": path, "COLUMNS": "100", "BROWSER_AGENT_STORE": f"{folder}.db"}
        self._folder = folder
        self._bash = subprocess.Popen(
            ["bash"],
            cwd=folder,
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def run(self, script: str, *, stays: bool = False) -> tuple[list[int], str]:
        """Run a block; the codes of its commands that ended otherwise than with 0, and what was said."""
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        file = self._folder.with_name("block.sh")
        file.write_text(f"{script}:\n", encoding="utf-8")  # or else the last code is told twice
        aside = f"> {self._folder.with_name('background.log')} 2>&1" if stays else ""
        self._bash.stdin.write(
            f"codes=(); trap 'codes+=($?)' ERR; . {file} {aside}\ntrap - ERR; echo {END} ${{codes[*]}}\n"
        )
        self._bash.stdin.flush()
        watch = threading.Timer(DEADLINE_SECONDS, self.end)
        watch.start()
        said = ""
        try:
            for line in self._bash.stdout:
                if line.startswith(END):
                    return [int(code) for code in line.split()[1:]], said
                said += line
        finally:
            watch.cancel()
        raise AssertionError(f"the shell has ended, or was ended after {DEADLINE_SECONDS:g} s\n{script}\n{said}")

    def end(self) -> None:
        """End it and all that it has started."""
        with suppress(ProcessLookupError):  # nothing was left running
            os.killpg(self._bash.pid, signal.SIGKILL)

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._bash.communicate()


def run_page(page: list[Block], folder: Path) -> None:
    """Save and run the blocks of a page in their order. Raises AssertionError for the first that isn't as it says."""
    others = {port: str(free_port()) for port in ports(page)}
    truth = re.search(r"testing books --port (\d+)", _of_today("".join(block.text for block in page), others))
    with Shell(folder) as shell:
        for block, shown in in_pairs(page):
            if block.saved_as:
                text = _of_today(block.text, others).replace(
                    "chromium.launch()", f"chromium.launch(executable_path={str(find_chromium())!r})"
                )
                (folder / block.saved_as).write_text(text, encoding="utf-8")
                continue
            script = _of_today(block.text, others)
            codes, said = shell.run(_asked_before_the_end(script, truth), stays=block.stays)
            assert codes == ([block.exits] if block.exits else []), f"{script}\nended with {codes or 0}\n{said}"
            _wait_for(STARTED.findall(script) if block.stays else [])
            if shown is not None:
                wanted = _of_today(shown.text, others)
                found = expected(wanted).fullmatch(said)
                assert found, f"{script}\nsays\n{said}\nand the page shows\n{wanted}"
                others |= dict(zip(ids(shown.text), found.groups(), strict=True))


def _of_today(text: str, others: dict[str, str]) -> str:
    """The text with the ports and ids of this time."""
    return re.sub("|".join(map(re.escape, others)), lambda found: others[found[0]], text) if others else text


def _asked_before_the_end(script: str, site: re.Match[str] | None) -> str:
    """The same commands, with the site's truth written down before it is ended by them."""
    if site is None:
        return script
    ask = f"from urllib.request import urlopen; print(urlopen('http://127.0.0.1:{site[1]}/_truth').read().decode())"
    return script.replace("kill %1", f'"{sys.executable}" -c "{ask}" > ../truth.json\nkill %1')


def _wait_for(started: list[str]) -> None:
    """Wait until somebody listens at each port."""
    for port in started:
        for _ in range(600):
            with suppress(OSError), socket.create_connection(("127.0.0.1", int(port))):
                break
            time.sleep(0.1)
        else:
            raise AssertionError(f"nobody listens at port {port}")
