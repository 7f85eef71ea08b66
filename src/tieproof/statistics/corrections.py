"""Corrections of the p-values of several tests for the number of tests."""

from collections.abc import Callable, Mapping

import numpy as np

from tieproof.ties import FloatArray


def bonferroni(p_values: FloatArray) -> FloatArray:
    """Multiply each p-value by their number, which bounds the probability of any false positive (Dunn 1961).

    >>> bonferroni(np.array([0.25, 0.5]))
    array([0.5, 1. ])
    """
    return np.minimum(1.0, p_values * len(p_values))


def holm(p_values: FloatArray) -> FloatArray:
    """Multiply the smallest p-value by their number, the next by one less, …; guarantees what `bonferroni` does.

    Holm 1979.

    >>> holm(np.array([0.25, 0.5, 0.125]))
    array([0.5  , 0.5  , 0.375])
    """
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(p_values))
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected


def fdr(p_values: FloatArray) -> FloatArray:
    """Multiply the i-th smallest p-value by their number / i: bounds the expected share of false positives.

    Benjamini and Hochberg 1995, for tests that are independent or positively dependent.

    >>> fdr(np.array([0.25, 0.5, 0.125]))
    array([0.375, 0.5  , 0.375])
    """
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(count)
    steps = p_values[order] * (count / np.arange(1, count + 1))
    corrected[order] = np.minimum(1.0, np.minimum.accumulate(steps[::-1])[::-1])
    return corrected


CORRECTIONS: Mapping[str, Callable[[FloatArray], FloatArray]] = {"holm": holm, "bonferroni": bonferroni, "fdr": fdr}
