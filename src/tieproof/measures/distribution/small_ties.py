"""Ties that add too little to be walked through: they are replaced by normal distributions with a proven error."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tieproof.measures.distribution.paths import UNIT, ComplexArray
from tieproof.measures.distribution.tied import Ambiguous
from tieproof.ties import Estimate, FloatArray

_BUDGET = 2**21  # ties of up to so many cells in all are always walked through
_SHAPE = 400  # a place of a shape costs as much as so many cells, however many ties have that shape


class Rest(NamedTuple):
    """Ties that add too little to be walked through: how much they add in all, (R,) each."""

    mean: FloatArray  # mean, variance: of what each tie adds beyond its least, times how often it occurs
    variance: FloatArray
    far: FloatArray  # how far each may be from its mean
    largest: float

    def means(self, numbers: FloatArray) -> tuple[ComplexArray, FloatArray]:
        """The mean of e(n v) for v the sum of the ties, and a bound on its error, for all numbers n, in turns."""
        # For a tie with the mean m, exp(i t (v - m)) has the mean 1 - t² variance / 2, with an error of at most |t|³
        # far variance / 6, and exp(-t² variance / 2) differs from that by at most t⁴ variance² / 8. All these factors
        # are at most 1, so that the errors of a product add up.
        angle = 2.0 * np.pi * numbers
        variance = float(self.variance.sum())
        third, fourth = float((self.far * self.variance).sum()), self.largest * variance
        turns = numbers * float(self.mean.sum())
        means = np.exp(2j * np.pi * (turns - np.rint(turns)) - angle * angle * (variance / 2.0))
        error = angle**3 * (third / 6.0) + angle**4 * (fourth / 8.0)
        # Means and variances of single ties have a relative error below 1e-12.
        error += 1e-12 * (angle * angle * variance + 8.0 * np.abs(turns)) + 64.0 * UNIT
        return means, np.minimum(error * (1.0 + 1e-9), 2.0)

    def growth(self, rates: FloatArray) -> FloatArray:
        """Return a bound on the logarithm of the mean of exp(rate v) for all rates (Bennett 1962)."""
        total = rates * float(self.mean.sum())
        for at, rate in enumerate(np.abs(rates).tolist()):
            far = rate * self.far
            total[at] += float((self.variance * rate * rate * _bennett(far)).sum())
        return total


def _bennett(x: FloatArray) -> FloatArray:
    """Return (exp(x) - 1 - x) / x² for x >= 0, or a little more: a bound by its series where x is small."""
    small = x < 1e-3
    safe = np.where(small, 1.0, x)
    return np.where(small, 0.5 + x / 6.0 + x * x / 12.0, (np.expm1(safe) - safe) / (safe * safe))


def chosen_ties(ties: Sequence[Ambiguous], known: Estimate[float], resolution: float) -> tuple[list[Ambiguous], Rest]:
    """Return the ties to walk through, and the rest, whose distribution is replaced by one with a known error."""
    # Ties with a large third moment at little cost come first. The rest is so small that the error of a probability
    # is far below the probability of a part of the range that is as long as the resolution.
    empty = np.zeros(0)
    rest = [Rest(empty, empty, empty, 0.0)]
    limit, chosen = resolution * known.std**2 / (20.0 * max(1, len(ties))), []
    for each in ties:
        width, mean, variance = each.moments.T
        far = np.maximum(mean, width - mean) * (1.0 + 1e-9)
        third = np.where(np.isnan(width), np.inf, far * variance) * each.times
        _, of_shape, alike = np.unique(each.shapes, axis=0, return_inverse=True, return_counts=True)
        of_shape = of_shape.ravel()  # NumPy 2.0 returns a column
        cost = each.shapes[:, 1] * (np.prod(each.shapes[:, 2:] + 1.0, axis=1) + _SHAPE / alike[of_shape])
        order = np.argsort(-third / cost, kind="stable")
        left = np.cumsum(third[order][::-1])[::-1]
        count = max(int(np.searchsorted(-left, -limit)), int(np.searchsorted(np.cumsum(cost[order]), _BUDGET)))
        chosen.append(each.take(np.sort(order[:count])))
        rows = order[count:]
        times = each.times[rows]
        largest = float(variance[rows].max(initial=0.0))
        rest.append(Rest(mean[rows] * times, variance[rows] * times, far[rows], largest))
    means, variances, fars, most = zip(*rest, strict=True)
    return chosen, Rest(np.concatenate(means), np.concatenate(variances), np.concatenate(fars), max(most))
