"""Data that is probably not what it is taken for: packed codes, self-matches, scores in place of distances."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from tieproof.errors import InputError, warn
from tieproof.inputs.arrays import Embeddings
from tieproof.inputs.identities import Words
from tieproof.inputs.lists import LabeledRows
from tieproof.inputs.multi_vectors import MultiVectors, different
from tieproof.inputs.relevance import Exclusions, Labels, Unjudged
from tieproof.inputs.shards.source import RankedRows
from tieproof.inputs.sparse_rows import SparseRows
from tieproof.ties import Array, IntArray

FEWEST_ALIKE = 4  # rows for a warning: smaller inputs are often examples
FEWEST_ROWS = 10  # if the diagonal is relevant: with fewer rows it may be the farthest item by chance
FEWEST_STEPS = 8  # pairs of consecutive items that show an order which is no chance
FEWEST_BYTES = 128  # that are recognized as packed codes
MOST_BYTES = 256  # of a row that may be a packed code; 2,048 bits are more than codes usually have
MOST_CODES = 1024  # rows in which packed codes are recognized
CHECKED_ROWS = 16  # rows that are checked first, or instead of all rows if there are many
BLOCK = 2**20  # entries that are compared at a time

ITSELF = 0.9
"""The smallest share of queries with an item of their own number first that is warned about; pictures and the texts
that belong to them may have the same numbers."""

# Numbers that should be equal, or in order, may have been rounded. They may differ by these shares:
NEAR = 2.0**-6  # similarities: of their range
SYMMETRIC = 2.0**-8  # entries of a symmetric matrix: of the largest one
NEARLY = 2.0**-20  # distances along a sorted list: of the squared norms, because an index computes in float32

MEANT = {"distances": ("similarities", "evaluate_scores"), "scores": ("distances", "evaluate_distances")}
"""For each name: what was probably passed instead, and the function that takes it."""


def warn_of_queries_in_gallery(
    queries: Embeddings | RankedRows, gallery: Embeddings | RankedRows, relevance: Exclusions
) -> None:
    """Warn if the gallery is equal to the queries and each query finds itself: probably leave-one-out is meant."""
    if queries.shape != gallery.shape or len(queries) < FEWEST_ALIKE:
        return
    if isinstance(queries, MultiVectors | SparseRows):
        same = type(gallery) is type(queries) and queries.same_as(gallery)
    else:
        same = _equal_rows(queries, gallery)
        of_array = same and not getattr(queries, "usual", 0)
        same = same and not (of_array and _equal_rows(queries, np.broadcast_to(queries[:1], queries.shape)))
    if not same:
        return
    if all(_counts(relevance, query, query) for query in some_of(relevance.n_queries)):
        warn(
            f"The gallery is equal to the queries in all {len(queries)} rows, so that each query finds itself, "
            "however bad the embeddings are. To rank each item among all others, pass one side alone to tp.evaluate, "
            "tp.nearest or tp.knn_accuracy."
        )


def _equal_rows(array: Embeddings | RankedRows, other: Embeddings | RankedRows) -> bool:
    size = max(1, BLOCK // (getattr(array, "usual", 0) or array.shape[1]))
    starts = [0, *range(CHECKED_ROWS, len(array), size)]
    return all(
        not different(array[start:stop], other[start:stop]).any()
        for start, stop in zip(starts, [*starts[1:], len(array)], strict=True)
    )


def may_share_rows(queries: Embeddings, gallery: Embeddings) -> bool:
    """Whether the first numbers of at least half of some queries occur in the gallery, which is fast to check."""
    if isinstance(queries, SparseRows) and isinstance(gallery, SparseRows):
        queries, gallery = queries.first_values(), gallery.first_values()
    if isinstance(queries, MultiVectors) and isinstance(gallery, MultiVectors):
        queries, gallery = queries.vectors[queries.offsets[:-1]], gallery.vectors
    some, firsts = queries[:: max(1, len(queries) // CHECKED_ROWS), 0], gallery[:, 0].copy()
    return 2 * sum(bool((firsts == number).any()) for number in some) >= len(some)


def self_matches(queries: Words, items: Words, relevance: Exclusions) -> list[tuple[int, int]]:
    """Return the pairs of a query and an item that counts whose digests are equal, and once on each side.

    Rows that occur more often are left out, because short codes and collapsed models have many of them.
    """
    if np.array_equal(queries, items):
        return []  # `warn_of_queries_in_gallery` is about this
    own, query, times = np.unique(queries[:, 0], return_index=True, return_counts=True)
    known, item, copies = np.unique(items[:, 0], return_index=True, return_counts=True)
    _, ours, theirs = np.intersect1d(own[times == 1], known[copies == 1], assume_unique=True, return_indices=True)
    query, item = query[times == 1][ours], item[copies == 1][theirs]
    if isinstance(relevance, Labels):
        same = relevance.query_class[query] == relevance.item_class[item]
        query, item = query[same], item[same]
    pairs = sorted(zip(query.tolist(), item.tolist(), strict=True))
    some = [pairs[place] for place in some_of(len(pairs))] if pairs else []
    return pairs if all(_counts(relevance, query, item) for query, item in some) else []


def _counts(relevance: Exclusions, query: int, item: int) -> bool:
    """Whether an item is relevant to a query or, if nothing is judged, whether it is ranked."""
    block = relevance.block(np.array([query]))
    return item not in block.excluded if isinstance(relevance, Unjudged) else item in block.items


def warn_of_self_matches(pairs: list[tuple[int, int]], count: int) -> None:
    """Warn that so many of all queries find themselves in the gallery."""
    warn(
        f"{len(pairs)} of {count} queries are in the gallery, too: an item has the same row, bit for bit, so "
        "that the query finds itself, however bad the embeddings are. Leave these items out of the gallery, or pass "
        f"the pairs as exclude=; the first is {pairs[0]}."
    )


def warn_of_other_order(
    queries: Callable[[IntArray], Embeddings], gallery: Callable[[IntArray], Embeddings], ids: IntArray, distance: str
) -> None:
    """Warn if the lists of some queries are in the order of another distance, and most are not in that of this one.

    ids : (q, n) the listed items; -1 where there is none
    """
    whole = np.flatnonzero((ids[:, :CHECKED_ROWS] >= 0).all(axis=1))
    some = whole[:: max(1, len(whole) // CHECKED_ROWS)][:CHECKED_ROWS]
    listed = ids[some, :CHECKED_ROWS]
    if distance not in ("cosine", "euclidean", "dot") or len(some) * (listed.shape[1] - 1) < FEWEST_STEPS:
        return
    rows, others = queries(some), gallery(listed.ravel())
    if isinstance(rows, SparseRows):
        pairs = np.arange(listed.size)
        rows, others = rows.aligned(pairs // listed.shape[1], others, pairs)
    own = rows.astype(np.float64).reshape(len(some), -1, rows.shape[1])
    items = others.astype(np.float64).reshape(*listed.shape, -1)
    with np.errstate(all="ignore"):  # what overflows is in no order
        squares, product = ((own**2).sum(axis=-1), (items**2).sum(axis=-1)), (own * items).sum(axis=-1)
        extent = (squares[0] + squares[1]).max(axis=1, keepdims=True)
        orders = {
            "euclidean": ((own - items) ** 2).sum(axis=-1) / extent,
            "dot": -product / extent,
            "cosine": -product / np.maximum(np.sqrt(squares[0] * squares[1]), np.finfo(np.float64).tiny),
        }
        in_order = {name: (np.diff(values) >= -NEARLY).all(axis=1) for name, values in orders.items()}
    for name, sorted_by in in_order.items():
        if sorted_by.all() and 2 * in_order[distance].sum() < len(some):
            warn(
                f"The lists are in the order of {name} distance, not of {distance}: pass distance={name!r} (-d "
                f"{name}) if that is how they were found."
            )
            return


def warn_of_similarities(matrix: Embeddings, name: str) -> None:
    """Warn if a matrix (n, n) of similarities or distances was probably passed as embeddings."""
    if len(matrix) < FEWEST_ALIKE or matrix.dtype == np.bool_:
        return
    if _is_similarity(matrix):
        warn(
            f"The {name} are a square, symmetric matrix with a constant diagonal, which is probably a matrix of "
            f"similarities or distances of {len(matrix)} items. If so, pass it to evaluate_scores or "
            "evaluate_distances; here each row is treated as a vector."
        )


def _is_similarity(matrix: Embeddings) -> bool:
    """Whether a square matrix looks like similarities or distances, up to rounding.

    Such a matrix is symmetric and has a constant diagonal. All other entries are at most, or all are at least, as
    large as the diagonal; most differ from it, and they have several values. (This excludes one-hot vectors,
    constants, and the edges of a graph.)
    """
    some = some_of(len(matrix))
    with np.errstate(all="ignore"):  # numbers that are not finite are refused elsewhere
        block, diagonal = matrix[np.ix_(some, some)].astype(np.float64), np.diagonal(matrix).astype(np.float64)
        near = NEAR * (block.max() - block.min())
        others = block[~np.eye(len(some), dtype=np.bool_)]
        symmetric = (np.abs(block - block.T) <= near).all() and diagonal.max() - diagonal.min() <= near
        one_side = (others > diagonal.min() - near).all() or (others < diagonal.max() + near).all()
        apart = np.count_nonzero(np.abs(others - diagonal[0]) > near)
        several = len(np.unique(others)) > 2 and others.max() - others.min() > near
    return bool(symmetric and one_side and several and 2 * apart > others.size)


def warn_of_packed_codes(rows: Embeddings | RankedRows, name: str) -> None:
    """Warn if bytes are probably packed bits: each is set about as often as not, and the highest two often differ.

    In numbers that are concentrated around a value, such as quantized embeddings and pixels, the highest bit mostly
    determines the next one.
    """
    if rows.dtype.name not in ("uint8", "int8") or len(rows) < FEWEST_ALIKE or rows.shape[1] > MOST_BYTES:
        return
    bits = np.unpackbits(rows[:MOST_CODES].reshape(-1, 1).view(np.uint8), axis=1)
    shares = bits.mean(axis=0)
    balanced = ((shares > 1 / 4) & (shares < 3 / 4)).all()
    if len(bits) >= FEWEST_BYTES and balanced and 3 / 8 < (bits[:, 0] == bits[:, 1]).mean() < 5 / 8:
        warn(
            f"The {name} are {rows.dtype.name} of which every bit is set about half of the time, so that they are "
            f"probably packed codes. If so, pass distance='hamming' and bits={8 * rows.shape[1]}; here each number "
            "is one dimension."
        )


def some_of(count: int) -> IntArray:
    """Return some evenly spaced indices below `count`, from the first to the last."""
    return np.unique(np.linspace(0, count - 1, CHECKED_ROWS).astype(np.int64))


def check_direction(rows: Array | Sequence[Array], blocks: Iterable[tuple[Array, Array]], name: str) -> None:
    """Warn if every item of a square matrix is farthest from itself, and relevant items are farther than others.

    The first condition alone may hold because somebody filled the diagonal to take it out of the ranking.
    """
    if not _farthest_on_diagonal(rows, name) or not _farther_on_average(blocks, name):
        return
    meant, function = MEANT[name]
    warn(
        f"The {name} rank every item of a square matrix farthest from itself, and relevant items farther than others "
        f"on average: they are probably {meant}. Pass {meant} to {function}."
    )


def _farthest_on_diagonal(rows: Array | Sequence[Array], name: str) -> bool:
    """Whether the rows form a square matrix in which the diagonal is the farthest item of each row, but not alone."""
    for place, row in enumerate(rows):
        if len(row) != len(rows):
            return False
        low, itself, high = row.min(), row[place], row.max()
        if not (low < itself == high if name == "distances" else low == itself < high):
            return False
    return True


def _farther_on_average(blocks: Iterable[tuple[Array, Array]], name: str) -> bool:
    """Whether relevant items off the diagonal, which is all excluded or all relevant, are farther than others."""
    start = 0
    sums, counts = np.zeros(2), np.zeros(2)
    excluded = relevant_to_itself = True
    for block, relevance in blocks:
        index = np.arange(len(block))
        diagonal = relevance[index, start + index]
        excluded &= bool((diagonal < 0).all())
        relevant_to_itself &= bool((diagonal > 0).all())
        if not excluded and not relevant_to_itself:
            return False
        values = block.astype(np.float64)
        others = start + index[:, None] != np.arange(block.shape[1])
        with np.errstate(all="ignore"):  # numbers that are not finite are refused later
            for kind, chosen in enumerate((others & (relevance > 0), others & (relevance == 0))):
                sums[kind] += values[chosen].sum()
                counts[kind] += chosen.sum()
        start += len(block)
    if not counts.all() or (relevant_to_itself and start < FEWEST_ROWS):
        return False
    relevant, others_mean = (sums / counts).tolist()
    return bool(relevant > others_mean if name == "distances" else relevant < others_mean)


def check_grades(judged: Array | Sequence[Array], cut_off: bool) -> int:
    """Count the items that a negative relevance leaves out; warn if it probably means something else."""
    lists = [judged] if isinstance(judged, np.ndarray) else judged
    negative = [each[each < 0] for each in lists if each.dtype.kind in "if" and each.size and each.min() < 0]
    if not negative:
        return 0
    values = np.unique(np.concatenate([np.unique(each) for each in negative]))
    fractions = values[values != np.rint(values)]
    if len(fractions):
        raise InputError(
            f"The relevance contains {fractions[0]:g}, a negative fraction, but a negative relevance means that an "
            "item is left out of the ranking, and is a whole number such as -1. For items that are not relevant, "
            "pass 0: numpy.maximum(relevance, 0).",
            "relevance",
        )
    if not cut_off and all((np.abs(each) == 1).all() for each in lists if each.dtype.kind in "if"):
        warn(
            "The relevance has only the values -1 and 1, and a negative relevance means that an item is left out of "
            "the ranking, so that all items that remain are relevant and every order of them has the same score. If "
            "-1 means not relevant, pass numpy.maximum(relevance, 0)."
        )
    elif len(values) > 1:
        warn(
            f"The relevance has several negative values, such as {values[0]:g} and {values[-1]:g}, which all mean "
            "that an item is left out of the ranking. If they mean not relevant, pass numpy.maximum(relevance, 0); "
            "if the items are to be left out, give all of them -1."
        )
    return sum(map(len, negative))


def check_self_matches(
    rows: Array | Sequence[Array], judged: Array | Sequence[Array] | LabeledRows, name: str
) -> None:
    """Warn if query i finds itself as item i: a symmetric matrix whose diagonal is relevant and nearest.

    The scores of queries and items of two kinds, such as texts and pictures, are not symmetric. There may be more
    items than queries.
    """
    count = len(rows)
    if count < FEWEST_ROWS or any(len(row) < count for row in rows):
        return
    some = some_of(count)
    if not all(np.asarray(judged[query : query + 1])[0][query] > 0 for query in some.tolist()):
        return
    block = np.array([rows[query][some] for query in some.tolist()], dtype=np.float64)
    others = block[~np.eye(len(some), dtype=np.bool_)]
    with np.errstate(all="ignore"):  # numbers that are not finite are refused later
        symmetric = (np.abs(block - block.T) <= SYMMETRIC * np.abs(block).max()).all()
    if not symmetric or len(np.unique(others)) < 3:
        return
    best = np.min if name == "distances" else np.max
    first = sum(bool(row[place] == best(row)) for place, row in enumerate(rows))
    if 2 * first >= count:
        warn(
            f"{first} of {count} queries probably find themselves, however bad the embeddings are: item i is "
            f"relevant to query i and nearest, and the {name} are symmetric. To leave it out, pass labels without "
            "gallery_labels, or give it a negative relevance."
        )
