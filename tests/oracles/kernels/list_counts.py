"""The scores of a list among those of its relevant items, one by one."""

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def count_scores(
    score: FloatArray, start: IntArray, threshold: FloatArray, first: IntArray, above: IntArray, equal: IntArray
) -> None:
    """Count the items above and at each threshold; the list of query q is start[q] … start[q+1]-1."""
    for q in range(len(start) - 1):
        listed = score[start[q] : start[q + 1]].tolist()
        for t in range(first[q], first[q + 1]):
            above[t] = sum(value > threshold[t] for value in listed)
            equal[t] = sum(value == threshold[t] for value in listed)
