"""Two evaluators to try `tieproof audit` on: one that holds, and one that can be exploited."""

from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.ties import Array, IntArray


def lower_bound(embeddings: Array, labels: IntArray) -> float:
    """The lower bound of mean average precision by cosine, leave-one-out, from `tieproof.evaluate`."""
    from tieproof.evaluation.embeddings import evaluate

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
