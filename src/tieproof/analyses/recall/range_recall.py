"""`range_recall`: the share of the items within a radius that an index found."""

import math
import numbers
import os
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from tieproof.analyses.neighbors.certificate import read_truth
from tieproof.errors import InputError, about
from tieproof.inputs.arrays import as_array, check_count, type_name
from tieproof.inputs.identities import as_int64
from tieproof.inputs.mapped import unchanged_files
from tieproof.show.parts import count
from tieproof.show.shown import AsFrame, Shown, Table
from tieproof.ties import Array, FloatArray, IntArray

_WRITTEN = ("true", "found", "hits", "repeated")  # the counts of each query that files have


@dataclass(frozen=True, eq=False, repr=False)
class RangeRecall(Shown, AsFrame):
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
    >>> print(tp.range_recall(([0, 2, 2], [7, 7]), ([0, 2, 3], [7, 9, 4])))
    items within the radius  over all  mean of queries
    --------------------------------------------------
    recall                     0.3333           0.2500
    big-ann recall             0.6667           0.5000
    <BLANKLINE>
    Of 3 true items of 2 queries, 1 was found, among 1 different item; 1 place holds
    an item that its list has already and that counts only once.
    """

    true: IntArray
    found: IntArray
    hits: IntArray
    repeated: IntArray
    repeated_hits: IntArray

    @property
    def recall(self) -> float:
        """The share of all true items that were found. Without true items it is 1 if nothing was found, else 0."""
        return float(_of_each(self.hits.sum(), self.true.sum(), self.found.sum()))

    @property
    def precision(self) -> float:
        """The share of all found items that are true; 1 if nothing was found."""
        return int(self.hits.sum()) / int(self.found.sum()) if self.found.any() else 1.0

    @property
    def per_query(self) -> FloatArray:
        """The recall of each query. Without true items it is 1 if nothing was found, else 0."""
        return _of_each(self.hits, self.true, self.found)

    @property
    def mean_recall(self) -> float:
        """The mean of the queries' recalls, of which those without true items are 1 or 0."""
        return fmean(self.per_query.tolist())

    @property
    def of_others(self) -> dict[str, float]:
        """The recall that big-ann-benchmarks computes from the same lists, counting repeated items again.

        It is computed by `range_PR_multiple_thresholds` in benchmark/plotting/eval_range_search.py, here at an
        infinite threshold.
        """
        hits, found = self.hits + self.repeated_hits, self.found + self.repeated
        return {
            "big-ann recall, overall": float(_of_each(hits.sum(), self.true.sum(), found.sum())),
            "big-ann recall, average": fmean(_of_each(hits, self.true, found).tolist()),
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries, as plain numbers, strings and dictionaries."""
        return {
            "queries": len(self.true),
            "queries_without_true_items": int((self.true == 0).sum()),
            "recall": self.recall,
            "mean_recall": self.mean_recall,
            "precision": self.precision,
            "others": self.of_others,
            **{name: int(getattr(self, name).sum()) for name in _WRITTEN},
        }

    def columns(self) -> dict[str, Array]:
        """A table with a row for every query, as arrays of equal length."""
        counts = {name: getattr(self, name) for name in _WRITTEN}
        return {"query": np.arange(len(self.true)), "recall": self.per_query, **counts}

    def _table(self) -> Table:
        theirs = [f"{value:.4f}" for value in self.of_others.values()]
        rows = [("recall", f"{self.recall:.4f}", f"{self.mean_recall:.4f}"), ("big-ann recall", *theirs)]
        header = ("items within the radius", "over all", "mean of queries")
        return Table(header, [rows], [*self._sentences()], header[1:])

    def _sentences(self) -> Iterator[str]:
        hits, repeated = int(self.hits.sum()), int(self.repeated.sum())
        holds = "holds" if repeated == 1 else "hold"
        again = f"; {count(repeated, 'place')} {holds} an item that its list has already and that counts only once"
        yield (
            f"Of {count(int(self.true.sum()), 'true item')} of {count(len(self.true), 'query')}, {hits:,} "
            f"{'was' if hits == 1 else 'were'} found, among {count(int(self.found.sum()), 'different item')}"
            f"{again if repeated else ''}."
        )
        if empty := int((self.true == 0).sum()):
            right = int(((self.true == 0) & (self.found == 0)).sum())
            without = f"{count(empty, 'query')} without a true item"
            yield f"{without}: in the mean, {right:,} (nothing found) as 1, others as 0."

    def __repr__(self) -> str:
        means = f"{self.recall:.4f} overall, {self.mean_recall:.4f} on average"
        return f"<RangeRecall of {count(len(self.true), 'query')}: {means}>"


def _of_each(hits: IntArray, true: IntArray, found: IntArray) -> FloatArray:
    """The hits of each query divided by its true items."""
    return np.asarray(np.where(true > 0, hits / np.maximum(true, 1), found == 0))


@unchanged_files
def range_recall(found: Any, truth: Any, *, radius: float | None = None) -> RangeRecall:
    """Compute the share of the items within a radius that an index found.

    Ties do not change which items are within the radius, so the recall is a single number and not an interval. An
    item that occurs twice in a list counts once.

    Parameters
    ----------
    found, truth : (lims, ids)
        The items of query q are ids[lims[q]], …, ids[lims[q + 1] - 1]. faiss returns (lims, distances, ids): pass
        the first and the last. The truth may also be the path of a folder that `truth` wrote.
    radius : number
        For the folder of a truth: the items are those whose distance, rounded once to float64, is at most this. The
        k nearest items show all of them only if the radius is below the distance at rank k of each query.

    Returns
    -------
    RangeRecall
        `recall` is over the items of all queries, `mean_recall` is the mean over queries. If no item occurs twice,
        these are the overall and the average recall of big-ann-benchmarks.

    Raises
    ------
    InputError
        If the lists have different numbers of queries, if lims do not fit the ids, or if a true list contains an
        item twice. For the folder of a truth: if it does not certify the radius for some query, or if a found id is
        not that of an item.

    Examples
    --------
    >>> import tieproof as tp
    >>> tp.range_recall(([0, 1, 3], [4, 2, 9]), ([0, 2, 3], [4, 7, 2]))
    <RangeRecall of 2 queries: 0.6667 overall, 0.7500 on average>

    """
    lengths, item = _as_range_lists(found, "found")
    if isinstance(truth, str | os.PathLike):
        truth = _within(truth, radius, item)
    elif radius is not None:
        raise InputError(
            "radius was passed with lists, which contain the items within a radius already. Leave it out, or pass "
            "the folder of a truth.",
            "radius",
        )
    true_lengths, true = _as_range_lists(truth, "truth")
    n_queries = len(true_lengths)
    with about(("found", "truth")):
        check_count(len(lengths), "found lists", n_queries, "true lists")
    query, of_query = (np.repeat(np.arange(n_queries), each) for each in (lengths, true_lengths))
    names, numbers = np.unique(np.concatenate([item, true]), return_inverse=True)
    size = max(1, len(names))
    places, right = query * size + numbers[: len(item)], of_query * size + numbers[len(item) :]
    ranked = np.sort(right)
    twice = ranked[1:][ranked[1:] == ranked[:-1]]
    if len(twice):
        raise InputError(
            f"The true list of query {twice[0] // size} contains an item twice. Compute the truth again, with each "
            "item once.",
            "truth",
        )
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


def _within(folder: str | os.PathLike[str], radius: Any, found: IntArray) -> tuple[IntArray, IntArray]:
    """Return (lims, ids) of the items in the folder of a truth that are within a radius; refuse other found items.

    Rounded distances are compared. InputError if the items are not certified: if the radius is not below the distance
    at the last rank of each query, so that unlisted items may be within it, unless all items are listed.
    """
    if isinstance(radius, bool) or not isinstance(radius, numbers.Real) or math.isnan(radius):
        raise InputError(
            f"radius must be a number with the folder of a truth, not {radius!r}. Pass the radius of the search, in "
            "the distance of the truth.",
            "radius",
        )
    _, near = read_truth(folder)
    if found.max(initial=-1) >= near.n_items:
        raise InputError(
            f"The found ids contain {found.max()}, but the truth in {os.fspath(folder)} has {near.n_items} items. "
            "Pass the positions of the items in the gallery.",
            "found",
        )
    last, radius = near.distances[:, -1], float(radius)
    open_ = np.flatnonzero((last <= radius) & (near.k < near.n_items))
    if len(open_):
        raise InputError(
            f"The radius is {radius!r}, but the truth lists the {near.k:,} nearest items, which certifies a "
            f"query only if the radius is below its distance at rank {near.k:,}. It is not for "
            f"{count(len(open_), 'query')}, first query {open_[0]} with {float(last[open_[0]])!r}. Pass a radius "
            f"below {float(np.nanmin(last))!r}, leave these queries out, or write a truth with a larger k.",
            "radius",
        )
    inside = near.distances <= radius
    return np.concatenate([[0], np.cumsum(inside.sum(axis=1))]), near.ids[inside]


def _as_range_lists(values: Any, name: str) -> tuple[IntArray, IntArray]:
    """Return the lengths of the lists that a pair (lims, ids) contains, and their items, query after query."""
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise InputError(
            f"The {name} lists must be a pair (lims, ids), not {type(values).__name__}. faiss returns (lims, "
            "distances, ids): pass the first and the last.",
            name,
        )
    with about(name):
        lims, ids = _as_positions(values[0], name, "lims"), _as_positions(values[1], name, "ids")
    if len(lims) < 2 or lims[0] != 0 or (np.diff(lims) < 0).any() or lims[-1] != len(ids):
        ends = f" from {lims[0]} to {lims[-1]}" if len(lims) else ""
        raise InputError(
            f"The {name} lims must increase from 0 to the number of ids, which is {len(ids)}, but are {len(lims)} "
            f"numbers{ends}. Pass one more number than there are queries.",
            name,
        )
    if (ids < 0).any():
        raise InputError(
            f"The {name} ids contain {ids.min()}, but must be at least 0. Leave out padding: a list contains only "
            "the items within the radius.",
            name,
        )
    return np.diff(lims), ids


def _as_positions(values: Any, name: str, what: str) -> IntArray:
    """Integers of one dimension; an empty list has any type."""
    array = as_array(values, f"{name} {what}")
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise InputError(
            f"The {name} {what} must be integers in one dimension, but are {type_name(array.dtype)} of the shape "
            f"{array.shape}.",
            name,
        )
    return as_int64(array if array.size else array.astype(np.int64), f"{name} {what}")
