"""`range_recall`: the share of the items within a radius that an index found."""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tieproof.errors import CountError, InputError, MissingExtraError
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.readers.neighbors import as_range_lists
from tieproof.show.parts import NARROWEST, WIDTH, count, paragraph, table
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
        return range_recall_in_short(self)

    def __str__(self) -> str:
        """The table that the command line shows."""
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


@unchanged_files
def range_recall(found: Any, truth: Any) -> RangeRecall:
    """Compute the share of the items within a radius that an index found.

    Ties do not change which items are within the radius, so the recall is a single number and not an interval. An
    item that occurs twice in a list counts once.

    Parameters
    ----------
    found, truth : (lims, ids)
        The items of query q are ids[lims[q]], …, ids[lims[q + 1] - 1]. faiss returns (lims, distances, ids): pass
        the first and the last.

    Returns
    -------
    RangeRecall
        `recall` is over the items of all queries, `mean_recall` is the mean over queries. If no item occurs twice,
        these are the overall and the average recall of big-ann-benchmarks.

    Raises
    ------
    InputError
        If the lists have different numbers of queries, if lims do not fit the ids, or if a true list contains an
        item twice.

    Examples
    --------
    >>> import tieproof as tp
    >>> tp.range_recall(([0, 1, 3], [4, 2, 9]), ([0, 2, 3], [4, 7, 2]))
    <RangeRecall of 2 queries: 0.6667 overall, 0.7500 on average>

    """
    answers, wanted = as_range_lists(found, "found"), as_range_lists(truth, "truth")
    n_queries = len(wanted.lims) - 1
    if len(answers.lims) - 1 != n_queries:
        raise CountError(
            f"The number of found lists is {len(answers.lims) - 1}, but the number of true lists is {n_queries}. "
            "Pass exactly one for each, in the same order.",
            ("found", "truth"),
        )
    (query, item), (of_query, true) = answers.pairs(), wanted.pairs()
    names, numbers = np.unique(np.concatenate([item, true]), return_inverse=True)
    size = max(1, len(names))
    places, right = query * size + numbers[: len(item)], of_query * size + numbers[len(item) :]
    check_different(right, size)
    different = np.unique(places)

    def counts(pairs: IntArray) -> IntArray:
        return np.bincount(pairs // size, minlength=n_queries)

    found_once, hits = counts(different), counts(different[np.isin(different, right)])
    return RangeRecall(
        true=counts(right),
        found=found_once,
        hits=hits,
        repeated=counts(places) - found_once,
        repeated_hits=counts(places[np.isin(places, right)]) - hits,
    )


def check_different(right: IntArray, size: int) -> None:
    """Refuse a truth that lists an item twice."""
    ranked = np.sort(right)
    twice = ranked[1:][ranked[1:] == ranked[:-1]]
    if len(twice):
        raise InputError(
            f"The true list of query {twice[0] // size} contains an item twice. Compute the truth again, with each "
            "item once.",
            "truth",
        )


HEADER = ("items within the radius", "over all", "mean of queries")


def render(found: RangeRecall, width: int | None = None, color: bool = False) -> str:
    """A table with the recall and that of big-ann-benchmarks, and a sentence on what was counted.

    width : the number of columns to fit into; None for 80
    color : whether to use the escape sequences of a terminal

    >>> import tieproof as tp
    >>> print(render(tp.range_recall(([0, 2, 2], [7, 7]), ([0, 2, 3], [7, 9, 4]))))
    items within the radius  over all  mean of queries
    --------------------------------------------------
    recall                     0.3333           0.2500
    big-ann recall             0.6667           0.5000
    <BLANKLINE>
    Of 3 true items of 2 queries, 1 was found, among 1 different item; 1 place holds
    an item that its list has already and that counts only once.
    """
    width = max(width or WIDTH, NARROWEST)
    theirs = [f"{value:.4f}" for value in found.of_others.values()]
    rows = [("recall", f"{found.recall:.4f}", f"{found.mean_recall:.4f}"), ("big-ann recall", *theirs)]
    return "\n".join([table(HEADER, [rows], width, color, HEADER[1:]), "", paragraph(said(found), width)])


def said(found: RangeRecall) -> str:
    """The sentence on what was counted."""
    hits, repeated = int(found.hits.sum()), int(found.repeated.sum())
    text = (
        f"Of {count(int(found.true.sum()), 'true item')} of {count(len(found.true), 'query')}, {hits:,} "
        f"{'was' if hits == 1 else 'were'} found, among {count(int(found.found.sum()), 'different item')}"
    )
    if repeated:
        text += (
            f"; {count(repeated, 'place')} {'holds' if repeated == 1 else 'hold'} an item that its list has already "
            "and that counts only once"
        )
    return f"{text}."


def range_recall_in_short(found: RangeRecall) -> str:
    """The recall over all items, and the mean over queries."""
    means = f"{found.recall:.4f} overall, {found.mean_recall:.4f} on average"
    return f"<RangeRecall of {count(len(found.true), 'query')}: {means}>"
