"""The input of an evaluator of recall: what an index found for each query, and the true neighbors as lists.

Vectors are not needed: an evaluator of recall sees only lists. A `WholeRanking` makes them up, so that it is known
exactly which items are tied and how many neighbors a list contains. All distances are small multiples of powers of
two, so that float32 represents them.
"""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tieproof import neighbor_recall
from tieproof.kit import Array, FloatArray, IntArray
from tieproof.trials.audit.cases import AS_IT_COMES, Packable, Writing
from tieproof.trials.findings import Verdict

K = 10  # how many neighbors of each query are sought

MOST_LISTED = 100
"""The most true neighbors of each query that an evaluator is handed, as in the files of public benchmarks."""

NOTHING = -1  # the id where an index found nothing
LARGEST_GAP = 4  # the largest distance between two items that follow each other in a ranking
FIRST = np.arange(K)  # the places of the nearest items


@dataclass(frozen=True)
class RecallLists(Packable):
    """The arguments of an evaluator of recall."""

    writing: ClassVar[Writing] = AS_IT_COMES  # as every case has it

    found: IntArray  # found, distances: (q, K) the items that an index found and their distances, as it returned them
    distances: Array
    true_ids: IntArray  # true_ids, true_distances: (q, m) the nearest items, nearest first; m is larger than K
    true_distances: Array

    def arguments(self) -> tuple[Array, Array, tuple[Array, Array]]:
        """Found items, distances and the truth, as copies, so that no evaluator can change the input of others."""
        return self.found.copy(), self.distances.copy(), (self.true_ids.copy(), self.true_distances.copy())

    def take(self, queries: IntArray) -> "RecallLists":
        """The lists of some queries, in this order."""
        return RecallLists(*(getattr(self, field.name)[queries] for field in fields(self)))


class WholeRanking(NamedTuple):
    """All items of a gallery for each query, from the nearest to the farthest."""

    ids: IntArray  # (q, n)
    distances: Array  # (q, n) float32, which never decrease along a row

    @classmethod
    def drawn(
        cls, random: np.random.Generator, queries: int, items: int, tie: tuple[int, int] = (0, 1)
    ) -> "WholeRanking":
        """A random ranking in which only the items at the places from tie[0] up to tie[1] are tied.

        >>> WholeRanking.drawn(np.random.default_rng(0), 1, 6, (2, 4)).distances
        array([[ 4.,  7., 10., 10., 12., 13.]], dtype=float32)
        """
        gaps = random.integers(1, LARGEST_GAP, size=(queries, items), endpoint=True)
        gaps[:, tie[0] + 1 : tie[1]] = 0
        ids = np.argsort(random.random((queries, items)), axis=1)
        return cls(ids, np.cumsum(gaps, axis=1).astype(np.float32))

    @property
    def listed(self) -> int:
        """How many neighbors the truth lists for each query."""
        return min(MOST_LISTED, len(self.ids[0]) // 2)

    def at(self, places: Any) -> RecallLists:
        """The lists of an index that found the items at some places, (K,) or (q, K), and reports their distances."""
        there = np.broadcast_to(places, (len(self.ids), K))
        found, distances = (np.take_along_axis(each, there, axis=1) for each in self)
        return RecallLists(found, distances, *(each[:, : self.listed].copy() for each in self))

    def recall(self, found: IntArray) -> tuple[float, float]:
        """The smallest and the largest mean recall of found items over all choices of tied neighbors.

        Ids of no item count as nothing.
        """
        items = len(self.ids[0])
        known = np.where((found >= 0) & (found < items), found, NOTHING)
        estimate = neighbor_recall(known, tuple(self), k=K, n_items=items)[K]
        return estimate.lower, estimate.upper

    def moved(self, by: float) -> "WholeRanking":
        """The ranking with a whole number added to all distances, such as those of inner products."""
        return self._replace(distances=self.distances + np.float32(by))

    def named(self, ids: IntArray) -> "WholeRanking":
        """The ranking with other ids of the items, by their present ids."""
        return self._replace(ids=ids[self.ids])

    def scaled(self, factor: float) -> "WholeRanking":
        """The ranking with all distances multiplied by a power of two."""
        return self._replace(distances=self.distances * np.float32(factor))


def almost_as_near(
    random: np.random.Generator, queries: int, items: int, distance: float, gap: float
) -> WholeRanking:
    """A ranking with K items up to a distance, K items farther by a share of it, and the others much farther.

    >>> almost_as_near(np.random.default_rng(0), 1, 40, 1.0, 2.0**-23).distances[0, K - 1 : K + 1] - 1
    array([0.0000000e+00, 1.1920929e-07], dtype=float32)
    """
    shares: FloatArray = np.repeat([0.0, 1.0 + gap, 4.0], [K, K, items - 2 * K])
    shares[:K] = np.arange(K + 6, 2 * K + 6) / (2 * K + 5)
    ids = np.argsort(random.random((queries, items)), axis=1)
    return WholeRanking(ids, np.tile((shares * distance).astype(np.float32), (queries, 1)))


class Deck(NamedTuple):
    """What the lists of an attack are made from: random numbers, for as many queries and items as usual."""

    random: np.random.Generator
    queries: int
    items: int

    def ranking(self, tie: tuple[int, int] = (0, 1)) -> WholeRanking:
        """A random ranking, with a tie from one place up to another."""
        return WholeRanking.drawn(self.random, self.queries, self.items, tie)

    def far(self) -> IntArray:
        """The places of the farthest items, which no truth lists."""
        return np.arange(self.items - K, self.items)

    def some(self) -> IntArray:
        """For each query, the places of K of the 2 K nearest items, at random."""
        order = np.argsort(self.random.random((self.queries, 2 * K)), axis=1)
        return np.sort(order[:, :K], axis=1)


class RecallTrial(NamedTuple):
    """Lists that are handed in, and the interval in which their recall lies."""

    what: str  # the lists, in words
    lists: RecallLists
    least: float
    most: float
    above: Verdict = Verdict.EXPLOITABLE  # the verdict on a number above the interval

    @classmethod
    def of(cls, what: str, ranking: WholeRanking, lists: RecallLists) -> "RecallTrial":
        """A trial of lists whose recall follows from the whole ranking."""
        return cls(what, lists, *ranking.recall(lists.found))
