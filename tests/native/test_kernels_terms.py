"""The kernels of products of sparse rows, compared with plain Python, bit by bit."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kernel_levels import LEVELS, at
from kernels import terms as reference
from sparse_kernel_rows import WIDTH, rows_of
from tieproof.distances.exact import equal, terms, twofold
from tieproof.inputs import identities, sparse_rows
from tieproof.inputs.sparse_rows import Meeting, Terms

levels = pytest.mark.parametrize("level", LEVELS)
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@levels
@both_types
@pytest.mark.parametrize("frequent", [1, 3, 1000])
def test_products_of_rows_and_items(frequent: int, dtype: Any, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "FREQUENT", frequent)
    monkeypatch.setattr(terms, "products_of_terms", at(level, terms.products_of_terms))
    random = np.random.default_rng(3)
    for height, count in ((1, 1), (1, 40), (5, 15), (16, 16), (7, 17), (40, 33)):
        rows, items = rows_of(random, height, dtype), rows_of(random, count, dtype)
        expected = np.empty((height, count), dtype=dtype)
        reference.products(rows, items, expected)
        for most_counted in (1, 2**20):
            monkeypatch.setattr(terms, "MOST_COUNTED", most_counted)
            assert terms.products(rows, items, WIDTH).tobytes() == expected.tobytes()


@levels
@both_types
def test_products_of_pairs(dtype: Any, level: str) -> None:
    random = np.random.default_rng(4)
    x, y = rows_of(random, 12, dtype), rows_of(random, 5, dtype)
    rows, items = random.integers(12, size=70), random.integers(5, size=70)
    rows[30:] = np.sort(rows[30:])
    first, second = 2.0 ** random.integers(-2, 3, size=(2, 70))
    found, expected, twofold_ones = np.empty(70), np.empty(70), np.empty((70, 2))
    for slots in (16, 256):  # a table that is nearly full, and one that is nearly empty
        room = Meeting(np.full(slots, -1, np.int32), np.empty(WIDTH, np.int32), np.empty(WIDTH, np.int32))
        at(level, terms.products_of_term_pairs)(x, y, rows, items, first, second, room, found)
        reference.products_of_pairs(x, y, rows, items, first, second, expected)
        assert found.tobytes() == expected.tobytes()
        room.slots[:] = -1
        at(level, twofold.twofold_products_of_terms)(x, y, rows, items, room, twofold_ones)
        assert (twofold_ones[:, 0] == expected * first * second).all()
        assert not twofold_ones[:, 1].any()


@levels
@both_types
def test_pairs_are_aligned(dtype: Any, level: str) -> None:
    random = np.random.default_rng(8)
    x, y = rows_of(random, 12, dtype), rows_of(random, 5, dtype)
    rows, items = random.integers(12, size=30), random.integers(5, size=30)
    found, expected = np.zeros((2, 2, 30, 2 * WIDTH), dtype=dtype)
    at(level, sparse_rows.align_terms)(x, y, rows, items, *found)
    reference.aligned(x, y, rows, items, *expected)
    assert found.tobytes() == expected.tobytes()


def rows_with_fractions(dtype: Any) -> Terms:
    """Rows of at least one entry, of any size and sign."""
    random = np.random.default_rng(5)
    starts = np.append(0, np.cumsum(random.integers(1, WIDTH, size=12)))
    held = [np.sort(random.choice(WIDTH, stop - start, replace=False)) for start, stop in pairwise(starts)]
    values = random.normal(size=starts[-1]) * 2.0 ** random.integers(-60, 60, size=starts[-1])
    return Terms(starts, np.concatenate(held).astype(np.int32), values.astype(dtype))


@levels
@both_types
def test_entries_are_divided(dtype: Any, level: str) -> None:
    rows, chosen, random = rows_with_fractions(dtype), np.array([3, 0, 7, 7]), np.random.default_rng(6)
    divisor, norm = random.random(4) + 0.5, np.array([1.0, 3.0, 0.7, 1.0])
    expected = reference.divided(rows, chosen, divisor, norm)
    term, value = np.empty(len(expected), dtype=np.int32), np.empty(len(expected))
    at(level, terms.divide_terms)(rows, chosen, divisor, norm, term, value)
    assert [*zip(term.tolist(), value.tolist(), strict=True)] == expected


@levels
@both_types
@pytest.mark.parametrize("up_to_factor", [False, True])
def test_statistics_of_rows(up_to_factor: bool, dtype: Any, level: str) -> None:
    rows = rows_with_fractions(dtype)
    multipliers = np.random.default_rng(7).integers(2**64, size=2 * WIDTH, dtype=np.uint64)
    largest, smallest, square = np.zeros((3, 12))
    negative, checksum = np.zeros(12, dtype=np.bool_), np.zeros(12, dtype=np.uint64)
    found = equal.Statistics(largest, smallest, square, negative, checksum)
    at(level, equal.scan_terms)(rows, multipliers, up_to_factor, 2, 12, np.empty(WIDTH), found)
    expected = reference.statistics(rows, multipliers, up_to_factor)
    assert [*zip(*(column[2:].tolist() for column in found), strict=True)] == expected[2:]
    assert not any(column[:2].any() for column in found)


@levels
@both_types
def test_digests_of_entries(dtype: Any, level: str) -> None:
    rows, sums = rows_with_fractions(dtype), np.zeros((12, 2), dtype=np.uint64)
    at(level, identities.digest_terms)(rows, 0, 12, sums)
    assert sums.tolist() == reference.digests(rows)
