"""Warnings for input that can be evaluated but is probably not what was meant.

Each check looks at a few rows first and stops at the first difference. Examples of a few rows are never warned about.
"""

import numpy as np

from tieproof.errors import warn
from tieproof.inputs.arrays import Embeddings
from tieproof.inputs.relevance import Relevance
from tieproof.inputs.shards.ranked import RankedRows
from tieproof.ties import FloatArray, IntArray

FEWEST = 4
"""The fewest rows for a warning: smaller inputs are often examples."""

SOME = 16
"""The number of rows that are checked first, or instead of all rows if there are many."""

BLOCK = 2**20
"""The number of entries that are compared at a time."""

NEAR = 2.0**-6
"""Similarities that should be equal may differ by this share of their range, because they may have been rounded."""


def warn_of_queries_in_gallery(
    queries: Embeddings | RankedRows, gallery: Embeddings | RankedRows, relevance: Relevance
) -> None:
    """Warn if the gallery is equal to the queries and each query finds itself: probably leave-one-out is meant."""
    if queries.shape != gallery.shape or len(queries) < FEWEST:
        return
    if equal_rows(queries, gallery) and not one_row(queries) and finds_itself(relevance):
        warn(
            f"The gallery is equal to the queries in all {len(queries)} rows, so that each query finds itself, "
            "however bad the embeddings are. To rank each item among all others, pass no gallery."
        )


def warn_of_similarities(matrix: Embeddings, name: str) -> None:
    """Warn if a matrix (n, n) of similarities or distances was probably passed as embeddings."""
    if len(matrix) < FEWEST or matrix.dtype == np.bool_:
        return
    if is_similarity(matrix):
        warn(
            f"The {name} are a square, symmetric matrix with a constant diagonal, which is probably a matrix of "
            f"similarities or distances of {len(matrix)} items. If so, pass it to evaluate_scores or "
            "evaluate_distances; here each row is treated as a vector."
        )


def equal_rows(array: Embeddings | RankedRows, other: Embeddings | RankedRows) -> bool:
    """Whether two arrays of the same shape are equal."""
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
    """Whether item i is relevant to query i, for each of some queries i."""
    return all(query in relevance.block(np.array([query])).items for query in some_of(relevance.n_queries))


def some_of(count: int) -> IntArray:
    """Return some evenly spaced indices below `count`, from the first to the last."""
    return np.unique(np.linspace(0, count - 1, SOME).astype(np.int64))


def is_similarity(matrix: Embeddings) -> bool:
    """Whether a square matrix looks like similarities or distances, up to rounding.

    Such a matrix is symmetric and has a constant diagonal. All other entries are at most, or all are at least, as
    large as the diagonal; most differ from it, and they have several values. (This excludes one-hot vectors,
    constants, and the edges of a graph.)
    """
    with np.errstate(all="ignore"):  # numbers that are not finite are refused elsewhere
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
    """Whether some rows equal the columns of the same indices."""
    return bool((np.abs(rows - columns.T.astype(np.float64)) <= near).all())
