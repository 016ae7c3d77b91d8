"""The keeper: owns the Chromium and the gate, starts the worker, sees its death, and lets it be followed by another.

It never runs task code. A worker's death is known at once (its line and its process end); what it left at the gate is
refused, the run is taken over with attempt + 1, and the next worker begins by looking. What may never happen here: a
write let go for a worker that is dead or superseded; a conclusion from a browser that was not seen dead.
"""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from playwright.async_api import async_playwright
from pydantic import TypeAdapter

from browser_agent import processes
from browser_agent.browser.guarded_browser import driver_answers, without_lost_answers
from browser_agent.errors import MachineTrouble, Misuse, Stop, Superseded
from browser_agent.keeper import worker_process
from browser_agent.keeper.channel import Message, next_line
from browser_agent.keeper.fault_injection import inject
from browser_agent.keeper.preflight import check_options
from browser_agent.keeper.preparation_watch import PreparationWatch
from browser_agent.keeper.run_browser import RunBrowser
from browser_agent.keeper.run_end import after_the_run, where_it_stands
from browser_agent.keeper.supervisor import Supervisor
from browser_agent.options import OPEN_TASK, Ended, Event, KillAt, Options, Tell, progress_mark
from browser_agent.ownership.attempt_budget import ask_a_person, died_in_words, used_up
from browser_agent.ownership.engine import NO_ENGINE, Engine
from browser_agent.ownership.held_lease import Duties, HeldLease
from browser_agent.ownership.leftovers import inherit
from browser_agent.ownership.takeover import stored_process
from browser_agent.ownership.terminal import StopAsked, interrupts, said_go
from browser_agent.processes import ProcessId
from browser_agent.reporting.announcer import Announcer
from browser_agent.run import run_secrets
from browser_agent.run.session import RunSession
from browser_agent.states import Point, RunState
from browser_agent.store import Store
from browser_agent.store.records import AttemptRow, RunRow

__all__ = ["Ended", "Event", "KillAt", "Options", "keep", "look"]

GRACE_SECONDS = 10.0
"""How long a worker may take to leave after it has said its last word, before it is ended."""
_DOCTOR = "See `browser-agent doctor`"
_NOBODY = ProcessId(0, 0.0)
"""A worker that was dead at once."""
BROWSERLESS_ATTEMPTS = 2
"""So many attempts in a row without a browser are enough: another one would get none either."""


def keep(
    store: Store,
    run: str,
    options: Options | None = None,
    tell: Tell = lambda event: None,
    *,
    engine: Engine = NO_ENGINE,
    after: int | None = None,
    stop: StopAsked | None = None,
) -> Ended:
    """Keep a run until it ends, waits for a person, or is stopped by Ctrl-C (the gesture in hand is finished first).

    Args:
        store: where the run is written.
        run: its id.
        options: see `Options`.
        tell: called with each event, from the keeper's thread.
        engine: who stands above this keeper. When it gives the run to another, nothing more leaves: worker and browser
            are ended, and the run stands as it stood.
        after: take it over only if that attempt is still the last.
        stop: asks it to stop from another thread.

    Raises:
        UnknownName: no such run.
        Misuse: it is an open run: its task is somebody else's code; or it can't be kept as `options` want it.
        NotAllowed: the run has ended for good.
        InOtherHands: a living keeper works on it.
        SecretMissing: a secret of its arguments can't be had again. Nothing was done.
    """
    if store.leases.run(run).task_file == OPEN_TASK:
        raise Misuse(f"Run {run} was opened by other code: open it there again, with its key, and it goes on.")
    check_options(options or Options())
    with Announcer(store, run, options or Options(), tell) as announcer:
        keeper = _Keeper(store, run, options or Options(), announcer.announce, engine, after, stop or StopAsked())
        if not _loop_runs_here():
            return asyncio.run(keeper.keep())
        with ThreadPoolExecutor(1, thread_name_prefix="keeper") as thread:  # a notebook, or Playwright's sync API
            return thread.submit(lambda: asyncio.run(keeper.keep())).result()


