"""Data sets: a small one, and `Split`, the queries, the gallery and the pairs that are not ranked, of any of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import LongTensor

from tieproof import ErrorRates, Result, evaluate, fnmr_at_fmr, nearest
from tieproof.compat.oml.rankings import Rankings
from tieproof.errors import InputError
from tieproof.evaluation.problems import relevance_among
from tieproof.inputs.relevance import RelevantBlock
from tieproof.kit import Embeddings, IntArray, Labels, as_array, as_embeddings, as_labels, check_count

CATEGORY, SEQUENCE = "category", "sequence"  # the keys of `extra_data` that name those of each item
OVERALL = "OVERALL"  # the name of the category that contains all items


class QueryGalleryLabeledDataset:
    """Labeled items, split into queries and a gallery, which may overlap.

    Parameters
    ----------
    labels : (n,) integers or strings
    is_query, is_gallery : (n,) bools; by default every item is both a query and in the gallery
    categories, sequences : (n,) integers or strings
        Metrics are also computed for each category. Items of a query's sequence are not ranked for it.
    images : n arrays (height, width) or (height, width, 3) to show
    texts : n strings to show if there are no images

    Notes
    -----
    Any other object can be used instead if it has `len()`, `get_labels()`, `get_query_ids()`, `get_gallery_ids()`,
    `extra_data` and, for pictures, `visualize(item, color)`, which returns an image or a text.

    Examples
    --------
    >>> dataset = QueryGalleryLabeledDataset([3, 3, 4], is_query=[True, False, False], texts=["a", "b", "c"])
    >>> len(dataset), dataset.get_query_ids(), dataset.get_gallery_ids(), dataset.visualize(2)
    (3, tensor([0]), tensor([0, 1, 2]), 'c')

    """

    def __init__(
        self,
        labels: Any,
        is_query: Any = None,
        is_gallery: Any = None,
        categories: Any = None,
        sequences: Any = None,
        images: Sequence[Any] | None = None,
        texts: Sequence[str] | None = None,
    ) -> None:
        count = len(labels)
        self._labels = as_labels(labels, count, "labels", "items", columns=False)
        self._query_ids = _chosen(is_query, count, "is_query")
        self._gallery_ids = _chosen(is_gallery, count, "is_gallery")
        self.extra_data = {}
        for values, name in ((categories, CATEGORY), (sequences, SEQUENCE)):
            if values is not None:
                found = as_labels(values, count, f"values of {name}", "items", columns=False)
                self.extra_data[name] = found.tolist()
        for values, name in ((images, "images"), (texts, "texts")):
            if values is not None:
                check_count(len(values), name, count, "items")
        self._shown = images if images is not None else texts

    def __len__(self) -> int:
        """The number of items."""
        return len(self._labels)

    def get_labels(self) -> Any:
        """The labels, (n,)."""
        return self._labels

    def get_query_ids(self) -> LongTensor:
        """The ids of the queries."""
        return self._query_ids

    def get_gallery_ids(self) -> LongTensor:
        """The ids of the gallery items."""
        return self._gallery_ids

    def visualize(self, item: int, color: Any = None) -> Any:
        """The image or the text of an item, or its number if it has neither."""
        return str(item) if self._shown is None else self._shown[item]


def _chosen(flags: Any, count: int, name: str) -> LongTensor:
    """The ids of the items whose flag is set; all ids without flags."""
    if flags is None:
        return torch.arange(count)
    array = as_array(flags, name)
    if array.shape != (count,) or not np.isin(array, (0, 1)).all():
        raise InputError(f"{name} must be {count} bools, one for each item, but has shape {array.shape}.")
    return torch.from_numpy(np.flatnonzero(array))


class ShownNeighbors(NamedTuple):
    """The nearest items of one query."""

    items: IntArray  # (c,) positions in the gallery, nearest first; tied items are in the order of the gallery
    distances: npt.NDArray[np.float32]  # (c,) rounded to float32, and equal where items are tied
    # first, size: (c,) for each item, the position in this list where its tie begins, and how many items the
    # tie holds, including items that are not listed.
    first: IntArray
    size: IntArray


def neighbors_of(rr: Any) -> list[ShownNeighbors]:
    """The nearest items by retrieval results; without a split, as of other classes, equal distances are ties."""
    split: Split | None = getattr(rr, "split", None)
    if split is not None:
        return list(split.nearest(rr.n_items))
    found = []
    for distances, ids in zip(rr.distances, rr.retrieved_ids, strict=True):
        values, items = as_array(distances, "distances"), as_array(ids, "retrieved_ids")
        _, first, inverse, size = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
        found.append(ShownNeighbors(items, values, first[inverse], size[inverse]))
    return found


@dataclass(frozen=True)
class Split:
    """Queries and a gallery, compared by Euclidean distance."""

    queries: Embeddings  # (q, d)
    gallery: Embeddings | None  # (g, d); None if the queries are the gallery
    labels: Any  # (q,); None if they are unknown
    gallery_labels: Any  # (g,)
    excluded: IntArray  # (p, 2) distinct (query, item) pairs that are not ranked, such as of an item with itself

    @property
    def items(self) -> Embeddings:
        """The embeddings of the gallery, which may be the queries."""
        return self.queries if self.gallery is None else self.gallery

    @cached_property
    def pairs(self) -> dict[str, Any]:
        """The arguments of `evaluate` and `fnmr_at_fmr` that define the compared pairs."""
        others = self.excluded if self.gallery is not None else self.excluded[np.diff(self.excluded)[:, 0] != 0]
        sides = {"gallery": self.gallery, "gallery_labels": self.gallery_labels}
        return sides | {"distance": "euclidean", "exclude": others if len(others) else None}

    @cached_property
    def relevant(self) -> RelevantBlock | None:
        """The relevant items of all queries; None if they are unknown."""
        if self.labels is None:
            return None
        counts = len(self.queries), None if self.gallery is None else len(self.gallery)
        of_labels = self.labels, self.gallery_labels, None, (None, None)
        return relevance_among(*counts, *of_labels, self.pairs["exclude"]).block(np.arange(len(self.queries)))

    @cached_property
    def ranked(self) -> IntArray:
        """The number of items that each query ranks, (q,)."""
        return len(self.items) - np.bincount(self.excluded[:, 0], minlength=len(self.queries))

    def rankings(self, n_items: int, progress: bool) -> Rankings:
        """The rankings of all queries, each cut off after `n_items` items."""
        if self.relevant is None:
            raise InputError(
                "The data set has no labels, so the relevant items are unknown. Pass a data set with get_labels()."
            )

        def evaluated(measures: list[str]) -> Result:
            return evaluate(
                self.queries, self.labels, **self.pairs, measures=measures, empty="zero", progress=progress
            )

        return Rankings(np.minimum(self.ranked, n_items), np.diff(self.relevant.pointer), evaluated)

    def nearest(self, count: int) -> Iterator[ShownNeighbors]:
        """The `count` nearest items of each query, or all items that it ranks if there are fewer, in exact order."""
        k, excluded = min(count, len(self.items)), self.pairs["exclude"]
        found = nearest(self.queries, self.gallery, k, distance="euclidean", exclude=excluded)
        with np.errstate(over="ignore", under="ignore"):
            distances = found.distances.astype(np.float32)
        for query, nearer in enumerate(found.nearer):
            first = nearer[nearer >= 0]
            size = np.bincount(first)[first]
            size[first == found.tie_starts[query]] = len(found.tie(query))
            yield ShownNeighbors(found.ids[query, : len(first)], distances[query, : len(first)], first, size)

    def fnmr_at_fmr(self, fmr: tuple[float, ...], progress: bool) -> ErrorRates:
        """The false non-match rates over all pairs."""
        return fnmr_at_fmr(self.queries, self.labels, **self.pairs, fmr=fmr, progress=progress)


def split_of_dataset(embeddings: Any, dataset: Any) -> Split:
    """The split of one data set into queries and gallery."""
    vectors = _as_vectors(embeddings, dataset, "embeddings")
    given = {"ids of queries": dataset.get_query_ids(), "ids of the gallery": dataset.get_gallery_ids()}
    ids, gallery_ids = (places_of(each, name, len(vectors)) for name, each in given.items())
    labels, sequences = _labels_of(dataset), extra_of(dataset, SEQUENCE, "sequences")
    excluded = [_same(ids, gallery_ids)]
    if sequences is not None:
        excluded.append(_same(sequences[ids], sequences[gallery_ids]))
    whole = np.array_equal(ids, gallery_ids)
    return Split(
        queries=vectors[ids],
        gallery=None if whole else vectors[gallery_ids],
        labels=None if labels is None else labels[ids],
        gallery_labels=None if labels is None or whole else labels[gallery_ids],
        excluded=np.unique(np.concatenate(excluded), axis=0),
    )


def split_of_two(embeddings: Any, gallery_embeddings: Any, dataset: Any, gallery_dataset: Any) -> Split:
    """The split of two data sets, the queries and the gallery; only items of the query's sequence are excluded."""
    queries = _as_vectors(embeddings, dataset, "queries")
    gallery = _as_vectors(gallery_embeddings, gallery_dataset, "gallery embeddings")
    both = dataset, gallery_dataset
    labels, gallery_labels = map(_labels_of, both)
    sequences, gallery_sequences = (extra_of(each, SEQUENCE, "sequences") for each in both)
    for one, other, what in ((labels, gallery_labels, "labels"), (sequences, gallery_sequences, "sequences")):
        if (one is None) != (other is None):
            raise InputError(f"Only one of the two data sets has {what}. Pass two data sets with {what}, or neither.")
    excluded = np.zeros((0, 2), dtype=np.int64) if sequences is None else _same(sequences, gallery_sequences)
    return Split(queries, gallery, labels, gallery_labels, np.unique(excluded, axis=0))


