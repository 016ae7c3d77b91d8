"""The kinds of gestures that the pointer makes beside a click: twice, with its other button, held, from one to another.

Their rows in `rules.was_refused` are a click's: the call log says when the input begins, and from then on nothing is a
refusal. For `Hold` and `DragTo` that is the moment at which the button goes down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from browser_agent.errors import Refused
from browser_agent.script.gestures import About, Gesture, selector_of, target_words

if TYPE_CHECKING:
    from playwright.sync_api import Locator

__all__ = ["DoubleClick", "DragTo", "Hold", "RightClick"]

G = TypeVar("G")
T_co = TypeVar("T_co", covariant=True)

DRAG_STEPS = 5
"""Mouse moves of one drag: a page that drags by pointer events begins only after some distance."""


class DoubleClick(Gesture[T_co]):
    """A double click on a control. The page sees two clicks as well, as from a person's."""

    kind = "double click"

    @overload
    def __init__(self: DoubleClick[None], target: Locator, **about: Unpack[About]) -> None: ...
    @overload
    def __init__(self: DoubleClick[G], target: Locator, *, gives: type[G], **about: Unpack[About]) -> None: ...
    def __init__(self, target: Locator, *, gives: type[Any] | None = None, **about: Unpack[About]) -> None:
        super().__init__(target, gives, about)

    def make(self, timeout_ms: float) -> None:
        """Double-click once."""
        self.target.dblclick(timeout=timeout_ms)


class RightClick(Gesture[T_co]):
    """A click with the right button, where that alone makes the change.

    If it opens a menu, open the menu in the step with `target.click(button="right")`, and return the `Click` on its
    command.
    """

    kind = "right click"

    @overload
    def __init__(self: RightClick[None], target: Locator, **about: Unpack[About]) -> None: ...
    @overload
    def __init__(self: RightClick[G], target: Locator, *, gives: type[G], **about: Unpack[About]) -> None: ...
    def __init__(self, target: Locator, *, gives: type[Any] | None = None, **about: Unpack[About]) -> None:
        super().__init__(target, gives, about)

    def make(self, timeout_ms: float) -> None:
        """Click with the right button once."""
        self.target.click(button="right", timeout=timeout_ms)


class Hold(Gesture[T_co]):
    """A control pressed with the mouse, held, and let go, such as "hold to confirm".

    Args:
        ms: milliseconds between pressing and letting go. The whole input has its `timeout`, and at most 10 seconds.

    Once the button is down, a failure is in doubt: the page may have had its time.
    """

    kind = "hold"

    @overload
    def __init__(self: Hold[None], target: Locator, ms: float, **about: Unpack[About]) -> None: ...
    @overload
    def __init__(self: Hold[G], target: Locator, ms: float, *, gives: type[G], **about: Unpack[About]) -> None: ...
    def __init__(self, target: Locator, ms: float, *, gives: type[Any] | None = None, **about: Unpack[About]) -> None:
        self.ms = ms
        super().__init__(target, gives, about)

    def make(self, timeout_ms: float) -> None:
        """Press, hold and let go, once.

        Raises:
            Refused: its time limit is shorter than the time to hold; nothing was touched.
        """
        if self.ms >= timeout_ms:
            because = f"To hold it for {self.ms / 1000:g} s doesn't fit in the input's {timeout_ms / 1000:g} s."
            raise Refused(self.intent, because)
        self.target.click(delay=self.ms, timeout=timeout_ms)

    def stored(self) -> dict[str, Any]:
        """The intent's JSON form, with the time."""
        return {**super().stored(), "ms": self.ms}


class DragTo(Gesture[T_co]):
    """A control dragged with the mouse and dropped on another one, such as a card into the column "Done".

    Args:
        to: where it is dropped, in its middle.

    Both controls are waited for, and read again, before the button goes down; after that a failure is in doubt.
    """

    kind = "drag"

    @overload
    def __init__(self: DragTo[None], target: Locator, to: Locator, **about: Unpack[About]) -> None: ...
    @overload
    def __init__(self: DragTo[G], target: Locator, to: Locator, *, gives: type[G], **about: Unpack[About]) -> None: ...
    def __init__(self, target: Locator, to: Locator, *, gives: type[Any] | None = None, **about: Unpack[About]) -> None:
        self.to = to
        super().__init__(target, gives, about)

    @property
    def controls(self) -> tuple[Locator, ...]:
        """What is dragged, and where it is dropped."""
        return (self.target, self.to)

    def make(self, timeout_ms: float) -> None:
        """Drag and drop it once."""
        self.target.drag_to(self.to, steps=DRAG_STEPS, timeout=timeout_ms)

    def stored(self) -> dict[str, Any]:
        """The intent's JSON form, with the control that it is dropped on."""
        to = selector_of(self.to)
        return {**super().stored(), "to": {"words": target_words(to), "selector": to}}
