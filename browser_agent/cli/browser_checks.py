"""Checks of the browser: Playwright's driver starts, Chromium starts and opens a page, and no letter is a box."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from browser_agent import support
from browser_agent.browser.chromium import ENVIRONMENT_NAME, Chromium, find_chromium
from browser_agent.browser.driver import driver_failure, sync_driver
from browser_agent.cli.check import Probe
from browser_agent.cli.shared_libraries import LOADER_ERROR, has_apt, install_command, missing_libraries, packages_for
from browser_agent.errors import INSTALL_BROWSER, BrowserUnavailable
from browser_agent.settings import AS_SHIPPED, Settings

FONTS = ("fonts-liberation", "fonts-noto-cjk", "fonts-noto-color-emoji", "fonts-noto-core")
"""Debian's font packages for the scripts of common pages; the Dockerfile installs the same."""
_SECONDS = 30

# A letter missing from every font is drawn as a box, and so is U+0378, which Unicode has not assigned.
_BOXES = """(samples) => {
  const drawn = (letter) => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 48;
    const pen = canvas.getContext("2d");
    pen.font = "32px sans-serif";
    pen.fillText(letter, 4, 36);
    return canvas.toDataURL();
  };
  const boxes = new Set([drawn("\\u0378"), drawn("")]);
  return Object.entries(samples).filter(([, letter]) => boxes.has(drawn(letter))).map(([name]) => name);
}"""
_SAMPLES = {
    "Latin": "\u00e9",
    "Greek": "\u03a9",
    "Cyrillic": "\u0416",
    "Arabic": "\u0639",
    "Devanagari": "\u0905",
    "Thai": "\u0e01",
    "Chinese": "\u4e2d",
    "Japanese": "\u3042",
    "Korean": "\ud55c",
    "emoji": "\U0001f600",
}


@dataclass(frozen=True)
class Trouble:
    """Why a program doesn't start.

    Args:
        words: the reason, without a full stop.
        libraries: the missing shared libraries.
    """

    words: str
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True)
class BrowserFacts:
    """What was found out about Chromium.

    Args:
        program: its executable; None = none was found.
        number: its version, once it has started.
        boxes: the scripts that a page shows as boxes because no font has them.
        trouble: why it doesn't start or open a page; None = it does.
    """

    program: Path | None = None
    number: str = ""
    boxes: tuple[str, ...] = ()
    trouble: Trouble | None = None


def browser_checks(using: Settings = AS_SHIPPED) -> list[Probe]:
    """Check Playwright, Chromium and the fonts. Starts the driver and a Chromium."""
    trouble = driver_trouble()
    facts = browser_facts(using, open_page=trouble is None)
    checks = [check_playwright(trouble), check_chromium(facts)]
    return [*checks, check_fonts(facts)] if facts.trouble is None and trouble is None else checks


def check_playwright(trouble: Trouble | None) -> Probe:
    try:
        found = version("playwright")
    except PackageNotFoundError:
        return Probe("Playwright", "missing", "pip install playwright")
    if trouble is not None:
        return Probe("Playwright", f"{found}, its driver doesn't start: {trouble.words}", remedy(trouble))
    return Probe("Playwright", found, warning=support.PLAYWRIGHT.warning(found))


def check_chromium(facts: BrowserFacts) -> Probe:
    if facts.trouble is not None:
        to_do = f"{remedy(facts.trouble)}; or set {ENVIRONMENT_NAME} to a Chromium that starts"
        return Probe("Chromium", f"doesn't start: {facts.trouble.words}", to_do)
    return Probe("Chromium", f"{facts.number} at {facts.program}", warning=support.CHROMIUM.warning(facts.number))


def check_fonts(facts: BrowserFacts) -> Probe:
    """Check the fonts. Missing ones are a warning: pages work, but a person can't read their screenshots."""
    if not facts.boxes:
        return Probe("fonts", ", ".join(_SAMPLES))
    remedy = f"{INSTALL_BROWSER}, as root" + (f", or: {' '.join(install_command(FONTS))}" if has_apt() else "")
    return Probe("fonts", f"none for {', '.join(facts.boxes)}", warning=f"pictures show boxes for them: {remedy}")


def remedy(trouble: Trouble) -> str:
    """The command that fixes the trouble."""
    as_root = "" if os.geteuid() == 0 or not trouble.libraries else ", as root"
    packages = packages_for(trouble.libraries) if has_apt() else []
    return f"{INSTALL_BROWSER}{as_root}" + (f", or: {' '.join(install_command(packages))}" if packages else "")


def driver_trouble() -> Trouble | None:
    """Why Playwright's driver doesn't start; None if it does."""
    failure = driver_failure()
    if failure is None:
        return None
    package = find_spec("playwright")
    node = Path(package.origin).parent / "driver" / "node" if package is not None and package.origin else Path("node")
    return _trouble(node, failure.output)


def browser_facts(using: Settings = AS_SHIPPED, *, open_page: bool = True) -> BrowserFacts:
    """Start a Chromium, open a page in it, end it, and return what was found out. Never raises.

    Args:
        using: the settings, which name the Chromium and its arguments.
        open_page: open a page, which needs Playwright's driver.
    """
    program = None
    try:
        program = find_chromium(using.chromium)
        with tempfile.TemporaryDirectory(prefix="browser-agent-") as folder:
            chromium = Chromium.start(Path(folder) / "profile", executable=program, extra=using.chromium_arguments)
            try:
                number = chromium.version
                boxes = _boxes(chromium.endpoint) if open_page else []
            finally:
                chromium.end()
    except BrowserUnavailable as error:
        return BrowserFacts(program, trouble=_trouble(program, error.output or error.because))
    except Exception as error:  # any failure is the result of the check
        return BrowserFacts(program, trouble=_trouble(program, str(error)))
    return BrowserFacts(program, number, tuple(boxes))


def start_failure(error: BrowserUnavailable) -> str:
    """Why Chromium or Playwright's driver doesn't start, and the command that helps, in one sentence."""
    trouble = _trouble(None, error.output)
    if not trouble.libraries:
        return str(error)
    return f"{error.because.partition(':')[0]}: {trouble.words}. Run: {remedy(trouble)}"


def _boxes(endpoint: str) -> Sequence[str]:
    """Find the boxes in a separate thread: Playwright's sync API refuses to run in a thread that has an event loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_draw, endpoint).result()


def _draw(endpoint: str) -> Sequence[str]:
    with sync_driver() as playwright:
        browser = playwright.chromium.connect_over_cdp(endpoint, timeout=_SECONDS * 1000)
        page = browser.contexts[0].pages[0]
        page.set_content("<!doctype html><title>doctor</title><p>A page.", timeout=_SECONDS * 1000)
        boxes: list[str] = page.evaluate(_BOXES, _SAMPLES)
        return boxes


def _trouble(program: Path | None, message: str) -> Trouble:
    """The missing libraries if there are any, else the last line of the message."""
    libraries = missing_libraries(program, message) if program is not None else tuple(LOADER_ERROR.findall(message))
    if libraries:
        return Trouble(f"{', '.join(libraries)} {'is' if len(libraries) == 1 else 'are'} missing", libraries)
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return Trouble(lines[-1].rstrip(".") if lines else "it printed nothing")
