"""Images of items on pages, in all usual formats."""

import os
import re
import sys
import threading
import warnings
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from page_cases import codes
from tieproof.show.pages.contents import EmbeddedImages

PIL = pytest.importorskip("PIL.Image")
pytest.importorskip("jinja2")


def opened(path: Path) -> Any:
    """The thumbnail of an image."""
    return PIL.open(BytesIO(b64decode(EmbeddedImages().embedded(path).partition(",")[2])))


def test_photographs_stand_upright(tmp_path: Path) -> None:
    path = tmp_path / "one.jpg"
    image = PIL.fromarray(np.zeros((200, 400, 3), dtype=np.uint8))
    exif = image.getexif()
    exif[0x0112] = 6  # the camera was rotated by 90 degrees
    image.save(path, exif=exif)
    assert opened(path).size == (48, 96)


def test_sixteen_bits_are_not_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "one.png"
    PIL.fromarray(np.array([[0, 256, 32768, 65535]], dtype=np.uint16)).save(path)
    assert np.array(opened(path).convert("L")).tolist() == [[0, 1, 128, 255]]


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_transparent_images_lie_on_white(tmp_path: Path, mode: str) -> None:
    """A dark drawing would be invisible on a dark page."""
    path = tmp_path / "one.png"
    image = PIL.new("RGBA", (60, 60), (0, 0, 0, 0))
    image.paste((0, 0, 0, 255), (0, 0, 30, 60))
    image.convert(mode).save(path)
    shown = opened(path).convert("RGBA")
    assert (shown.getpixel((10, 10)), shown.getpixel((50, 50))) == ((0, 0, 0, 255), (255, 255, 255, 255))


def test_large_images_are_shrunk_without_a_word(tmp_path: Path) -> None:
    path = tmp_path / "one.png"
    PIL.new("1", (12_000, 9_000)).save(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert opened(path).size == (96, 72)


def test_only_formats_of_images_are_opened(tmp_path: Path) -> None:
    """Pillow would hand PostScript to another program."""
    path = tmp_path / "one.png"
    PIL.new("RGB", (20, 20)).save(path, "EPS")
    budget = EmbeddedImages()
    assert budget.embedded(path) == ""
    assert budget.unreadable == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe.png"
    os.mkfifo(path)
    found: list[str] = []
    waiting = threading.Thread(target=lambda: found.append(EmbeddedImages().embedded(path)), daemon=True)
    waiting.start()
    waiting.join(5)
    assert found == [""]


def test_other_formats_by_name(tmp_path: Path) -> None:
    vectors, labels = codes(10)
    paths = [tmp_path / f"{at}.{kind}" for at, kind in enumerate(["bmp", "tif", "tiff", "png", "webp"] * 2)]
    for path in paths:
        PIL.new("RGB", (60, 60)).save(path)
    tp.evaluate(vectors, labels, distance="hamming").report(tmp_path / "page.html", items=[*map(str, paths)])
    assert (tmp_path / "page.html").read_text().count("<img") == 10


def test_names_of_images_that_are_not_there(tmp_path: Path) -> None:
    vectors, labels = codes(10)
    items = ["a text", *(f"nowhere/{at}.JPG" for at in range(1, 10))]
    tp.evaluate(vectors, labels, distance="hamming").report(tmp_path / "page.html", items=items)
    said = r"9 items look like names of images, but no such files exist: nowhere/\d.JPG and 8 more. "
    assert re.search(f"{said}The page shows them as texts", (tmp_path / "page.html").read_text())
    tp.evaluate(vectors, labels, distance="hamming").report(tmp_path / "page.html", items=[*"abcdefghi", "j.png"])
    said = "1 item looks like the name of an image, but no such file exists: j.png. The page shows it as a text."
    assert said in (tmp_path / "page.html").read_text()
