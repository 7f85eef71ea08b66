"""Promise 6, memory: an evaluation's memory, in addition to its inputs, stays within the budget."""

import tracemalloc

import numpy as np
import pytest

import tieproof as tp

MIB = 2**20


@pytest.mark.parametrize(
    ("count", "dimensions", "classes", "budget"),
    [(3000, 16, 3, 32), (4000, 16, 3, 128), (6000, 300, 1500, 32)],
    ids=["many relevant, 32 MiB", "many relevant, 128 MiB", "few relevant, 32 MiB"],
)
def test_peak_stays_within_the_budget(count: int, dimensions: int, classes: int, budget: int) -> None:
    random = np.random.default_rng(0)
    data = random.normal(size=(count, dimensions)).astype(np.float32)
    labels = random.integers(0, classes, size=count)
    tp.evaluate(data[:200], labels[:200] % 7)  # loads libraries
    tracemalloc.start()
    try:
        tp.evaluate(data, labels, memory=f"{budget}MiB", threads=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= budget * MIB
