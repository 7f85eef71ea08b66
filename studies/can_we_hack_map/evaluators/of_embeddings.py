"""Evaluators of embeddings, leave-one-out or of queries against a gallery."""

from typing import Any

import numpy as np
import numpy.typing as npt

import tieproof as tp
from studies.can_we_hack_map.evaluators.placeholders import placeholders
from studies.nicolaou2018.straightforward import distance_matrix

Array = npt.NDArray[Any]


def tieproof_lower(embeddings: Array, labels: Array) -> float:
    """The headline score of tieproof."""
    return tp.evaluate(embeddings, labels, measures=["AP"])["AP"].lower


def tieproof_expected(embeddings: Array, labels: Array) -> float:
    """The mean over all orderings of ties."""
    return tp.evaluate(embeddings, labels, measures=["AP"])["AP"].expected


def tieproof_upper(embeddings: Array, labels: Array) -> float:
    """The most that ties leave open, which tieproof never gives as the score."""
    return tp.evaluate(embeddings, labels, measures=["AP"])["AP"].upper


def pytorch_metric_learning(embeddings: Array, labels: Array) -> float:
    """AccuracyCalculator with its default search, over all references, which include the queries."""
    import torch
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator

    name = "mean_average_precision"
    calculator = AccuracyCalculator(include=(name,), k=None, device=torch.device("cpu"))
    return float(calculator.get_accuracy(as_float32(embeddings), labels)[name])


def open_metric_learning(embeddings: Array, labels: Array) -> float:
    """RetrievalResults of a dataset in which every item is a query and in the gallery, and their metrics."""
    import torch

    with placeholders():
        from oml.interfaces.datasets import IQueryGalleryLabeledDataset
        from oml.metrics.embeddings import calc_retrieval_metrics_rr
        from oml.retrieval.retrieval_results import RetrievalResults

    class Labeled(IQueryGalleryLabeledDataset):  # type: ignore[misc]  # the interface that its documentation names
        extra_data: dict[str, Any] = {}  # noqa: RUF012

        def __len__(self) -> int:
            return len(labels)

        def __getitem__(self, item: int) -> Any:
            return {"idx": item, "labels": labels[item]}

        def get_labels(self) -> Any:
            return torch.from_numpy(labels)

        def get_query_ids(self) -> Any:
            return torch.arange(len(labels))

        get_gallery_ids = get_query_ids

    everything = len(labels)
    results = RetrievalResults.from_embeddings(
        torch.from_numpy(as_float32(embeddings)), Labeled(), n_items=everything
    )
    found = calc_retrieval_metrics_rr(results, map_top_k=(everything,), verbose=False)
    return float(found["map"][everything])


def faiss_loop(embeddings: Array, labels: Array) -> float:
    """The usual loop over an index of faiss: search for everything, take the first for the query itself."""
    import faiss

    vectors = np.ascontiguousarray(as_float32(embeddings))
    index = faiss.IndexFlatL2(vectors.shape[1])
    index.add(vectors)
    _, nearest = index.search(vectors, len(vectors))
    relevant = labels[nearest[:, 1:]] == labels[:, None]
    return mean_average_precision(relevant, (labels == labels[:, None]).sum(axis=1) - 1)


def deep_hashing_loop(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> float:
    """The loop of deep hashing: signs, Hamming distances from a product, argsort, precision at every hit."""
    bits = queries.shape[1]
    codes, others = np.sign(queries), np.sign(gallery)
    values = []
    for code, label in zip(codes, query_labels, strict=True):
        distances = 0.5 * (bits - code @ others.T)
        relevant = gallery_labels[np.argsort(distances)] == label
        places = np.flatnonzero(relevant) + 1
        values.append(np.mean(np.arange(1, len(places) + 1) / places))
    return float(np.mean(values))


def paper_method(embeddings: Array, labels: Array) -> float:
    """mAP- of the paper (section 4.1): D - E, sorted, without the nearest sample, which is taken for the query.

    D has Euclidean distances, as the published code by default. Cosine distances would divide zeros by their norm:
    they would all be NaN, which no epsilon moves.
    """
    with np.errstate(all="ignore"):
        distances = distance_matrix(embeddings, "euclidean")
        gaps = np.diff(np.sort(distances, axis=1), axis=1)
    smallest = gaps[gaps > 0].min(initial=1.0)
    relevant = labels == labels[:, None]
    pessimistic = distances - np.where(relevant, 0.0, smallest / 2)
    order = np.argsort(pessimistic, axis=1)[:, 1:]
    return mean_average_precision(np.take_along_axis(relevant, order, axis=1), relevant.sum(axis=1) - 1)


# What they share


def as_float32(embeddings: Array) -> Array:
    """What these libraries compute with; what does not fit becomes infinite, as in any cast."""
    with np.errstate(over="ignore"):
        return embeddings.astype(np.float32)


def mean_average_precision(relevant: Array, totals: Array) -> float:
    """Of what is relevant by rank, (q, n), over so many relevant items of each query."""
    precision = np.cumsum(relevant, axis=1) / np.arange(1, relevant.shape[1] + 1)
    return float(((precision * relevant).sum(axis=1) / totals).mean())