def places_of(ids: Any, name: str, count: int) -> IntArray:
    """Check ids, which are positions among `count` items, and return them as int64."""
    places = as_array(ids, name)
    if places.ndim != 1 or (places.size and places.dtype.kind not in "iu"):
        raise InputError(
            f"The {name} must be a one-dimensional array of whole numbers, not of shape {places.shape} and dtype "
            f"{places.dtype.name}."
        )
    if places.size and (places.min() < 0 or places.max() >= count):
        raise InputError(
            f"The {name} range from {places.min()} to {places.max()}, but the data set has {count} items. They must "
            f"be positions in the data set, from 0 to {count - 1}."
        )
    return places.astype(np.int64)


def _as_vectors(embeddings: Any, dataset: Any, name: str) -> Embeddings:
    vectors = as_embeddings(embeddings, name)
    check_count(len(vectors), name, len(dataset), "items in the data set")
    return vectors


def _labels_of(dataset: Any) -> Any:
    """The labels of a data set, (n,), or None."""
    if not hasattr(dataset, "get_labels"):
        return None
    return as_labels(dataset.get_labels(), len(dataset), "labels", "items", columns=False)


def extra_of(dataset: Any, key: str, name: str) -> Any:
    """The values in the `extra_data` of a data set for each item, integers or strings (n,), or None."""
    values = getattr(dataset, "extra_data", {}).get(key)
    return None if values is None else as_labels(list(values), len(dataset), name, "items", columns=False)


def _same(values: Any, others: Any) -> IntArray:
    """The pairs (i, j) with values[i] == others[j], (p, 2)."""
    position, item, _ = Labels.of(values, others).pairs(np.arange(len(values)))
    return np.column_stack([position, item])
