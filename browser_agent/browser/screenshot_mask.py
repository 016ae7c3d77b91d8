"""The areas of a page that must be masked in its screenshot, read from Chromium's own layout.

Chromium's DOM snapshot contains everything that was laid out, including what no script sees: closed shadow roots, the
text of pseudo-elements and list markers, frames of the same process. It holds passwords in plain text, so it stays in
memory, is read only for positions, and is never kept. Controls, canvases, videos and plugins are covered whatever they
hold (except buttons, checkboxes and radio buttons); text is covered where the scrubber finds something in it.

Not found: text inside images and backgrounds, and a shadow or reflection far from its text. A frame that can't be read
is masked as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from browser_agent.secrets.scrubber import Scrubber

Rect = tuple[float, float, float, float]
"""Left, top, right, bottom in CSS pixels of a viewport."""

COVERED = frozenset(
    {"INPUT", "TEXTAREA", "SELECT", "OUTPUT", "CANVAS", "VIDEO", "EMBED", "OBJECT", "APPLET", "FENCEDFRAME"}
)
SEEN_INPUTS = frozenset({"checkbox", "radio", "button", "submit", "reset", "image", "hidden"})
"""Input types that show a label or a state, not what somebody has typed."""
EDITED_ROLES = frozenset({"textbox", "searchbox", "combobox", "spinbutton"})
_A_WORD = 4  # characters; a pseudo-element with no more is an ornament
_ROW = 3.0  # pixels by which pieces of one line may differ vertically
_ALIKE = 1.0  # pixels by which two readings of one rectangle may differ
_WORST_FRAME = 64.0  # pixels of a frame's border and padding; a frame with more is rotated or scaled


@dataclass
class MaskFindings:
    """What must be covered.

    `boxes` = rectangles in the page's viewport. `texts` = hits in the main document: the node's text -> its parts, for
    the caller to locate exactly; `whole` = for each text, by node, the rectangles to cover if that fails.
    `needs_recheck` = scripts can't see all of the text, or some of it must be masked: read the layout again after the
    capture.
    """

    boxes: list[Rect] = field(default_factory=list)
    texts: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    whole: dict[str, dict[int, list[Rect]]] = field(default_factory=dict)
    needs_recheck: bool = False


def find(snapshot: Mapping[str, Any], scrubber: Scrubber, width: float, shown: Sequence[Rect] = ()) -> MaskFindings:
    """Read a `DOMSnapshot.captureSnapshot` with the computed style `visibility`.

    Args:
        snapshot: Chromium's answer.
        scrubber: finds what a text must not show.
        width: the width of the main document's viewport in CSS pixels; on a high-density screen the snapshot counts
            device pixels.
        shown: rectangles of fields that may be seen, in the main document's viewport.
    """
    found = MaskFindings()
    wide = snapshot["documents"][0]["layout"]["bounds"][0][2]
    documents = [_Document(each, snapshot["strings"], width / wide) for each in snapshot["documents"]]
    main = documents[0]
    x, y, right, bottom = main.view
    _Reader(documents, scrubber, shown, found).read(main, _Position(-main.left, -main.top, (x, y, right, bottom)))
    return found


@dataclass(frozen=True)
class _Position:
    """A document's position in the page's viewport; `slack` = what is unknown about its frame's border, in pixels."""

    dx: float
    dy: float
    clip: Rect
    slack: tuple[float, float] = (0.0, 0.0)

    def rect(self, bounds: Sequence[float]) -> Rect:
        x, y, width, height = bounds
        left, top = x + self.dx, y + self.dy
        right, bottom = left + width + self.slack[0], top + height + self.slack[1]
        clip = self.clip
        return max(left, clip[0]), max(top, clip[1]), min(right, clip[2]), min(bottom, clip[3])


@dataclass(frozen=True)
class _Piece:
    """A text that was laid out: its node, and its boxes, each with the start and length of its part of the text."""

    node: int
    text: str
    boxes: Sequence[tuple[Rect, int, int]]


