"""What is known about the world when something ends otherwise than hoped: two trees, and one for mistakes.

`Refused`, `Rejected`, `NotApproved` are facts that a script may handle (`Exception`). `Stop` and its children end the
run (`BaseException`), so that no `except Exception` around a step can carry on past an open doubt. `Misuse` is a
mistake of the caller, found before anything was sent.

Knows nothing of stores, browsers or pictures. A message says what is known about the world and what to do next,
never which library gave up.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

INSTALL_BROWSER = "browser-agent doctor --install"
"""The command that gets Chromium and what it and Playwright's driver lack."""


class Fact(Exception):
    """A settled fact about one gesture: the change was not made. A script may handle it."""


class Refused(Fact):
    """The gesture sent nothing: it never reached the page, or the page tried to send what the task doesn't declare.

    Args:
        words: the gesture in words.
        because: why it was not made, one sentence.
    """

    def __init__(self, words: str, because: str) -> None:
        self.words, self.because = words, because
        super().__init__(f"Not made: {words}. {because} Nothing was sent.")


class Rejected(Fact):
    """The site said no to the declared commit request: the change was not made.

    Args:
        words: the gesture in words.
        status: the HTTP status of the answer.
        texts: what the answering page says, line by line.
        evidence: digests of stored evidence.
    """

    def __init__(self, words: str, status: int, texts: Sequence[str] = (), evidence: Sequence[str] = ()) -> None:
        self.words, self.status, self.texts, self.evidence = words, status, tuple(texts), tuple(evidence)
        said = f": {' / '.join(self.texts[:3])}" if self.texts else ""
        super().__init__(f"The site said no ({status}) to: {words}{said}. The change was not made.")


class NotHappened(Fact):
    """The gesture was made as often as its step allows, and each time it was proven that it did not happen."""

    def __init__(self, words: str, times: int) -> None:
        self.words, self.times = words, times
        super().__init__(f"Made {times} times, and proven each time that it did not happen: {words}.")


class NotApproved(Fact):
    """A person said no, or nobody said yes in time: nothing was sent."""

    def __init__(self, words: str, by: str | None = None) -> None:
        self.words, self.by = words, by
        super().__init__(f"Not approved{f' by {by}' if by else ''}: {words}. Nothing was sent.")


class Stop(BaseException):
    """Ends the run. Latched: after one stop every call on the run raises it again.

    Not an `Exception`, so that `except Exception` around a step cannot carry on past it.
    """


class OutcomeUnknown(Stop):
    """Nothing proves whether the last gesture happened. A question waits in the inbox.

    Args:
        words: the gesture in words.
        question: the question's id.
        reasons: what was looked at and why it proves nothing.
    """

    def __init__(self, words: str, question: str, reasons: Sequence[str] = ()) -> None:
        self.words, self.question, self.reasons = words, question, tuple(reasons)
        super().__init__(f"Unknown whether this happened: {words}. Question {question} waits for a person.")


class WaitingForPerson(Stop):
    """A question must be answered before the run goes on. No gesture is in doubt."""

    def __init__(self, words: str, question: str) -> None:
        self.words, self.question = words, question
        super().__init__(f"{words} Question {question} waits for a person.")


class Superseded(Stop):
    """Another attempt owns the run now; this one may change nothing any more."""

    def __init__(self, run: str, attempt: int, now: int | None = None) -> None:
        self.run, self.attempt, self.now = run, attempt, now
        newer = f" Attempt {now} owns the run." if now is not None else ""
        super().__init__(f"Attempt {attempt} of run {run} may change nothing any more.{newer}")


class TaskChanged(Stop):
    """The task asks for something else than the journal holds; no new gesture was made.

    Args:
        asked: the call that the task made now.
        stored: the call that the journal expects next.
        question: the question's id, once it has been put.
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
    """The machine could not do what is needed (start a browser, say). The attempt ends; another one looks first."""


class KeeperGone(Stop):
    """The keeper's connection ended: this worker can send nothing any more and stops."""


class Misuse(Exception):
    """A mistake of the caller, found before anything was sent. The message says what to do."""


class ProofTooThin(Misuse):
    """The proof cannot work: it can't supply a field that `gives` requires, or its list lacks the declared columns."""


class NeverRun(Misuse):
    """A step call or a gesture was made and then dropped without being run."""


class WrongTask(Misuse):
    """The task file cannot be used: missing, without a task, or with a step that is not allowed."""


class WrongArguments(Misuse):
    """The arguments do not fit the task's signature; all of them are listed together."""


class FileChanged(Misuse):
    """A file that a finished step has made is gone or was altered, so its value can't be handed back."""


class UnknownName(Misuse):
    """No run, question, site or observer kind of that name."""


class StoreUnusable(Misuse):
    """The store cannot be used: newer schema, not a database, a full disk, a network file system. Nothing was lost."""


class InOtherHands(Misuse):
    """The run is being worked on by a living process."""


class BrowserUnavailable(Exception):
    """Chromium or Playwright's driver can't be found or doesn't start on this machine. Nothing was sent.

    Args:
        because: what is wrong, without a full stop.
        remedy: what helps, as a sentence; "" if it is plain.
        output: what the program wrote before it ended.
    """

    def __init__(self, because: str, remedy: str = f"Run: {INSTALL_BROWSER}", *, output: str = "") -> None:
        self.because, self.remedy, self.output = because, remedy, output
        super().__init__(f"{because}. {remedy}".rstrip())


class NotAllowed(Misuse):
    """An arrow that the tables of `states` do not have. Nothing was changed."""


def last_line(output: str) -> str:
    """The last line of what a program wrote, without a full stop; for the end of a sentence."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else "it printed nothing"


def installing(extra: str) -> str:
    """Where one gets an extra, and by which command; for the end of a sentence."""
    return f'in the checkout of browser-agent: pip install -e ".[{extra}]"'


def nearest(word: str, known: Iterable[str]) -> str:
    """A question after the known name that is most like this one; if none is, all of them; empty if there are none."""
    names = list(known)
    spelled = (word, word.lower().replace("-", "_"))
    near = next((found for each in spelled if (found := difflib.get_close_matches(each, names, 1))), None)
    return f"; did you mean {near[0]}?" if near else f"; there is {', '.join(names)}" if names else ""
