"""Pages that appear as they are wished to: what no command line of Chromium can do is set page by page.

Set by the keeper, whose connection outlives workers; so a page doesn't change when its worker dies. The viewport is set
because a window's own bars differ in height (87 to 143 pixels: measured), the language of `Intl` because Chromium takes
it from a language file that may not be installed. A popup's very first script may run before its page is set. Knows
nothing of runs. What may never happen: a page that does not answer holds the keeper up.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from playwright.async_api import BrowserContext, Error, Page, ViewportSize

from browser_agent.browser.appearance import Appearance

PAGE_SECONDS = 3.0


async def appear(context: BrowserContext, appearance: Appearance) -> None:
    """Set the pages of a context, those that are there before it returns, and each that comes when it comes."""
    if not (appearance.viewport or appearance.locale):
        return

    async def come(page: Page) -> None:
        with suppress(Error, TimeoutError):  # it is gone, or doesn't answer
            await asyncio.wait_for(_set(page, appearance), PAGE_SECONDS)

    context.on("page", come)
    for page in context.pages:
        await come(page)


async def _set(page: Page, appearance: Appearance) -> None:
    if appearance.viewport:
        width, height = appearance.viewport
        await page.set_viewport_size(ViewportSize(width=width, height=height))
    if appearance.locale:
        session = await page.context.new_cdp_session(page)  # it stays: the language lasts as long as it does
        await session.send("Emulation.setLocaleOverride", {"locale": appearance.locale})
