"""The exceptions: settled facts about a gesture, stops that end a run, and mistakes of the caller.

A `Fact` is an `Exception`, and a script may handle it. A `Stop` is a `BaseException`, so that `except Exception` around
a step cannot carry on past an open doubt. A `Misuse` is raised before anything was sent.

A message says what is known about the world and what to do next. It never says which library failed.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

INSTALL_BROWSER = "browser-agent doctor --install"
"""The command that installs Chromium, and the libraries that it and Playwright's driver need."""


class Fact(Exception):
    """A settled fact about one gesture: the change was not made. A script may handle it."""


class Refused(Fact):
    """The gesture sent nothing: it never reached the page, or the page tried to send an undeclared request.

    Args:
        words: the gesture in words.
        because: why it was not made, as one sentence.
    """

    def __init__(self, words: str, because: str) -> None:
        self.words, self.because = words, because
        super().__init__(f"Not made: {words}. {because} Nothing was sent.")


class Rejected(Fact):
    """The site refused the declared commit request, and a look agrees: the change was not made.

    Args:
        words: the gesture in words.
        status: the HTTP status of the answer.
        texts: the lines of the answering page that explain the refusal.
        evidence: digests of the stored evidence.
    """

    def __init__(self, words: str, status: int, texts: Sequence[str] = (), evidence: Sequence[str] = ()) -> None:
        self.words, self.status, self.texts, self.evidence = words, status, tuple(texts), tuple(evidence)
        said = f": {' / '.join(self.texts[:3])}" if self.texts else ""
        super().__init__(f"The site said no ({status}) to: {words}{said}. The change was not made.")


class NotHappened(Fact):
    """The gesture was made as often as its step allows, and each time it was proven not to have happened.

    Args:
        words: the gesture in words.
        times: how often it was made.
    """

    def __init__(self, words: str, times: int) -> None:
        self.words, self.times = words, times
        super().__init__(f"Made {times} times, and each time proven not to have happened: {words}.")


class NotApproved(Fact):
    """A person refused the gesture, or nobody approved it in time: nothing was sent.

    Args:
        words: the gesture or the call in words.
        by: the person who refused it; None if nobody answered.
    """

    def __init__(self, words: str, by: str | None = None) -> None:
        self.words, self.by = words, by
        super().__init__(f"Not approved{f' by {by}' if by else ''}: {words}. Nothing was sent.")


class Stop(BaseException):
    """Ends the run. It is latched: after one stop, every call on the run raises the same stop again."""


class OutcomeUnknown(Stop):
    """Nothing proves whether the last gesture happened. A question about it waits in the inbox.

    Args:
        words: the gesture in words.
        question: the question's id.
        reasons: what was looked at and why it proves nothing.
    """

    def __init__(self, words: str, question: str, reasons: Sequence[str] = ()) -> None:
        self.words, self.question, self.reasons = words, question, tuple(reasons)
        super().__init__(f"Unknown whether this happened: {words}. Question {question} waits for a person.")


class WaitingForPerson(Stop):
    """A person must answer a question before the run is resumed. No gesture is in doubt.

    Args:
        words: why the run waits, as one sentence.
        question: the question's id.
    """

    def __init__(self, words: str, question: str) -> None:
        self.words, self.question = words, question
        super().__init__(f"{words} Question {question} waits for a person.")


class Superseded(Stop):
    """Another attempt owns the run now; this one may not change anything.

    Args:
        run: the run's id.
        attempt: the number of this attempt.
        now: the number of the attempt that owns the run; None if it isn't known.
    """

    def __init__(self, run: str, attempt: int, now: int | None = None) -> None:
        self.run, self.attempt, self.now = run, attempt, now
        newer = f" Attempt {now} owns the run." if now is not None else ""
        super().__init__(f"Attempt {attempt} of run {run} may not change anything any more.{newer}")


class TaskChanged(Stop):
    """The task's calls differ from those in the journal; no new gesture was made.

    Args:
        asked: the call that the task made now.
        stored: the call that the journal expects next.
        question: the question's id; "" until it is asked.
    """

    def __init__(self, asked: str, stored: str, question: str = "") -> None:
        self.asked, self.stored, self.question = asked, stored, question
        waits = f" Question {question} waits for a person." if question else ""
        super().__init__(
            f"The task has changed since its last attempt. The journal expects {stored}; the task asks for {asked}. "
            f"No gesture was made.{waits}"
        )


class Stopped(Stop):
    """A person asked the run to stop between two steps. Nothing is in doubt; it can be resumed."""


class MachineTrouble(Stop):
    """This machine failed, for example to start a browser. The attempt ends, and the next one looks first."""


class KeeperGone(Stop):
    """The connection to the keeper ended: this worker can't send anything any more, and stops."""


class Misuse(Exception):
    """A mistake of the caller, detected before anything was sent. The message says what to do."""


class ProofTooThin(Misuse):
    """The proof cannot work: it can't supply a field that `gives` requires, or its list lacks the declared columns."""


class NeverRun(Misuse):
    """A step call or a gesture was created, and dropped without being run."""


class WrongTask(Misuse):
    """The task file cannot be used: missing, without a task, or with a step that is not allowed."""


class WrongArguments(Misuse):
    """Arguments don't fit the task's signature. The message lists all of them."""


class FileChanged(Misuse):
    """A file in a finished step's value is missing or was altered, so the value can't be returned."""


class UnknownName(Misuse):
    """There is no run, question, site or kind of observer with that name."""


class StoreUnusable(Misuse):
    """The store can't be used: a newer schema, no database, a full disk, a network file system. Nothing was lost."""


class InOtherHands(Misuse):
    """A living process owns the run."""


class BrowserUnavailable(Exception):
    """Chromium or Playwright's driver can't be found or doesn't start on this machine. Nothing was sent.

    Args:
        because: what is wrong, without a full stop.
        remedy: what to do about it, as a sentence; "" if that is obvious.
        output: what the program wrote before it ended.
    """

    def __init__(self, because: str, remedy: str = f"Run: {INSTALL_BROWSER}", *, output: str = "") -> None:
        self.because, self.remedy, self.output = because, remedy, output
        super().__init__(f"{because}. {remedy}".rstrip())


class NotAllowed(Misuse):
    """A change of state that the tables in `states` don't have. Nothing was changed."""


def last_line(output: str) -> str:
    """The last line of what a program wrote, without a full stop; for the end of a sentence."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else "it printed nothing"


def installing(extra: str) -> str:
    """The command that installs an extra, for the end of a sentence."""
    return f'in the checkout of browser-agent: pip install -e ".[{extra}]"'


def nearest(word: str, known: Iterable[str]) -> str:
    """For the end of a sentence: the known name that is most similar, else all known names; "" if there are none."""
    names = list(known)
    spelled = (word, word.lower().replace("-", "_"))
    near = next((found for each in spelled if (found := difflib.get_close_matches(each, names, 1))), None)
    return f"; did you mean {near[0]}?" if near else f"; there is {', '.join(names)}" if names else ""
