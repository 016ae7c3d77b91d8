"""Keeps a run: the functions behind `browser-agent run` and `resume`. See `run_keeper` for how."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from browser_agent.errors import Misuse
from browser_agent.keeper.preflight import check_options
from browser_agent.keeper.run_keeper import RunKeeper
from browser_agent.keeper.stop_request import StopRequest, running_loop
from browser_agent.options import OPEN_TASK, Ended, Event, KillAt, OnEvent, Options
from browser_agent.ownership.engine import NO_ENGINE, Engine
from browser_agent.reporting.announcer import Announcer
from browser_agent.store import Store

__all__ = ["Ended", "Event", "KillAt", "Options", "keep", "look"]


def keep(
    store: Store,
    run: str,
    options: Options | None = None,
    on_event: OnEvent = lambda event: None,
    *,
    engine: Engine = NO_ENGINE,
    after: int | None = None,
    stop: StopRequest | None = None,
) -> Ended:
    """Keep a run until it ends, waits for a person, or is stopped by Ctrl-C (the gesture in hand is finished first).

    Args:
        store: where the run is stored.
        run: its id.
        options: see `Options`.
        on_event: called with each event, from the keeper's thread.
        engine: the engine that this keeper obeys. When it assigns the run to another keeper, nothing more is sent:
            worker and browser are ended, and the run's state is left as it is.
        after: take the run over only if this attempt is still its last one.
        stop: lets another thread ask this keeper to stop.

    Raises:
        UnknownName: no such run.
        Misuse: it is an open run, whose task is the code around it; or it can't be kept as `options` ask.
        NotAllowed: the run has ended for good.
        InOtherHands: a living keeper has the run.
        SecretMissing: a secret among its arguments can't be read again. Nothing was done.
    """
    if store.leases.run(run).task_file == OPEN_TASK:
        raise Misuse(f"Run {run} was opened by other code. To resume it, open it there again with the same key.")
    check_options(options or Options())
    with Announcer(store, run, options or Options(), on_event) as announcer:
        keeper = RunKeeper(store, run, options or Options(), announcer.announce, engine, after, stop or StopRequest())
        if running_loop() is None:
            return asyncio.run(keeper.keep())
        with ThreadPoolExecutor(1, thread_name_prefix="keeper") as thread:  # a notebook, or Playwright's sync API
            return thread.submit(lambda: asyncio.run(keeper.keep())).result()


def look(
    store: Store,
    run: str,
    options: Options | None = None,
    on_event: OnEvent = lambda event: None,
    engine: Engine = NO_ENGINE,
) -> Ended:
    """Look once more at what is in doubt, and do nothing else: calls `keep` with `only_look`."""
    asked = replace(options or Options(), only_look=True, kill_at=None, slow_mo=0, pause_before_gesture=False)
    return keep(store, run, asked, on_event, engine=engine)
