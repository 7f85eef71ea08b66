"""`rank_correlation`: Spearman's, and what it can be over all orders of tied values."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.confidence.groups import Groups
from tieproof.confidence.inputs import as_column
from tieproof.errors import InputError
from tieproof.ties import Estimate, FloatArray


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's coefficient, and all that it can be where tied values are put into some order.

    coefficient : tied values have the mean of their ranks (scipy.stats.spearmanr)
    orders : tied values have different ranks, in every order
    """

    coefficient: float
    orders: Estimate[float]


def rank_correlation(confidence: Any, truth: Any) -> RankCorrelation:
    """Spearman's rank correlation of confidences and what they should be.

    Only orders matter, so that the scale of a model's sigma does not.

    Parameters
    ----------
    confidence : (n,) numbers, larger is more confident
        Such as the norm of an embedding (Scott et al. 2021), or the negative variance of a distribution in the space
        of embeddings (Wu and Goodman 2020).
    truth : (n,) numbers, in the same direction
        Such as the share of an image that cropping left, or the negative entropy of the labels that people gave it
        (URL benchmark).

    Returns
    -------
    RankCorrelation
        `coefficient` is the correlation of the ranks, tied values having the mean of theirs: the usual convention,
        that of `scipy.stats.spearmanr`, which the URL benchmark and probabilistic-embeddings use. `orders` has the
        lower, expected and upper value and the std over all orders of tied values, on both sides independently: what
        a program can give that ranks by sorting.

    Raises
    ------
    InputError
        NaN, infinity, lengths that differ, or values that are all equal: they have no correlation with anything.

    Notes
    -----
    With centred ranks a and b (mean ranks in ties), `coefficient` is sum ab / sqrt(sum a² sum b²). Strict ranks have
    sum a² = sum b² = (n³ - n) / 12, so `expected` is sum ab over that: nearer to 0 than the coefficient. The sum is
    the largest where each tie of one side is in the order of the other, and two items tied on both sides in the same
    order on both; it is the smallest where everything is the other way round. Its variance, with ties of lengths l on
    one side and m on the other, is the sum over ties of l (l + 1) / 12 × squared distances of b within it from their
    mean, the same for the ties of the other side, and for c items that are tied on both sides
    c (l² - 1)(m² - 1) / 144 (1 + (c - 1) / ((l - 1)(m - 1))).

    All sums are exact and rounded once: any order of the items gives the same bits.

    Examples
    --------
    >>> from tieproof.confidence import rank_correlation
    >>> rank_correlation([10, 20, 30], [0.1, 0.2, 0.7]).coefficient
    1.0
    >>> found = rank_correlation([1, 1, 2], [1, 2, 3])
    >>> found.orders.lower, found.orders.upper
    (0.5, 1.0)

    """
    sides = [ranked(confidence, "confidences"), ranked(truth, "true confidences", len(np.atleast_1d(confidence)))]
    (first, a), (second, b) = sides
    count = len(a)
    product = total(a * b)
    coefficient = product / math.sqrt(total(a * a) * total(b * b))
    strict = (count**3 - count) / 3  # centred ranks are doubled
    lower, upper = (total(np.multiply(*extreme(first, second, sign))) / strict for sign in (-1, 1))
    return RankCorrelation(coefficient, Estimate(lower, product / strict, upper, std(first, second, a, b) / strict))


def ranked(values: Any, name: str, count: int | None = None) -> tuple[Groups, FloatArray]:
    """The groups of equal values, and the mean rank of each item, centred and doubled: whole numbers (n,)."""
    array = as_column(values, name, count, "confidences")
    groups = Groups.of(array)
    if len(groups.length) == 1:
        raise InputError(f"The {name} are all equal ({array[0]}), so that no rank correlation exists. Pass others.")
    centred = 2 * groups.start + groups.length - len(array)
    return groups, centred[groups.of_query].astype(np.float64)


def total(values: FloatArray) -> float:
    """The sum of whole numbers, rounded once."""
    return math.fsum(values.tolist())


def extreme(first: Groups, second: Groups, sign: int) -> tuple[FloatArray, FloatArray]:
    """Strict ranks, centred and doubled, that agree as much as ties allow (sign 1), or as little (-1)."""
    one, other = first.of_query, second.of_query
    item = np.arange(len(one))
    return strict_ranks(np.lexsort((item, sign * other, one))), strict_ranks(
        np.lexsort((sign * item, sign * one, other))
    )


def strict_ranks(order: npt.NDArray[np.intp]) -> FloatArray:
    """The ranks of items in this order, centred and doubled."""
    ranks = np.empty(len(order))
    ranks[order] = 2.0 * np.arange(len(order)) + 1 - len(order)
    return ranks


def std(first: Groups, second: Groups, a: FloatArray, b: FloatArray) -> float:
    """The standard deviation of the sum of ab over all orders, in the unit of `ranked`."""
    cells, size = np.unique(first.of_query * len(second.length) + second.of_query, return_counts=True)
    own, theirs = (
        groups.length[cell].astype(np.float64)
        for groups, cell in zip((first, second), np.divmod(cells, len(second.length)), strict=True)
    )
    both = np.where((own > 1) & (theirs > 1), size.astype(np.float64), 0.0)
    crossed = both * (own + 1) * (theirs + 1) / 9 * ((own - 1) * (theirs - 1) + (both - 1))
    parts = np.concatenate([spread(first, b), spread(second, a), crossed])
    return math.sqrt(total(parts))


def spread(groups: Groups, values: FloatArray) -> FloatArray:
    """For each tie of length l: l (l + 1) / 3 times the squared distances of the values within it from their mean."""
    order = np.argsort(groups.of_query, kind="stable")
    whole = values[order].astype(np.int64).astype(object)
    sums, squares = (np.add.reduceat(each, groups.start) for each in (whole, whole**2))
    length = groups.length.astype(object)
    return np.asarray((length + 1) * (length * squares - sums**2) / 3, dtype=np.float64)
