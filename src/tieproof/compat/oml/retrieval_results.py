"""The nearest gallery items of each query by Euclidean distance, in exact order, with distances and pictures."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import FloatTensor, LongTensor

from tieproof.compat.nearest_items import Item, Row, Tie, nearest_items
from tieproof.compat.oml.dataset import Split, split_of_dataset, split_of_two
from tieproof.compat.oml.rankings import Rankings, as_ids, correct_of, of_lists
from tieproof.distances import DISTANCES, make_space
from tieproof.distances.euclidean import Euclidean, EuclideanGauge
from tieproof.distances.gauge import resources_of_gauge
from tieproof.engine import nearest_of
from tieproof.errors import InputError, warn
from tieproof.exact.bounds import SAFETY, check_products
from tieproof.inputs.arrays import as_array
from tieproof.inputs.options import check_whole
from tieproof.show import style
from tieproof.ties import BoolArray, IntArray

_BLOCK_ENTRIES = 2**22
"""The largest number of keys, and of entries of difference vectors, that are held in memory at once."""

_UNIT_ROUNDOFF = 2.0**-53


class Neighbors(NamedTuple):
    """The nearest items of one query.

    items : (c,) positions in the gallery, nearest first; tied items are in the order of the gallery
    distances : (c,) rounded to float32, and equal where items are tied
    first, size : (c,) for each item, the position in this list where its tie begins, and how many items the tie
        holds, including items that are not listed
    """

    items: IntArray
    distances: npt.NDArray[np.float32]
    first: IntArray
    size: IntArray


def _nearest(split: Split, count: int, memory: int = 2**30) -> Iterator[Neighbors]:
    """The `count` nearest items of each query, or all items that it ranks if there are fewer."""
    orders = np.arange(len(split.queries)), np.arange(len(split.items))
    resources = resources_of_gauge(memory // 4)
    space = make_space(DISTANCES["euclidean"], split.queries, split.gallery, orders, resources)
    gauge = EuclideanGauge(cast(Euclidean, space))
    check_products()
    step = max(1, _BLOCK_ENTRIES // len(split.items))
    count = min(count, len(split.items))
    for start in range(0, len(split.queries), step):
        span = np.arange(start, min(start + step, len(split.queries)))
        query, item, tie = nearest_of(gauge.space, span, [split.excluded_items[place] for place in span], count)
        begins = np.searchsorted(query, np.arange(len(span)))
        size = np.bincount(tie)
        first = (np.cumsum(size) - size)[tie] - begins[query]
        listed = np.arange(len(query)) - begins[query] < count
        distances = _rounded_distances(gauge, split, span[query[listed]], item[listed])
        cuts = np.cumsum(np.bincount(query[listed], minlength=len(span)))[:-1]
        columns = (item[listed], distances, first[listed], size[tie[listed]])
        for parts in zip(*(np.split(column, cuts) for column in columns), strict=True):
            yield Neighbors(*parts)


def _rounded_distances(
    gauge: EuclideanGauge, split: Split, queries: IntArray, items: IntArray
) -> npt.NDArray[np.float32]:
    """The distances of pairs, rounded to float64 and then to float32.

    The square root of a sum of d squares, computed in float64, has a relative error below (d + 8) u. If two float32
    are possible within that error, the exact distance is computed. Squares that underflow or overflow belong to
    distances that float32 rounds to 0 or infinity.
    """
    distances = np.empty(len(queries), dtype=np.float32)
    dimensions = split.queries.shape[1]
    step = max(1, _BLOCK_ENTRIES // dimensions)
    error = (dimensions + 8) * _UNIT_ROUNDOFF * SAFETY
    certain = gauge.space.queries.exact_in_float64 and gauge.space.items.exact_in_float64
    for start in range(0, len(queries), step):
        span = slice(start, start + step)
        with np.errstate(over="ignore", under="ignore"):
            difference = split.queries[queries[span]].astype(np.float64) - split.items[items[span]]
            about = np.sqrt(np.einsum("ij,ij->i", difference, difference))
            low, high = ((about * (1 + sign * error)).astype(np.float32) for sign in (-1, 1))
        unsure = np.flatnonzero((low != high) | (not certain))
        distances[span] = low
        rows = gauge.space.queries.identity[queries[span][unsure]]
        columns = gauge.space.items.identity[items[span][unsure]]
        exact = gauge.exact(np.zeros(len(rows)), rows, columns)
        distances[start + unsure] = [np.float32(gauge.distance(key * gauge.unit)) for key in exact]
    return distances


class RetrievalResults:
    """The nearest gallery items of each query.

    Results made from embeddings are sorted by exact Euclidean distance, tied items are listed in the order of the
    gallery, and metrics take ties into account that continue past the end of a list. In results made from lists,
    equal distances are ties, and items that are not listed are farther away than all listed ones.

    Parameters
    ----------
    distances : for each query, the distances to the listed items, in ascending order
    retrieved_ids : for each query, the positions of these items in the gallery
    gt_ids : for each query, the positions of the relevant items in the gallery; None if they are unknown

    Examples
    --------
    >>> from torch import tensor
    >>> rr = RetrievalResults([tensor([0.5, 0.9])], [tensor([2, 0])], gt_ids=[tensor([2])])
    >>> rr.retrieved_ids
    (tensor([2, 0]),)

    """

    def __init__(
        self,
        distances: Sequence[FloatTensor],
        retrieved_ids: Sequence[LongTensor],
        gt_ids: Sequence[LongTensor] | None = None,
    ) -> None:
        given = [as_array(row, "distances") for row in distances]
        ids = as_ids(retrieved_ids, "retrieved_ids")
        for other, what in ((ids, "retrieved_ids"), (gt_ids, "gt_ids")):
            if other is not None and len(other) != len(given):
                raise InputError(
                    f"The number of queries is {len(given)} for the distances, but {len(other)} for {what}: pass "
                    "both for each query."
                )
        for query, (row, own) in enumerate(zip(given, ids, strict=True)):
            if row.shape != own.shape:
                raise InputError(
                    f"Query {query} has distances of shape {row.shape}, but {len(own)} retrieved_ids. Pass one "
                    "distance for each id."
                )
            if not np.isfinite(row).all() or (np.diff(row) < 0).any():
                raise InputError(f"The distances of query {query} must be finite numbers in ascending order.")
        if gt_ids is not None:
            _warn_of_nothing_relevant(sum(len(row) == 0 for row in gt_ids), len(gt_ids))
        self._lists = tuple(distances), tuple(retrieved_ids), None if gt_ids is None else tuple(gt_ids)
        self.split: Split | None = None
        self.n_items = 0

    @cached_property
    def distances(self) -> tuple[FloatTensor, ...]:
        """For each query, the distances to the listed items, in ascending order."""
        if self.split is None:
            return self._lists[0]
        return tuple(torch.from_numpy(found.distances) for found in self.neighbours)

    @cached_property
    def retrieved_ids(self) -> tuple[LongTensor, ...]:
        """For each query, the positions of the listed items in the gallery."""
        if self.split is None:
            return self._lists[1]
        return tuple(torch.from_numpy(found.items) for found in self.neighbours)

    @cached_property
    def gt_ids(self) -> tuple[LongTensor, ...] | None:
        """For each query, the positions of the relevant items in the gallery."""
        if self.split is None:
            return self._lists[2]
        relevant = self.split.relevant
        if relevant is None:
            return None
        return tuple(map(torch.from_numpy, np.split(relevant.items, relevant.pointer[1:-1])))

    @cached_property
    def neighbours(self) -> list[Neighbors]:
        """For each query, the listed items with their ties; computed only when needed, as metrics need no lists."""
        if self.split is not None:
            return list(_nearest(self.split, self.n_items))
        return [_with_equal_ones(*lists) for lists in zip(*self._lists[:2], strict=True)]

    @classmethod
    def from_embeddings(
        cls, embeddings: FloatTensor, dataset: Any, n_items: int = 100, verbose: bool = False
    ) -> "RetrievalResults":
        """The nearest items in the gallery of a data set, for its queries.

        Parameters
        ----------
        embeddings : (n, d), one for each item of the data set
        dataset : has `get_query_ids()`, `get_gallery_ids()`, `extra_data` and, if labels are known, `get_labels()`
            A query is not ranked for itself, nor are items of its sequence (`extra_data["sequence"]`).
        n_items : the largest number of items in a list
        verbose : accepted; metrics show their own progress bar

        Examples
        --------
        >>> from tieproof.compat.oml import QueryGalleryLabeledDataset
        >>> dataset = QueryGalleryLabeledDataset(labels=[0, 0, 0])
        >>> rr = RetrievalResults.from_embeddings(torch.tensor([[0.0], [1.0], [3.0]]), dataset)
        >>> rr.retrieved_ids, rr.gt_ids
        ((tensor([1, 2]), tensor([0, 2]), tensor([1, 0])), (tensor([1, 2]), tensor([0, 2]), tensor([0, 1])))

        """
        return cls._of_split(split_of_dataset(embeddings, dataset), n_items)

    @classmethod
    def from_embeddings_qg(
        cls,
        embeddings_query: FloatTensor,
        embeddings_gallery: FloatTensor,
        dataset_query: Any,
        dataset_gallery: Any,
        n_items: int = 100,
        verbose: bool = False,
    ) -> "RetrievalResults":
        """The nearest items of one data set for the queries of another.

        Parameters
        ----------
        embeddings_query, embeddings_gallery : (n_query, d) and (n_gallery, d)
        dataset_query, dataset_gallery : have `extra_data` and, if labels are known, `get_labels()`
            Items of the query's sequence are not ranked.
        n_items, verbose : as in `from_embeddings`

        """
        return cls._of_split(
            split_of_two(embeddings_query, embeddings_gallery, dataset_query, dataset_gallery), n_items
        )

    @classmethod
    def _of_split(cls, split: Split, n_items: int) -> "RetrievalResults":
        """Results that keep the split, from which exact ties and the lists are computed."""
        check_whole("n_items", n_items)
        results = cls([], [])
        results.split, results.n_items = split, n_items
        if split.relevant is not None:
            counts = np.diff(split.relevant.pointer)
            _warn_of_nothing_relevant(int(np.count_nonzero(counts == 0)), len(counts))
        return results

    @property
    def n_retrieved_items(self) -> int:
        """The length of the longest list; 0 without queries."""
        return max(map(len, self.retrieved_ids), default=0)

    def is_empty(self) -> bool:
        """Whether no query has a listed item."""
        return self.n_retrieved_items == 0

    def visualize(
        self,
        query_ids: Sequence[int],
        dataset: Any,
        n_galleries_to_show: int = 5,
        n_gt_to_show: int = 0,
        verbose: bool = False,
        show: bool = False,
    ) -> Any:
        """A matplotlib figure with a row for each query: the query and its nearest items, tied ones in brackets.

        Parameters
        ----------
        query_ids : positions among the queries
        dataset : the data set that the results were computed from
            The image or text of an item is what its `visualize(item, color)` returns; without it, ids are shown.
        n_galleries_to_show : how many items to show for each query
        n_gt_to_show, verbose : accepted; relevant items are marked where they are listed
        show : show the figure at once

        """
        queries = len(dataset.get_query_ids())
        if queries != len(self.retrieved_ids):
            raise InputError(
                f"The data set has {queries} queries, but the results have {len(self.retrieved_ids)}. Pass the data "
                "set that they were computed from.",
                "dataset",
            )
        check_whole("n_galleries_to_show", n_galleries_to_show)
        figure = figure_of_queries(self, dataset, query_ids, n_galleries_to_show)
        if show:
            figure.show()
        return figure


def _warn_of_nothing_relevant(count: int, queries: int) -> None:
    """Warn of queries whose relevant items are known to be none."""
    if count:
        warn(
            f"{count} of {queries} queries have nothing relevant in the gallery. Their metrics do not depend on the "
            "embeddings: leave these queries out."
        )


def _with_equal_ones(distances: Any, ids: Any) -> Neighbors:
    """A list whose equal distances are ties."""
    values, items = as_array(distances, "distances"), as_array(ids, "retrieved_ids")
    _, first, inverse, size = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    return Neighbors(items, values, first[inverse], size[inverse])


def rankings_of(rr: Any, progress: bool) -> Rankings:
    """The rankings of retrieval results, from their embeddings if they were made from embeddings, else from lists."""
    split: Split | None = getattr(rr, "split", None)
    if split is not None:
        return split.rankings(rr.n_items, progress)
    correct, relevant = correct_of_results(rr)
    return of_lists(correct, relevant, [as_array(row, "distances") for row in rr.distances])


def correct_of_results(rr: Any) -> tuple[list[BoolArray], list[int]]:
    """Which listed items are relevant, and how many relevant items each query has."""
    if rr.gt_ids is None:
        raise InputError("These retrieval results have no gt_ids, so the relevant items are unknown. Pass gt_ids=.")
    return correct_of(rr.retrieved_ids, rr.gt_ids)


_QUERY, _RIGHT, _WRONG, _UNKNOWN = (0, 0, 255), (0, 255, 0), (255, 0, 0), (0, 0, 0)
"""The colors, as (red, green, blue), that are passed to the `visualize` of a data set."""


def figure_of_queries(rr: Any, dataset: Any, query_ids: Sequence[int], n_instances: int) -> Any:
    """A figure with a row for each query.

    rr : retrieval results
    dataset : the data set that the results were computed from
    query_ids : positions among the queries
    n_instances : how many items to show for each query
    """
    count = len(rr.retrieved_ids)
    wrong = [query for query in query_ids if not 0 <= query < count]
    if wrong or not len(query_ids):
        arrived = f"contains {wrong[0]}" if wrong else "is empty"
        raise InputError(
            f"query_ids must be positions among the {count} queries, from 0 to {count - 1}, but it {arrived}."
        )
    rows = [_row_of(rr, dataset, int(query), n_instances) for query in query_ids]
    columns = 1 + max(len(row.items) for row in rows)
    drawn, ax = style.figure("A picture of queries", max(4.5, 1.25 * columns), 0.5 + 2.05 * len(rows))
    nearest_items(rows, ax)
    return drawn


def _row_of(rr: Any, dataset: Any, query: int, n_instances: int) -> Row:
    ids, gallery_ids = (as_array(of(), "ids") for of in (dataset.get_query_ids, dataset.get_gallery_ids))
    if hasattr(rr, "neighbours"):
        neighbors: Neighbors = rr.neighbours[query]
    else:  # lists of the user
        neighbors = _with_equal_ones(rr.distances[query], rr.retrieved_ids[query])
    relevant = None if rr.gt_ids is None else np.isin(neighbors.items, as_array(rr.gt_ids[query], "gt_ids"))
    items = []
    for place, (item, distance) in enumerate(zip(neighbors.items[:n_instances], neighbors.distances, strict=False)):
        right = None if relevant is None else bool(relevant[place])
        color = _UNKNOWN if right is None else _RIGHT if right else _WRONG
        items.append(Item(_shown(dataset, int(gallery_ids[item]), color), f"{item}: {distance:.4g}", right))
    starts = np.unique(neighbors.first[: len(items)])
    ties = [
        Tie(int(first), min(int(first + neighbors.size[first]), len(items)), int(neighbors.size[first]))
        for first in starts
    ]
    shown = _shown(dataset, int(ids[query]), _QUERY)
    return Row(shown, f"query {query}", items, [tie for tie in ties if tie.size > 1])


def _shown(dataset: Any, item: int, color: tuple[int, int, int]) -> Any:
    """The image or the text of an item, or its id if the data set has no `visualize`."""
    if not hasattr(dataset, "visualize"):
        return str(item)
    content = dataset.visualize(item, color)
    return content if isinstance(content, str) else as_array(content, "image")
