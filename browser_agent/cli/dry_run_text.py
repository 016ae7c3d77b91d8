"""The result of a dry run, printed: a table for each step, and what is missing for its proof; or as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from browser_agent.cli.plain_text import plain
from browser_agent.cli.screen import Screen
from browser_agent.run.commit_request import Fit, SendCheck
from browser_agent.run.proof_check import ListRead, ObserverCheck, Sees
from browser_agent.run.step_check import DryRunResult, StepCheck, StepEnd, TaskEnd

_OK, _NO, _NOTE = ("ok ", "green"), ("NO ", "red"), ("?  ", "yellow")
_SEES = {Sees.YES: "yes", Sees.NO: "NO", Sees.LATER: "only after the gesture"}
_STEP_ENDS = {
    StepEnd.LOOKED: "",
    StepEnd.READ: "it only reads, and was read",
    StepEnd.NOTHING: "it returned no gesture: there is nothing to do",
    StepEnd.NOT_REACHED: "not reached",
    StepEnd.NOT_PREPARED: "not prepared",
}


def dry_run_document(result: DryRunResult) -> dict[str, Any]:
    """The result as JSON data, with a verdict (`well`) for each step and for the whole."""
    steps = [{**_step_data(step), "well": step.well} for step in result.steps]
    return {**asdict(result), "steps": steps, "well": result.well}


def _step_data(step: StepCheck) -> dict[str, Any]:
    data = asdict(step)
    for observer in data["observers"]:
        for read in observer["lists"]:
            read["facts"] = read["facts"].model_dump(mode="json")
    data["obstacles"] = [{"kind": str(kind), "words": words} for kind, words in step.obstacles]
    return data


def print_dry_run(screen: Screen, result: DryRunResult) -> None:
    """Print it for people."""
    screen.say(f"Dry run of {result.task}: no gesture was made, and every write of its pages was refused.", "bold")
    for number, step in enumerate(result.steps, 1):
        _print_step(screen, number, step)
    screen.say()
    for line in _ends(result):
        screen.say(line)
    for line in _not_reached(result):
        screen.say(line, "yellow")
    if result.well:
        screen.say("Every proof that was looked at can work.", "green")
    else:
        screen.say("Not every proof can work yet: see the lines that begin with NO.", "red")


def _print_step(screen: Screen, number: int, step: StepCheck) -> None:
    at = f"  (at {step.site} as {step.account})" if step.site else ""
    screen.say(f"\n{number}. {step.call}{at}", "bold")
    for mark, words in _before_the_table(step):
        screen.say(f"   {mark}{words}")
    if step.observers:
        screen.table(_table(step.observers))
    for (mark, style), words in _after_the_table(step):
        screen.say(f"   {mark}{words}", style)


def _before_the_table(step: StepCheck) -> Iterator[tuple[str, str]]:
    if step.end is not StepEnd.LOOKED:
        yield "", _STEP_ENDS[step.end]
    for call in step.needs:
        yield "", f"it needs the value of {call}, whose gesture a dry run doesn't make"
    if step.calls > 1:
        yield "", f"called {step.calls} times, and looked at once"
    if step.intent is not None:
        yield "gesture  ", step.intent
    if step.sends is not None:
        yield "sends    ", _sends(step.sends)
    if step.approval:
        yield "approval ", "a person must approve it"


def _sends(sends: SendCheck) -> str:
    match sends.fit:
        case Fit.FITS:
            return f"{sends.declared}, and that is what its control sends"
        case Fit.DIFFERS:
            return f"{sends.declared}, but its control sends {sends.found}"
        case Fit.UNSEEN:
            return f"{sends.declared}, by a script of the page: no look can show it"
        case Fit.UNDECLARED:
            form = f'; its control sends {sends.found}: declare sends="{_pattern(sends.found)}"' if sends.found else ""
            return f"not declared{form}"


def _pattern(found: str) -> str:
    """A request as a pattern: its method and path."""
    method, _, address = found.partition(" ")
    return f"{method} /{address.partition('//')[2].partition('/')[2].partition('?')[0]}"


def _after_the_table(step: StepCheck) -> Iterator[tuple[tuple[str, str], str]]:
    in_the_way = " ".join(words for _, words in step.obstacles)
    for observer in step.observers:
        for reason in observer.reasons:
            if reason not in in_the_way:
                yield _NOTE, f"{observer.observer}: {reason}"
    for words in step.there:
        yield _NOTE, f"there already, so a run would ask before it makes another one: {words}"
    for words in step.contradicted:
        yield _NOTE, f"the look contradicts what is declared: {words}"
    for name, words in step.on_your_word.items():
        yield _NOTE, f"on your word: {name}: {words}"
    for observer in step.observers:
        for name, words in observer.on_your_word.items():
            yield _NOTE, f"on your word: {name} of {observer.observer}: {words}"
    for request in step.refused:
        yield _NOTE, f"refused: {request}"
    for _, words in step.obstacles:
        yield _NO, words
    if step.end is StepEnd.LOOKED:
        yield from _proofs(step)


def _proofs(step: StepCheck) -> Iterator[tuple[tuple[str, str], str]]:
    for what, missing in (("happened", step.presence), ("did not happen", step.absence)):
        if not missing:
            yield _OK, f"it can be proven that it {what}"
        for words in missing:
            yield _NO, f"it can't be proven that it {what}: {words}"


def _table(observers: Sequence[ObserverCheck]) -> Table:
    """One column for each observer, one line for each thing that was read."""
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("")
    for observer in observers:
        table.add_column(Text(plain(observer.observer)), overflow="fold")
    for what, words in _LINES:
        cells = [words(observer) for observer in observers]
        if any(cells):
            table.add_row(what, *(Text(plain(cell or "-")) for cell in cells))
    return table


def _of_lists(words: Callable[[ListRead], str]) -> Callable[[ObserverCheck], str]:
    return lambda observer: "; ".join(filter(None, map(words, observer.lists)))


def _empty(read: ListRead) -> str:
    if read.facts.told_empty:
        return f"seen: {read.empty!r}" if read.empty else "seen"
    return f"declared, not seen: {read.empty!r}" if read.empty else "not declared"


_LINES: tuple[tuple[str, Callable[[ObserverCheck], str]], ...] = (
    ("can see", lambda each: _SEES[each.sees]),
    ("counts", lambda each: "yes" if each.counts else "no"),
    ("rows read", _of_lists(lambda read: str(read.facts.rows))),
    ("columns found", _of_lists(lambda read: ", ".join(read.facts.columns))),
    ("columns lacking", _of_lists(lambda read: ", ".join(read.facts.lacking))),
    ("pages read", _of_lists(lambda read: str(read.facts.pages))),
    ("rows it states", _of_lists(lambda read: ", ".join(map(str, read.facts.told)))),
    ("empty text", _of_lists(_empty)),
    ("account", _of_lists(lambda read: read.facts.account)),
    ("as of", _of_lists(lambda read: f"{read.facts.as_of:%Y-%m-%d %H:%M} UTC" if read.facts.as_of else "")),
    ("there already", lambda each: "; ".join(each.there)),
)


def _ends(result: DryRunResult) -> Iterator[str]:
    for words in result.approvals:
        yield f"A run would ask a person first: {words}"
    at = f" ({result.where})" if result.where else ""
    match result.end:
        case TaskEnd.FINISHED:
            pass
        case TaskEnd.UNKNOWN_VALUE:
            yield f"The rest of the task was not reached{at}: it needs the value of {result.why}"
        case TaskEnd.RAISED:
            yield f"The task raised{at}: {result.why}"
        case TaskEnd.STOPPED:
            yield f"The dry run was cut off{at}: {result.why}"
    if result.never_called:
        yield f"Steps that were not called: {', '.join(result.never_called)}"


def _not_reached(result: DryRunResult) -> Iterator[str]:
    """How many steps the dry run says nothing about."""
    unreached = sum(step.end in {StepEnd.NOT_REACHED, StepEnd.NOT_PREPARED} for step in result.steps)
    if unreached == 1:
        yield "1 step was not looked at: nothing is known of its proof."
    elif unreached:
        yield f"{unreached} steps were not looked at: nothing is known of their proofs."