def look(
    store: Store, run: str, options: Options | None = None, tell: Tell = lambda event: None, engine: Engine = NO_ENGINE
) -> Ended:
    """Look once more at what is in doubt, and do nothing else: `keep` with `only_look`."""
    asked = replace(options or Options(), only_look=True, kill_at=None, slow_mo_ms=0, pause_before_gesture=False)
    return keep(store, run, asked, tell, engine=engine)


class _Keeper:
    """One run being kept."""

    def __init__(  # noqa: PLR0917  # what `keep` was given
        self,
        store: Store,
        run: str,
        options: Options,
        tell: Tell,
        engine: Engine,
        after: int | None,
        stop: StopAsked,
    ) -> None:
        self._store, self._run, self._options, self._after, self._stop = store, run, options, after, stop
        self._tenure = HeldLease(store, run, options, engine)
        self._tell_out: Tell = lambda event: tell(store.database.scrubber.facts(event))
        self._noticing = PreparationWatch(store, lambda: self._tenure.lease, self._say)
        self._secrets = run_secrets.gather(store, run)
        self._kill_at = options.kill_at
        self._worker: ProcessId | None = None
        self._driver: ProcessId | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._stopping = asyncio.Event()
        self._pausing = False  # a person is asked whether the next gesture is to be made
        self._browserless = 0  # attempts in a row that got no browser
        self._let_it_go = False  # its worker was ended here, having the run no more
        self._mark = "begun"  # how far it has come
        self._trouble = ""  # the last that a worker said of why it could not go on

    async def keep(self) -> Ended:
        previous = await self._tenure.take(self._after)
        try:
            with interrupts(self._asked_to_stop), self._stop.heard_by(self._asked_to_stop):
                await self._hold_and_work(previous)
            await self._tenure.attest()
        finally:
            await self._tenure.end_attempt("its keeper has ended")
        return await asyncio.to_thread(where_it_stands, self._store, self._tenure.lease)

    async def _hold_and_work(self, previous: AttemptRow | None) -> None:
        asyncio.get_running_loop().set_exception_handler(without_lost_answers)
        async with async_playwright() as playwright:
            self._playwright = playwright
            kept = self._session = await asyncio.to_thread(RunSession, self._store, self._run, self._say)
            first = await asyncio.to_thread(kept.initial_state, self._tenure.lease)
            at_the_wire = (self._release, self._reach)
            self._holding = RunBrowser(
                playwright,
                self._store.profiles,
                self._run,
                self._options,
                *at_the_wire,
                first,
                self._remember,
                kept.indexed_db,
                self._noticing.saw,
            )
            if browser := await asyncio.to_thread(inherit, self._store, self._tenure.lease, previous):
                await self._holding.adopt(browser)
            duties = Duties(lambda: self._mark, self._let_go, self._engine_stops, self._say)
            try:
                async with self._tenure.held(duties):
                    await self._attempts()
            finally:
                await self._holding.end_browser()

    # attempts

    async def _attempts(self) -> None:
        tenure = self._tenure
        while True:
            how, dead = await self._attempt(), tenure.lease
            run = await asyncio.to_thread(self._store.leases.run, self._run)
            if tenure.lost or run.state is not RunState.RUNNING or run.attempt != dead.attempt:
                await tenure.end_attempt(after_the_run(how, dead, run, ours=self._let_it_go))
                return
            if hopeless := await self._hopeless(how, run):
                await asyncio.to_thread(self._give_up, hopeless)
                await tenure.end_attempt(how)
                return
            self._say("worker_died", f"The worker died ({how}). Another one looks what its last gesture did.")
            await tenure.follow()
            await tenure.end_attempt(how, dead)

    async def _attempt(self) -> str:
        """Run one worker to its end, and say in words how it ended."""
        worker = await asyncio.to_thread(worker_process.start_worker)
        self._worker, self._driver = worker.process, None
        reader, self._writer = await asyncio.open_connection(sock=worker.line, limit=2**24)
        await self._say_to_worker({"work": self._order()})
        if self._stopping.is_set():
            await self._say_to_worker({"stop": True})
        limits = (self._options.memory_mb, self._options.step_seconds)
        held, process = self._holding, worker.process or _NOBODY
        self._overseer = overseer = Supervisor(process, lambda: held.chromium, self._say, *limits, held.lost)
        watch = asyncio.create_task(overseer.oversee(reader))
        try:
            await self._serve(reader)
        finally:
            watch.cancel()
            self._holding.refuse("the worker is dead")
            how = await worker.end(GRACE_SECONDS)
            self._writer.close()
            self._writer = None
            await self._holding.dismiss_dialogs()
        return f"{how}: {overseer.because}" if overseer.because else how

    def _order(self) -> Message:
        options = TypeAdapter(Options).dump_python(replace(self._options, kill_at=None), mode="json")
        options["kill_at"] = str(self._kill_at) if self._kill_at else None
        order = {"store": self._store.address, "lease": asdict(self._tenure.lease), "options": options}
        shared = {"times": asdict(self._store.times), "host": self._store.host}
        return {**order, **shared, "secrets": self._secrets}

    async def _serve(self, reader: asyncio.StreamReader) -> None:
        """Answer the worker until its line ends."""
        while line := await next_line(reader):
            message = json.loads(line)
            if "tell" in message:
                self._heard(message["tell"])
                continue
            try:
                reply = await self._answer(message.pop("ask"), message)
            except (Exception, Stop) as error:  # the worker must learn it, whatever it is
                reply = {"error": f"{type(error).__name__}: {error}"}
            await self._say_to_worker(reply)

    async def _answer(self, asked: str, facts: Message) -> Message:
        match asked:
            case "strike":
                await self._inject()
                return {}
            case "hello" | "at" | "notice" | "pause" | "browser":
                own: Message = await getattr(self, f"_{asked}")(**facts)
                return own
            case "browser_lives" | "end_browser" | "state" | "arm" | "disarm" | "report" | "checkpoint":
                if asked == "arm":
                    await self._fence()
                answer: Message = await getattr(self._holding, asked)(**facts)
                if "dead_at" in answer:  # a moment later, by the clock of all who share the store
                    answer["dead_at"] = self._store.clock.now().isoformat()
                return answer
            case _:
                return {"error": f"the keeper has no answer to {asked!r}"}

    async def _at(self, step: str, seconds: float) -> Message:
        self._overseer.at(step, seconds)
        return {}

    async def _notice(self, step: str, harmless: list[str]) -> Message:
        self._noticing.begin(step, harmless)
        return {}

    async def _pause(self, words: str) -> Message:
        self._pausing = True
        try:
            asked = f"Enter makes it, Ctrl-C stops here: {words}"
            return {"go": await said_go(lambda: self._say("pause", asked), self._stopping)}
        finally:
            self._pausing = False

    async def _browser(self) -> Message:
        self._browserless += 1
        reply = await self._holding.browser()
        self._browserless = 0
        await self._tenure.note(browser=reply["stored"])
        return reply

    async def _hello(self, driver: int) -> Message:
        self._driver = processes.identify(driver)
        self._noticing.begin("", ())
        facts = {"worker": self._worker, "driver": self._driver}
        known = {name: stored_process(process) for name, process in facts.items() if process is not None}
        await self._tenure.note(**known)
        return {}

    async def _remember(self, session: dict[str, Any], page: dict[str, Any] | None) -> None:
        await asyncio.to_thread(self._session.checkpoint, self._tenure.lease, session, page)

    # at the wire

    async def _release(self, gesture: str, method: str, address: str) -> None:
        """Check what must hold at the very last moment, and write `released`.

        Raises:
            Superseded: the worker is dead, or the lease is another's or has run out by the database's clock, or the
                engine does not stand behind it any more.
            MachineTrouble: the worker is stopped, or the lease is too old by a clock that nobody can set.
        """
        await self._fence()  # first, since its answer may take a while
        if self._worker is None or not processes.alive(self._worker):
            raise Superseded(self._run, self._tenure.lease.attempt)
        if processes.stopped(self._worker):
            raise MachineTrouble("the worker is stopped (SIGSTOP)")
        self._tenure.check()
        await asyncio.to_thread(self._store.journal.release, self._tenure.lease, gesture, method, address)

    async def _reach(self, point: Point, gesture: str) -> None:
        self._mark = f"{point}: gesture {gesture}"
        if self._kill_at is None or self._kill_at.point is not point:
            return
        made = await asyncio.to_thread(self._store.journal.gestures, self._run)
        if [row.id for row in made][self._kill_at.gesture - 1 : self._kill_at.gesture] == [gesture]:
            await self._inject()

    async def _inject(self) -> None:
        """What `--kill-at` asks for, once."""
        at, self._kill_at = self._kill_at, None
        if at is not None:
            self._say("struck", f"The {at.victim} is struck, as asked, at {at.point} of gesture {at.gesture}.")
            worker, driver, browser = self._worker, self._driver, self._holding.chromium
            await asyncio.to_thread(inject, at.victim, worker=worker, driver=driver, browser=browser)

    # the rest

    async def _fence(self) -> None:
        try:
            await self._tenure.fence()
        except Superseded:
            asyncio.create_task(self._let_go())  # noqa: RUF006  # the worker waits for our answer
            raise

    async def _let_go(self) -> None:
        """The run is another's: nothing more leaves."""
        self._holding.refuse("another attempt owns the run")
        if self._worker is not None and processes.alive(self._worker):
            self._let_it_go = True
            await asyncio.to_thread(processes.end, [self._worker])

    def _asked_to_stop(self) -> None:
        """First Ctrl-C: finish the gesture in hand. Second: end the worker; the next resume looks."""
        if self._stopping.is_set() and self._worker is not None:
            processes.end([self._worker])
            return
        first = "Stopping; that gesture is NOT made." if self._pausing else "Stopping after the gesture in hand."
        self._say("stopping", f"{first} Ctrl-C again ends the worker at once.")
        self._stopping.set()
        asyncio.get_running_loop().create_task(self._say_to_worker({"stop": True}))

    def _engine_stops(self) -> None:
        if not self._stopping.is_set():
            self._asked_to_stop()

    async def _say_to_worker(self, message: Message) -> None:
        if self._writer is None:  # it is told when it has been started
            return
        with suppress(OSError):  # a dead worker is seen by the end of its line
            self._writer.write(json.dumps(message).encode() + b"\n")
            await self._writer.drain()

    def _heard(self, facts: Message) -> None:
        if facts.get("kind") == "trouble":
            self._trouble = facts["words"]
        self._mark = progress_mark(facts["kind"], facts["words"], facts.get("details", {})) or self._mark
        self._tell_out(
            Event(facts["kind"], facts["words"], self._run, self._tenure.lease.attempt, facts.get("details", {}))
        )

    def _say(self, kind: str, words: str, **details: Any) -> None:
        self._tell_out(Event(kind, words, self._run, self._tenure.lease.attempt, details))

    async def _hopeless(self, how: str, run: RunRow) -> str:
        """Why another attempt would be in vain, or isn't wanted; empty if there is to be one."""
        if self._stopping.is_set():
            return "ended at once by a second signal; whoever goes on looks first"
        because = self._trouble or how
        if self._browserless >= BROWSERLESS_ATTEMPTS:
            return f"Run {self._run} got no browser, {self._browserless} times in a row: {because}"
        if not await driver_answers(self._playwright):
            return f"The Playwright driver of run {self._run}'s keeper has died: without it no gesture can be guarded."
        if used_up(run, self._options):
            late = self._overseer.late
            return await asyncio.to_thread(died_in_words, self._store, run, how, because, late)
        return ""

    def _give_up(self, words: str) -> None:
        if self._stopping.is_set():
            state = RunState.READY if self._options.queued else RunState.STOPPED
            self._store.leases.end(self._tenure.lease, state, ended_by=words)
            return
        ask_a_person(self._store, self._tenure.lease, words, _DOCTOR if self._browserless else "Find out why")


def _loop_runs_here() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
