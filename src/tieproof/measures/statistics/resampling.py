"""The bootstrap interval BCa, by draws and sums that are the same on each machine."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.ties import ROUNDING, Array, BoolArray, FloatArray, IntArray

_SEED = 0
ROOM = 2**21  # how many numbers are in memory at a time
_BITS = 52  # sums of all numbers have at most so many bits, and one from rounding: exact in float64
RESAMPLES = 9_999
_NORMAL = NormalDist()
_DIGITS = 12  # the decimals of the levels of the interval, after which logarithms differ between machines


def raw(draws: int, width: int, room: int) -> Iterator[npt.NDArray[np.uint64]]:
    """Yield draws of `width` raw numbers, in blocks (c, width); for each draw, the caller keeps `room` numbers."""
    source, step = np.random.PCG64(_SEED), max(1, ROOM // max(1, room))
    for start in range(0, draws, step):
        yield source.random_raw((min(step, draws - start), width))


def below(numbers: npt.NDArray[np.uint64], limits: IntArray) -> IntArray:
    """Map raw numbers to whole numbers from 0 to limit - 1, equally likely up to a relative limit / 2**32."""
    half = np.uint64(32)  # the upper half of the product of the number's upper half and the limit (Lemire 2019)
    return (((numbers >> half) * limits.astype(np.uint64)) >> half).astype(np.int64)


def coins(draws: int, width: int, room: int) -> Iterator[BoolArray]:
    """Yield draws of `width` fair coins each, `draws` in all, in blocks (c, width)."""
    for numbers in raw(draws, -(-width // 64), room):
        octets = numbers.astype("<u8").view(np.uint8)
        yield np.unpackbits(octets, axis=1, count=width).view(np.bool_)


class Whole(NamedTuple):
    """Columns of values as whole numbers."""

    numbers: FloatArray  # (n, k) whole numbers in float64; no sum of n numbers of a column exceeds 2**53
    unit: FloatArray  # (k,) the power of two by which each column is to be multiplied

    @property
    def slack(self) -> FloatArray:
        """By how much two sums of n terms may differ and count as equal, (k,): by both roundings."""
        return len(self.numbers) * (1 + ROUNDING / self.unit)


def as_whole(values: FloatArray) -> Whole:
    """Columns of values (n, k), each rounded to its unit."""
    exponent = np.frexp(len(values) * np.abs(values).max(axis=0))[1]
    return Whole(np.rint(np.ldexp(values, _BITS - exponent)), np.ldexp(1.0, exponent - _BITS))


@dataclass(frozen=True)
class Strata:
    """Groups of n values, each contiguous; the mean of all is the unweighted mean of the means of groups."""

    sizes: IntArray  # (g,) how many values each group has

    @property
    def starts(self) -> IntArray:
        """The index at which each group begins, (g,)."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def weights(self) -> FloatArray:
        """The weight of each value in n times the mean, (n,); all 1 for one group."""
        return np.repeat(self.sizes.sum() / (len(self.sizes) * self.sizes), self.sizes)

    def parts(self, values: FloatArray) -> list[FloatArray]:
        """The values of each group, from one column (n,) or several (n, k)."""
        return np.split(values, self.starts[1:])

    def mean(self, values: FloatArray) -> float:
        """The mean of a column (n,), with the same bits as the mean of a result."""
        return math.fsum(math.fsum(part.tolist()) / len(part) for part in self.parts(values)) / len(self.sizes)

    def varies(self, columns: FloatArray) -> BoolArray:
        """Whether the values of any group of a column (n, k) differ by more than rounding, (k,)."""
        return np.asarray(np.any([np.ptp(part, axis=0) > ROUNDING for part in self.parts(columns)], axis=0))

    def sorted(self, columns: FloatArray) -> FloatArray:
        """Each column (n, k) sorted within each group, an order that depends on the values only."""
        return np.concatenate([np.sort(part, axis=0) for part in self.parts(columns)])

    def deviations(self, values: FloatArray) -> list[FloatArray]:
        """The deviation of each value of a column (n,) from the mean of its group, group by group."""
        return [part - math.fsum(part.tolist()) / len(part) for part in self.parts(values)]


def grouped(names: Array | None, count: int) -> tuple[IntArray, Strata]:
    """The order that sorts values by the names of their groups, and the groups."""
    if names is None:
        return np.arange(count), Strata(np.array([count]))
    _, place = np.unique(names, return_inverse=True)
    return np.argsort(place, kind="stable"), Strata(np.bincount(place))


