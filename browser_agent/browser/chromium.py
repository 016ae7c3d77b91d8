"""A Chromium that outlives the process that started it, can be found by another process, and is killed reliably.

Only a separate Chromium process with its own profile and its DEFAULT context keeps a live page when the worker attached
to it is killed. `launch()`, a persistent context and `new_context()` all lose the page (measured).
"""

from __future__ import annotations

import glob
import http.client
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from browser_agent import processes
from browser_agent.browser.appearance import AS_IT_IS, Appearance
from browser_agent.browser.client_certificate import PASSPHRASE_VARIABLE, presenting
from browser_agent.errors import INSTALL_BROWSER, BrowserUnavailable, last_line
from browser_agent.processes import ProcessId
from browser_agent.secrets.seal import KEY_VARIABLE

ENVIRONMENT_NAME = "BROWSER_AGENT_CHROMIUM"

_FLAGS = (
    "--remote-debugging-port=0",
    "--enable-net-benchmarking",  # chrome.benchmarking.closeConnections(): the guard against doubled requests needs it
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--hide-crash-restore-bubble",  # we end it by SIGKILL on purpose
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--disable-breakpad",
    "--disable-default-apps",
    "--disable-dev-shm-usage",  # a container's /dev/shm is often too small for a tab
    "--disable-gpu",
    "--disable-popup-blocking",
    # Pages in the background are still read and captured.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
)
_FEATURES = "--disable-features="
_DISABLED_FEATURES = (  # merged with the caller's into one argument: Chromium uses only the last one
    f"{_FEATURES}Translate,OptimizationHints,MediaRouter,HttpsUpgrades,DialMediaRouteProvider,"
    # Chromium preloads its own address bar as two web pages: half of the CPU time of a start (measured, Chromium 156).
    "PreloadTopChromeWebUI,WebUIOmniboxPopup,WebUIOmniboxFullPopup,WebUIOmniboxAimPopup"
)
_PREFERENCES = {"net": {"network_prediction_options": 2}}
"""No preconnects: a connection opened ahead counts as used, so Chromium would resend a write on it (measured)."""
_NOT_FOR_CHROMIUM = frozenset({KEY_VARIABLE, PASSPHRASE_VARIABLE})
_STDERR_NAME = "chromium.stderr"
_PORT_NAME = "DevToolsActivePort"
_ANSWER_SECONDS = 5.0
_POLL_SECONDS = 0.02


class ChromiumSilent(Exception):
    """Chromium's debugging port doesn't answer. Its process may be alive or dead."""


@dataclass(frozen=True)
class BrowserId:
    """A Chromium's identity, as stored, so that another process can find it again."""

    endpoint: str
    process: ProcessId
    profile: Path


_IDENTITY = TypeAdapter(BrowserId)


@dataclass(frozen=True)
class Target:
    """One entry of Chromium's own list of targets: `kind` is "page", "iframe", "service_worker" ..."""

    id: str
    kind: str
    url: str
    title: str


def find_chromium(wanted: Path | None = None) -> Path:
    """The Chromium to use: `wanted`, else the environment's, else Playwright's newest, else the system's.

    Raises:
        BrowserUnavailable: there is none, or `wanted` or the one named by the environment can't be run.
    """
    if named := wanted or os.environ.get(ENVIRONMENT_NAME):
        if os.access(named, os.X_OK) and Path(named).is_file():
            return Path(named)
        who = ENVIRONMENT_NAME if str(named) == os.environ.get(ENVIRONMENT_NAME) else "the setting chromium"
        raise BrowserUnavailable(f"{who}={named} can't be run", "Set it to a Chromium, or unset it.")
    for found in (*_from_playwright(), *_from_system()):
        if os.access(found, os.X_OK):
            return found
    raise BrowserUnavailable(
        "No Chromium was found", f"Run: {INSTALL_BROWSER}, or set {ENVIRONMENT_NAME} to a Chromium."
    )


