"""Wilcoxon's signed-rank test of pairs, by scipy (extra `stats`)."""

import numpy as np

from tieproof.errors import MissingExtraError
from tieproof.ties import FloatArray

DECIMALS = 12
"""Differences are rounded to this many decimals, so that differences equal in real numbers have equal ranks."""


def wilcoxon_test(differences: FloatArray) -> float:
    """The two-sided p-value of a column of differences (n,) if positive ranks outweigh negative ones; otherwise 1.

    Differences of zero are left out (Wilcoxon 1945, "Individual comparisons by ranking methods").
    `scipy.stats.wilcoxon` chooses between the exact distribution and the normal approximation.
    """
    rounded = np.sort(np.round(differences, DECIMALS))
    if not rounded.any():
        return 1.0
    try:
        from scipy.stats import wilcoxon
    except ImportError:
        raise MissingExtraError("Wilcoxon's test", "stats") from None
    return min(1.0, 2 * float(wilcoxon(rounded, alternative="greater").pvalue))
