"""Deletions and batches at an office."""

from __future__ import annotations

from datetime import timedelta

from playwright.sync_api import Page

from browser_agent import Click, Gesture, Gone, Record, Run, Site, step, task

office = Site(
    "office",
    url="http://127.0.0.1:1",
    account="acme",
    signed_in="[data-account]",
    late_commit=timedelta(seconds=1),
)


@step(site=office)
def delete(page: Page, key: str) -> Gesture[None]:
    page.goto(office / f"delete/{key}")
    return Click(
        page.get_by_role("button", name="delete"),
        intent=f"delete {key}",
        sends="POST /delete/*",
        settle=3.0,
        proof=[Gone(Record(office, "documents", key={"Key": key}, complete=True))],
    )


@step(site=office)
def approve(page: Page, key: str) -> Gesture[None]:
    page.goto(office / f"approve/{key}")
    return Click(
        page.get_by_role("button", name="approve"),
        intent=f"approve three sheets of {key}",
        sends="POST /approve/*",
        settle=3.0,
        proof=[Record(office, "approvals", key={"Key": key}, complete=True, times=3)],
    )


@task(sites=[office])
def deleting(run: Run, key: str) -> None:
    run.step(delete(key))


@task(sites=[office])
def approving_sheets(run: Run, key: str) -> None:
    run.step(approve(key))
