"""Wilcoxon's signed-rank test of pairs, by scipy (extra `stats`)."""

import numpy as np

from tieproof.errors import MissingExtraError
from tieproof.ties import FloatArray

DECIMALS = 12
"""Differences are rounded to so many, or what is equal in real numbers would have different ranks."""


def wilcoxon_test(differences: FloatArray) -> float:
    """The p-value of a column of differences (n,), of both sides, where most are above 0; else it is 1.

    Differences of zero are left out (Wilcoxon 1945, "Individual comparisons by ranking methods").
    `scipy.stats.wilcoxon` decides whether it is exact or by the normal distribution.
    """
    rounded = np.sort(np.round(differences, DECIMALS))
    if not rounded.any():
        return 1.0
    try:
        from scipy.stats import wilcoxon
    except ImportError:
        raise MissingExtraError("Wilcoxon's test", "stats") from None
    return min(1.0, 2 * float(wilcoxon(rounded, alternative="greater").pvalue))
