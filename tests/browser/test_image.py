"""Pictures as bytes: what changed, marks on copies, bounds."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from browser_agent.browser import image as pictures
from browser_agent.browser.image import Box, NotAPicture, PictureChange


def png(colour: str = "white", size: tuple[int, int] = (200, 100), spot: Box | None = None) -> bytes:
    image = Image.new("RGB", size, colour)
    if spot:
        image.paste((200, 0, 0), (spot.left, spot.top, spot.right, spot.bottom))
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


def pixel(picture: bytes, x: int, y: int) -> tuple[int, ...]:
    found = pictures.decode(picture).getpixel((x, y))
    assert isinstance(found, tuple)
    return found


def test_a_png_becomes_a_webp_of_the_same_size():
    image = Image.open(io.BytesIO(pictures.to_webp(png())))
    assert (image.format, image.size) == ("WEBP", (200, 100))


def test_the_same_pixels_give_the_same_bytes():
    assert pictures.to_webp(png()) == pictures.to_webp(png())


def test_equal_pictures_did_not_change():
    assert pictures.what_changed(png(), png()) == PictureChange(None, 0.0)


def test_a_change_is_boxed_and_measured():
    spot = Box(20, 30, 60, 50)
    assert pictures.what_changed(png(), png(spot=spot)) == PictureChange(spot, 800 / 20_000)


def test_a_change_of_colour_at_equal_brightness_is_seen():
    assert pictures.what_changed(png("#ff0000"), png("#008200")).ratio == 1.0


def test_pictures_of_different_sizes_differ_everywhere():
    assert pictures.what_changed(png(), png(size=(200, 120))) == PictureChange(Box(0, 0, 200, 120), 1.0)


def test_the_loss_of_webp_is_no_change():
    spot = Box(20, 30, 61, 53)
    assert pictures.what_changed(png(spot=spot), pictures.to_webp(png(spot=spot))).ratio < 0.01


def test_a_mark_is_drawn_on_a_copy():
    original = png()
    marked = pictures.mark_target(original, Box(50, 40, 90, 60), (70, 50), "Post")
    assert original == png()
    assert pictures.what_changed(original, marked).box is not None
    red, green, _ = pixel(marked, 70, 50)
    assert red > 150 and green < 90


def test_a_label_at_the_edge_stays_inside():
    marked = pictures.mark_target(png(), Box(180, 2, 199, 12), None, "a label much too long for its place")
    assert Image.open(io.BytesIO(marked)).size == (200, 100)


def test_nothing_to_see_is_recognised():
    assert pictures.one_colour(png("grey"))
    assert not pictures.one_colour(png(spot=Box(0, 0, 4, 4)))


def test_a_huge_picture_is_refused_before_it_is_decoded():
    with pytest.raises(NotAPicture, match="too many"):
        pictures.to_webp(png(size=(20_000, 2)))


@pytest.mark.parametrize("torn", [b"", b"<html>", png()[:60]], ids=["empty", "a page", "cut off"])
def test_bytes_that_are_no_picture_are_refused(torn):
    with pytest.raises(NotAPicture):
        pictures.to_webp(torn)
