"""How a worker ended and how its run stands then, as values; and the words that are stored and shown for them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from browser_agent.options import Ended
from browser_agent.states import RunState
from browser_agent.store import Lease, Store
from browser_agent.store.leases import deaths_after
from browser_agent.store.records import RunRow


@dataclass(frozen=True)
class WorkerEnd:
    """How a worker ended. Without code and signal nobody knows: its fork server had died.

    Attributes:
        code: its exit code.
        signal: the number of the signal that ended it.
        lingered: that signal was the keeper's, because the worker didn't leave by itself when it should have.
        because: why the keeper ended it earlier than that, without a value of the task; "" if it didn't.
    """

    code: int | None = None
    signal: int | None = None
    lingered: bool = False
    because: str = ""

    @classmethod
    def of(cls, code: int) -> WorkerEnd:
        """Of an exit code as `os.waitstatus_to_exitcode` gives it: a signal's number is negative."""
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
        words += ", since it did not leave by itself" if self.lingered else ""
        return f"{words}: {self.because}" if self.because else words


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
        """Without the arguments, which may be values that are not to be stored in the clear."""
        return f"the step {self.name} took longer than {self.seconds:g} s"

    @property
    def in_full(self) -> str:
        """With the arguments."""
        return f"the step {self.call} took longer than {self.seconds:g} s"


@dataclass(frozen=True)
class ScriptError:
    """What a task's script raised and didn't handle, in the form in which its run stores it.

    Args:
        kind: the name of the error's class.
        words: its text.
    """

    kind: str
    words: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.words}"

    @classmethod
    def stored(cls, run: RunRow) -> ScriptError | None:
        """Of a run that has raised; None of any other, and if something else than its script raised."""
        found = re.match(r"(\w+): (.*)", run.ended_by or "", re.DOTALL) if run.state is RunState.RAISED else None
        return cls(*found.groups()) if found else None


def run_as_it_stands(store: Store, lease: Lease) -> Ended:
    """How the run of that lease stands now; the words say so if another attempt than the lease's brought it there."""
    run = store.leases.run(lease.run)
    questions = tuple(row.id for row in store.inbox.questions(run.id, open_only=True))
    words = run.ended_by or ""
    if run.attempt > lease.attempt:
        words = f"carried on by another process (attempt {run.attempt}); this one sent nothing more"
        words += f". There: {run.ended_by}" if run.ended_by else ""
    return Ended(run.id, run.state, words, run.result, questions, run.attempt)


def end_without_the_run(end: WorkerEnd, lease: Lease, run: RunRow, *, ours: bool) -> str:
    """How the worker of an attempt ended that no longer had the run, in words.

    Args:
        end: how it ended.
        lease: the attempt's.
        run: the run as it stands.
        ours: its keeper ended it because it no longer had the run.
    """
    if end.code == 0:  # it had nothing left to do, so nothing was cut off
        return str(end)
    handed_back = run.attempt == lease.attempt and run.state is not RunState.RUNNING
    first = "it handed its run back" if handed_back else "its run was given to another"
    if ours or end.lingered:
        return f"{first}; its worker was ended after that"
    return f"{first}; after that its worker died ({end})" if handed_back else str(end)


def budget_used_up(store: Store, run: RunRow, end: WorkerEnd, trouble: str, late: LateStep | None) -> str:
    """That the attempts of a run are used up, for the person who is asked.

    Args:
        store: where the run is stored.
        run: the run.
        end: how its last worker ended, which isn't stored yet.
        trouble: what that worker said about it; "" if it said nothing.
        late: the step that took too long; None if the worker wasn't ended for that.
    """
    if late is None:
        return f"The worker of run {run.id} has died {run.attempt} times ({trouble or end} the last time)."
    in_a_row = deaths_after(run)
    ends = [*(row.how or "" for row in store.leases.attempts(run.id)[:-1]), str(end)][-in_a_row:]
    times = sum(each.endswith(str(late)) for each in ends)
    more = f" In all its worker has died {in_a_row} times in a row." if in_a_row > times else ""
    return (
        f"Run {run.id}: {late.in_full}, {'once' if times == 1 else f'{times} times'}, and its worker was ended.{more}"
    )
