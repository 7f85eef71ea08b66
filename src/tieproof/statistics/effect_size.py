"""The effect size of paired differences: their mean relative to their spread."""

import math

from tieproof.statistics.whole_numbers import SAME
from tieproof.ties import FloatArray


def cohens_d(mean: float, differences: FloatArray) -> float | None:
    """A mean difference divided by the standard deviation of the differences (n,), with n - 1 in its denominator.

    Cohen 1988, "Statistical power analysis for the behavioral sciences", equation 2.3.5; Sakai 2014, "Statistical
    reform in information retrieval?", recommends to report it together with p-values of pairs. None if all
    differences are equal.

    >>> import numpy as np
    >>> cohens_d(0.5, np.array([0.0, 0.5, 1.0]))
    1.0
    """
    if float(differences.max() - differences.min()) <= SAME:
        return None
    centre = math.fsum(differences.tolist()) / len(differences)
    deviations = differences - centre
    return mean / math.sqrt(math.fsum((deviations * deviations).tolist()) / (len(differences) - 1))
