"""The kinds of gestures: one class for each input that has a tested row of its own in `rules.was_refused`.

Each kind says what its control must be like, makes its input by one Playwright call, and stores what it needs beside
what every gesture has. A stored intent never holds the content of a file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack, overload

from browser_agent.errors import Refused
from browser_agent.script.gestures import About, Gesture, Left

if TYPE_CHECKING:
    from playwright.sync_api import FilePayload, Locator

__all__ = ["Check", "Click", "KnownFile", "Press", "Select", "Upload"]

G = TypeVar("G")
T_co = TypeVar("T_co", covariant=True)

MOST_BYTES = 50 * 1024 * 1024 - 1
"""The limit of one upload: Playwright sends no more to a browser that it is only attached to."""

# `control`: the field that a label belongs to, as Playwright follows it.
_HAS_OPTION = r"""(node, [by, wanted]) => [...((node.control ?? node).options ?? [])].some(
  option => option[by].replace(/\s+/g, ' ').trim() === wanted && !option.disabled)"""
_TAKES_FILES = """(node, several) => {
  const field = node.control ?? node;
  return field.type === 'file' && (field.multiple || !several);
}"""


class Click(Gesture[T_co]):
    """A click on a control."""

    kind = "click"

    @overload
    def __init__(self: Click[None], target: Locator, **about: Unpack[About]) -> None: ...
    @overload
    def __init__(self: Click[G], target: Locator, *, gives: type[G], **about: Unpack[About]) -> None: ...
    def __init__(self, target: Locator, *, gives: type[Any] | None = None, **about: Unpack[About]) -> None:
        super().__init__(target, gives, about)

    def make(self, timeout_ms: float) -> None:
        """Click once."""
        self.target.click(timeout=timeout_ms)


class Press(Gesture[T_co]):
    """A key pressed while a control has the focus, such as "Enter" in a search field that posts.

    Something that covers the control doesn't matter: a key needs the focus, not the position.
    """

    kind = "press"

    @overload
    def __init__(self: Press[None], target: Locator, key: str, **about: Unpack[About]) -> None: ...
    @overload
    def __init__(self: Press[G], target: Locator, key: str, *, gives: type[G], **about: Unpack[About]) -> None: ...
    def __init__(self, target: Locator, key: str, *, gives: type[Any] | None = None, **about: Unpack[About]) -> None:
        self.key = key
        super().__init__(target, gives, about)

    def make(self, timeout_ms: float) -> None:
        """Press the key once."""
        self.target.press(self.key, timeout=timeout_ms)

    def stored(self) -> dict[str, Any]:
        """The intent's JSON form, with the key."""
        return {**super().stored(), "key": self.key}


class Check(Gesture[T_co]):
    """A checkbox that writes at once, set or cleared by one click on it.

    If it is already as wanted it is `Refused`, since nothing would be clicked: where that is no mistake, return `Done`
    from the step. A box that is hidden behind a picture of one is reached by its label.
    """

    kind = "check"

    @overload
    def __init__(self: Check[None], target: Locator, on: bool = True, **about: Unpack[About]) -> None: ...
    @overload
    def __init__(
        self: Check[G], target: Locator, on: bool = True, *, gives: type[G], **about: Unpack[About]
    ) -> None: ...
    def __init__(
        self, target: Locator, on: bool = True, *, gives: type[Any] | None = None, **about: Unpack[About]
    ) -> None:
        self.on = on
        super().__init__(target, gives, about)

    def _wait_once(self, left: Left) -> None:
        super()._wait_once(left)
        if self.target.is_checked(timeout=left()) is self.on:
            raise self._refused(f"is {'on' if self.on else 'off'} already")

    def make(self, timeout_ms: float) -> None:
        """Set it once."""
        self.target.set_checked(self.on, timeout=timeout_ms)

    def stored(self) -> dict[str, Any]:
        """The intent's JSON form, with the wanted state."""
        return {**super().stored(), "on": self.on}


