"""The picture of nearest items: what is drawn for images, texts, right and wrong ones, and ties."""

from typing import Any

import numpy as np
import pytest

from layout import faults
from tieproof.show import style

pytest.importorskip("torch")

import torch

from tieproof.compat.oml import RetrievalResults

pytestmark = pytest.mark.heavy


def drawn(distances: list[list[float]], ids: list[list[int]], gt_ids: Any, contents: Any, count: int = 5) -> Any:
    lists = [rows and [torch.tensor(row) for row in rows] for rows in (distances, ids, gt_ids)]
    queries = [*range(len(ids))]
    return RetrievalResults(*lists).visualize_with_functions(queries, contents[0], contents[1], count).axes[0]


def test_rows_with_images_texts_and_ties() -> None:
    image = np.arange(12.0).reshape(4, 3)
    contents = (lambda query, _: [image, "words " * 40][query]), lambda item, _: image if item < 7 else "a text"
    ids = [[1, 4, 0, 2, 3, 5, 6, 8, 9], [7, 8]]
    ax = drawn([[0.5] * 9, [0.125, 0.25]], ids, [[1], [8]], contents, 2)
    assert faults(ax) == []
    texts = [text.get_text() for text in ax.texts]
    assert texts[:4] == ["query 0", "✓ 1: 0.5", "✗ 4: 0.5", "2 of 9 tied"]
    assert texts[5:] == ["query 1", "a text", "✗ 7: 0.125", "a text", "✓ 8: 0.25"]
    assert (max(text.count("\n") for text in texts), len(ax.images)) == (5, 3)
    # Color alone says nothing: frames of wrong items are dashed.
    assert {(style.GREEN, "-"), (style.VERMILION, "--")} <= {(x.get_color(), x.get_linestyle()) for x in ax.lines}
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["✓ relevant", "✗ not relevant", "tied: any order"]


def test_images_keep_their_proportions_and_unknown_items_are_gray() -> None:
    ax = drawn([[0.5]], [[3]], None, (lambda *_: np.zeros((10, 5, 3)), lambda *_: "a text"))
    left, right, bottom, top = ax.images[0].get_extent()
    assert np.isclose((top - bottom) / (right - left), 2)
    assert [text.get_text() for text in ax.texts] == ["query 0", "a text", "3: 0.5"]
    assert (style.GRAY, "-") in {(line.get_color(), line.get_linestyle()) for line in ax.lines}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["✓ relevant", "✗ not relevant"]
