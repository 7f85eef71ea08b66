"""What can be evaluated and is probably not what was meant: said in a warning, with what to do instead.

Each rule looks at a few rows first and stops at the first difference, and leaves examples of a few rows alone.
"""

import numpy as np

from tieproof.errors import warn
from tieproof.inputs.arrays import Embeddings
from tieproof.inputs.relevance import Relevance
from tieproof.inputs.shards.ranked import RankedRows
from tieproof.ties import FloatArray, IntArray

FEWEST = 4
"""Rows that there must be: with fewer, an example may well be meant as it is."""

SOME = 16
"""Rows that are looked at first, or in place of all where all are too many."""

BLOCK = 2**20
"""Entries that are compared at a time."""

NEAR = 2.0**-6
"""Similarities that should be equal may differ by this share of their range, for they were rounded to few digits."""


def warn_of_queries_in_gallery(
    queries: Embeddings | RankedRows, gallery: Embeddings | RankedRows, relevance: Relevance
) -> None:
    """The gallery is the queries, and each finds itself: leave-one-out is meant."""
    if queries.shape != gallery.shape or len(queries) < FEWEST:
        return
    if equal_rows(queries, gallery) and not one_row(queries) and finds_itself(relevance):
        warn(
            f"The gallery is the queries: all {len(queries)} rows are equal, one to one, and each query "
            "finds itself, whatever the embeddings are worth. To rank each item among all others, pass no gallery."
        )


def warn_of_similarities(matrix: Embeddings, name: str) -> None:
    """A matrix (n, n) of similarities or distances was handed in as embeddings."""
    if len(matrix) < FEWEST or matrix.dtype == np.bool_:
        return
    if is_similarity(matrix):
        warn(
            f"The {name} are a square, symmetric matrix whose diagonal is constant, as similarities or distances "
            f"of {len(matrix)} items are. If they are, evaluate_scores or evaluate_distances ranks by them; here "
            "each row counts as a vector."
        )


def equal_rows(array: Embeddings | RankedRows, other: Embeddings | RankedRows) -> bool:
    """Whether two arrays of one shape hold the same numbers."""
    size = max(1, BLOCK // array.shape[1])
    starts = [0, *range(SOME, len(array), size)]
    return all(
        np.array_equal(array[start:stop], other[start:stop])
        for start, stop in zip(starts, [*starts[1:], len(array)], strict=True)
    )


def one_row(array: Embeddings | RankedRows) -> bool:
    """Whether all rows are equal."""
    return equal_rows(array, np.broadcast_to(array[:1], array.shape))


def finds_itself(relevance: Relevance) -> bool:
    """Whether item i is relevant to query i, for every one of some queries."""
    return all(query in relevance.block(np.array([query])).items for query in some_of(relevance.n_queries))


def some_of(count: int) -> IntArray:
    """Some indices below `count`, from the first to the last."""
    return np.unique(np.linspace(0, count - 1, SOME).astype(np.int64))


def is_similarity(matrix: Embeddings) -> bool:
    """Whether a square matrix has the form of similarities or distances, up to rounding.

    It is symmetric, the diagonal is constant, no other entry is above it, or none is below it, most are not equal to
    it, and they have several values. (One-hot vectors, constants, and the edges of a graph are no similarities.)
    """
    with np.errstate(all="ignore"):  # what is not finite is refused elsewhere
        first = matrix[:SOME].astype(np.float64)
        near = NEAR * (first.max() - first.min())
        if not is_symmetric(first, matrix[:, :SOME], near):
            return False
        diagonal = np.diagonal(matrix).astype(np.float64)
        rows = some_of(len(matrix))
        chosen = matrix[rows].astype(np.float64)
        if not diagonal.max() - diagonal.min() <= near or not is_symmetric(chosen, matrix[:, rows], near):
            return False
        others = chosen[np.arange(len(matrix)) != rows[:, None]]
        one_side = (others > diagonal.min() - near).all() or (others < diagonal.max() + near).all()
        apart = np.count_nonzero(np.abs(others - diagonal[0]) > near)
        several = len(np.unique(others)) > 2 and others.max() - others.min() > near
    return bool(one_side and several and 2 * apart > others.size)


def is_symmetric(rows: FloatArray, columns: Embeddings, near: float) -> bool:
    """Whether some rows are the columns of the same indices."""
    return bool((np.abs(rows - columns.T.astype(np.float64)) <= near).all())