def bca(values: FloatArray, strata: Strata, confidence: float) -> list[tuple[float, float]]:
    """The two ends of the interval of the mean of each column of values, (n, k), in the groups of `strata`."""
    # The values of a group may be in any order, because they are sorted before they are drawn. Negating the values
    # negates the interval; if the values are symmetric around 0, the interval is, too. If all values of each group
    # are equal, both ends are the mean.
    ordered, varies = strata.sorted(values), strata.varies(values)
    sides = _sides_of(ordered, strata)
    ordered[:, sides < 0] = -ordered[:, sides < 0]
    ordered = strata.sorted(ordered)
    whole = as_whole(ordered * strata.weights[:, None])
    sums = np.sort(resampled_sums(whole.numbers, strata), axis=0)
    observed = whole.numbers.sum(axis=0)
    ends = []
    for column in range(values.shape[1]):
        if not varies[column]:
            ends.append((strata.mean(values[:, column]),) * 2)
            continue
        acceleration = _acceleration_of(ordered[:, column], strata)
        levels = bca_levels(sums[:, column], float(observed[column]), acceleration, confidence)
        unit = float(whole.unit[column]) / len(values)
        low, high = (quantile(sums[:, column], level) * unit for level in levels)
        if not sides[column]:
            low, high = (low - high) / 2, (high - low) / 2
        ends.append((0.0 - high, 0.0 - low) if sides[column] < 0 else (low, high))
    return ends


def _sides_of(ordered: FloatArray, strata: Strata) -> FloatArray:
    """Compare columns with their negations by sums, then by values: larger (1), smaller (-1) or equal (0), (k,)."""
    total = as_whole(ordered * strata.weights[:, None]).numbers.sum(axis=0)
    mirrored = np.concatenate([part + part[::-1] for part in strata.parts(ordered)])
    first = mirrored[np.argmax(mirrored != 0, axis=0), range(ordered.shape[1])]
    return np.asarray(np.sign(np.where(total == 0, first, total)))


def resampled_sums(numbers: FloatArray, strata: Strata) -> FloatArray:
    """The sum of each column (n, k) over each resample, (RESAMPLES, k), exact because the numbers are whole."""
    # A resample draws as many values from each group as the group has. How often it draws each value is a row of a
    # matrix, so that one matrix product sums all columns.
    width = len(numbers)
    limits, starts = np.repeat(strata.sizes, strata.sizes), np.repeat(strata.starts, strata.sizes)
    parts = []
    for drawn in raw(RESAMPLES, width, max(numbers.shape)):
        index = below(drawn, limits) + starts + width * np.arange(len(drawn))[:, None]
        counts = np.bincount(index.ravel(), minlength=drawn.size).reshape(drawn.shape)
        parts.append(counts.astype(np.float64) @ numbers)
    return np.concatenate(parts)


def _acceleration_of(values: FloatArray, strata: Strata) -> float:
    """A sixth of the skewness of the mean's influence values, by the jackknife; 0 if all values are equal."""
    cubes, squares = [], []
    for part in strata.deviations(values):
        size = len(part)
        cubes.append(math.fsum((part * part * part).tolist()) / size**3)
        squares.append(math.fsum((part * part).tolist()) / size**2)
    spread = math.fsum(squares)
    return math.fsum(cubes) / (6 * spread * math.sqrt(spread)) if spread else 0.0


def bca_levels(sums: FloatArray, observed: float, acceleration: float, confidence: float) -> tuple[float, float]:
    """The two levels, as shares of the sorted resampled sums, at which the interval ends."""
    below_it, up_to_it = (int(np.searchsorted(sums, observed, side)) for side in ("left", "right"))
    bias = _NORMAL.inv_cdf((below_it + up_to_it) / (2 * len(sums)))

    def level(tail: float) -> float:
        shifted = bias + _NORMAL.inv_cdf(tail)
        if acceleration * shifted >= 1:  # the limit of the level as this product approaches 1 is 1 or 0
            return float(shifted > 0)
        return round(_NORMAL.cdf(bias + shifted / (1 - acceleration * shifted)), _DIGITS)

    return level((1 - confidence) / 2), level((1 + confidence) / 2)


def quantile(ordered: FloatArray, level: float) -> float:
    """The quantile of sorted numbers, linear between two of them (Hyndman and Fan 1996, definition 7)."""
    place = level * (len(ordered) - 1)
    first = min(math.floor(place), len(ordered) - 2)
    low, high = float(ordered[first]), float(ordered[first + 1])
    return low + (high - low) * (place - first)