class Chromium:
    """One Chromium, ours to end. Created by `start`, or by `found` in another process."""

    def __init__(self, identity: BrowserId) -> None:
        self.identity = identity

    @classmethod
    def start(
        cls,
        profile: Path,
        *,
        headless: bool = True,
        extra: Sequence[str] = (),
        appearance: Appearance = AS_IT_IS,
        executable: Path | None = None,
        deadline_seconds: float = 30.0,
    ) -> Chromium:
        """Start a Chromium that outlives this process.

        Args:
            profile: its profile folder, created here with mode 0700; one Chromium at a time may use it.
            headless: start it without a window.
            extra: further command line arguments.
            appearance: how it appears to sites.
            executable: the Chromium to start; `find_chromium()` by default.
            deadline_seconds: how long it may take until its port answers and its first page exists.

        Raises:
            BrowserUnavailable: there is none, it died or didn't answer, or another one uses the profile. None of its
                processes is left running.
            Misuse: the client certificate can't be installed in it.
        """
        program = find_chromium(executable)
        folder = _make_profile_folder(profile)
        if living := processes_of(folder):
            in_use = f"the profile {folder} is in use by pid {min(p.pid for p in living)}"
            raise BrowserUnavailable(f"Chromium doesn't start: {in_use}", "")
        (folder / _PORT_NAME).unlink(missing_ok=True)
        _write_preferences(folder, appearance.preferences)
        arguments = _arguments(folder, headless, (*appearance.arguments, *extra))
        environment = {**os.environ, **appearance.environment, **presenting(folder, appearance.client)}
        try:
            pid = _spawn(program, arguments, folder / _STDERR_NAME, environment)
        except OSError as error:
            raise _start_error(program, str(error)) from error
        process = processes.identify(pid)
        port = None if process is None else _await_port(process, folder, deadline_seconds)
        if process is None or port is None:
            processes.end([] if process is None else [process], also=lambda: processes_of(folder))
            processes.reap(pid)
            raise _start_error(program, stderr_tail(folder))
        return cls(BrowserId(f"http://127.0.0.1:{port}", process, folder))

    @classmethod
    def found(cls, stored: str) -> Chromium:
        """The Chromium that another process started, from its `stored`. It may be dead; `end` works either way."""
        return cls(_IDENTITY.validate_json(stored))

    @property
    def stored(self) -> str:
        """Its identity as JSON, from which another process finds it."""
        return _IDENTITY.dump_json(self.identity).decode()

    @property
    def endpoint(self) -> str:
        """Where Playwright's `connect_over_cdp` attaches, such as http://127.0.0.1:41237."""
        return self.identity.endpoint

    @property
    def process(self) -> ProcessId:
        """Chromium's main process, which leads its own group and session."""
        return self.identity.process

    @property
    def profile(self) -> Path:
        return self.identity.profile

    @property
    def version(self) -> str:
        """Such as "156.0.8078.108". Raises ChromiumSilent."""
        return str(_ask(self.endpoint, "/json/version")["Browser"]).partition("/")[2]

    def alive(self) -> bool:
        """Whether its main process is alive. A renderer may outlive it: only `end` shows that nothing is left."""
        return processes.alive(self.process)

    def targets(self) -> list[Target]:
        """Its pages and workers, including those that hang. Raises ChromiumSilent."""
        return [
            Target(id=each["id"], kind=each["type"], url=each["url"], title=each["title"])
            for each in _ask(self.endpoint, "/json/list")
        ]

    def end(self, deadline_seconds: float = 10.0) -> frozenset[ProcessId]:
        """Kill all of its processes with SIGKILL, and return those that were found, each confirmed dead.

        Chromium's children (the zygote, the crash handler) may lead their own process groups and outlive their parent.
        So they are found by the process tree, by the group, and by the profile in the command line.

        Raises:
            StillAlive: one is still alive at the deadline. It may still send, so nothing may be concluded.
        """
        ended = processes.end([self.process], deadline_seconds, also=lambda: processes_of(self.profile))
        _remove_socket_folder(self.profile)
        return ended

    def discard(self) -> None:
        """`end`, and remove the profile: cache and history hold typed text unencrypted. Raises StillAlive."""
        self.end()
        shutil.rmtree(self.profile, ignore_errors=True)


def _remove_socket_folder(profile: Path) -> None:
    """Remove the folder of its socket, which lies outside the profile; Chromium removes it only on a clean exit."""
    socket = profile / "SingletonSocket"
    if socket.is_symlink() and (folder := socket.readlink().parent).name.startswith("org.chromium.Chromium."):
        shutil.rmtree(folder, ignore_errors=True)


def close_page_by_port(endpoint: str, target_id: str) -> None:
    """Close a page without attaching: attaching hangs on an open dialog or a busy script. The page is lost.

    Raises:
        ChromiumSilent: the port doesn't answer, or has no such page.
    """
    _fetch(endpoint, f"/json/close/{target_id}")


def processes_of(profile: Path) -> frozenset[ProcessId]:
    """The living processes whose command line names this profile folder."""
    named = re.compile(
        rf"--(?:user-data-dir={re.escape(str(profile))}|database={re.escape(str(profile))}/Crash\S*)(?=\s|$)"
    )
    return frozenset(
        found
        for each in psutil.process_iter(["cmdline"])
        if named.search(" ".join(each.info["cmdline"] or ())) and (found := processes.identify(each.pid)) is not None
    )


