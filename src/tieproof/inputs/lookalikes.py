"""Warnings for input that can be evaluated but is probably not what was meant.

Each check looks at a few rows first and stops at the first difference. Examples of a few rows are never warned about.
"""

import numpy as np

from tieproof.errors import warn
from tieproof.inputs.arrays import Embeddings
from tieproof.inputs.digests import Words
from tieproof.inputs.relevance import Labels, Relevance
from tieproof.inputs.shards.ranked import RankedRows
from tieproof.ties import FloatArray, IntArray

FEWEST = 4
"""The fewest rows for a warning: smaller inputs are often examples."""

SOME = 16
"""The number of rows that are checked first, or instead of all rows if there are many."""

FEWEST_BYTES = 128
"""The fewest bytes that are recognised as packed codes."""

MANY = 1024
"""The most rows in which packed codes are recognised."""

ITSELF = 0.9
"""The smallest share of queries with an item of their own number first that is warned about; pictures and the texts
that belong to them may have the same numbers."""

MOST_BYTES = 256
"""The most bytes of a row that may be a packed code; 2,048 bits are more than codes usually have."""

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


def may_share_rows(queries: Embeddings, gallery: Embeddings) -> bool:
    """Whether the first numbers of at least half of some queries occur in the gallery, which is fast to check."""
    some, firsts = queries[:: max(1, len(queries) // SOME), 0], gallery[:, 0].copy()
    return 2 * sum(bool((firsts == number).any()) for number in some) >= len(some)


def self_matches(queries: Words, items: Words, relevance: Relevance) -> list[tuple[int, int]]:
    """Return the pairs of a query and a relevant item with the same row, if each row occurs only once on its side.

    Rows that occur more often do not count, because short codes and collapsed models have many of them. Pairs of
    relevant items only are returned: none if items are excluded or not relevant for any of some queries.

    queries, items : the digests of the rows of each side
    """
    if np.array_equal(queries, items):
        return []  # `warn_of_queries_in_gallery` is about this
    own, query, times = np.unique(queries[:, 0], return_index=True, return_counts=True)
    copies, item = np.zeros_like(query), np.zeros_like(query)
    for start in range(0, len(items), BLOCK):
        block = items[start : start + BLOCK, 0]
        place = np.minimum(np.searchsorted(own, block), len(own) - 1)
        equal = np.flatnonzero(own[place] == block)
        np.add.at(copies, place[equal], 1)
        item[place[equal]] = start + equal
    once = (times == 1) & (copies == 1)
    if isinstance(relevance, Labels):
        once &= relevance.query_class[query] == relevance.item_class[item]
    pairs = sorted(zip(query[once].tolist(), item[once].tolist(), strict=True))
    some = [pairs[place] for place in some_of(len(pairs))] if pairs else []
    return pairs if all(found in relevance.block(np.array([query])).items for query, found in some) else []


def warn_of_self_matches(pairs: list[tuple[int, int]], count: int) -> None:
    """Warn that so many of all queries find themselves in the gallery."""
    warn(
        f"{len(pairs)} of {count} queries are in the gallery, too: a relevant item has the same row, bit for bit, so "
        "that the query finds itself, however bad the embeddings are. Leave these items out of the gallery, or pass "
        f"the pairs as exclude=; the first is {pairs[0]}."
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


def warn_of_packed_codes(rows: Embeddings | RankedRows, name: str) -> None:
    """Warn if bytes are probably packed bits: each is set about as often as not, and the highest two often differ.

    In numbers that are concentrated around a value, such as quantized embeddings and pixels, the highest bit mostly
    determines the next one.
    """
    if rows.dtype.name not in ("uint8", "int8") or len(rows) < FEWEST or rows.shape[1] > MOST_BYTES:
        return
    bits = np.unpackbits(rows[:MANY].reshape(-1, 1).view(np.uint8), axis=1)
    shares = bits.mean(axis=0)
    balanced = ((shares > 1 / 4) & (shares < 3 / 4)).all()
    if len(bits) >= FEWEST_BYTES and balanced and 3 / 8 < (bits[:, 0] == bits[:, 1]).mean() < 5 / 8:
        warn(
            f"The {name} are {rows.dtype.name} of which every bit is set about half of the time, so that they are "
            f"probably packed codes. If so, pass distance='hamming' and bits={8 * rows.shape[1]}; here each number "
            "is one dimension."
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
    return np.array(sorted(set(np.linspace(0, count - 1, SOME).astype(np.int64).tolist())))


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
