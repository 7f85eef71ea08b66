"""How well confidences agree with what is true: by a threshold, with hits; by their order, with a ground truth."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError
from tieproof.measures.confidence.inputs import Groups, as_column
from tieproof.show.shown import AsJson
from tieproof.ties import Array, BoolArray, Estimate, FloatArray


@dataclass(frozen=True, eq=False)
class ConfidenceAccuracy(AsJson):
    """The share of queries that a threshold classifies correctly, for every possible threshold.

    thresholds : (t,) the distinct confidences, in descending order
    accuracy : (t + 1,) the share if no query is accepted, and then if all queries of at least each threshold are
    mean, best : the mean and the largest value of `accuracy`
    """

    thresholds: Array
    accuracy: FloatArray
    mean: float
    best: float

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain numbers and lists."""
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()
        }


def confidence_vs_recall_at_1(hits: Any, confidence: Any) -> ConfidenceAccuracy:
    """Confidence vs Recall@1: how often "confident" and "the nearest item is relevant" agree.

    A threshold classifies a query correctly if its confidence reaches the threshold and its nearest item is relevant,
    or if its confidence is below the threshold and its nearest item is not relevant. With p the share of hits
    (recall@1) and the points (fpr, tpr) of the ROC curve of the hits, the share classified correctly is
    p tpr + (1 - p) (1 - fpr).

    Parameters
    ----------
    hits : (n,) bools, or 0 and 1
        Whether the nearest item of each query is relevant, such as `result.per_query("P@1").lower`.
    confidence : (n,) numbers, larger is more confident

    Returns
    -------
    ConfidenceAccuracy
        `mean` is the score of ranking-metrics (arrrrrmin, `conf_vs_recall_at_1`). It is the mean over the threshold
        that accepts nothing and every distinct confidence, as scikit-learn's `roc_curve(drop_intermediate=False)`
        lists them. `best` is the score of probabilistic-embeddings (tinkoff-ai, `confidence-accuracy`), the largest
        value over the same thresholds.

    Raises
    ------
    InputError
        NaN, infinity, hits other than 0 and 1 (instead of an expected value between them, pass `lower`), or different
        lengths.

    Notes
    -----
    A threshold accepts or rejects a tie as a whole, so the order of queries with equal confidence changes nothing.
    But a tie is a single threshold, while its queries would be several: in the mean it has the weight of one.

    Examples
    --------
    >>> from tieproof.measures.confidence import confidence_vs_recall_at_1
    >>> found = confidence_vs_recall_at_1([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1])
    >>> found.accuracy.tolist(), found.mean, found.best
    ([0.5, 0.75, 0.75, 0.5], 0.625, 0.75)

    """
    right = _as_hits(hits)
    values = as_column(confidence, "confidences", len(right))
    groups = Groups.of(values)
    hits_of = np.bincount(groups.of_query, right, minlength=len(groups.length)).astype(np.int64)
    gained = np.cumsum(2 * hits_of - groups.length)  # accepting a hit adds 1, accepting a miss subtracts 1
    rightly = np.append(0, gained) + int(np.count_nonzero(~right))
    accuracy = rightly / len(right)
    return ConfidenceAccuracy(
        np.unique(values)[::-1], accuracy, math.fsum(accuracy.tolist()) / len(accuracy), float(accuracy.max())
    )


def _as_hits(values: Any) -> BoolArray:
    array = as_column(values, "hits")
    wrong = ~np.isin(array, (0, 1))
    if wrong.any():
        raise InputError(
            f"The hits must be 0 or 1, but query {int(np.argmax(wrong))} has {array[wrong][0]}. If its nearest items "
            "are tied, pass result.per_query('P@1').lower, which is 1 only for a hit in every order."
        )
    return array.astype(np.bool_)


@dataclass(frozen=True)
class RankCorrelation(AsJson):
    """Spearman's coefficient, and its values over all orders of tied values.

    coefficient : the coefficient if tied values get the mean of their ranks (scipy.stats.spearmanr)
    orders : the estimate over all orders if tied values get different ranks
    """

    coefficient: float
    orders: Estimate[float]


