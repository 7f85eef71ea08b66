"""The picture of nearest items: what is drawn for images, texts, right and wrong ones, and ties."""

import numpy as np
import pytest

from layout import faults
from tieproof.show import style

pytest.importorskip("torch")

from tieproof.compat.oml.nearest_items import Row, ShownItem, ShownTie, nearest_items

pytestmark = pytest.mark.heavy


def test_rows_with_images_texts_and_ties() -> None:
    image = np.arange(12.0).reshape(4, 3)
    rows = [
        Row(
            image,
            "query 5",
            [ShownItem(image, "1: 0.5", True), ShownItem(image, "4: 0.5", False)],
            [ShownTie(0, 2, 9)],
        ),
        Row("words " * 40, "query 6", [ShownItem("a text", "2: 0.1", None)], []),
    ]
    ax = nearest_items(rows, style.figure("x")[1])
    assert faults(ax) == []
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
