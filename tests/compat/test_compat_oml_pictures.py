"""The picture of nearest items: what is drawn for images, texts, right and wrong ones, and ties."""

import warnings

import numpy as np
import pytest

from layout import faults
from tieproof.show import style

pytest.importorskip("torch")
plt = pytest.importorskip("matplotlib.pyplot")

from tieproof.compat.oml.nearest_items import Item, Row, Tie, nearest_items  # noqa: E402

pytestmark = pytest.mark.heavy


def test_rows_with_images_texts_and_ties() -> None:
    image = np.arange(12.0).reshape(4, 3)
    rows = [
        Row(image, "query 5", [Item(image, "1: 0.5", True), Item(image, "4: 0.5", False)], [Tie(0, 2, 9)]),
        Row("words " * 40, "query 6", [Item("a text", "2: 0.1", None)], []),
    ]
    ax = nearest_items(rows, style.figure("x")[1])
    texts = [text.get_text() for text in ax.texts]
    assert texts[:4] == ["query 5", "✓ 1: 0.5", "✗ 4: 0.5", "2 of 9 tied"]
    assert [text for text in texts[4:] if "words" not in text] == ["query 6", "a text", "2: 0.1"]
    assert max(text.count("\n") for text in texts) == 5
    assert len(ax.images) == 3
    # Color alone says nothing: frames of wrong items are dashed.
    frames = {(line.get_color(), line.get_linestyle()) for line in ax.lines}
    assert {(style.GREEN, "-"), (style.VERMILION, "--"), (style.GRAY, "-")} <= frames
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "✓ relevant",
        "✗ not relevant",
        "tied: any order",
    ]


def test_images_keep_their_proportions() -> None:
    ax = nearest_items([Row(np.zeros((10, 5, 3)), "q", [], [])], style.figure("x")[1])
    left, right, bottom, top = ax.images[0].get_extent()
    assert np.isclose((top - bottom) / (right - left), 2)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["✓ relevant", "✗ not relevant"]


@pytest.mark.parametrize("look", ["default", "dark_background"])
def test_long_texts_do_not_overlap_and_are_seen(look: str) -> None:
    items = [Item(np.eye(4), "a caption that goes on and on and on", True), Item("數據" * 20, "4: 0.5", False)]
    rows = [
        Row("words " * 40, "a query with a very long caption", items, [Tie(0, 2, 9)]),
        Row(np.eye(3), "a $name_{with}$ <signs>", items, [Tie(0, 1, 500), Tie(1, 2, 12345)]),
    ]
    with plt.style.context(look), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        ax = nearest_items(rows, None)
        assert faults(ax) == []
        drawn = {line.get_color() for line in ax.lines} | {text.get_color() for text in ax.texts}
    assert look == "default" or not {"black", style.BLACK, "k"} & {each for each in drawn if isinstance(each, str)}
