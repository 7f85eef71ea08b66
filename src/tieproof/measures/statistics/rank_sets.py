"""Which systems are told apart by the choice of queries, for all pairs of them at once."""

import math

import numpy as np

from tieproof.measures.statistics.resampling import Strata, as_whole, resampled_sums
from tieproof.ties import BoolArray, FloatArray


def told_apart(values: FloatArray, strata: Strata, confidence: float) -> BoolArray:
    """Return for each two of m systems whether the first is above the second, (m, m), with one confidence for all.

    values : (n, m) the value of each query and system, in the groups of `strata`

    The intervals of all differences of two means hold together: their half width is a multiple of the standard error
    of the difference, and the multiple is the quantile of the largest studentized difference over the resamples
    (Mogstad, Romano, Shaikh and Wilhelm 2024, section 3). Two systems whose difference does not vary over the queries
    are told apart by any difference; if a group has a single value, no systems are. The values of a group may be in
    any order. Sums are exact.

    >>> told_apart(np.array([[1.0, 0.75, 0.0], [0.5, 1.0, 0.0], [0.75, 0.5, 0.0]]), Strata(np.array([3])), 0.95)
    array([[False, False,  True],
           [False, False,  True],
           [False, False, False]])
    """
    if strata.sizes.min() < 2:
        return np.zeros((values.shape[1],) * 2, dtype=np.bool_)
    group = np.repeat(np.arange(len(strata.sizes)), strata.sizes)
    values = values[np.lexsort((*values.T, group))]
    whole = as_whole((values * strata.weights[:, None]).reshape(-1, 1))  # one unit for all systems
    numbers = whole.numbers.reshape(values.shape)
    observed = numbers.sum(axis=0)
    moved = resampled_sums(numbers, strata) - observed
    centered = np.concatenate([part - part.sum(axis=0) / len(part) for part in strata.parts(numbers)])
    apart = np.zeros((len(observed), len(observed)), dtype=np.bool_)
    errors, largest = np.zeros(apart.shape), np.zeros(len(moved))
    for one in range(len(observed)):
        squares = as_whole((centered[:, [one]] - centered) ** 2)
        errors[one] = np.sqrt(squares.numbers.sum(axis=0) * squares.unit)
        errors[one, errors[one] <= whole.slack] = 0.0
        others = one + 1 + np.flatnonzero(errors[one, one + 1 :])
        if len(others):
            differences = np.abs(moved[:, [one]] - moved[:, others]) / errors[one, others]
            largest = np.maximum(largest, differences.max(axis=1))
    place = min(len(largest), math.ceil(confidence * (len(largest) + 1))) - 1
    half = np.sort(largest)[place] * errors
    return np.asarray(observed[:, None] - observed > np.maximum(half, whole.slack))
