"""Queries by descending confidence: which of them are tied, and the ranks of each tie."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.ties import IntArray


class ConfidenceTies(NamedTuple):
    """The number of ties among confidences, the number of tied queries, and the size of the largest tie."""

    ties: int
    tied_queries: int
    largest_tie: int


class Groups(NamedTuple):
    """Queries of equal confidence, the most confident first.

    of_query : (n,) the group of each query
    start : (G,) how many queries are more confident than the queries of each group
    length : (G,) how many queries each group has
    """

    of_query: IntArray
    start: IntArray
    length: IntArray

    @classmethod
    def of(cls, confidence: npt.NDArray[np.generic]) -> "Groups":
        """The groups of confidences (n,).

        >>> groups = Groups.of(np.array([0.5, 0.9, 0.5]))
        >>> groups.of_query.tolist(), groups.start.tolist(), groups.length.tolist()
        ([1, 0, 1], [0, 1], [1, 2])
        """
        distinct, place = np.unique(confidence, return_inverse=True)
        of_query = (len(distinct) - 1 - place).astype(np.int64)
        length = np.bincount(of_query)
        return cls(of_query, np.cumsum(length) - length, length)

    @property
    def ties(self) -> ConfidenceTies:
        """Counts of the groups with more than one query."""
        tied = self.length[self.length > 1]
        return ConfidenceTies(len(tied), int(tied.sum()), int(tied.max(initial=0)))
