"""`confidence_vs_recall_at_1`: how well a threshold on the confidence separates right answers from wrong ones."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.measures.confidence.inputs import Groups, as_column
from tieproof.show.shown import AsJson
from tieproof.ties import Array, BoolArray, FloatArray


@dataclass(frozen=True)
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