def stderr_tail(profile: Path, lines: int = 12) -> str:
    """The last lines that Chromium wrote to its standard error."""
    path = profile / _STDERR_NAME
    text = path.read_text(errors="replace") if path.exists() else ""
    return "\n".join(text.splitlines()[-lines:])


def _start_error(program: Path, output: str) -> BrowserUnavailable:
    return BrowserUnavailable(f"Chromium doesn't start: {program}: {last_line(output)}", output=output)


def _arguments(profile: Path, headless: bool, extra: Sequence[str]) -> list[str]:
    return [
        f"--user-data-dir={profile}",
        *_FLAGS,
        *(["--headless=new", "--hide-scrollbars", "--window-size=1280,960"] if headless else []),
        *(["--no-sandbox"] if os.geteuid() == 0 else []),  # Chromium refuses to sandbox root
        *(each for each in extra if not each.startswith(_FEATURES)),
        ",".join([_DISABLED_FEATURES, *(each.removeprefix(_FEATURES) for each in extra if each.startswith(_FEATURES))]),
        "about:blank",
    ]


def _make_profile_folder(profile: Path) -> Path:
    """Create the folder for our user alone: it holds cookies, and its owner has the session."""
    profile.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = profile.resolve()
    if folder.stat().st_uid != os.geteuid():
        raise BrowserUnavailable(f"Chromium doesn't start: the profile {folder} belongs to another user", "")
    folder.chmod(0o700)
    return folder


def _write_preferences(profile: Path, more: Mapping[str, Any]) -> None:
    """Write a new profile's preferences; Chromium adds its own to them."""
    path = profile / "Default" / "Preferences"
    if not path.exists():
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_text(json.dumps({**_PREFERENCES, **more}))


def _spawn(program: Path, arguments: Sequence[str], stderr: Path, environment: Mapping[str, str]) -> int:
    """Start it in its own session, so that neither a signal to our process group nor our death reaches it."""
    writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    return os.posix_spawn(
        program,
        [str(program), *arguments],
        {name: value for name, value in environment.items() if name not in _NOT_FOR_CHROMIUM},
        setsid=True,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, str(stderr), writing, 0o600),
        ],
    )


def _await_port(process: ProcessId, profile: Path, deadline_seconds: float) -> int | None:
    """The port that it chose, once its first page exists; None if it died or didn't answer."""
    deadline = time.monotonic() + deadline_seconds
    while processes.alive(process) and time.monotonic() < deadline:
        port = _written_port(profile)
        if port is not None and _has_a_page(f"http://127.0.0.1:{port}"):
            return port
        time.sleep(_POLL_SECONDS)
    return None


def _written_port(profile: Path) -> int | None:
    try:
        first, newline, _ = (profile / _PORT_NAME).read_text().partition("\n")
    except FileNotFoundError:
        return None
    return int(first) if newline else None  # no newline: the file is half written


def _has_a_page(endpoint: str) -> bool:
    """Whether there is a page to attach to; the port answers before there is one."""
    try:
        return any(each["type"] == "page" for each in _ask(endpoint, "/json/list"))
    except ChromiumSilent:
        return False


def _ask(endpoint: str, path: str) -> Any:
    return json.loads(_fetch(endpoint, path))


def _fetch(endpoint: str, path: str) -> str:
    """GET on Chromium's own port, never through a proxy."""
    address = urlsplit(endpoint)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read().decode()
    except (OSError, http.client.HTTPException) as error:
        raise ChromiumSilent(f"{endpoint}{path}: {error}") from error
    finally:
        connection.close()
    if answer.status != 200:
        raise ChromiumSilent(f"{endpoint}{path}: {answer.status} {text.strip()}")
    return text


def _from_playwright() -> list[Path]:
    """Playwright's Chromium downloads, newest first. Its driver knows them too, but takes half a second to start."""
    default = "~/Library/Caches/ms-playwright" if sys.platform == "darwin" else "~/.cache/ms-playwright"
    folder = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or default).expanduser()
    pattern = "chrome-mac*/*.app/Contents/MacOS/*" if sys.platform == "darwin" else "chrome-linux*/chrome"
    found = [Path(each) for each in glob.glob(str(folder / "chromium-*" / pattern))]
    return sorted(found, key=lambda path: _revision(path, folder), reverse=True)


def _revision(path: Path, folder: Path) -> int:
    number = path.relative_to(folder).parts[0].removeprefix("chromium-")
    return int(number) if number.isdigit() else 0


def _from_system() -> list[Path]:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    on_path = [Path(found) for name in names if (found := shutil.which(name))]
    applications = [Path(f"/Applications/{name}.app/Contents/MacOS/{name}") for name in ("Chromium", "Google Chrome")]
    return on_path + applications
