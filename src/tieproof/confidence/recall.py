"""`confidence_vs_recall_at_1`: how well a threshold on the confidence tells right answers from wrong ones."""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tieproof.confidence.groups import Groups
from tieproof.confidence.inputs import as_column
from tieproof.errors import InputError
from tieproof.ties import Array, BoolArray, FloatArray


@dataclass(frozen=True)
class ConfidenceAccuracy:
    """The share of queries that a threshold judges rightly, for every threshold there is.

    thresholds : (t,) the distinct confidences, falling
    accuracy : (t + 1,) the share where nothing is accepted, then where all of at least each threshold is
    mean, best : the mean and the largest of `accuracy`
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

    def to_json(self, indent: int | None = 2) -> str:
        """The dictionary as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)


def confidence_vs_recall_at_1(hits: Any, confidence: Any) -> ConfidenceAccuracy:
    """Confidence vs Recall@1: how often "confident" and "the nearest item is relevant" agree.

    At a threshold, a query is judged rightly where it is at least as confident and its nearest item is relevant, or
    less confident and it is not. With p the share of hits (recall@1) and the points (fpr, tpr) of the ROC curve of
    the hits, the share judged rightly is p tpr + (1 - p) (1 - fpr).

    Parameters
    ----------
    hits : (n,) bools, or 0 and 1
        Whether the nearest item of each query is relevant, such as `result.per_query("P@1").lower`.
    confidence : (n,) numbers, larger is more confident

    Returns
    -------
    ConfidenceAccuracy
        `mean` is the score of ranking-metrics (arrrrrmin, `conf_vs_recall_at_1`), over the threshold that accepts
        nothing and every distinct confidence, as scikit-learn's `roc_curve(drop_intermediate=False)` lists them.
        `best` is that of probabilistic-embeddings (tinkoff-ai, `confidence-accuracy`), the largest over the same
        thresholds.

    Raises
    ------
    InputError
        NaN, infinity, hits other than 0 and 1 (an expected value between them: pass `lower`), lengths that differ.

    Notes
    -----
    A threshold takes a tie as a whole, so no order of queries of equal confidence changes anything. But a tie is one
    threshold where its queries would be several: the mean gives it the weight of one.

    Examples
    --------
    >>> from tieproof.confidence import confidence_vs_recall_at_1
    >>> found = confidence_vs_recall_at_1([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1])
    >>> found.accuracy.tolist(), found.mean, found.best
    ([0.5, 0.75, 0.75, 0.5], 0.625, 0.75)

    """
    right = as_hits(hits)
    values = as_column(confidence, "confidences", len(right))
    groups = Groups.of(values)
    hits_of = np.bincount(groups.of_query, right, minlength=len(groups.length)).astype(np.int64)
    gained = np.cumsum(2 * hits_of - groups.length)  # a hit that is accepted is gained, a miss is lost
    rightly = np.append(0, gained) + int(np.count_nonzero(~right))
    accuracy = rightly / len(right)
    return ConfidenceAccuracy(
        np.unique(values)[::-1], accuracy, math.fsum(accuracy.tolist()) / len(accuracy), float(accuracy.max())
    )


def as_hits(values: Any) -> BoolArray:
    """Hits, given as bools or as 0 and 1, as bools."""
    array = as_column(values, "hits")
    wrong = ~np.isin(array, (0, 1))
    if wrong.any():
        raise InputError(
            f"The hits must be 0 or 1, and query {int(np.argmax(wrong))} has {array[wrong][0]}. Where its nearest "
            "items are tied, pass result.per_query('P@1').lower, which counts no hit that another order would lose."
        )
    return array.astype(np.bool_)
