"""No kernel writes behind the working memory of a thread."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from hard_sets import HARD_SETS
from tieproof.engine import memory

GUARD = 0x5A
BEHIND = 64


@pytest.mark.parametrize(
    "name", ["multiples", "constant rows", "rows over sixty orders", "int8 few values", "float16"]
)
@pytest.mark.parametrize("items", [11, 30, 65])
def test_nothing_behind_the_working_memory_is_written(monkeypatch: pytest.MonkeyPatch, name: str, items: int) -> None:
    behind = []

    def empty(length: int, dtype: Any = np.float64) -> Any:
        size = length * np.dtype(dtype).itemsize
        block = np.full(size + BEHIND, GUARD, dtype=np.uint8)
        behind.append(block[size:])
        return block[:size].view(dtype)

    monkeypatch.setattr(memory, "np", SimpleNamespace(**vars(np) | {"empty": empty}))
    random = np.random.default_rng(items)
    rows, labels = HARD_SETS[name](random, (items, 8)), random.integers(0, 3, items)
    for distance in ("cosine", "euclidean"):
        tp.evaluate(rows, labels, distance=distance, measures=["AP"], threads=1)
        tp.evaluate(rows[:9], labels[:9], gallery=rows[9:], gallery_labels=labels[9:], distance=distance, threads=1)
    assert all((guard == GUARD).all() for guard in behind)
