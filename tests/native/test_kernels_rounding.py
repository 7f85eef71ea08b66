"""rounding.h, compared with fractions number by number: every shape and format, on hard values and errors."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernel_levels import LEVELS, at
from kernels import rounding as reference
from rounding_oracle import INFINITY, number_of_bits
from tieproof.distances.gauge import LINEAR, ROOT, SIGNED_SQUARE, SIMILARITY, SINE, curve
from tieproof.engine.rounded import nearness_of, round_pairs, round_tile, target_of
from tieproof.inputs.options import FORMATS
from tieproof.ties import FloatArray

SCALES = (Fraction(1), Fraction(3, 7), Fraction(2) ** -140, Fraction(2) ** 130 * 5)

SHAPES = [
    *((LINEAR, scale) for scale in SCALES),
    *((ROOT, scale) for scale in SCALES),
    *((shape, Fraction(1)) for shape in (SIMILARITY, SIGNED_SQUARE, SINE)),
]


def hard_values(precision: str) -> FloatArray:
    """Zeros, subnormals, ends of the formats, numbers half way between two, and their neighbors, of either sign."""
    random = np.random.default_rng(3)
    wanted = FORMATS[precision]
    half = 2.0**-wanted.precision
    near = [0.0, 5e-324, 2.0**-1022, wanted.quantum / 2, wanted.quantum * 1.5, wanted.infinity, 1.0, 2.0, 1e300]
    near += [wanted.infinity * (1 - half), wanted.infinity * (1 - half / 2), 1 + half, 1 + 3 * half, 0.5, 0.25]
    values = np.array([*near, *random.normal(size=20), *10.0 ** random.integers(-60, 60, size=20)])
    values = np.concatenate([np.nextafter(values, -np.inf), values, np.nextafter(values, np.inf)])
    return np.concatenate([values, -values])


@pytest.mark.parametrize("precision", FORMATS)
@pytest.mark.parametrize(("shape", "scale"), SHAPES)
def test_round(shape: int, scale: Fraction, precision: str) -> None:
    wanted, shaped, target = FORMATS[precision], curve(shape, scale), target_of(FORMATS[precision])
    values = hard_values(precision)
    for absolute, relative in product((0.0, 2.0**-60, 2.0**-12), (0.0, 2.0**-40)):
        errors = absolute + relative * np.abs(values)
        expected = [
            reference.nearness(*pair, shaped, wanted) for pair in zip(values.tolist(), errors.tolist(), strict=True)
        ]
        for level in LEVELS:
            found = np.empty_like(values)
            at(level, round_pairs)(values, errors, shaped, target, found)
            assert np.array_equal(found, expected, equal_nan=True)
            block = values.reshape(6, -1)
            for dtype in (np.float64, np.float32) if target.infinity < 2**24 else (np.float64,):
                tile: npt.NDArray[Any] = np.empty(block.shape, dtype=dtype)
                is_open = at(level, round_tile)(block, absolute, relative, shaped, target, tile)
                assert is_open == sum(map(math.isnan, expected))
                assert np.array_equal(tile.ravel(), expected, equal_nan=True)


def test_nothing() -> None:
    empty = np.empty((3, 0))
    assert nearness_of(empty, target_of(FORMATS["float16"])).shape == (3, 0)
    round_pairs(empty[0], empty[0], curve(LINEAR), target_of(FORMATS["float16"]), empty[0])


@pytest.mark.parametrize("precision", FORMATS)
def test_places_are_those_of_bits(precision: str) -> None:
    wanted = FORMATS[precision]
    count = INFINITY[precision]
    places = np.unique(np.linspace(0, count, 5000).astype(np.int64))
    numbers = [float(number_of_bits(precision, place)) for place in places.tolist()]
    assert [reference.place(number, wanted) for number in numbers] == places.tolist()
    assert target_of(wanted).infinity == count
