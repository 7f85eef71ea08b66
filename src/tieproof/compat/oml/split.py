"""`Split`: the queries and the gallery of a data set, and the (query, item) pairs that are not ranked."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tieproof.compat.oml.rankings import Rankings
from tieproof.errors import InputError
from tieproof.evaluation.embeddings import evaluate
from tieproof.evaluation.problems import make_relevance
from tieproof.evaluation.result import Result
from tieproof.inputs.arrays import Embeddings, as_array, as_embeddings, check_count
from tieproof.inputs.labels import as_labels
from tieproof.inputs.relevance import Labels, RelevantBlock
from tieproof.rates.fnmr import fnmr_at_fmr
from tieproof.rates.result import ErrorRates
from tieproof.ties import IntArray

SEQUENCE = "sequence"
"""The key of a data set's `extra_data` that names the sequence of each item."""


@dataclass(frozen=True)
class Split:
    """Queries and a gallery, compared by Euclidean distance.

    queries, gallery : (q, d) and (g, d); if `gallery` is None, the queries are the gallery
    labels, gallery_labels : (q,) and (g,); None if they are unknown
    excluded : (p, 2) distinct (query, item) pairs that are not ranked, including each query that is in the gallery
    """

    queries: Embeddings
    gallery: Embeddings | None
    labels: Any
    gallery_labels: Any
    excluded: IntArray

    @property
    def items(self) -> Embeddings:
        """The embeddings of the gallery, which may be the queries."""
        return self.queries if self.gallery is None else self.gallery

    @cached_property
    def pairs(self) -> dict[str, Any]:
        """The arguments of `evaluate` and `fnmr_at_fmr` that define the compared pairs."""
        others = self.excluded if self.gallery is not None else self.excluded[np.diff(self.excluded)[:, 0] != 0]
        return {
            "gallery": self.gallery,
            "gallery_labels": self.gallery_labels,
            "distance": "euclidean",
            "exclude": others if len(others) else None,
        }

    @cached_property
    def relevant(self) -> RelevantBlock | None:
        """The relevant items of all queries; None if they are unknown."""
        if self.labels is None:
            return None
        relevance = make_relevance(
            self.queries, self.gallery, self.labels, self.gallery_labels, None, (None, None), self.pairs["exclude"]
        )
        return relevance.block(np.arange(len(self.queries)))

    @cached_property
    def excluded_items(self) -> list[IntArray]:
        """For each query, the items that are not ranked."""
        order = np.argsort(self.excluded[:, 0], kind="stable")
        ends = np.cumsum(np.bincount(self.excluded[:, 0], minlength=len(self.queries)))
        return np.split(self.excluded[order, 1], ends[:-1])

    @cached_property
    def ranked(self) -> IntArray:
        """The number of items that each query ranks, (q,)."""
        return len(self.items) - np.array([len(items) for items in self.excluded_items])

    @property
    def ground_truth(self) -> list[IntArray] | None:
        """The relevant items of each query; None if they are unknown."""
        return None if self.relevant is None else np.split(self.relevant.items, self.relevant.pointer[1:-1])

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

    def fnmr_at_fmr(self, fmr: tuple[float, ...], progress: bool) -> ErrorRates:
        """The false non-match rates over all pairs."""
        return fnmr_at_fmr(self.queries, self.labels, **self.pairs, fmr=fmr, progress=progress)


def split_of_dataset(embeddings: Any, dataset: Any) -> Split:
    """The split of one data set into queries and gallery."""
    vectors = as_vectors(embeddings, dataset, "embeddings")
    ids, gallery_ids = (places_of(of(), len(vectors)) for of in (dataset.get_query_ids, dataset.get_gallery_ids))
    labels, sequences = labels_of(dataset), sequences_of(dataset)
    excluded = [same(ids, gallery_ids)]
    if sequences is not None:
        excluded.append(same(sequences[ids], sequences[gallery_ids]))
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
    queries = as_vectors(embeddings, dataset, "queries")
    gallery = as_vectors(gallery_embeddings, gallery_dataset, "gallery embeddings")
    labels, gallery_labels = labels_of(dataset), labels_of(gallery_dataset)
    sequences, gallery_sequences = sequences_of(dataset), sequences_of(gallery_dataset)
    for one, other, what in ((labels, gallery_labels, "labels"), (sequences, gallery_sequences, "sequences")):
        if (one is None) != (other is None):
            raise InputError(f"Only one of the two data sets has {what}. Pass two data sets with {what}, or neither.")
    excluded = np.zeros((0, 2), dtype=np.int64) if sequences is None else same(sequences, gallery_sequences)
    return Split(queries, gallery, labels, gallery_labels, np.unique(excluded, axis=0))


def places_of(ids: Any, count: int) -> IntArray:
    """Check ids, which are positions among `count` items, and return them as int64."""
    places = as_array(ids, "ids")
    if places.ndim != 1 or (places.size and places.dtype.kind not in "iu"):
        raise InputError(
            f"The ids of queries and gallery must be a one-dimensional array of whole numbers, not of shape "
            f"{places.shape} and dtype {places.dtype.name}."
        )
    if places.size and (places.min() < 0 or places.max() >= count):
        raise InputError(
            f"The ids of queries and gallery range from {places.min()} to {places.max()}, but the data set has "
            f"{count} items. Ids must be positions in the data set, from 0 to {count - 1}."
        )
    return places.astype(np.int64)


def as_vectors(embeddings: Any, dataset: Any, name: str) -> Embeddings:
    """One embedding for each item of the data set."""
    vectors = as_embeddings(embeddings, name)
    check_count(len(vectors), name, len(dataset), "items in the data set")
    return vectors


def labels_of(dataset: Any) -> Any:
    """The labels of a data set, (n,), or None."""
    if not hasattr(dataset, "get_labels"):
        return None
    return as_labels(dataset.get_labels(), len(dataset), "labels", "items", columns=False)


def sequences_of(dataset: Any) -> Any:
    """The sequences of a data set, (n,), or None."""
    return extra_of(dataset, SEQUENCE, "sequences")


def extra_of(dataset: Any, key: str, name: str) -> Any:
    """The values in the `extra_data` of a data set for each item, integers or strings (n,), or None."""
    values = getattr(dataset, "extra_data", {}).get(key)
    return None if values is None else as_labels(list(values), len(dataset), name, "items", columns=False)


def same(values: Any, others: Any) -> IntArray:
    """The pairs (i, j) with values[i] == others[j], (p, 2).

    >>> same(np.array([7, 8]), np.array([8, 9, 8])).tolist()
    [[1, 0], [1, 2]]
    """
    position, item, _ = Labels.of(values, others).pairs(np.arange(len(values)))
    return np.column_stack([position, item])