def rank_correlation(confidence: Any, truth: Any) -> RankCorrelation:
    """Spearman's rank correlation between confidences and their ground truth.

    Only the order of the values matters, so the scale of a model's sigma has no influence.

    Parameters
    ----------
    confidence : (n,) numbers, larger is more confident
        Such as the norm of an embedding (Scott et al. 2021), or the negative variance of a distribution in the space
        of embeddings (Wu and Goodman 2020).
    truth : (n,) numbers, in the same direction
        Such as the share of an image that is left after cropping, or the negative entropy of the labels that people
        gave the image (URL benchmark).

    Returns
    -------
    RankCorrelation
        `coefficient` is the correlation of the ranks, where tied values get the mean of their ranks. This is the
        usual convention of `scipy.stats.spearmanr`, which the URL benchmark and probabilistic-embeddings use.
        `orders` has the lower, expected and upper value and the std over all orders of tied values, on both sides
        independently. A program that ranks by sorting can return any value between lower and upper.

    Raises
    ------
    InputError
        NaN, infinity, different lengths, or values that are all equal, whose correlation is undefined.

    Notes
    -----
    With centered ranks a and b (mean ranks in ties), `coefficient` is sum ab / sqrt(sum a² sum b²). Ranks without
    ties have sum a² = sum b² = (n³ - n) / 12, so `expected` is sum ab divided by that, which is closer to 0 than the
    coefficient. The sum is largest if each tie of one side is in the order of the other side, and items that are tied
    on both sides are in the same order on both; it is smallest if all these orders are reversed. With ties of lengths
    l on one side and m on the other, the variance of the sum is the sum of three terms: over the ties of the first
    side l (l + 1) / 12 × the squared deviations of b within the tie from their mean; the same for the ties of the
    other side; and for each c items that are tied on both sides
    c (l² - 1)(m² - 1) / 144 (1 + (c - 1) / ((l - 1)(m - 1))).

    All sums are exact and rounded once, so any order of the items gives the same bits.

    Examples
    --------
    >>> from tieproof.measures.confidence import rank_correlation
    >>> rank_correlation([10, 20, 30], [0.1, 0.2, 0.7]).coefficient
    1.0
    >>> found = rank_correlation([1, 1, 2], [1, 2, 3])
    >>> found.orders.lower, found.orders.upper
    (0.5, 1.0)

    """
    sides = [_ranked(confidence, "confidences"), _ranked(truth, "true confidences", len(np.atleast_1d(confidence)))]
    (first, a), (second, b) = sides
    count = len(a)
    product = _total(a * b)
    coefficient = product / math.sqrt(_total(a * a) * _total(b * b))
    strict = (count**3 - count) / 3  # centered ranks are doubled
    lower, upper = (_total(np.multiply(*_extreme(first, second, sign))) / strict for sign in (-1, 1))
    return RankCorrelation(
        coefficient, Estimate(lower, product / strict, upper, _std_of_product(first, second, a, b) / strict)
    )


def _ranked(values: Any, name: str, count: int | None = None) -> tuple[Groups, FloatArray]:
    """The groups of equal values, and the mean rank of each item, centered and doubled: whole numbers (n,)."""
    array = as_column(values, name, count, "confidences")
    groups = Groups.of(array)
    if len(groups.length) == 1:
        raise InputError(
            f"The {name} are all equal ({array[0]}), so their rank correlation is undefined. Pass at least two "
            "different values."
        )
    centered = 2 * groups.start + groups.length - len(array)
    return groups, centered[groups.of_query].astype(np.float64)


def _total(values: FloatArray) -> float:
    return math.fsum(values.tolist())


def _extreme(first: Groups, second: Groups, sign: int) -> tuple[FloatArray, FloatArray]:
    """Ranks without ties, centered and doubled, that agree as much as ties allow (sign 1), or as little (-1)."""
    one, other, item = first.of_query, second.of_query, np.arange(len(first.of_query))
    of_one = _strict_ranks(np.lexsort((item, sign * other, one)))
    return of_one, _strict_ranks(np.lexsort((sign * item, sign * one, other)))


def _strict_ranks(order: npt.NDArray[np.intp]) -> FloatArray:
    """The ranks of items in this order, centered and doubled."""
    ranks = np.empty(len(order))
    ranks[order] = 2.0 * np.arange(len(order)) + 1 - len(order)
    return ranks


def _std_of_product(first: Groups, second: Groups, a: FloatArray, b: FloatArray) -> float:
    """The standard deviation of the sum of ab over all orders, in the unit of `_ranked`."""
    cells, size = np.unique(first.of_query * len(second.length) + second.of_query, return_counts=True)
    own, theirs = (
        groups.length[cell].astype(np.float64)
        for groups, cell in zip((first, second), np.divmod(cells, len(second.length)), strict=True)
    )
    both = np.where((own > 1) & (theirs > 1), size.astype(np.float64), 0.0)
    crossed = both * (own + 1) * (theirs + 1) / 9 * ((own - 1) * (theirs - 1) + (both - 1))
    parts = np.concatenate([_spread(first, b), _spread(second, a), crossed])
    return math.sqrt(_total(parts))


def _spread(groups: Groups, values: FloatArray) -> FloatArray:
    """For each tie of length l: l (l + 1) / 3 times the squared deviations of its values from their mean."""
    order = np.argsort(groups.of_query, kind="stable")
    whole = values[order].astype(np.int64).astype(object)
    sums, squares = (np.add.reduceat(each, groups.start) for each in (whole, whole**2))
    length = groups.length.astype(object)
    return np.asarray((length + 1) * (length * squares - sums**2) / 3, dtype=np.float64)
