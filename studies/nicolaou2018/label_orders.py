"""Which order of labels scores most, and which least, when every query gets the same ranking.

Let a ranking be a sequence of labels, the nearest first, and the j-th item of its class stand at rank r. Where the
query is left out by its index, the average precisions of the n members of a class sum up to

    sum over its members of [ ((n - 2) j + 1) / r + (j - 1)^2 / (r (r - 1)) ] / (n - 1),

as the members behind the j-th one see it as the j-th at rank r, those before it as the (j - 1)-th at rank r - 1. Both
factors of rank fall with r, so by summation by parts the score grows with each sum of the numerators over the first r
ranks. Such a sum is a convex function of how many items of each class are among the first r: it is largest where as
many classes as possible are complete, which is at all r at once where the labels are sorted, and smallest where the
classes have as many each, which is where they alternate. So sorted is best and interleaved worst, for classes of
equal size; the search looks for better ones all the same.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[Any]
Value = Callable[[Labels], float]


def interleaved(items: int, classes: int) -> npt.NDArray[np.int64]:
    """The labels 0, 1, 2, … in turn."""
    return np.arange(items) % classes


def along(order: npt.NDArray[np.int64], ranking: Labels) -> Labels:
    """Labels of the items such that sorting, which gives `order`, ranks them as in `ranking`."""
    labels = np.empty_like(ranking)
    labels[order] = ranking
    return labels


def value_by_index(ranking: Labels) -> float:
    """The mAP of a ranking (n,) for each of its items as a query, which is left out by its index.

    >>> round(value_by_index(np.array([0, 0, 1, 1])), 6)  # (1 + 1 + 1/3 + 1/3) / 4
    0.666667
    """
    by_class = np.argsort(ranking, kind="stable")
    sizes = np.unique(ranking, return_counts=True)[1]
    n = np.repeat(sizes, sizes)
    j = np.arange(len(ranking)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1.0
    r = by_class + 1.0
    terms = (((n - 2) * j + 1) / r + (j - 1) ** 2 / (r * np.maximum(r - 1, 1))) / (n - 1)
    return float(terms.sum()) / len(ranking)


def climb(ranking: Labels, value: Value, steps: int, sign: int, random: np.random.Generator) -> tuple[float, Labels]:
    """Swap two items at random where that does not lower sign × value; the value reached, and the ranking."""
    ranking = ranking.copy()
    best = value(ranking)
    for first, second in random.integers(len(ranking), size=(steps, 2)):
        if ranking[first] == ranking[second]:
            continue
        ranking[[first, second]] = ranking[[second, first]]
        found = value(ranking)
        if sign * found >= sign * best:
            best = found
        else:
            ranking[[first, second]] = ranking[[second, first]]
    return best, ranking
