"""How values of queries make a mean: all alike, or in groups whose means count the same."""

import math
from dataclasses import dataclass

import numpy as np

from tieproof.ties import Array, FloatArray, IntArray


@dataclass(frozen=True)
class Strata:
    """Groups of n values, each group's values one after the other.

    sizes : (g,) how many values each group has

    The mean of the values is the mean over the groups of the means within them: of one group, the usual mean.
    """

    sizes: IntArray

    @property
    def starts(self) -> IntArray:
        """Where each group begins, (g,)."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def weights(self) -> FloatArray:
        """How much each value adds to n times the mean, (n,): all 1 where there is one group."""
        return np.repeat(self.sizes.sum() / (len(self.sizes) * self.sizes), self.sizes)

    def parts(self, values: FloatArray) -> list[FloatArray]:
        """The values of each group, of a column or of columns, (n,) or (n, k)."""
        return np.split(values, self.starts[1:])

    def sorted(self, columns: FloatArray) -> FloatArray:
        """Each column (n, k) sorted within each group: an order that the values alone decide."""
        return np.concatenate([np.sort(part, axis=0) for part in self.parts(columns)])

    def deviations(self, values: FloatArray) -> list[FloatArray]:
        """How far each value of a column (n,) is from the mean of its group, group by group."""
        return [part - math.fsum(part.tolist()) / len(part) for part in self.parts(values)]


def grouped(names: Array | None, count: int) -> tuple[IntArray, Strata]:
    """The order that puts the values with each name together, the names sorted, and their groups.

    >>> order, strata = grouped(np.array(["dog", "cat", "dog"]), 3)
    >>> order, strata.weights
    (array([1, 0, 2]), array([1.5 , 0.75, 0.75]))
    """
    if names is None:
        return np.arange(count), Strata(np.array([count]))
    _, place = np.unique(names, return_inverse=True)
    return np.argsort(place, kind="stable"), Strata(np.bincount(place))
