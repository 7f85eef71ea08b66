"""The statistics of one pass over the rows, on which the error bounds are based, compared with fractions."""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from tieproof.distances.exact.equal import Statistics, scan
from tieproof.errors import InputError

SCALES = {
    "usual": 1.0,
    "tiny": 1e-300,
    "subnormal": 1e-310,
    "smallest": 5e-324,
    "largest": 2.0**1022,
    "just normal": 2.0**-1022,
}


def rows(width: int, scale: float) -> npt.NDArray[np.float64]:
    """Rows with zeros of both signs, without them, without negative numbers, and zeros alone."""
    random = np.random.default_rng(width)
    found = np.clip(random.standard_normal((5, width)), -1.9, 1.9)
    found[0, 0] = -0.0
    found[1, random.random(width) < 0.5] = 0.0
    found[2] = abs(found[2])
    found[3], found[4] = 0.0, -0.0
    return found * scale


def check_row(row: npt.NDArray[np.float64], found: Statistics, place: int) -> None:
    magnitudes = [abs(value) for value in row.tolist()]
    assert found.largest[place] == max(magnitudes)
    assert found.smallest[place] == min((value for value in magnitudes if value), default=math.inf)
    assert found.negative[place] == any(value < 0 for value in row.tolist())
    scale = Fraction(2) ** (math.frexp(max(magnitudes))[1] - 1)
    square = sum(((Fraction(value) / scale) ** 2 for value in magnitudes), Fraction(0))
    assert abs(Fraction(float(found.square[place])) - square) <= square * Fraction(len(row) + 2, 2**53)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("width", [1, 7, 8, 9, 64, 65])
def test_statistics_of_rows(width: int, scale: str) -> None:
    data = rows(width, SCALES[scale])
    found = scan(data, "embeddings", up_to_factor=False)
    for place, row in enumerate(data):
        check_row(row, found, place)


def test_statistics_of_magnitudes_far_apart() -> None:
    data = np.array([[2.0**1023, 2.0**-520, 5e-324, -0.0], [2.0**600, 2.0**80, 1.5, -(2.0**-1074)]])
    found = scan(data, "embeddings", up_to_factor=False)
    for place, row in enumerate(data):
        check_row(row, found, place)


@pytest.mark.parametrize("value", [np.nan, -np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(value: float) -> None:
    data = np.ones((3, 9))
    data[1, 7] = value
    with pytest.raises(InputError, match="row 1"):
        scan(data, "embeddings", up_to_factor=False)


@pytest.mark.parametrize("factor", [2.0, 0.5, 2.0**-30, 3.0])
def test_equal_rows_have_equal_checksums(factor: float) -> None:
    data = np.round(rows(9, 1e6))
    zeros = np.where(data == 0, -data, data)
    both = scan(np.concatenate([data, zeros]), "embeddings", up_to_factor=False).checksum
    assert np.array_equal(both[:5], both[5:])
    times = scan(np.concatenate([data, factor * data]), "embeddings", up_to_factor=True).checksum
    assert np.array_equal(times[:5], times[5:])
    assert len(set(both.tolist())) == 4  # the two rows of zeros are equal
