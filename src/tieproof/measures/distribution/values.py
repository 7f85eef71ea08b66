"""The distribution of a sum that has few values: all of them, with their probabilities."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tieproof.measures.distribution.paths import UNIT, outcomes
from tieproof.measures.distribution.tied import Tied
from tieproof.ties import Array, FloatArray

MOST_VALUES = 2**18  # up to so many values of a sum are computed one by one
MOST_TIES = 64  # up to so many ties with other values than whole numbers are combined
_MOST_OUTCOMES = 2**12  # up to so many outcomes of a tie are computed one by one
LOST = 2.0**-60  # probabilities below this are left out, and counted as an error


class Values(NamedTuple):
    """Values in ascending order and their probabilities, and the relative error of these and what was left out."""

    points: FloatArray
    chances: FloatArray
    error: float
    lost: float = 0.0


def values_of(groups: Sequence[Tied]) -> Values | None:
    """Return all values of the sum; None if there are too many."""
    whole: dict[float, list[tuple[FloatArray, float, int]]] = {}
    single: list[Values] = []
    for group in groups:
        found = outcomes(group, _MOST_OUTCOMES)
        if found is None:
            return None
        counts = bool((found.values == np.rint(found.values)).all()) and np.ptp(found.values) < MOST_VALUES
        for tie, (scale, times) in enumerate(zip(group.scale.tolist(), group.times.tolist(), strict=True)):
            values = found.values[:, tie]
            if counts:
                dense = np.bincount((values - values.min()).astype(np.int64), weights=found.chances).astype(
                    np.float64
                )
                whole.setdefault(scale, []).append((dense, found.error, times))
            else:
                if len(single) + times > MOST_TIES:
                    return None
                points = values * scale
                single += [_merged(points - points.min(), found.chances, found.error + 4 * UNIT)] * times
    single += [_whole_numbers(parts, scale) for scale, parts in whole.items()]
    total = Values(np.zeros(1), np.ones(1), 0.0)
    for each in sorted(single, key=lambda values: len(values.points)):
        if len(total.points) * len(each.points) > MOST_VALUES:
            return None
        total = _merged(
            np.add.outer(total.points, each.points).ravel(),
            np.multiply.outer(total.chances, each.chances).ravel(),
            total.error + each.error + 4 * UNIT,
            total.lost + each.lost,
        )
    return total


def _merged(points: Array, chances: FloatArray, error: float, lost: float = 0.0) -> Values:
    different, which, counts = np.unique(points, return_inverse=True, return_counts=True)
    return Values(
        different,
        np.asarray(np.bincount(which, weights=chances), dtype=np.float64),
        error + int(counts.max()) * UNIT,
        lost,
    )


class _Numbers(NamedTuple):
    """Probabilities of whole numbers from `start` on, their relative error, and the probability that is left out."""

    start: int
    chances: FloatArray
    error: float
    lost: float = 0.0

    def plus(self, other: "_Numbers") -> "_Numbers":
        """Return the distribution of the sum; products of probabilities are positive, so that nothing cancels."""
        chances = np.convolve(self.chances, other.chances)
        error = self.error + other.error + (min(len(self.chances), len(other.chances)) + 1) * UNIT
        total = np.cumsum(chances)
        low = int(np.searchsorted(total, LOST))
        high = len(total) - int(np.searchsorted(np.cumsum(chances[::-1]), LOST))
        lost = self.lost + other.lost + 2 * LOST
        return _Numbers(self.start + other.start + low, chances[low:high], error, lost)

    def times(self, count: int) -> "_Numbers":
        if count == 1:
            return self
        half = self.times(count // 2)
        return half.plus(half).plus(self) if count % 2 else half.plus(half)


def _whole_numbers(parts: Sequence[tuple[FloatArray, float, int]], scale: float) -> Values:
    """Return the distribution of the sum of whole numbers, times `scale`, beyond its least value."""
    # parts: the probabilities of 0, 1, … of each number, their relative error, and how often the number occurs
    numbers = [_Numbers(0, chances, error).times(times) for chances, error, times in parts]
    while len(numbers) > 1:
        numbers.sort(key=lambda each: len(each.chances))
        pairs = zip(numbers[::2], numbers[1::2], strict=False)
        numbers = [one.plus(other) for one, other in pairs] + numbers[len(numbers) // 2 * 2 :]
    (total,) = numbers
    chosen = np.flatnonzero(total.chances)
    most = sum((len(chances) - 1) * times for chances, _, times in parts)
    points, chances = np.asarray(total.start + chosen, dtype=np.float64), total.chances[chosen]
    if scale < 0:
        points, chances = (most - points)[::-1], chances[::-1]
    return Values(points * float(abs(scale)), chances, total.error + 4 * UNIT, total.lost)
