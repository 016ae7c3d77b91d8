"""The dry run of a task: each step's page is prepared, its proof looks, and its gesture is not made.

A step that only reads runs as usual. The value of a step that returns a gesture isn't known, so steps that need it
can't be reached.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar, cast

from browser_agent.errors import Fact, MachineTrouble, Misuse, NeverRun, Stop
from browser_agent.run.dry_attempt import DryAttempt
from browser_agent.run.dry_look import DryLook
from browser_agent.run.executor import Run
from browser_agent.run.proof_check import Obstacle
from browser_agent.run.sign_in import SignedOut, ended_words, prepare_page, run_login
from browser_agent.run.step_check import DryRunResult, StepCheck, StepEnd, TaskEnd
from browser_agent.script.gestures import Done, Gesture, value_names
from browser_agent.script.must_run import raise_if_dropped
from browser_agent.script.steps import Step, StepCall
from browser_agent.script.tasks import Task
from browser_agent.script.unknown_value import UnknownValue, unknown_in
from observers import Site

T = TypeVar("T")

ProvenKinds = Callable[[str | None], frozenset[str]]
"""The kinds of observers that have proven a presence at the site of a name."""


class ValueUnknown(Stop):
    """The task used the value of a step whose gesture was not made.

    Args:
        call: the call of that step, in words.
    """

    def __init__(self, call: str) -> None:
        self.call = call
        super().__init__(f"The value of {call} isn't known: a dry run doesn't make its gesture.")


def dry_run(
    task: Task[..., Any], arguments: dict[str, Any], attempt: DryAttempt, proven_kinds: ProvenKinds
) -> DryRunResult:
    """Run a task without its gestures.

    Args:
        task: the task.
        arguments: its arguments.
        attempt: the attempt, whose pages can't write.
        proven_kinds: see `ProvenKinds`.
    """
    run = DryRun(attempt, proven_kinds)
    end, why, where = TaskEnd.FINISHED, "", ""
    try:
        task.fn(run, **arguments)
        run.end()
    except (Stop, Exception) as error:
        end, why = run.ended_by(error)
        where = _line_of(error, task.file)
    met = {check.name for check in run.checks}
    never = tuple(name for name in _steps_named_in(task) if name not in met)
    return DryRunResult(task.name, tuple(run.checks), end, why, where, never, tuple(run.approvals))


class DryRun(Run):
    """The run that a task gets in a dry run.

    Args:
        attempt: the attempt.
        proven_kinds: see `ProvenKinds`.
    """

    def __init__(self, attempt: DryAttempt, proven_kinds: ProvenKinds) -> None:
        super().__init__(attempt)
        self._dry, self._proven_kinds = attempt, proven_kinds
        self._login_failed: dict[Site, str] = {}
        self.checks: list[StepCheck] = []
        self.approvals: list[str] = []

    def approve(self, words: str, calls: Sequence[StepCall[T]], *, valid: timedelta | None = None) -> list[StepCall[T]]:
        """Ask nobody: every call counts as approved."""
        for call in calls:
            call.take()
        raise_if_dropped()
        self.approvals.append(words)
        return self._latched(lambda: list(calls))

    def end(self) -> None:
        """Raise what stopped the run, whatever the task has caught."""
        raise_if_dropped()
        self._latched(lambda: None)

    def ended_by(self, error: BaseException) -> tuple[TaskEnd, str]:
        """How a dry run ended by what its task raised, and why, in words."""
        stop = self._stop or error
        if isinstance(stop, ValueUnknown):
            return TaskEnd.UNKNOWN_VALUE, stop.call
        if isinstance(stop, Stop):
            return TaskEnd.STOPPED, _in_words(stop)
        unknown = next((check.call for check in self.checks if check.end is StepEnd.LOOKED), None)
        if unknown is None or isinstance(error, NeverRun):
            return TaskEnd.RAISED, _in_words(error)
        return TaskEnd.UNKNOWN_VALUE, f"{unknown}, perhaps; it raised {_in_words(error)}"

    def _step(self, call: StepCall[T], key: str | None) -> T:
        raise_if_dropped()
        site = call.step.site
        blank = StepCheck(
            call.step.name,
            call.words,
            StepEnd.NOT_PREPARED,
            site=site.name if site is not None else None,
            account=site.account if site is not None else None,
            approval=call.step.approval,
        )
        if needs := unknown_in(call.canonical):
            return self._not_made(call, replace(blank, end=StepEnd.NOT_REACHED, needs=needs))
        if call.step.writes and self._counted(blank):
            return self._unknown(call)
        self._dry.take_refused()
        try:
            prepared = self._signed_in(call)
        except SignedOut as ended:
            login = (Obstacle.LOGIN_PAGE, self._login_words(ended.site))
            return self._not_made(call, replace(blank, obstacles=(login,)))
        except Exception as error:
            self._check_alive(error)
            return self._not_made(call, replace(blank, obstacles=((Obstacle.PAGE, _raised(error, call)),)))
        if isinstance(prepared, Gesture):
            look = DryLook(self._dry, prepared, site, self._proven_kinds, self._login_words)
            self._record(look.check(blank, again=partial(self._sign_in_and_prepare, call)))
            return self._value(call, prepared)
        done = call.step.writes or isinstance(prepared, Done)
        self._record(replace(blank, end=StepEnd.NOTHING if done else StepEnd.READ))
        value: T = prepared.value if isinstance(prepared, Done) else prepared
        return call.step.load(call.step.dump(value))

    # preparing the page

    def _signed_in(self, call: StepCall[Any]) -> Any:
        """What the step's function returns; if it meets a login page, the task's routine signs in first."""
        try:
            return self._prepare(call)
        except SignedOut as ended:
            if not self._sign_in(ended.site):
                raise
            return self._prepare(call)

    def _prepare(self, call: StepCall[Any]) -> Any:
        return prepare_page(self._dry, call.step.site, call.prepare)

    def _sign_in_and_prepare(self, call: StepCall[Any], site: Site) -> Gesture[Any] | None:
        """The step's gesture on a page that is signed in at another site; None if that can't be."""
        try:
            prepared = self._prepare(call) if self._sign_in(site) else None
        except (SignedOut, Exception) as error:
            self._check_alive(error)
            return None
        return prepared if isinstance(prepared, Gesture) else None

    def _sign_in(self, site: Site) -> bool:
        """Sign in by the task's routine, once for each site; whether it did."""
        if site in self._login_failed:
            return False
        with self._dry.writes_pass():
            trouble = run_login(self._dry, site)
        self._dry.take_refused()
        self._login_failed[site] = trouble or "signing in did not help"
        return trouble is None

    def _login_words(self, site: Site) -> str:
        return f"{ended_words(self._dry, site)} ({self._login_failed[site]})"

    def _check_alive(self, error: BaseException) -> None:
        if self._dry.broken():
            raise MachineTrouble(f"The page of the dry run was lost: {_in_words(error)}") from error

    # what is recorded and returned

    def _record(self, check: StepCheck) -> None:
        self.checks.append(replace(check, refused=self._dry.take_refused()))

    def _counted(self, blank: StepCheck) -> bool:
        """Count another call of a step that was looked at; whether it was."""
        for position, check in enumerate(self.checks):
            if check.name == blank.name and check.end is not StepEnd.NOT_REACHED:
                self.checks[position] = replace(check, calls=check.calls + 1)
                return True
        return False

    def _not_made(self, call: StepCall[T], check: StepCheck) -> T:
        self._record(check)
        return self._unknown(call)

    def _value(self, call: StepCall[T], gesture: Gesture[Any]) -> T:
        """The step's value if nothing of it must be proven."""
        names = value_names(gesture.gives)
        if names is not None and names.keys() <= gesture.known.keys():
            return call.step.proven(gesture.known)
        return self._unknown(call)

    def _unknown(self, call: StepCall[T]) -> T:
        if call.step.writes and call.step.gives is None:
            return call.step.proven({})
        unknown: T = cast("Any", UnknownValue(call.words, self._needed))
        return unknown

    def _needed(self, call: str) -> Stop:
        """The stop for a task that uses a value which isn't known."""
        self._stop = self._stop or ValueUnknown(call)
        return self._stop


def _raised(error: Exception, call: StepCall[Any]) -> str:
    file = Path(call.step.fn.__code__.co_filename)
    line = _line_of(error, file)
    return f"{_in_words(error)}{f' ({line})' if line else ''}"


def _in_words(error: BaseException) -> str:
    """An error in words. Only its first line if it isn't ours: the rest may quote values."""
    ours = isinstance(error, Fact | Stop | Misuse | SignedOut)
    return f"{type(error).__name__}: {str(error) if ours else (str(error).splitlines() or [''])[0]}"


def _line_of(error: BaseException, file: Path) -> str:
    """The line of a file at which something was raised, such as "invoices.py:31"; "" if it wasn't there."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).name == file.name]
    return f"{file.name}:{frames[-1].lineno}" if frames else ""


def _steps_named_in(task: Task[..., Any]) -> Iterator[str]:
    """The names of the steps that the task's function names."""
    for name in dict.fromkeys(_names_in(task.fn.__code__)):
        if isinstance(found := task.fn.__globals__.get(name), Step):
            yield found.name


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names_in(inner)
