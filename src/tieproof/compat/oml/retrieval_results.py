"""`RetrievalResults`: for each query the nearest gallery items, their distances, and the relevant items."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import FloatTensor, LongTensor

from tieproof.compat.oml.neighbours import Neighbours, nearest
from tieproof.compat.oml.rankings import Rankings, as_ids, of_lists
from tieproof.compat.oml.split import Split, split_of_dataset, split_of_two
from tieproof.errors import InputError
from tieproof.inputs.arrays import as_array
from tieproof.inputs.options import check_whole


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
        relevant = self.split.ground_truth
        return None if relevant is None else tuple(map(torch.from_numpy, relevant))

    @cached_property
    def neighbours(self) -> list[Neighbours]:
        """For each query, the listed items with their ties; computed only when needed, as metrics need no lists."""
        if self.split is not None:
            return list(nearest(self.split, self.n_items))
        return [with_equal_ones(*lists) for lists in zip(*self._lists[:2], strict=True)]

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
        >>> dataset = QueryGalleryLabeledDataset(labels=[0, 1, 0])
        >>> rr = RetrievalResults.from_embeddings(torch.tensor([[0.0], [1.0], [3.0]]), dataset)
        >>> rr.retrieved_ids, rr.gt_ids
        ((tensor([1, 2]), tensor([0, 2]), tensor([1, 0])), (tensor([2]), tensor([], dtype=torch.int64), tensor([0])))

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
        made = cls([], [])
        made.split, made.n_items = split, n_items
        return made


def with_equal_ones(distances: Any, ids: Any) -> Neighbours:
    """A list whose equal distances are ties."""
    values, items = as_array(distances, "distances"), as_array(ids, "retrieved_ids")
    _, first, inverse, size = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    return Neighbours(items, values, first[inverse], size[inverse])


def rankings_of(rr: Any, progress: bool) -> Rankings:
    """The rankings of retrieval results, from their embeddings if they were made from embeddings, else from lists."""
    split: Split | None = getattr(rr, "split", None)
    if split is not None:
        return split.rankings(rr.n_items, progress)
    correct, relevant = correct_of(rr)
    return of_lists(correct, relevant, [as_array(row, "distances") for row in rr.distances])


def correct_of(rr: Any) -> tuple[list[Any], list[int]]:
    """Which listed items are relevant, and how many relevant items each query has."""
    if rr.gt_ids is None:
        raise InputError("These retrieval results have no gt_ids, so the relevant items are unknown. Pass gt_ids=.")
    relevant = as_ids(rr.gt_ids, "gt_ids")
    listed = as_ids(rr.retrieved_ids, "retrieved_ids")
    return [np.isin(row, own) for row, own in zip(listed, relevant, strict=True)], [len(own) for own in relevant]
