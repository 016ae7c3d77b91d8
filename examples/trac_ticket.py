"""File a ticket in a Trac (https://trac.edgewall.org), and hand back its number.

TRAC_PASSWORD=... browser-agent run examples/trac_ticket.py summary="Lamp is dark" description="Since noon." \
    --site trac=https://trac.example --account trac=ann

Written for Trac 1.6 as it is installed, with its sign-in by the web server (HTTP Basic) and its own session after that.
"""

import os
import re
from base64 import b64encode
from datetime import timedelta
from typing import Annotated

from playwright.sync_api import Page
from pydantic import BaseModel, BeforeValidator

from browser_agent import Click, ConfirmationText, Gesture, Record, Run, Site, step, task

trac = Site(
    "trac",
    url="http://127.0.0.1:8000",
    account="ann",
    signed_in="logged in as {account}",
    # Trac inserts a ticket while it answers the request; nothing is queued. The longest that it may wait before is 20 s
    # for a database connection ([trac] timeout) and 10 s for SQLite's lock. Add what a proxy of yours may hold back.
    late_commit=timedelta(seconds=30),
    scripts=False,  # its lists are plain HTML
)

NO_PREVIEW = "Object.defineProperty(window, 'auto_preview_timeout', {get: () => 0, set() {}})"
"""While a form is filled in, Trac posts previews of it to the very address that creates tickets: at the wire they could
pass for the ticket. They are switched off in our page, as an account's own preferences would."""


class Ticket(BaseModel):
    """A ticket that was filed."""

    ticket: Annotated[int, BeforeValidator(lambda told: str(told).removeprefix("#"))]


def tickets_with(reference: str) -> Record:
    """The tickets whose only keyword is the reference.

    Complete, because with a filter of its own Trac's query page leaves its default one aside (open tickets only),
    `max=0` asks for all rows on one page, and the number in its heading, counted before rows that the account may not
    see are left out, must agree. It can't know a ticket whose keywords somebody has changed or that was deleted.
    """
    return Record(
        trac,
        f"query?keywords={reference}&col=id&col=summary&col=status&col=keywords&order=id&max=0",
        key={"Keywords": reference},
        complete=True,
        reads={"ticket": "Ticket"},
        count=r"Custom Query \((\d+) match(?:es)?\)",
    )


@step(site=trac)
def create_ticket(page: Page, summary: str, description: str, reference: str) -> Gesture[Ticket]:
    """Fill in the form of a new ticket; the gesture is the click on "Create ticket"."""
    sign_in(page)
    page.add_init_script(NO_PREVIEW)
    page.goto(trac / "newticket")
    page.get_by_label("Summary:").fill(summary)
    page.get_by_label("Description:").fill(description)
    page.get_by_label("Keywords:").fill(reference)
    return Click(
        page.get_by_role("button", name="Create ticket"),
        intent=f"file the ticket {summary!r}",
        sends="POST /newticket",
        proof=[
            # the ticket's own page: "#7 new defect", its summary, and among its fields our keyword
            ConfirmationText(rf"(?m)^(?P<ticket>#\d+) \w+ \w+$(?s:.*?)^Keywords:\s+{re.escape(reference)}$"),
            tickets_with(reference),
        ],
        gives=Ticket,
    )


def sign_in(page: Page) -> None:
    """Show the password once, to the page that gives a session for it."""
    password = os.environ["TRAC_PASSWORD"]
    shown = b64encode(f"{trac.account}:{password}".encode()).decode()
    page.set_extra_http_headers({"Authorization": f"Basic {shown}"})
    page.goto(trac / "login")
    page.set_extra_http_headers({})


@task(sites=[trac])
def file_ticket(run: Run, summary: str, description: str) -> int:
    """File one ticket. Its keyword is this run's id, so that two runs with equal words are two tickets."""
    return run.step(create_ticket(summary, description, reference=run.id)).ticket
