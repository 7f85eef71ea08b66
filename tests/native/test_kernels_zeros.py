"""The kernels of items that share no term with a query, compared with plain Python."""

from typing import Any

import numpy as np
import pytest

from kernel_levels import LEVELS, at
from kernels import terms as of_terms
from kernels import zeros as reference
from sparse_kernel_rows import WIDTH, rows_of
from tieproof.distances.exact import terms
from tieproof.engine import zeros
from tieproof.engine.pieces import NearPairs
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
        entries = random.choice(np.array([-0.0, 0.0, 1.0], dtype=dtype), (rows, items))
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
    entries = np.random.default_rng(6).choice(np.array([-1.0, -0.0, 0.0, 1.0], dtype=dtype), (5, 37))
    expected = np.where((entries == 0) & np.signbit(entries), dtype(-np.inf), entries)
    at(level, zeros.hide_zeros)(entries)
    assert entries.tobytes() == expected.tobytes()


@levels
@both_types
def test_items_that_are_not_listed(dtype: Any, level: str) -> None:
    random = np.random.default_rng(7)
    for rows, items, start in ((1, 1, 0), (4, 30, 0), (9, 17, 8), (3, 40, 25)):
        x, y = rows_of(random, rows, dtype), rows_of(random, items, dtype)
        entries = np.empty((rows, items), dtype=dtype)
        of_terms.products(x, y, entries)
        postings, _ = terms.inverted(x, y, WIDTH)
        room = NearPairs(*(np.empty(rows * items, dtype=kind) for kind in (np.int32, np.int32, dtype)))
        sums, met = np.full(rows, -0.0, dtype=dtype), np.empty(rows, dtype=np.int32)
        apart = np.zeros(rows, dtype=np.int64), np.empty(items, dtype=np.int64)
        found = at(level, zeros.list_products)(postings, y, sums, met, room, *apart)
        listed = room.first(found)
        shared = np.argwhere(~((entries.T == 0) & np.signbit(entries.T)))
        order = np.lexsort((listed.row, listed.item))
        assert np.column_stack([listed.item, listed.row])[order].tolist() == shared.tolist()
        assert listed.entry[order].tobytes() == entries.T[shared[:, 0], shared[:, 1]].tobytes()
        if found:
            own = sums.copy(), met, room.first(found - 1), apart[0].copy(), apart[1].copy()
            assert at(level, zeros.list_products)(postings, y, *own) == -1

        targets, weight = targets_of(random, 12, rows, 70), random.integers(1, 5, size=items)
        first, before = np.searchsorted(targets.row, np.arange(rows + 1)), np.append(0, np.cumsum(weight))
        known = np.where(random.random(12) < 0.5, -1, 3)
        counted, expected = ([np.arange(12), known.copy()] for _ in range(2))
        at(level, zeros.count_unlisted)(listed, targets, first, before, start, apart[0], *counted)
        reference.count_zeros(entries, False, targets, start, weight, *expected)
        assert counted[0].tolist() == expected[0].tolist()
        noted = np.flatnonzero(counted[1] != known)
        assert {*np.flatnonzero(expected[1] != known).tolist()} <= {*noted.tolist()}
        own = entries[targets.row[noted], counted[1][noted] - start]
        assert (own == 0).all()
        assert np.signbit(own).all()
