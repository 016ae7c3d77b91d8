"""How a worker ended and how its run stands then, as values, and the words that are stored and shown for them."""

from __future__ import annotations

from dataclasses import dataclass

from browser_agent.options import Ended
from browser_agent.states import EndKind, RunState
from browser_agent.store import AttemptEnd, Lease, Store
from browser_agent.store.leases import deaths_after
from browser_agent.store.records import RunRow


@dataclass(frozen=True)
class LateStep:
    """A step that took longer than its time limit.

    Args:
        name: the step.
        call: the same with its arguments, for a person.
        seconds: the limit.
    """

    name: str
    call: str
    seconds: float

    def __str__(self) -> str:
        """The words without the arguments, whose values may have to stay out of the store."""
        return f"the step {self.name} took longer than {self.seconds:g} s"

    @property
    def in_full(self) -> str:
        """The words with the arguments."""
        return f"the step {self.call} took longer than {self.seconds:g} s"


@dataclass(frozen=True)
class WorkerEnd:
    """How a worker ended; unknown without code and signal, because its fork server had died.

    Attributes:
        code: its exit code.
        signal: the number of the signal that ended it.
        lingered: the keeper sent that signal, because the worker didn't exit by itself when it should have.
        because: why the keeper ended it earlier than that, without a value of the task; "" if it didn't.
        late: the step that took too long, if that is why.
    """

    code: int | None = None
    signal: int | None = None
    lingered: bool = False
    because: str = ""
    late: LateStep | None = None

    @classmethod
    def of(cls, code: int) -> WorkerEnd:
        """Convert an exit code of `os.waitstatus_to_exitcode`, in which a signal's number is negative."""
        return cls(code=code) if code >= 0 else cls(signal=-code)

    def __str__(self) -> str:
        """The words that are stored with the attempt."""
        match self.code, self.signal:
            case None, None:
                words = "ended, its exit code is not known"
            case code, None:
                words = f"exit code {code}"
            case _, number:
                words = f"ended by signal {number}"
        words += ", because it did not exit by itself" if self.lingered else ""
        return f"{words}: {self.because}" if self.because else words

    @property
    def stored(self) -> AttemptEnd:
        """The end of an attempt that its worker's death ended."""
        code = -self.signal if self.signal is not None else self.code
        return AttemptEnd(str(self), EndKind.WORKER_ENDED, code, self.late.name if self.late else None)


def run_as_it_stands(store: Store, lease: Lease) -> Ended:
    """How the lease's run stands now; the words say so if a different attempt brought it there."""
    run = store.leases.run(lease.run)
    questions = tuple(row.id for row in store.inbox.questions(run.id, open_only=True))
    words = run.ended_by or ""
    if run.attempt > lease.attempt:
        words = f"resumed by another process (attempt {run.attempt}); this one sent nothing more"
        words += f". There: {run.ended_by}" if run.ended_by else ""
    return Ended(run.id, run.state, words, run.result, questions, run.attempt)


def end_without_the_run(end: WorkerEnd, lease: Lease, run: RunRow, *, ours: bool) -> AttemptEnd:
    """The end of an attempt whose worker ended when it no longer had the run.

    Args:
        end: how the worker ended.
        lease: the attempt's.
        run: the run as it stands.
        ours: its keeper ended it because it no longer had the run.
    """
    if end.code == 0:  # it had nothing left to do, so nothing was interrupted
        return end.stored
    handed_back = run.attempt == lease.attempt and run.state is not RunState.RUNNING
    first = "it handed its run back" if handed_back else "its run was assigned to another keeper"
    if ours or end.lingered:
        return AttemptEnd(f"{first}; its worker was ended after that")
    return AttemptEnd(f"{first}; after that its worker died ({end})") if handed_back else end.stored


def budget_used_up(store: Store, run: RunRow, end: WorkerEnd, trouble: str) -> str:
    """Tell the person who is asked that the run's attempts are used up.

    Args:
        store: where the run is stored.
        run: the run.
        end: how its last worker ended, which isn't stored yet.
        trouble: what that worker said about it; "" if it said nothing.
    """
    if end.late is None:
        return f"The worker of run {run.id} has died {run.attempt} times ({trouble or end} the last time)."
    in_a_row = deaths_after(run)
    late = [*(row.late_step for row in store.leases.attempts(run.id)[:-1]), end.late.name][-in_a_row:]
    times = late.count(end.late.name)
    more = f" In all its worker has died {in_a_row} times in a row." if in_a_row > times else ""
    how_often = "once" if times == 1 else f"{times} times"
    return f"Run {run.id}: {end.late.in_full}, {how_often}, and its worker was ended.{more}"
