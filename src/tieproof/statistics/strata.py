"""Groups of queries: the mean over all values, or the unweighted mean of the groups' means."""

import math
from dataclasses import dataclass

import numpy as np

from tieproof.statistics.whole_numbers import SAME
from tieproof.ties import Array, BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Strata:
    """Groups of n values, where the values of each group are contiguous.

    sizes : (g,) how many values each group has

    The mean of the values is the unweighted mean of the groups' means; for one group, it is the usual mean.
    """

    sizes: IntArray

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
        return np.asarray(np.any([np.ptp(part, axis=0) > SAME for part in self.parts(columns)], axis=0))

    def sorted(self, columns: FloatArray) -> FloatArray:
        """Each column (n, k) sorted within each group, an order that depends on the values only."""
        return np.concatenate([np.sort(part, axis=0) for part in self.parts(columns)])

    def deviations(self, values: FloatArray) -> list[FloatArray]:
        """The deviation of each value of a column (n,) from the mean of its group, group by group."""
        return [part - math.fsum(part.tolist()) / len(part) for part in self.parts(values)]


def grouped(names: Array | None, count: int) -> tuple[IntArray, Strata]:
    """The order that sorts values by the names of their groups, and the groups.

    >>> order, strata = grouped(np.array(["dog", "cat", "dog"]), 3)
    >>> order, strata.weights
    (array([1, 0, 2]), array([1.5 , 0.75, 0.75]))
    """
    if names is None:
        return np.arange(count), Strata(np.array([count]))
    _, place = np.unique(names, return_inverse=True)
    return np.argsort(place, kind="stable"), Strata(np.bincount(place))
