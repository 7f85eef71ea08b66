"""Evaluators to try `tieproof audit` on, of average precision and of recall: one each holds, one can be exploited."""

from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.kit import Array, IntArray


def lower_bound(embeddings: Array, labels: IntArray) -> float:
    """The lower bound of mean average precision by cosine, leave-one-out, from `tieproof.evaluate`."""
    from tieproof import evaluate

    return evaluate(embeddings, labels, measures=["AP"])["AP"].lower


def argsort(embeddings: Array, labels: IntArray) -> float:
    """Mean average precision as most scripts compute it: the order of the data breaks ties."""
    vectors = np.asarray(embeddings, dtype=np.float64)
    if not np.isfinite(vectors).all() or not vectors.size:
        raise InputError("The embeddings must contain only finite numbers, at least one for each item.")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    similarity = vectors @ vectors.T
    values: list[Any] = []
    for query, row in enumerate(similarity):
        ranking = np.argsort(-row, kind="stable")
        relevant = labels[ranking[ranking != query]] == labels[query]
        precision = np.cumsum(relevant) / np.arange(1, len(relevant) + 1)
        values.append(precision[relevant].mean())
    return float(np.mean(values))


def neighbor_recall(found: IntArray, distances: Array, truth: tuple[IntArray, Array]) -> float:
    """The lower bound of the recall of an index over all choices of tied neighbors, by `tp.neighbor_recall`."""
    from tieproof import neighbor_recall

    k = found.shape[1]
    return neighbor_recall(found, truth, distances=distances, k=k)[k].lower


def within_the_distance(found: IntArray, distances: Array, truth: tuple[IntArray, Array]) -> float:
    """Recall as several benchmarks compute it: found items count that are hardly farther than the last neighbor."""
    _, true_distances = truth
    k = found.shape[1]
    return float((distances <= true_distances[:, k - 1 : k] + 1e-3).mean())
