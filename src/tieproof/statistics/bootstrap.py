"""The bootstrap's bias-corrected and accelerated interval of a mean: BCa.

Efron 1987, "Better bootstrap confidence intervals"; Efron and Tibshirani 1993, "An introduction to the bootstrap",
equations 14.9 to 14.15. Several groups are each resampled within themselves, and the acceleration is the one of
several samples that `scipy.stats.bootstrap` has (Davison and Hinkley 1997, section 5.3).
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
"""Decimals of the levels between which the interval lies: what a machine's logarithm does after these is cut off."""


def bca(values: FloatArray, strata: Strata, confidence: float) -> list[Ends]:
    """The two ends of the interval of the mean of each column of values, (n, k), in the groups of `strata`.

    The values of a group may come in any order, for they are sorted before any is drawn; and the interval of minus
    the values is minus the interval: about 0, where the values are minus themselves. Where all values of each group
    are equal, it is a point.

    >>> bca(np.array([[0.0], [0.25], [0.25], [1.0]]), Strata(np.array([4])), 0.95)
    [(0.125, 0.8125)]
    """
    ordered = strata.sorted(values)
    sides = sides_of(ordered, strata)
    ordered[:, sides < 0] = -ordered[:, sides < 0]
    ordered = strata.sorted(ordered)
    whole = as_whole(ordered * strata.weights[:, None])
    sums = np.sort(resampled_sums(whole.numbers, strata), axis=0)
    found = whole.numbers.sum(axis=0)
    ends = []
    for column in range(values.shape[1]):
        acceleration = acceleration_of(ordered[:, column], strata)
        levels = bca_levels(sums[:, column], float(found[column]), acceleration, confidence)
        unit = float(whole.unit[column]) / len(values)
        low, high = (quantile(sums[:, column], level) * unit for level in levels)
        if not sides[column]:
            low, high = (low - high) / 2, (high - low) / 2
        ends.append((0.0 - high, 0.0 - low) if sides[column] < 0 else (low, high))
    return ends


def sides_of(ordered: FloatArray, strata: Strata) -> FloatArray:
    """Whether columns are more (1) or less (-1) than minus themselves, or equal (0), (k,).

    By their sums, else by the first values that differ.
    """
    numbers = as_whole(ordered * strata.weights[:, None]).numbers
    mirrored = np.concatenate([part + part[::-1] for part in strata.parts(ordered)])
    first = mirrored[np.argmax(mirrored != 0, axis=0), range(ordered.shape[1])]
    total = numbers.sum(axis=0)
    return np.asarray(np.sign(np.where(total == 0, first, total)))


def resampled_sums(numbers: FloatArray, strata: Strata) -> FloatArray:
    """The sum of each column (n, k) over each resample, (RESAMPLES, k): exact, for the numbers are whole.

    A resample draws as many values of each group as the group has. How often it draws each value makes a row of a
    matrix, so that all columns are summed by one product.
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
    """A sixth of the skewness of the mean's influence values, by the jackknife; 0 where nothing differs."""
    cubes, squares = [], []
    for part in strata.deviations(values):
        size = len(part)
        cubes.append(math.fsum((part * part * part).tolist()) / size**3)
        squares.append(math.fsum((part * part).tolist()) / size**2)
    spread = math.fsum(squares)
    return math.fsum(cubes) / (6 * spread * math.sqrt(spread)) if spread else 0.0


def bca_levels(sums: FloatArray, found: float, acceleration: float, confidence: float) -> Ends:
    """Between which levels of the sorted resampled sums the interval lies."""
    below_it, up_to_it = (int(np.searchsorted(sums, found, side)) for side in ("left", "right"))
    bias = NORMAL.inv_cdf((below_it + up_to_it) / (2 * len(sums)))

    def level(tail: float) -> float:
        shifted = bias + NORMAL.inv_cdf(tail)
        if acceleration * shifted >= 1:  # the level is 1, or 0, as this comes near to 1, and means nothing beyond
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
