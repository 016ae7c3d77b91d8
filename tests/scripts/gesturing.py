"""Tasks for the acceptance tests: a card of the board changed by each kind of gesture other than a click."""

from datetime import timedelta

from playwright.sync_api import Page
from pydantic import BaseModel

from browser_agent import (
    ConfirmationText,
    DoubleClick,
    DragTo,
    Gesture,
    Hold,
    Record,
    RightClick,
    Run,
    Site,
    step,
    task,
)
from browser_agent.script.gestures import About

late = timedelta(seconds=2)
board = Site("board", url="http://127.0.0.1:1", account="acme", signed_in='[data-account="acme"]', late_commit=late)


class Changed(BaseModel):
    """What a change is known by."""

    number: str


def about(card: str, by: str) -> About:
    """What every gesture here is told."""
    return {
        "intent": f"change card {card} by {by}",
        "sends": "POST /changes",
        "proof": [
            ConfirmationText(rf"Change (?P<number>\S+) made to {card}\b"),
            Record(
                board,
                "changes",
                key={"Card": card},
                complete=True,
                count=r"(\d+) changes?",
                reads={"number": "Number"},
            ),
        ],
        "settle": 3.0,
        "timeout": 4.0,
    }


@step(site=board, again=3)
def change(page: Page, card: str, by: str, *, but: str) -> Gesture[Changed]:
    """Change the card by the gesture that `by` names."""
    page.goto(board / f"card?card={card}&by={by}&but={but}")
    told = about(card, by)
    match by:
        case "menu":
            return RightClick(page.get_by_text(f"Document of {card}"), gives=Changed, **told)
        case "hold":
            return Hold(page.get_by_role("button", name="Hold to approve"), 900, gives=Changed, **told)
        case "drag":
            return DragTo(
                page.get_by_text(card, exact=True), page.get_by_role("group", name="Done"), gives=Changed, **told
            )
        case _:
            return DoubleClick(page.get_by_role("button", name=f"Book {card}"), gives=Changed, **told)


@task(sites=[board])
def change_one(run: Run, card: str, by: str, *, but: str = "") -> str:
    """Change one card by the gesture that `by` names."""
    return run.step(change(card, by, but=but)).number
