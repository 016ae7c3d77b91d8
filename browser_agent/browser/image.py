"""Operations on pictures: encode, compare, cover, mark. A picture is never changed in place."""

from __future__ import annotations

import io
from collections.abc import Iterable

from PIL import Image, ImageChops, ImageDraw, ImageFont, UnidentifiedImageError
from pydantic.dataclasses import dataclass

QUALITY = 80
LONGEST_SIDE = 16_383  # WebP's own limit, in pixels
MOST_PIXELS = 40_000_000
MOST_BYTES = 30_000_000
_NOISE = 24  # of 255: how much lossy WebP may change an equal pixel
_FLAT = 8  # of 255
_INK = (214, 0, 110)
_COVER, _EDGE = (214, 218, 222), (168, 174, 180)


class NotAPicture(ValueError):
    """The bytes are not a picture, or the picture is too large to be decoded or stored."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels of its picture, counted from the top left corner."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, slots=True)
class PictureChange:
    """The difference between two pictures: the box around it (None: none), and its share of all pixels, 0 to 1."""

    box: Box | None
    ratio: float


def to_webp(picture: bytes) -> bytes:
    """PNG or JPEG bytes as WebP, quality 80, method 0 (method 4 is four times slower for a fifth less, measured).

    Raises:
        NotAPicture: see `decode`.
    """
    return encode(decode(picture))


def decode(picture: bytes) -> Image.Image:
    """The decoded picture, as RGB. Raises NotAPicture; a size out of bounds raises before anything is decoded."""
    if len(picture) > MOST_BYTES:
        raise NotAPicture(f"{len(picture)} bytes are more than {MOST_BYTES}")
    try:
        opened = Image.open(io.BytesIO(picture))
        width, height = opened.size
        if max(width, height) > LONGEST_SIDE or width * height > MOST_PIXELS:
            raise NotAPicture(f"{width} x {height} pixels are too many")
        return opened.convert("RGB")
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise NotAPicture(str(error)) from error


def encode(image: Image.Image) -> bytes:
    """The picture as WebP. The same pixels give the same bytes."""
    written = io.BytesIO()
    image.save(written, "WEBP", quality=QUALITY, method=0)
    return written.getvalue()


def cover(image: Image.Image, boxes: Iterable[Box]) -> Image.Image:
    """A copy with the boxes painted over."""
    covered = image.copy()
    draw = ImageDraw.Draw(covered)
    for box in boxes:
        right, bottom = max(box.left, box.right - 1), max(box.top, box.bottom - 1)
        draw.rectangle((box.left, box.top, right, bottom), fill=_COVER, outline=_EDGE)
    return covered


def what_changed(before: bytes, after: bytes) -> PictureChange:
    """Compare two pictures. Those of different sizes differ everywhere. Raises NotAPicture."""
    old, new = decode(before), decode(after)
    if old.size != new.size:
        return PictureChange(Box(0, 0, *new.size), 1.0)
    differing = _strongest_band(ImageChops.difference(old, new)).point([0] * _NOISE + [255] * (256 - _NOISE))
    edges = differing.getbbox()
    changed = differing.histogram()[255]
    return PictureChange(None if edges is None else Box(*edges), changed / (old.width * old.height))


def mark_target(picture: bytes, box: Box | None, point: tuple[int, int] | None, label: str) -> bytes:
    """A copy, as WebP, with a frame around the target, a cross at the click point and a label. Raises NotAPicture."""
    image = decode(picture)
    draw = ImageDraw.Draw(image)
    if box is not None:
        draw.rectangle((box.left - 2, box.top - 2, box.right + 1, box.bottom + 1), outline=_INK, width=2)
    if point is not None:
        x, y = point
        draw.line((x - 9, y, x + 9, y), fill=_INK, width=2)
        draw.line((x, y - 9, x, y + 9), fill=_INK, width=2)
    if label:
        _write_label(draw, image.size, box, label)
    return encode(image)


def one_colour(picture: bytes) -> bool:
    """Whether it shows nothing: the tab was in the background or the page not yet painted. Raises NotAPicture."""
    return is_flat(decode(picture))


def is_flat(image: Image.Image) -> bool:
    """The same for a decoded picture."""
    bands = [band.getextrema() for band in image.split()]
    return all(float(high) - float(low) <= _FLAT for low, high in bands)  # type: ignore[arg-type]  # L bands give pairs


def _strongest_band(image: Image.Image) -> Image.Image:
    """Each pixel's largest difference of the three: in luminance, a change from red to green may vanish."""
    red, green, blue = image.split()
    return ImageChops.lighter(ImageChops.lighter(red, green), blue)


def _write_label(draw: ImageDraw.ImageDraw, size: tuple[int, int], box: Box | None, label: str) -> None:
    font = ImageFont.load_default(14)
    left, top, right, bottom = draw.textbbox((0, 0), label, font=font)
    width, height = int(right - left) + 8, int(bottom - top) + 8
    x = max(0, min(box.left if box else 0, size[0] - width))
    above = (box.top if box else height + 4) - height - 4
    y = above if above >= 0 else min((box.bottom if box else 0) + 4, max(0, size[1] - height))
    draw.rectangle((x, y, x + width, y + height), fill=_INK)
    draw.text((x + 4 - left, y + 4 - top), label, fill=(255, 255, 255), font=font)
