"""Sums over the ties of each query, as loops."""

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def add_precisions(
    trapezoid: bool,
    starts: IntArray,
    k: IntArray,
    n: IntArray,
    l: IntArray,
    last: IntArray,
    several: FloatArray,
    sums: FloatArray,
) -> None:
    """Add up the precisions at single items, and what is given for each tie of several that begins above `last`.

    trapezoid: the mean of the precision before an item, 1 at the first rank, and at it, instead of that at it.
    """
    place = 0
    for q in range(last.shape[0]):
        for t in range(starts[q], starts[q + 1]):
            if k[t] >= last[q]:
                break
            if l[t] > 1:
                sums[q] += several[place]
                place += 1
                continue
            precision = (n[t] + 1.0) / (k[t] + 1.0)
            if trapezoid:
                before = n[t] / k[t] if k[t] else 1.0
                precision = (before + precision) / 2.0
            sums[q] += precision


def certain_hits(starts: IntArray, k: IntArray, l: IntArray, m: IntArray, last: IntArray, hits: IntArray) -> None:
    """Count the places down to rank `last` that ties of relevant items only take."""
    for q in range(last.shape[0]):
        for t in range(starts[q], starts[q + 1]):
            if k[t] >= last[q]:
                break
            if m[t] == l[t]:
                places = last[q] - k[t]
                hits[q] += places if places < l[t] else l[t]
