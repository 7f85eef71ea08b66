"""The kernels of items that share no term with a query, compared with plain Python."""

from typing import Any

import numpy as np
import pytest

from kernel_levels import LEVELS, at
from kernels import zeros as reference
from tieproof.engine import zeros
from tieproof.engine.structures import Targets

levels = pytest.mark.parametrize("level", LEVELS)
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def targets_of(random: np.random.Generator, queries: int, rows: int, items: int) -> Targets:
    """Queries of some rows, which leave out any runs of items, some of none and some of all."""
    runs, ends = [], [0]
    for _ in range(queries):
        edges = np.unique(random.integers(items + 1, size=2 * random.integers(4)))
        runs += edges[: len(edges) // 2 * 2].reshape(-1, 2).tolist()
        ends.append(len(runs))
    run = np.array(runs, dtype=np.int32).reshape(-1, 2)
    return Targets(np.sort(random.integers(rows, size=queries)), np.array(ends[:-1]), np.array(ends[1:]), run)


@levels
@both_types
@pytest.mark.parametrize("turned", [False, True])
def test_weights_of_zeros(turned: bool, dtype: Any, level: str) -> None:
    random = np.random.default_rng(5)
    for rows, items, start in ((1, 1, 0), (4, 30, 0), (9, 17, 8), (3, 40, 25)):
        entries = random.integers(0, 2, (rows, items)).astype(dtype)
        entries = np.ascontiguousarray(entries.T) if turned else entries
        targets, weight = targets_of(random, 12, rows, 70), random.integers(1, 5, size=items)
        known = np.where(random.random(12) < 0.5, -1, 3)
        found, expected = ([np.arange(12), known.copy()] for _ in range(2))
        at(level, zeros.count_zeros)(entries, turned, targets, start, weight, *found)
        reference.count_zeros(entries, turned, targets, start, weight, *expected)
        assert [each.tolist() for each in found] == [each.tolist() for each in expected]


@levels
@both_types
def test_hidden_zeros(dtype: Any, level: str) -> None:
    entries = np.random.default_rng(6).integers(-1, 2, (5, 37)).astype(dtype)
    expected = np.where(entries == 0, dtype(-7), entries)
    at(level, zeros.hide_zeros)(entries, -7.0)
    assert entries.tobytes() == expected.tobytes()
