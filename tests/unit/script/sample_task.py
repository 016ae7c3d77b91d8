"""A task with arguments of several types, for the tests of tasks and of their arguments."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from pydantic import BaseModel

from browser_agent.script.tasks import task
from observers import Site

if TYPE_CHECKING:
    from browser_agent.run.executor import Run

books = Site("books", url="https://books.example", account="acme")
mail = Site("mail", url="https://mail.example", account="ann")


class Shipment(BaseModel):
    id: str
    amount: Decimal


@task(sites=[books, mail], version=2)
def invoice(
    run: Run, day: date, shipments: list[Shipment], limit: int = 3, *, note: str | None = None
) -> dict[str, int]:
    """Invoice what was shipped."""
    return {}
