"""Texts of items by which a stranger tries to put files of the organizer on a page."""

from pathlib import Path

import numpy as np
import pytest

import tieproof as tp
from page_cases import codes
from tieproof import cli

PIL = pytest.importorskip("PIL.Image")
pytest.importorskip("jinja2")


def test_a_text_names_no_image_elsewhere(tmp_path: Path) -> None:
    """A stranger who writes the texts of the items cannot put the organizer's images on a page."""
    vectors, labels = codes(3)
    result = tp.evaluate(vectors, labels, distance="hamming")
    private, data = tmp_path / "private" / "passport.png", tmp_path / "data"
    for place in (private, data / "one.png"):
        place.parent.mkdir()
        PIL.new("RGB", (60, 60)).save(place)
    (data / "link.png").symlink_to(private)
    ours, out = str(data / "one.png"), data / "page.html"
    for theirs in (str(private), f"{data}/../private/passport.png", str(data / "link.png")):
        result.report(out, items=[ours, ours, theirs])
        assert out.read_text().count("<img") == 2
        assert "1 text names an image among other texts, or outside of the folder of the items" in out.read_text()
    result.report(out, items=["a text", "another text", ours])
    assert "<img" not in out.read_text()
    result.report(out, items=["a text", "another text", private])
    assert out.read_text().count("<img") == 1
    (data / "items.txt").write_text(f"{ours}\n{ours}\n{private}\n")
    np.save(tmp_path / "x.npy", vectors)
    np.save(tmp_path / "y.npy", labels)
    words = (
        f"evaluate {tmp_path}/x.npy {tmp_path}/y.npy -d hamming --items {data}/items.txt --report {tmp_path}/p.html"
    )
    with pytest.raises(SystemExit, match="0"):
        cli.main(words.split())
    page = (tmp_path / "p.html").read_text()
    assert "<img" in page
    assert f"outside of the folder of the items: {private}." in page
