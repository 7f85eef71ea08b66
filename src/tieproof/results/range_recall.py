"""`RangeRecall`: the share of the items within a radius that an index found."""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tieproof.errors import MissingExtraError
from tieproof.ties import Array, FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class RangeRecall:
    """The recall and precision of an index on the items within a radius of each query.

    true : (q,) how many items are within the radius
    found : (q,) how many different items the index returned
    hits : (q,) how many of the returned items are within the radius
    repeated : (q,) the number of positions with an item that is already in the list
    repeated_hits : (q,) how many of the repeated items are within the radius

    >>> import tieproof as tp
    >>> result = tp.range_recall(([0, 2, 2], [7, 7]), ([0, 2, 3], [7, 9, 4]))
    >>> result.recall, result.mean_recall, result.of_others["big-ann recall, overall"]
    (0.3333333333333333, 0.25, 0.6666666666666666)
    """

    true: IntArray
    found: IntArray
    hits: IntArray
    repeated: IntArray
    repeated_hits: IntArray

    @property
    def recall(self) -> float:
        """The share of all true items that were found. Without true items it is 1 if nothing was found, else 0."""
        return overall(self.hits, self.true, self.found)

    @property
    def precision(self) -> float:
        """The share of all found items that are true; 1 if nothing was found."""
        return int(self.hits.sum()) / int(self.found.sum()) if self.found.any() else 1.0

    @property
    def per_query(self) -> FloatArray:
        """The recall of each query. Without true items it is 1 if nothing was found, else 0."""
        return each(self.hits, self.true, self.found)

    @property
    def mean_recall(self) -> float:
        """The mean of the queries' recalls."""
        return mean_of(self.per_query)

    @property
    def of_others(self) -> dict[str, float]:
        """The recall that big-ann-benchmarks computes from the same lists, counting repeated items again.

        It is computed by `range_PR_multiple_thresholds` in benchmark/plotting/eval_range_search.py, here at an
        infinite threshold.
        """
        hits, found = self.hits + self.repeated_hits, self.found + self.repeated
        return {
            "big-ann recall, overall": overall(hits, self.true, found),
            "big-ann recall, average": mean_of(each(hits, self.true, found)),
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries, as plain numbers, strings and dictionaries."""
        return {
            "queries": len(self.true),
            "recall": self.recall,
            "mean_recall": self.mean_recall,
            "precision": self.precision,
            "others": self.of_others,
            "true": int(self.true.sum()),
            "found": int(self.found.sum()),
            "hits": int(self.hits.sum()),
            "repeated": int(self.repeated.sum()),
        }

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def columns(self) -> dict[str, Array]:
        """A table with a row for every query, as arrays of equal length."""
        return {
            "query": np.arange(len(self.true)),
            "recall": self.per_query,
            "true": self.true,
            "found": self.found,
            "hits": self.hits,
            "repeated": self.repeated,
        }

    def to_frame(self) -> Any:
        """A pandas data frame with a row for every query (extra `pandas`)."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("RangeRecall.to_frame", "pandas") from None
        return pd.DataFrame(self.columns())

    def __repr__(self) -> str:
        """A short text with the recall."""
        from tieproof.views.text.range_recall import range_recall_in_short

        return range_recall_in_short(self)

    def __str__(self) -> str:
        """The table that the command line shows."""
        from tieproof.views.text.range_recall import render

        return render(self)


def overall(hits: IntArray, true: IntArray, found: IntArray) -> float:
    """All hits divided by all true items."""
    if true.any():
        return int(hits.sum()) / int(true.sum())
    return 0.0 if found.any() else 1.0


def each(hits: IntArray, true: IntArray, found: IntArray) -> FloatArray:
    """The hits of each query divided by its true items.

    >>> each(np.array([1, 0, 0]), np.array([2, 0, 0]), np.array([1, 0, 3])).tolist()
    [0.5, 1.0, 0.0]
    """
    return np.asarray(np.where(true > 0, hits / np.maximum(true, 1), found == 0))


def mean_of(values: FloatArray) -> float:
    """The mean, which does not depend on the order of the values."""
    return math.fsum(values.tolist()) / len(values)
