"""The paired sign-flip test of a mean difference: Fisher's randomisation test for pairs.

If neither of two systems is better, each query's difference could equally well have had the other sign. The p-value
is the share of the 2**n assignments of signs to the n differences whose sum is at least as large (Fisher 1935, "The
design of experiments", section 21; Smucker, Allan and Carterette 2007 compare it with other tests for retrieval).
"""

import math

import numpy as np

from tieproof.statistics.draws import coins
from tieproof.statistics.whole_numbers import Whole, as_whole
from tieproof.ties import FloatArray

FLIPS = 99_999
"""How many assignments of signs are drawn at random if there are too many to try all."""

MOST_EXACT = 32
"""Up to this many nonzero differences, all 2**n assignments are counted, by two halves of 2**(n / 2) each."""


def sign_flip(differences: FloatArray) -> FloatArray:
    """The two-sided p-value of each column of differences, (n, k) -> (k,), if the sum of the column is above 0.

    It is the share of assignments of signs to the n differences for which the sum is at least as far from 0 as the
    observed sum. With at most `MOST_EXACT` nonzero differences the share is exact. Otherwise it is
    (hits + 1) / (FLIPS + 1) over FLIPS random assignments, which is never 0 (Phipson and Smyth 2010). If the sum is 0
    or negative, the p-value is 1, so that smaller differences never have a smaller p-value.

    Sums that differ by no more than 1e-12 for each difference count as equal.

    >>> sign_flip(np.array([[0.5], [0.25], [0.25], [0.0], [0.125]]))
    array([0.125])
    """
    whole = as_whole(differences)
    few = np.count_nonzero(whole.numbers, axis=0) <= MOST_EXACT
    p_values = np.ones(differences.shape[1])
    for column in np.flatnonzero(few):
        p_values[column] = exact(whole.numbers[:, column], float(whole.slack[column]))
    if not few.all():
        p_values[~few] = drawn(Whole(whole.numbers[:, ~few], whole.unit[~few]))
    return p_values


def smallest_p_value(differences: FloatArray) -> float:
    """The smallest p-value that a test of signs or of signed ranks can give for so many nonzero differences (n,).

    All signs are equal in 2 of their 2**n assignments.

    >>> smallest_p_value(np.array([0.5, 0.0, 0.25, 0.25]))
    0.25
    """
    return min(1.0, math.ldexp(2.0, -int(np.count_nonzero(differences))))


def exact(numbers: FloatArray, slack: float) -> float:
    """The p-value of whole numbers (n,) over all assignments of signs.

    The sums of one half of the numbers are searched among the sorted sums of the other half.
    """
    wanted = numbers.sum() - slack
    if wanted <= 0:
        return 1.0
    chosen = numbers[numbers != 0]
    half = len(chosen) // 2
    one, other = signed_sums(chosen[:half]), np.sort(signed_sums(chosen[half:]))
    far = len(one) * len(other) - int(np.searchsorted(other, wanted - one, side="left").sum())
    return 2 * far / (len(one) * len(other))


def signed_sums(numbers: FloatArray) -> FloatArray:
    """The sums of whole numbers (n,) over all assignments of signs, (2**n,).

    >>> signed_sums(np.array([2.0, 1.0]))
    array([ 3.,  1., -1., -3.])
    """
    sums = np.zeros(1)
    for number in numbers[::-1].tolist():
        sums = np.concatenate([sums + number, sums - number])
    return sums


def drawn(whole: Whole) -> FloatArray:
    """The p-values of columns (n, k) by random signs; each assignment is a row of a matrix of kept signs."""
    total, hits = whole.numbers.sum(axis=0), 0
    for kept in coins(FLIPS, len(whole.numbers), max(whole.numbers.shape)):
        sums = 2 * (kept.astype(np.float64) @ whole.numbers) - total
        hits = hits + np.count_nonzero(np.abs(sums) >= total - whole.slack, axis=0)
    return (hits + np.ones(len(total))) / (FLIPS + 1)
