"""The keeper of one run: starts its workers, answers what they ask, and sees each worker's death.

After a death it refuses the requests that are still held at the gate, begins the next attempt, and starts a worker that
looks first. It never runs task code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from playwright.async_api import Playwright
from pydantic import TypeAdapter

from browser_agent import processes
from browser_agent.browser.driver import async_driver
from browser_agent.browser.guarded_browser import driver_answers, ignore_lost_answers
from browser_agent.errors import MachineTrouble, Superseded
from browser_agent.keeper import worker_process
from browser_agent.keeper.channel import Message, Responder, WorkerChannel
from browser_agent.keeper.fault_injection import announcement, inject
from browser_agent.keeper.preparation_watch import PreparationWatch
from browser_agent.keeper.run_browser import RunBrowser
from browser_agent.keeper.run_end import WorkerEnd, budget_used_up, end_without_the_run, run_as_it_stands
from browser_agent.keeper.stop_request import StopRequest, stop_signals
from browser_agent.keeper.supervisor import Supervisor
from browser_agent.options import Ended, Event, OnEvent, Options, progress_mark
from browser_agent.ownership.attempt_budget import ask_a_person, used_up
from browser_agent.ownership.engine import Engine
from browser_agent.ownership.held_lease import HeldLease, LeaseEvents
from browser_agent.ownership.leftovers import end_leftovers
from browser_agent.ownership.takeover import stored_process
from browser_agent.ownership.terminal import confirmed
from browser_agent.processes import ProcessId
from browser_agent.run import run_secrets
from browser_agent.run.session import RunSession
from browser_agent.states import Point, RunState
from browser_agent.store import AttemptEnd, Lease, Store
from browser_agent.store.records import AttemptRow, RunRow
from browser_agent.wire import SiteWrites

GRACE_SECONDS = 10.0
"""How long a worker may take to exit after its last report before it is killed."""
_NO_PROCESS = ProcessId(0, 0.0)
"""A worker that died before it was identified."""
BROWSERLESS_ATTEMPTS = 2
"""After this many attempts in a row without a browser, no further attempt is started: it would get none either."""


class RunKeeper:
    """The keeper of one run. Its arguments are those of `keep`."""

    def __init__(  # noqa: PLR0917  # what `keep` was given
        self,
        store: Store,
        run: str,
        options: Options,
        on_event: OnEvent,
        engine: Engine,
        after: int | None,
        stop: StopRequest,
    ) -> None:
        self._store, self._run, self._options, self._after, self._stop = store, run, options, after, stop
        self._held_lease = HeldLease(store, run, options, engine)
        self._on_event: OnEvent = lambda event: on_event(store.database.scrubber.facts(event))
        self._preparation = PreparationWatch(store, lambda: self._lease, self._notify)
        self._secrets = run_secrets.gather(store, run)
        self._kill_at = options.kill_at
        self._worker: ProcessId | None = None
        self._driver: ProcessId | None = None
        self._channel: WorkerChannel | None = None
        self._stopping = asyncio.Event()
        self._pausing = False  # a person is being asked whether to make the next gesture
        self._browserless = 0  # attempts in a row that got no browser
        self._ended_worker = False  # the keeper ended its worker because it no longer had the run
        self._progress = "begun"
        self._trouble = ""  # the worker's last report on why it could not continue

    async def keep(self) -> Ended:
        previous = await self._held_lease.claim(self._after)
        try:
            with stop_signals(self._stop.ask), self._stop.heard_by(self._stop_asked):
                async with async_driver() as playwright:
                    await self._keep_with(playwright, previous)
            await self._held_lease.attest()
        finally:
            await self._held_lease.end_attempt(AttemptEnd("its keeper has ended"))
        return await asyncio.to_thread(run_as_it_stands, self._store, self._lease)

    async def _keep_with(self, playwright: Playwright, previous: AttemptRow | None) -> None:
        asyncio.get_running_loop().set_exception_handler(ignore_lost_answers)
        self._playwright = playwright
        self._session = await asyncio.to_thread(RunSession, self._store, self._run, self._notify)
        self._browser = RunBrowser(
            playwright,
            self._store.profiles,
            self._run,
            self._options,
            self._release,
            self._reached,
            await asyncio.to_thread(self._session.initial_state, self._lease),
            self._store_session,
            self._session.indexed_db,
            self._preparation.saw,
        )
        if living := await asyncio.to_thread(end_leftovers, self._store, self._lease, previous):
            await self._browser.adopt(living)
        events = LeaseEvents(lambda: self._progress, self._run_lost, self._engine_stops, self._notify)
        try:
            async with self._held_lease.renewed(events):
                await self._attempts()
        finally:
            await self._browser.end_browser()

    # attempts

    async def _attempts(self) -> None:
        held = self._held_lease
        while True:
            end, lease = await self._attempt(), self._lease
            run = await asyncio.to_thread(self._store.leases.run, self._run)
            if held.lost or run.state is not RunState.RUNNING or run.attempt != lease.attempt:
                await held.end_attempt(end_without_the_run(end, lease, run, ours=self._ended_worker))
                return
            if because := await self._why_no_further(end, run):
                await asyncio.to_thread(self._give_up, because)
                await held.end_attempt(end.stored)
                return
            self._notify("worker_died", f"The worker died ({end}). The next one looks at what its last gesture did.")
            await held.claim_next()
            await held.end_attempt(end.stored, lease)

    async def _attempt(self) -> WorkerEnd:
        """Run one worker to its end."""
        worker = await asyncio.to_thread(worker_process.start_worker)
        self._worker, self._driver = worker.process, None
        self._channel = channel = await WorkerChannel.open(worker.channel)
        await channel.send({"work": self._work()})
        if self._stopping.is_set():
            await channel.send({"stop": True})
        self._supervisor = supervisor = Supervisor(
            worker.process or _NO_PROCESS,
            lambda: self._browser.chromium,
            self._notify,
            self._options.memory,
            self._options.step_timeout,
            self._browser.lost,
        )
        supervising = asyncio.create_task(supervisor.supervise(channel.cut))
        try:
            await channel.serve(self._answers(), self._reported)
        finally:
            supervising.cancel()
            self._browser.refuse("the worker is dead")
            end = await worker.end(GRACE_SECONDS)
            self._channel = None
            channel.close()
            await self._browser.dismiss_dialogs()
        return replace(end, because=supervisor.because, late=supervisor.late)

    def _work(self) -> Message:
        options = TypeAdapter(Options).dump_python(replace(self._options, kill_at=None), mode="json")
        options["kill_at"] = str(self._kill_at) if self._kill_at else None
        store = {"store": self._store.address, "times": asdict(self._store.times), "host": self._store.host}
        return {**store, "lease": asdict(self._lease), "options": options, "secrets": self._secrets}

    async def _why_no_further(self, end: WorkerEnd, run: RunRow) -> str:
        """The reason to start no further attempt, in words; "" = start one."""
        if self._stopping.is_set():
            return "ended at once by a second request to stop; the next attempt looks first"
        if self._browserless >= BROWSERLESS_ATTEMPTS:
            return f"Run {self._run} got no browser, {self._browserless} times in a row: {self._trouble or end}"
        if not await driver_answers(self._playwright):
            return f"The Playwright driver of run {self._run}'s keeper has died: without it no gesture can be guarded."
        if used_up(run, self._options):
            return await asyncio.to_thread(budget_used_up, self._store, run, end, self._trouble)
        return ""

    def _give_up(self, words: str) -> None:
        if self._stopping.is_set():
            state = RunState.READY if self._options.queued else RunState.STOPPED
            self._store.leases.end(self._lease, state, ended_by=words)
            return
        find_out = "See `browser-agent doctor`" if self._browserless else "Find out why"
        ask_a_person(self._store, self._lease, words, find_out)

    # what a worker asks

    def _answers(self) -> Mapping[str, Responder]:
        return {
            "hello": self._hello,
            "at_step": self._at_step,
            "watch_step": self._watch_step,
            "pause": self._pause,
            "browser": self._get_browser,
            "browser_alive": self._browser.browser_alive,
            "end_browser": self._end_browser,
            "state": self._browser.state,
            "checkpoint": self._browser.checkpoint,
            "arm": self._arm,
            "disarm": self._browser.disarm,
            "report": self._browser.report,
            "inject": self._inject,
        }

    async def _hello(self, driver: int) -> Message:
        self._driver = processes.identify(driver)
        self._preparation.begin("", ())
        found = {"worker": self._worker, "driver": self._driver}
        stored = {name: stored_process(process) for name, process in found.items() if process is not None}
        await self._held_lease.record(**stored)
        return {}

    async def _at_step(self, name: str, call: str, seconds: float) -> Message:
        self._supervisor.at_step(name, call, seconds)
        return {}

    async def _watch_step(self, step: str, harmless: list[str]) -> Message:
        self._preparation.begin(step, harmless)
        return {}

    async def _pause(self, words: str) -> Message:
        self._pausing = True
        try:
            question = f"Enter makes it, Ctrl-C stops here: {words}"
            return {"go": await confirmed(lambda: self._notify("pause", question), self._stopping)}
        finally:
            self._pausing = False

    async def _get_browser(self) -> Message:
        self._browserless += 1
        reply = await self._browser.browser()
        self._browserless = 0
        await self._held_lease.record(browser=reply["stored"])
        return reply

    async def _end_browser(self) -> Message:
        await self._browser.end_browser()
        return {"dead_at": self._store.clock.now().isoformat()}  # by the clock that everybody who uses the store shares

    async def _arm(self, gesture: str, sends: str | None, site: Message) -> Message:
        await self._fence()
        writes = SiteWrites(site["origin"], tuple(site["harmless"]), tuple(site["reads"]))
        return await self._browser.arm(gesture, sends, writes)

    async def _inject(self) -> Message:
        """Inject the fault that `--kill-at` asks for, once."""
        at, self._kill_at = self._kill_at, None
        if at is not None:
            self._notify("fault_injected", announcement(at))
            worker, driver, browser = self._worker, self._driver, self._browser.chromium
            await asyncio.to_thread(inject, at.victim, worker=worker, driver=driver, browser=browser)
        return {}

    def _reported(self, facts: Message) -> None:
        kind, words, details = facts["kind"], facts["words"], facts.get("details", {})
        if kind == "trouble":
            self._trouble = words
        self._progress = progress_mark(kind, words, details) or self._progress
        self._notify(kind, words, **details)

    # at the wire

    async def _release(self, gesture: str, method: str, address: str) -> None:
        """Check at the last moment whether a request may leave, and store `released`.

        Raises:
            Superseded: the worker is dead; or the lease belongs to another attempt, or has run out by the database's
                clock; or the engine has assigned the run to another keeper.
            MachineTrouble: the worker is stopped, or the lease is too old by a clock that can't be set.
        """
        await self._fence()  # first, because its answer may take a while
        if self._worker is None or not processes.alive(self._worker):
            raise Superseded(self._run, self._lease.attempt)
        if processes.stopped(self._worker):
            raise MachineTrouble("the worker is stopped (SIGSTOP)")
        self._held_lease.check()
        await asyncio.to_thread(self._store.journal.release, self._lease, gesture, method, address)

    async def _reached(self, point: Point, gesture: str) -> None:
        self._progress = f"{point}: gesture {gesture}"
        if point is Point.ANSWERED:
            await self._store_answer(gesture)
        if self._kill_at is None or self._kill_at.point is not point:
            return
        made = await asyncio.to_thread(self._store.journal.gestures, self._run)
        if [row.id for row in made][self._kill_at.gesture - 1 : self._kill_at.gesture] == [gesture]:
            await self._inject()

    async def _store_answer(self, gesture: str) -> None:
        """Store what the gate has seen, because the answer may contradict an absence that a later keeper would believe.

        If it can't be stored, it is lost only with this keeper.
        """
        wire = self._browser.seen(gesture).model_dump_json()
        with suppress(Exception):  # a gesture is settled by what this keeper still knows
            await asyncio.to_thread(self._store.journal.record, self._lease, gesture, wire=wire)

    async def _store_session(self, session: dict[str, Any], page: dict[str, Any] | None) -> None:
        await asyncio.to_thread(self._session.checkpoint, self._lease, session, page)

    async def _fence(self) -> None:
        try:
            await self._held_lease.fence()
        except Superseded:
            asyncio.create_task(self._run_lost())  # noqa: RUF006  # the worker waits for our answer
            raise

    # stopping

    async def _run_lost(self) -> None:
        """Refuse everything and end the worker: the run belongs to another attempt, so nothing more may be sent."""
        self._browser.refuse("another attempt owns the run")
        if self._worker is not None and processes.alive(self._worker):
            self._ended_worker = True
            await asyncio.to_thread(processes.end, [self._worker])

    def _stop_asked(self) -> None:
        """First Ctrl-C: finish the gesture in hand. Second: end the worker; the next attempt looks."""
        if self._stopping.is_set() and self._worker is not None:
            processes.end([self._worker])
            return
        first = "Stopping; that gesture is NOT made." if self._pausing else "Stopping after the gesture in hand."
        self._notify("stopping", f"{first} Ctrl-C again ends the worker at once.")
        self._stopping.set()
        if self._channel is not None:  # otherwise it is sent once the worker has been started
            asyncio.get_running_loop().create_task(self._channel.send({"stop": True}))

    def _engine_stops(self) -> None:
        if not self._stopping.is_set():
            self._stop_asked()

    @property
    def _lease(self) -> Lease:
        return self._held_lease.lease

    def _notify(self, kind: str, words: str, **details: Any) -> None:
        self._on_event(Event(kind, words, self._run, self._lease.attempt, details))
