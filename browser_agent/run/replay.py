"""The replay: which step of the journal a call asks for, and when the task has changed.

A resume runs the task function from its top; finished steps hand back their values. A bookmark is the step's name and
version, its canonical arguments, and how many equal calls have ended before it in this go; so two equal calls made on
purpose are two steps. While a gesture of an earlier attempt has not been asked for, no new gesture may be made, and
they must be asked for in the journal's order. Pure: reads rows, writes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from browser_agent.errors import TaskChanged
from browser_agent.script.canonical_json import digest
from browser_agent.states import StepState
from browser_agent.store.records import StepRow


class Replay:
    """The journal as one attempt walks along it.

    Args:
        steps: the run's steps in their order, as earlier attempts left them.
        made: ids of the steps with a gesture that happened, or may have.
        mapped: new bookmark -> stored bookmark, by a person's word.
        let_go: stored bookmarks that need not be asked for, by a person's word.
    """

    def __init__(
        self,
        steps: Sequence[StepRow],
        made: Collection[str],
        mapped: Mapping[str, str] | None = None,
        let_go: Collection[str] = (),
    ) -> None:
        self._rows = {row.bookmark: row for row in steps}
        self._awaited = [row for row in steps if row.id in made and row.bookmark not in let_go]
        self._mapped = dict(mapped or {})
        self._ended: Counter[str] = Counter()

    def bookmark(self, name: str, arguments: str, key: str | None) -> str:
        """The bookmark of a call; `ended` counts on from it."""
        base = self._base(name, arguments, key)
        bookmark = f"{base}#{self._ended[base]}"
        return self._mapped.get(bookmark, bookmark)

    def ended(self, name: str, arguments: str, key: str | None) -> None:
        """The call has ended for good: the next equal one is another step."""
        self._ended[self._base(name, arguments, key)] += 1

    def ask(self, bookmark: str, words: str, *, writes: bool) -> StepRow | None:
        """The stored step of that bookmark, or None for a new one.

        Raises:
            TaskChanged: a stored gesture should have been asked for first.
        """
        row = self._rows.get(bookmark)
        if row is not None and row in self._awaited:
            if row is not self._awaited[0]:
                raise TaskChanged(words, self._awaited[0].words)
            self._awaited.pop(0)
            return row
        may_make = row.state is StepState.BEGUN if row is not None else True
        if writes and may_make and self._awaited:
            raise TaskChanged(words, self._awaited[0].words)
        return row

    def end(self) -> None:
        """The task has come to its end.

        Raises:
            TaskChanged: a stored gesture was never asked for.
        """
        if self._awaited:
            raise TaskChanged("nothing more", self._awaited[0].words)

    @property
    def awaited(self) -> StepRow | None:
        """The stored gesture that must be asked for next."""
        return self._awaited[0] if self._awaited else None

    def _base(self, name: str, arguments: str, key: str | None) -> str:
        return f"{name}:key:{key}" if key is not None else f"{name}:{digest(arguments)[:16]}"