class _Document:
    """One document of a snapshot."""

    def __init__(self, raw: Mapping[str, Any], strings: Sequence[str], scale: float) -> None:
        self._strings, self._nodes, self._layout, self._scale = strings, raw["nodes"], raw["layout"], scale
        self.left, self.top = raw.get("scrollOffsetX", 0.0) * scale, raw.get("scrollOffsetY", 0.0) * scale
        self._names: dict[int, str] = {}
        self.frames: dict[int, int] = dict(_pairs(self._nodes["contentDocumentIndex"]))
        self.closed = any(self._text(value) == "closed" for _, value in _pairs(self._nodes["shadowRootType"]))
        self._values = {
            node: self._text(value) for kind in ("inputValue", "textValue") for node, value in _pairs(self._nodes[kind])
        }
        self._boxes: dict[int, list[int]] = {}
        self._text_boxes = raw["textBoxes"]
        for box, layout in enumerate(self._text_boxes["layoutIndex"]):
            self._boxes.setdefault(layout, []).append(box)
        self.covered = self._covered()

    @property
    def view(self) -> Rect:
        """The document's viewport, in its own coordinates."""
        bounds = self._scaled(self._layout["bounds"][0]) if self._layout["bounds"] else [0, 0, 0, 0]
        return (0.0, 0.0, bounds[2], bounds[3])

    def laid_out(self) -> Iterator[tuple[int, int, Sequence[float]]]:
        """Layout node, document node and bounds of everything visible."""
        for layout, node in enumerate(self._layout["nodeIndex"]):
            if self._style(layout) not in ("hidden", "collapse"):
                yield layout, node, self._scaled(self._layout["bounds"][layout])

    def name(self, node: int) -> str:
        """The node's name in capitals, as in HTML."""
        index: int = self._nodes["nodeName"][node]
        if index not in self._names:
            self._names[index] = self._text(index).upper()
        return self._names[index]

    def said(self, node: int) -> str:
        """What a node shows that isn't a text node: a field's value, a button's label, an image's alternative text."""
        attributes = self._attributes(node)
        return self._values.get(node) or attributes.get("alt") or attributes.get("value", "")

    def piece(self, layout: int, node: int, position: _Position) -> _Piece | None:
        text = self._text(self._layout["text"][layout])
        boxes, own = self._text_boxes, self._boxes.get(layout, ())
        told = [(position.rect(self._scaled(boxes["bounds"][i])), boxes["start"][i], boxes["length"][i]) for i in own]
        return _Piece(node, text, told) if text and told else None

    def is_text(self, node: int) -> bool:
        """Whether it is a text node of the document, which scripts can read, and not a pseudo-element's text."""
        return bool(self._nodes["nodeType"][node] == 3)

    def _covered(self) -> list[bool]:
        """For each node, whether it or an ancestor must be covered; parents come before their children."""
        covered: list[bool] = []
        for node, parent in enumerate(self._nodes["parentIndex"]):
            covered.append((parent >= 0 and covered[parent]) or self._is_covered(node))
        return covered

    def _is_covered(self, node: int) -> bool:
        name = self.name(node)
        if name in COVERED and name != "INPUT":
            return True
        if not self._nodes["attributes"][node]:
            return name == "INPUT"
        attributes = self._attributes(node)
        if name == "INPUT":
            return attributes.get("type", "text").lower() not in SEEN_INPUTS
        edited = attributes.get("contenteditable")
        return (edited is not None and edited.lower() != "false") or attributes.get("role", "").lower() in EDITED_ROLES

    def _attributes(self, node: int) -> dict[str, str]:
        flat = self._nodes["attributes"][node]
        return {self._text(flat[i]).lower(): self._text(flat[i + 1]) for i in range(0, len(flat) - 1, 2)}

    def _scaled(self, bounds: Sequence[float]) -> Sequence[float]:
        return bounds if self._scale == 1 else [side * self._scale for side in bounds]

    def _style(self, layout: int) -> str:
        styles = self._layout["styles"][layout]
        return self._text(styles[0]) if styles else ""

    def _text(self, index: int) -> str:
        return self._strings[index] if index >= 0 else ""