class Select(Gesture[T_co]):
    """An option chosen in a list that writes at once.

    Args:
        option: the option's label, as a person reads it; with `by="value"` the value that the page gives it.

    To the page it looks like a script's doing (its events aren't trusted: measured), and it also works where something
    covers the list.
    """

    kind = "select"

    @overload
    def __init__(
        self: Select[None],
        target: Locator,
        option: str,
        by: Literal["label", "value"] = "label",
        **about: Unpack[About],
    ) -> None: ...
    @overload
    def __init__(
        self: Select[G],
        target: Locator,
        option: str,
        by: Literal["label", "value"] = "label",
        *,
        gives: type[G],
        **about: Unpack[About],
    ) -> None: ...
    def __init__(
        self,
        target: Locator,
        option: str,
        by: Literal["label", "value"] = "label",
        *,
        gives: type[Any] | None = None,
        **about: Unpack[About],
    ) -> None:
        self.option, self.by = option, by
        super().__init__(target, gives, about)

    def _wait_once(self, left: Left) -> None:
        super()._wait_once(left)
        otherwise = f"has no option of the {self.by} “{self.option}” that can be chosen"
        self._wait_until(_HAS_OPTION, [self.by, self.option], left, otherwise)

    def make(self, timeout_ms: float) -> None:
        """Choose it once."""
        if self.by == "label":
            self.target.select_option(label=self.option, timeout=timeout_ms)
        else:
            self.target.select_option(value=self.option, timeout=timeout_ms)

    def stored(self) -> dict[str, Any]:
        """The intent's JSON form, with the option."""
        return {**super().stored(), "option": self.option, "by": self.by}


@dataclass(frozen=True)
class KnownFile:
    """A file as it was when the intent was stored: its name, its size in bytes, its SHA-256 in hex."""

    name: str
    size: int
    sha256: str

    @classmethod
    def of(cls, path: Path, content: bytes) -> Self:
        """The facts of a file with that content."""
        return cls(path.name, len(content), hashlib.sha256(content).hexdigest())


class Upload(Gesture[T_co]):
    """Files given to a file field that sends them at once. The field may be hidden, as most of them are.

    The page gets the very bytes whose SHA-256 the intent holds.

    Raises:
        Refused: a file can't be read, or together they are more than 50 MiB.
    """

    kind = "upload"

    @overload
    def __init__(self: Upload[None], target: Locator, files: Path | Sequence[Path], **about: Unpack[About]) -> None: ...
    @overload
    def __init__(
        self: Upload[G], target: Locator, files: Path | Sequence[Path], *, gives: type[G], **about: Unpack[About]
    ) -> None: ...
    def __init__(
        self,
        target: Locator,
        files: Path | Sequence[Path],
        *,
        gives: type[Any] | None = None,
        **about: Unpack[About],
    ) -> None:
        self._paths = (files,) if isinstance(files, Path) else tuple(files)
        self.intent = about["intent"]
        self.files = tuple(map(KnownFile.of, self._paths, self._read()))
        super().__init__(target, gives, about)

    def _read(self) -> list[bytes]:
        try:
            if sum(path.stat().st_size for path in self._paths) > MOST_BYTES:
                raise Refused(self.intent, "Its files are more than 50 MiB together.")
            return [path.read_bytes() for path in self._paths]
        except OSError as error:
            because = f"The file {Path(error.filename or '').name} can't be read: {error.strerror}."
            raise Refused(self.intent, because) from error

    def _wait_once(self, left: Left) -> None:
        self._wait_enabled(self.target, "attached", left)
        several = len(self.files) > 1
        otherwise = f"is not a field that takes {'several files' if several else 'a file'}"
        self._wait_until(_TAKES_FILES, several, left, otherwise)

    def make(self, timeout_ms: float) -> None:
        """Give the files to the field, once.

        Raises:
            Refused: a file is gone or has changed since; the field was not touched.
        """
        contents = self._read()
        for path, content, known in zip(self._paths, contents, self.files, strict=True):
            if KnownFile.of(path, content) != known:
                raise Refused(self.intent, f"The file {known.name} has changed since the intent was stored.")
        given: list[FilePayload] = [  # without a type, Playwright derives it from the file name
            {"name": known.name, "mimeType": "", "buffer": content}
            for known, content in zip(self.files, contents, strict=True)
        ]
        self.target.set_input_files(given, timeout=timeout_ms)

    def stored(self) -> dict[str, Any]:
        """The intent's JSON form, with name, size and digest of each file, never its content."""
        return {**super().stored(), "files": [asdict(known) for known in self.files]}
