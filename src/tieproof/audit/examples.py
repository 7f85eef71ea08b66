"""Evaluators to try `tieproof audit` on: one that holds, and one that does not."""

from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.ties import Array, IntArray


def lower_bound(embeddings: Array, labels: IntArray) -> float:
    """Average precision by cosine, leave-one-out, as `tieproof.evaluate` computes its lower bound."""
    from tieproof.calls.embeddings import evaluate

    return evaluate(embeddings, labels, measures=["AP"])["AP"].lower


def argsort(embeddings: Array, labels: IntArray) -> float:
    """Average precision as most scripts compute it: the order of the data breaks ties."""
    vectors = np.asarray(embeddings, dtype=np.float64)
    if not np.isfinite(vectors).all() or not vectors.size:
        raise InputError("The embeddings must be finite numbers, and some.")
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