class _Reader:
    """Walks through the documents of a page and collects what must be covered."""

    def __init__(
        self, documents: Sequence[_Document], scrubber: Scrubber, shown: Sequence[Rect], found: MaskFindings
    ) -> None:
        self._documents, self._scrubber, self._shown, self._found = documents, scrubber, shown, found

    def read(self, document: _Document, position: _Position) -> None:
        self._found.needs_recheck |= document.closed
        pieces: list[_Piece] = []
        for layout, node, bounds in document.laid_out():
            rect, name = position.rect(bounds), document.name(node)
            piece = document.piece(layout, node, position)
            if document.covered[node]:
                self._cover(document, node, rect)
                self._found.boxes += [box for box, _, _ in piece.boxes] if piece else []
            elif name in ("IFRAME", "FRAME"):
                self._frame(document, node, rect)
            elif name in ("INPUT", "IMG") and self._scrubber.spans(document.said(node)):
                self._found.boxes.append(rect)
            elif piece is not None:
                pieces.append(piece)
                self._found.needs_recheck |= not document.is_text(node) and len(piece.text) > _A_WORD
        self._texts(document, pieces)

    def _cover(self, document: _Document, node: int, rect: Rect) -> None:
        may_be_seen = any(_alike(rect, one) for one in self._shown) and document is self._documents[0]
        if not may_be_seen or self._scrubber.spans(document.said(node)):
            self._found.boxes.append(rect)

    def _frame(self, document: _Document, node: int, rect: Rect) -> None:
        """Read a frame of the same process; cover one that can't be read, or is rotated or scaled."""
        inner = self._documents[document.frames[node]] if node in document.frames else None
        _, _, width, height = inner.view if inner is not None else (0.0, 0.0, 0.0, 0.0)
        more = (rect[2] - rect[0] - width, rect[3] - rect[1] - height)
        if inner is None or not all(-_ALIKE <= each <= _WORST_FRAME for each in more):
            self._found.boxes.append(rect)
            return
        dx, dy = rect[0] - inner.left, rect[1] - inner.top
        self.read(inner, _Position(dx, dy, rect, (max(more[0], 0.0), max(more[1], 0.0))))

    def _texts(self, document: _Document, pieces: Sequence[_Piece]) -> None:
        """Find what must not be seen in the running text: across nodes, but not into another column."""
        text, starts = "", list[int]()
        for before, piece in zip([None, *pieces], pieces, strict=False):
            text += _between(before, piece) if before else ""
            starts.append(len(text))
            text += piece.text
        for span in self._scrubber.spans(text):
            for start, piece in zip(starts, pieces, strict=True):
                first, last = max(span.start - start, 0), min(span.end - start, len(piece.text))
                if first < last:
                    self._hit(document, piece, first, last)

    def _hit(self, document: _Document, piece: _Piece, first: int, last: int) -> None:
        self._found.needs_recheck = True
        boxes = [box for box, start, length in piece.boxes if start < last and first < start + length]
        if document is not self._documents[0] or not document.is_text(piece.node):
            self._found.boxes += boxes
            return
        parts = self._found.texts.setdefault(piece.text, [])
        if (first, last) not in parts:
            parts.append((first, last))
        self._found.whole.setdefault(piece.text, {}).setdefault(piece.node, []).extend(boxes)


def _between(before: _Piece, after: _Piece) -> str:
    """The separator of two texts: nothing if they touch, a space within a line, else a newline."""
    one, other = before.boxes[-1][0], after.boxes[0][0]
    if abs(one[1] - other[1]) > _ROW and abs(one[3] - other[3]) > _ROW:
        return "\n"
    gap = other[0] - one[2]
    return "" if abs(gap) <= _ALIKE else " " if 0 < gap < other[3] - other[1] else "\n"


def _alike(one: Rect, other: Rect) -> bool:
    return all(abs(a - b) <= _ALIKE for a, b in zip(one, other, strict=True))


def _pairs(sparse: Mapping[str, Sequence[int]]) -> Iterator[tuple[int, int]]:
    return zip(sparse["index"], sparse["value"], strict=True)
