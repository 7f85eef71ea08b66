"""Exact keys that are single integers of 64 bits have the order of Python's integers, up to the limit of 64 bits."""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tieproof.distances import find_distance, make_space
from tieproof.distances.cityblock import CityBlock
from tieproof.distances.exact import words
from tieproof.engine.plan import Plan
from tieproof.engine.problem import Budget

Array = npt.NDArray[Any]

DIMENSIONS = 24

KEYS = {
    "dot": lambda x, y: sum(a * b for a, b in zip(x, y, strict=True)),
    "euclidean": lambda x, y: -sum((a - b) ** 2 for a, b in zip(x, y, strict=True)),
    "cityblock": lambda x, y: -sum(abs(a - b) for a, b in zip(x, y, strict=True)),
}


def with_bits(bits: int, sign: int) -> Array:
    """Rows of integers, of which many are just below 2^bits."""
    rows: Array = np.random.default_rng(bits).integers(-1 if sign < 0 else 0, 2, (30, DIMENSIONS)) * (2**bits - 1)
    rows[:, 0] = 1
    rows[:10, 1] *= sign
    return rows


def halves(scale: float) -> Array:
    return (np.random.default_rng(0).standard_normal((30, DIMENSIONS)) * scale).astype(np.float16)


DATA: dict[str, tuple[Array, bool]] = {
    "float16": (halves(0.05), True),
    "float16, subnormal": (halves(2e-6), True),
    "float16, far apart": (halves(3e3) * halves(1.0), False),
    "0.1, 0.2, 0.3": (np.random.default_rng(1).choice(np.array([0.1, 0.2, 0.3], np.float32), (30, DIMENSIONS)), True),
    "29 bits": (with_bits(29, 1), True),
    "30 bits": (with_bits(30, 1), False),
    "28 bits and signs": (with_bits(28, -1), True),
    "29 bits and signs": (with_bits(29, -1), False),
    "float32": (np.random.default_rng(2).standard_normal((30, DIMENSIONS), dtype=np.float32), False),
}
"""Rows, and whether they are short at this number of dimensions."""


@pytest.mark.parametrize("distance", KEYS)
@pytest.mark.parametrize("name", DATA)
def test_order_of_exact_keys(name: str, distance: str) -> None:
    data, short = DATA[name]
    order = np.arange(len(data))
    space = make_space(find_distance(distance), data, None, (order, order), Plan(Budget(2**30, 1)).resources)
    exact = space.exact_rows
    if not space.integers and distance != "euclidean":  # whose rows may be differences from a common row
        assert words.are_short(exact) is short
    unit = Fraction(2) ** exact.base
    rows = [[int(Fraction(float(entry)) / unit) for entry in row] for row in space.items.raw(slice(None))]
    for i, row in enumerate(rows):
        keys = [tuple(key) for key in space.exact_keys(np.full(len(rows), i), np.arange(len(rows)))]
        expected = [KEYS[distance](row, other) for other in rows]
        assert np.argsort(expected, kind="stable").tolist() == sorted(range(len(rows)), key=keys.__getitem__)
        assert len(set(keys)) == len(set(expected))


@pytest.mark.parametrize("bits", [19, 20, 47, 48, 49, 60])
@pytest.mark.parametrize("sign", [1, -1])
def test_city_block_distances_that_floats_add_exactly(sign: int, bits: int) -> None:
    data, order = with_bits(bits, sign), np.arange(30)
    space = make_space(
        find_distance("cityblock"), data * np.int64(8), None, (order, order), Plan(Budget(2**30, 1)).resources
    )
    assert isinstance(space, CityBlock)
    longest = bits + 3 + (sign < 0) + DIMENSIONS.bit_length()
    for dtype, most in ((np.float32, 24), (np.float64, 53)):
        assert (space.inexact(np.dtype(dtype)) == (0.0, 0.0)) is (longest <= most)
    rows, columns = (found.ravel() for found in np.meshgrid(np.arange(len(space.items)), np.arange(len(space.items))))
    keys, errors = space.keys(rows, columns)
    entries = space.items.raw(slice(None)).tolist()
    for i, j, key, error in zip(rows, columns, keys, errors, strict=True):
        exact = Fraction(KEYS["cityblock"](entries[i], entries[j])) / Fraction(float(space.items.divisor[0]))
        assert abs(Fraction(float(key)) - exact) <= Fraction(float(error))


@pytest.mark.parametrize("distance", KEYS)
def test_parts_have_the_keys_of_the_whole(distance: str) -> None:
    data, _ = DATA["float16"]
    order, pairs = np.arange(len(data)), np.random.default_rng(3).integers(0, len(data), (2, 500))
    space = make_space(find_distance(distance), data, None, (order, order), Plan(Budget(2**30, 1)).resources)
    whole = space.exact_keys(*pairs)
    space.resources = space.resources._replace(batch=40)
    assert (space.exact_keys(*pairs) == whole).all()
