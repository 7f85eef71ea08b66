"""Systems of known quality: real embeddings with noise, as they are and as sign codes, which tie; and their samples.

A system is evaluated once, on all queries. These are the population: the mean over them is what a sample of queries
estimates. Samples are drawn with replacement, so that they are independent.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import tieproof as tp
from tieproof.ties import Estimate, FloatArray, IntArray

Array = npt.NDArray[Any]

MEASURE = "AP"


class Data(NamedTuple):
    """Items, those that are queries first and then distractors, each of which has a label of its own.

    embeddings : (n, d)
    labels : (n,)
    """

    embeddings: Array
    labels: IntArray


def with_distractors(embeddings: Array, labels: Array, count: int) -> Data:
    """`count` items: those of every other class, shuffled, and as distractors those of the others, shuffled.

    >>> found = with_distractors(np.zeros((4, 1)), np.array(["a", "b", "a", "b"]), 4)
    >>> found.labels.tolist()
    [0, 0, -1, -2]
    """
    random = np.random.default_rng(0)
    _, place = np.unique(labels, return_inverse=True)
    known = random.permutation(np.flatnonzero(place % 2 == 0))[: count // 2]
    others = random.permutation(np.flatnonzero(place % 2))[: count - len(known)]
    return Data(
        embeddings[np.concatenate([known, others])].astype(np.float64),
        np.concatenate([place[known], -1 - np.arange(len(others))]),
    )


def noisy(data: Data, noise: float, seed: int) -> Array:
    """The embeddings with normal noise of this length, relative to the mean length of an embedding."""
    random = np.random.default_rng(seed)
    length = float(np.sqrt((data.embeddings**2).mean()))
    return data.embeddings + noise * length * random.normal(size=data.embeddings.shape)


def codes(embeddings: Array, bits: int) -> Array:
    """The signs of so many random projections of the embeddings about their mean, (n, bits)."""
    centered = embeddings - embeddings.mean(axis=0)
    planes = np.random.default_rng(7).normal(size=(embeddings.shape[1], bits))
    return np.asarray((centered @ planes) > 0)


def values(embeddings: Array, data: Data) -> Estimate[FloatArray]:
    """The score of each query, by the cosine distance of embeddings or the Hamming distance of codes."""
    distance = "hamming" if embeddings.dtype == np.bool_ else "cosine"
    return tp.evaluate(embeddings, data.labels, distance=distance, measures=[MEASURE]).per_query(MEASURE)


def samples(population: int, size: int, count: int, seed: int) -> IntArray:
    """`count` samples of so many queries each, (size, count)."""
    return np.random.default_rng(seed).integers(0, population, size=(size, count))


class Differences(NamedTuple):
    """The difference of two systems on each query; lower and upper over the orderings of ties."""

    lower: FloatArray
    expected: FloatArray
    upper: FloatArray

    @classmethod
    def of(cls, a: Estimate[FloatArray], b: Estimate[FloatArray]) -> "Differences":
        """The differences of two systems."""
        return cls(a.lower - b.upper, a.expected - b.expected, a.upper - b.lower)

    def at(self, places: IntArray) -> "Differences":
        """The differences of the queries at these positions."""
        return Differences(self.lower[places], self.expected[places], self.upper[places])

    def exchanged(self, seed: int) -> "Differences":
        """The differences with the two systems exchanged for each query with probability 1/2.

        Then neither is better, whatever they score: every difference is as likely as the same with the other sign.
        """
        kept = np.random.default_rng(seed).random(self.expected.shape) < 0.5
        return Differences(
            np.where(kept, self.lower, -self.upper),
            np.where(kept, self.expected, -self.expected),
            np.where(kept, self.upper, -self.lower),
        )
