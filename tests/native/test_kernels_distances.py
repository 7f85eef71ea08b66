"""The kernels of the distances, compared with loops in Python, bit by bit."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernel_levels import LEVELS, at
from kernels import distances as reference
from tieproof.distances import cityblock, cosine_sums

levels = pytest.mark.parametrize("level", LEVELS)
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def same_bits(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> bool:
    return found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


@levels
@both_types
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 7), (4, 130, 33), (5, 257, 40), (2, 700, 64), (9, 16, 200)])
def test_city_block_tiles(shape: tuple[int, int, int], dtype: Any, level: str) -> None:
    height, width, dimensions = shape
    random = np.random.default_rng(shape)
    for scale in (1.0, 1e-40, 1e30):
        x, y = (random.standard_normal((count, dimensions)) for count in (height, width))
        x, y = (x * scale).astype(dtype), (y * scale).astype(dtype)
        x[0], y[-1, ::2] = -0.0, 0.0
        y[0] = x[-1]
        expected, found = np.empty((2, height, width), dtype=dtype)
        reference.city_block_tile(x, y, expected)
        at(level, cityblock.city_block_tile)(x, y, found)
        assert same_bits(found, expected)


@levels
@pytest.mark.parametrize("relative", [0.0, 2.0**-46, 2.0**-4])
def test_squared_sines(relative: float, level: str) -> None:
    random = np.random.default_rng(11)
    count = 1000
    x, y = np.ldexp(random.random((2, count)) + 0.5, random.integers(-400, 400, (2, count)))
    x[::50], y[::70] = 0.0, 0.0
    f = random.choice([-1.0, -1e-9, 1e-9, 1.0, 0.0, -0.0], count) * x * random.random(count)
    f[::9] = -x[::9]
    e = y * random.random(count) * 2
    e_error, f_error = (np.abs(part) * random.choice([0.0, 2.0**-50, 2.0**-5], count) for part in (e, f))
    found, found_error, expected, expected_error = e.copy(), e_error.copy(), e.copy(), e_error.copy()
    reference.combine(expected, expected_error, f, f_error, x, y, relative)
    at(level, cosine_sums.combine)(found, found_error, f, f_error, x, y, relative)
    assert same_bits(found, expected)
    assert same_bits(found_error, expected_error)
    assert np.isinf(found_error).any()
