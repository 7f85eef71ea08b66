"""The kernels of products of sparse rows, compared with plain Python, bit by bit."""

from typing import Any

import numpy as np
import pytest

from kernel_levels import LEVELS, at
from kernels import terms as reference
from sparse_kernel_rows import WIDTH, rows_of
from tieproof.distances.exact import terms

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
    found, expected = np.empty((2, 70))
    at(level, terms.products_of_term_pairs)(x, y, rows, items, found)
    reference.products_of_pairs(x, y, rows, items, expected)
    assert found.tobytes() == expected.tobytes()
