"""Promise 6, memory: an evaluation's memory, in addition to its inputs, stays within the budget."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tieproof as tp
from peaks import peak_of

MIB = 2**20


@pytest.mark.parametrize(
    ("count", "dimensions", "classes", "budget"),
    [
        pytest.param(3000, 16, 3, 32, marks=pytest.mark.long),
        pytest.param(4000, 16, 3, 128, marks=pytest.mark.long),
        (6000, 300, 1500, 32),
    ],
    ids=["many relevant, 32 MiB", "many relevant, 128 MiB", "few relevant, 32 MiB"],
)
def test_peak_stays_within_the_budget(count: int, dimensions: int, classes: int, budget: int) -> None:
    random = np.random.default_rng(0)
    data = random.normal(size=(count, dimensions)).astype(np.float32)
    labels = random.integers(0, classes, size=count)
    tp.evaluate(data[:200], labels[:200] % 7)  # loads libraries
    peak = peak_of(lambda: tp.evaluate(data, labels, memory=f"{budget}MiB", threads=2))
    assert peak <= budget * MIB


def near_duplicates(random: np.random.Generator) -> np.ndarray:
    rows: np.ndarray = random.normal(size=96) + 1e-6 * random.normal(size=(2000, 96))
    return rows.astype(np.float32)


NEIGHBORS: dict[str, tuple[Callable[[np.random.Generator], np.ndarray], int, int]] = {
    "one-hot rows, each as near as all others": (lambda random: np.eye(1000, dtype=np.float32), 10, 32),
    "equal rows, refused": (lambda random: np.ones((20_000, 16), dtype=np.float32), 10, 64),
    "small integers": (lambda random: random.integers(-2, 3, size=(4000, 12)).astype(np.int8), 100, 32),
    "many neighbors": (lambda random: random.normal(size=(1500, 16)), 1000, 32),
    "near-duplicates": (near_duplicates, 10, 32),
    "long rows": (lambda random: random.normal(size=(2000, 1500)).astype(np.float32), 10, 24),
    "many ties of int8": (lambda random: random.integers(-99, 99, size=(3000, 64)).astype(np.int8), 100, 20),
}


QUICK = ("equal rows, refused", "small integers")


@pytest.mark.parametrize("distance", ["euclidean", "cosine", "dot"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name not in QUICK)) for name in NEIGHBORS]
)
def test_peak_of_nearest_neighbors(name: str, distance: str) -> None:
    """In addition to the tables that are returned, of k columns, everything is within the budget, ties included."""
    make, k, budget = NEIGHBORS[name]
    data = make(np.random.default_rng(0))
    tp.nearest(data[:200], k=k, distance=distance)

    def call() -> None:
        with contextlib.nullcontext() if "refused" not in name else pytest.raises(tp.InputError, match="memory"):
            tp.nearest(data, k=k, distance=distance, memory=f"{budget}MiB", threads=2)

    tables = 3 * 8 * len(data) * k
    assert peak_of(call) <= budget * MIB + tables


def test_peak_of_nearest_neighbors_among_many_short_rows() -> None:
    data = np.random.default_rng(0).normal(size=(200_000, 2)).astype(np.float32)
    tp.nearest(data[:200], k=1)
    peak = peak_of(lambda: tp.nearest(data[:100], data[100:], k=1, distance="euclidean", memory="64MiB", threads=2))
    assert peak <= 64 * MIB


@pytest.mark.parametrize(("items", "dimensions", "k"), [(6000, 600, 10), (40_000, 16, 100)])
def test_peak_of_a_truth_of_shards(items: int, dimensions: int, k: int, tmp_path: Path) -> None:
    """In addition to the neighbors, and to 16 bytes for each row, rows are within the budget, too."""
    random, budget = np.random.default_rng(0), 24
    for number in range(4):
        rows = random.normal(size=(items // 4, dimensions)).astype(np.float32)
        np.save(tmp_path / f"part-{number}.npy", rows)
    queries = rows[:500].copy() + 1
    tp.truth(queries[:200], rows[:200], k=k, out=tmp_path / "first")
    del rows
    shards = tp.open(str(tmp_path / "part-*.npy"))
    peak = peak_of(lambda: tp.truth(queries, shards, k=k, out=tmp_path / "truth", memory=f"{budget}MiB", threads=2))
    assert peak <= budget * MIB + 3 * 8 * len(queries) * k + 16 * (items + len(queries))
