"""What `temporal` is measured beside: the same invoices as a plain Temporal activity, with a heartbeat and no look.

`python -m benchmarks.plain ADDRESS SITE [dies]` is its worker; one that dies ends itself just after the site has
posted.
"""

import asyncio
import os
import signal
import sys
from datetime import timedelta

from playwright.async_api import async_playwright
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from browser_agent.browser.chromium import find_chromium

QUEUE = "plain"
GESTURE_SECONDS = 2.0
BEGUN = "the plain activity begins"
"""PersonAnswer each time that it does."""


@activity.defn
async def post_plainly(site: str, times: int) -> None:
    """Fill the form and press the button, several times."""
    print(BEGUN, flush=True)
    beats = asyncio.create_task(_beat())
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium())
        page = await browser.new_page()
        for number in range(times):
            reference = f"R-{number}"
            await page.goto(f"{site}/invoices/new")
            for label, value in (("Customer", "Contoso Ltd"), ("Amount", "10.00"), ("Reference", reference)):
                await page.get_by_label(label).fill(value)
            await page.get_by_role("button", name="Post").click()
            await page.get_by_text(f"posted for {reference}").wait_for()
            if sys.argv[-1] == "dies":
                await asyncio.sleep(GESTURE_SECONDS)  # so that the other worker is there when this one dies
        if sys.argv[-1] == "dies":
            os.killpg(0, signal.SIGKILL)
        await browser.close()
    beats.cancel()


async def _beat() -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(1)


@workflow.defn
class Plain:
    """One activity, as its defaults are."""

    @workflow.run
    async def run(self, site: str, times: int, heartbeat_seconds: float) -> None:
        """Run the activity."""
        await workflow.execute_activity(
            post_plainly,
            args=[site, times],
            start_to_close_timeout=timedelta(hours=1),
            heartbeat_timeout=timedelta(seconds=heartbeat_seconds),
        )


async def main() -> None:
    """Be the worker, until it is ended."""
    client = await Client.connect(sys.argv[1])
    runner = UnsandboxedWorkflowRunner()
    await Worker(client, task_queue=QUEUE, workflows=[Plain], activities=[post_plainly], workflow_runner=runner).run()


if __name__ == "__main__":
    asyncio.run(main())
