"""The bias-corrected and accelerated bootstrap interval (BCa) of a mean.

Efron 1987, "Better bootstrap confidence intervals"; Efron and Tibshirani 1993, "An introduction to the bootstrap",
equations 14.9 to 14.15. With several groups, values are resampled within each group, and the acceleration is that of
`scipy.stats.bootstrap` for several samples (Davison and Hinkley 1997, section 5.3).
"""

import math
from statistics import NormalDist

import numpy as np

from tieproof.statistics.draws import below, raw
from tieproof.statistics.strata import Strata
from tieproof.statistics.whole_numbers import as_whole
from tieproof.ties import FloatArray

RESAMPLES = 9_999

Ends = tuple[float, float]

NORMAL = NormalDist()

DIGITS = 12
"""The levels of the interval are rounded to this many decimals, after which logarithms differ between machines."""


def bca(values: FloatArray, strata: Strata, confidence: float) -> list[Ends]:
    """The two ends of the interval of the mean of each column of values, (n, k), in the groups of `strata`.

    The values of a group may be in any order, because they are sorted before they are drawn. Negating the values
    negates the interval; if the values are symmetric around 0, the interval is, too. If all values of each group are
    equal, both ends are the mean.

    >>> bca(np.array([[0.0], [0.25], [0.25], [1.0]]), Strata(np.array([4])), 0.95)
    [(0.125, 0.8125)]
    """
    ordered, varies = strata.sorted(values), strata.varies(values)
    sides = sides_of(ordered, strata)
    ordered[:, sides < 0] = -ordered[:, sides < 0]
    ordered = strata.sorted(ordered)
    whole = as_whole(ordered * strata.weights[:, None])
    sums = np.sort(resampled_sums(whole.numbers, strata), axis=0)
    found = whole.numbers.sum(axis=0)
    ends = []
    for column in range(values.shape[1]):
        if not varies[column]:
            ends.append((strata.mean(values[:, column]),) * 2)
            continue
        acceleration = acceleration_of(ordered[:, column], strata)
        levels = bca_levels(sums[:, column], float(found[column]), acceleration, confidence)
        unit = float(whole.unit[column]) / len(values)
        low, high = (quantile(sums[:, column], level) * unit for level in levels)
        if not sides[column]:
            low, high = (low - high) / 2, (high - low) / 2
        ends.append((0.0 - high, 0.0 - low) if sides[column] < 0 else (low, high))
    return ends


def sides_of(ordered: FloatArray, strata: Strata) -> FloatArray:
    """Compare each column with its negation: larger (1), smaller (-1) or equal (0), (k,).

    Columns are compared by their sums, and if these are equal by the first values that differ.
    """
    numbers = as_whole(ordered * strata.weights[:, None]).numbers
    mirrored = np.concatenate([part + part[::-1] for part in strata.parts(ordered)])
    first = mirrored[np.argmax(mirrored != 0, axis=0), range(ordered.shape[1])]
    total = numbers.sum(axis=0)
    return np.asarray(np.sign(np.where(total == 0, first, total)))


def resampled_sums(numbers: FloatArray, strata: Strata) -> FloatArray:
    """The sum of each column (n, k) over each resample, (RESAMPLES, k), which is exact because the numbers are whole.

    A resample draws as many values from each group as the group has. The numbers of times that it draws each value
    are a row of a matrix, so that one matrix product sums all columns.
    """
    width = len(numbers)
    limits, starts = np.repeat(strata.sizes, strata.sizes), np.repeat(strata.starts, strata.sizes)
    parts = []
    for drawn in raw(RESAMPLES, width, max(numbers.shape)):
        index = below(drawn, limits) + starts + width * np.arange(len(drawn))[:, None]
        counts = np.bincount(index.ravel(), minlength=drawn.size).reshape(drawn.shape)
        parts.append(counts.astype(np.float64) @ numbers)
    return np.concatenate(parts)


def acceleration_of(values: FloatArray, strata: Strata) -> float:
    """A sixth of the skewness of the mean's influence values, by the jackknife; 0 if all values are equal."""
    cubes, squares = [], []
    for part in strata.deviations(values):
        size = len(part)
        cubes.append(math.fsum((part * part * part).tolist()) / size**3)
        squares.append(math.fsum((part * part).tolist()) / size**2)
    spread = math.fsum(squares)
    return math.fsum(cubes) / (6 * spread * math.sqrt(spread)) if spread else 0.0


def bca_levels(sums: FloatArray, found: float, acceleration: float, confidence: float) -> Ends:
    """The two levels, as shares of the sorted resampled sums, at which the interval ends."""
    below_it, up_to_it = (int(np.searchsorted(sums, found, side)) for side in ("left", "right"))
    bias = NORMAL.inv_cdf((below_it + up_to_it) / (2 * len(sums)))

    def level(tail: float) -> float:
        shifted = bias + NORMAL.inv_cdf(tail)
        if acceleration * shifted >= 1:  # the limit of the level as this product approaches 1 is 1 or 0
            return float(shifted > 0)
        return round(NORMAL.cdf(bias + shifted / (1 - acceleration * shifted)), DIGITS)

    return level((1 - confidence) / 2), level((1 + confidence) / 2)


def quantile(ordered: FloatArray, level: float) -> float:
    """The quantile of sorted numbers, linear between two of them (Hyndman and Fan 1996, definition 7).

    >>> quantile(np.array([0.0, 1.0, 4.0]), 0.75)
    2.5
    """
    place = level * (len(ordered) - 1)
    first = min(math.floor(place), len(ordered) - 2)
    low, high = float(ordered[first]), float(ordered[first + 1])
    return low + (high - low) * (place - first)
