"""`Ties`: all that a measure reads of a ranking."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Ties:
    """The ties that hold a relevant item, of Q queries, T ties in all, the nearest first within each query.

    A tie is a set of gallery items at exactly the same distance from the query; a single item is a tie of
    size one. The letters are those of Nicolaou et al. 2018, section 4.2.

    query : (T,) position of the tie's query, 0 … Q-1, in ascending order
    k : (T,) items strictly nearer than the tie
    n : (T,) relevant items strictly nearer than the tie
    l : (T,) items in the tie
    m : (T,) relevant items in the tie, at least 1
    n_relevant : (Q,) relevant items of the query (R)
    n_items : (Q,) items ranked for the query (N): the gallery without the excluded ones
    grades : (sum of m,) grades of the relevant items, tie after tie, falling within a tie; None: all are 1
    """

    query: IntArray
    k: IntArray
    n: IntArray
    l: IntArray
    m: IntArray
    n_relevant: IntArray
    n_items: IntArray
    grades: FloatArray | None = field(default=None)

    @property
    def n_queries(self) -> int:
        """Q, the number of queries."""
        return len(self.n_relevant)
