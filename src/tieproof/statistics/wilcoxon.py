"""Wilcoxon's signed-rank test of pairs, by scipy (extra `stats`)."""

import math

import numpy as np

from tieproof.errors import MissingExtraError
from tieproof.statistics.sign_flip import smallest_p_value
from tieproof.statistics.whole_numbers import SAME
from tieproof.ties import FloatArray

DECIMALS = 12
"""Differences are rounded to this many decimals, so that differences equal in real numbers have equal ranks."""


def wilcoxon_test(differences: FloatArray, either: bool = False) -> float:
    """The two-sided p-value of a column of differences (n,) if their mean is above 0, and positive ranks outweigh.

    Otherwise it is 1, so that the test never speaks for a system with the lower mean.

    either : whether no system is ahead; if the mean is 0, the p-value is then two-sided, whichever ranks outweigh

    Differences of zero are left out (Wilcoxon 1945, "Individual comparisons by ranking methods").
    `scipy.stats.wilcoxon` chooses between the exact distribution and the normal approximation, which for few
    differences can fall below the smallest p-value that is possible.
    """
    rounded = np.sort(np.round(differences, DECIMALS))
    mean = math.fsum(differences.tolist()) / len(differences)
    if mean < -SAME or (mean <= SAME and not either) or not rounded.any():
        return 1.0
    try:
        from scipy.stats import wilcoxon
    except ImportError:
        raise MissingExtraError("Wilcoxon's test", "stats") from None
    directions = [rounded] if mean > SAME else [rounded, np.sort(-rounded)]
    p_value = 2 * min(float(wilcoxon(each, alternative="greater").pvalue) for each in directions)
    return min(1.0, max(p_value, smallest_p_value(rounded)))
