"""The nearest gallery items of each query by Euclidean distance, in exact order, with distances and pictures."""

from collections.abc import Sequence
from copy import deepcopy
from functools import cached_property
from pprint import pformat
from typing import Any

import numpy as np
import torch
from torch import FloatTensor, LongTensor

from tieproof.compat.oml.dataset import ShownNeighbors, Split, neighbors_of, split_of_dataset, split_of_two
from tieproof.compat.oml.pictures import Contents, contents_of, contents_of_split, figure_of_queries
from tieproof.compat.oml.rankings import Rankings, as_ids, check_queries, correct_of, of_lists
from tieproof.errors import InputError, warn
from tieproof.kit import BoolArray, as_array, check_whole

_LISTED = 100  # how many queries `str` shows


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

    split: Split | None = None
    n_items = 0

    def __init__(
        self,
        distances: Sequence[FloatTensor],
        retrieved_ids: Sequence[LongTensor],
        gt_ids: Sequence[LongTensor] | None = None,
    ) -> None:
        given = [as_array(row, "distances") for row in distances]
        ids = as_ids(retrieved_ids, "retrieved_ids")
        for other, what in ((ids, "retrieved_ids"), (gt_ids, "gt_ids")):
            check_queries(given, "the distances", given if other is None else other, what)
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
        self.distances, self.retrieved_ids = tuple(distances), tuple(retrieved_ids)
        self.gt_ids = None if gt_ids is None else tuple(gt_ids)

    @cached_property
    def distances(self) -> tuple[FloatTensor, ...]:
        """For each query, the distances to the listed items, in ascending order."""
        return tuple(torch.from_numpy(found.distances) for found in self.neighbours)

    @cached_property
    def retrieved_ids(self) -> tuple[LongTensor, ...]:
        """For each query, the positions of the listed items in the gallery."""
        return tuple(torch.from_numpy(found.items) for found in self.neighbours)

    @cached_property
    def gt_ids(self) -> tuple[LongTensor, ...] | None:
        """For each query, the positions of the relevant items in the gallery."""
        relevant = None if self.split is None else self.split.relevant
        if relevant is None:
            return None
        return tuple(map(torch.from_numpy, np.split(relevant.items, relevant.pointer[1:-1])))

    @cached_property
    def neighbours(self) -> list[ShownNeighbors]:
        """For each query, the listed items with their ties; computed only when needed, as metrics need no lists."""
        return neighbors_of(self)

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
        split = split_of_two(embeddings_query, embeddings_gallery, dataset_query, dataset_gallery)
        return cls._of_split(split, n_items)

    @classmethod
    def _of_split(cls, split: Split, n_items: int) -> "RetrievalResults":
        """Results that keep the split, from which exact ties and the lists are computed."""
        check_whole("n_items", n_items)
        results = cls.__new__(cls)  # its lists are computed when they are asked for
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
        self._check_queries(len(dataset.get_query_ids()))
        return self.visualize_with_functions(query_ids, *contents_of_split(dataset), n_galleries_to_show, show=show)

    def visualize_qg(
        self,
        query_ids: Sequence[int],
        dataset_query: Any,
        dataset_gallery: Any,
        n_galleries_to_show: int = 5,
        n_gt_to_show: int = 0,
        verbose: bool = False,
        show: bool = False,
    ) -> Any:
        """The figure of `visualize` for results of two data sets, the queries and the gallery."""
        self._check_queries(len(dataset_query))
        contents = contents_of(dataset_query), contents_of(dataset_gallery)
        return self.visualize_with_functions(query_ids, *contents, n_galleries_to_show, show=show)

    def visualize_with_functions(
        self,
        query_ids: Sequence[int],
        visualize_query_fn: Contents,
        visualize_gallery_fn: Contents,
        n_galleries_to_show: int = 5,
        n_gt_to_show: int = 0,
        show: bool = False,
    ) -> Any:
        """The figure of `visualize`, where functions of a position and a color return the images or texts."""
        check_whole("n_galleries_to_show", n_galleries_to_show)
        figure = figure_of_queries(self, query_ids, n_galleries_to_show, (visualize_query_fn, visualize_gallery_fn))
        if show:
            figure.show()
        return figure

    def visualize_as_html(self, *arguments: Any, **options: Any) -> str:
        """Refused: the pictures of this class are figures."""
        raise InputError(
            "visualize_as_html is not offered. Use visualize, whose figures also show texts, or the page of "
            "tieproof.evaluate(…).report."
        )

    def _check_queries(self, queries: int) -> None:
        if queries != len(self.retrieved_ids):
            raise InputError(
                f"The data set has {queries} queries, but the results have {len(self.retrieved_ids)}. Pass the data "
                "set that they were computed from.",
                "dataset",
            )

    def deepcopy(self) -> "RetrievalResults":
        """A copy that shares nothing with these results."""
        return deepcopy(self)

    def __str__(self) -> str:
        """The lists of the first 100 queries."""
        truth = "Ground truths are unknown.\n"
        if self.gt_ids is not None:
            truth = f"Ground truth gallery ids are:\n{pformat([row.tolist() for row in self.gt_ids[:_LISTED]])}.\n"
        return (
            f"Maximum number of retrieved items: {self.n_retrieved_items}.\n"
            f"Distances to the retrieved items:\n{pformat(self.distances[:_LISTED])}.\n"
            f"Ids of the retrieved gallery items:\n{pformat(self.retrieved_ids[:_LISTED])}.\n{truth}"
        )


def _warn_of_nothing_relevant(count: int, queries: int) -> None:
    """Warn of queries whose relevant items are known to be none."""
    if count:
        warn(
            f"{count} of {queries} queries have nothing relevant in the gallery. Their metrics do not depend on the "
            "embeddings: leave these queries out."
        )


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
