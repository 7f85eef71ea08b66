"""Which rows are equal, sparse or dense, and the statistics of each row from one pass over all of them.

Rows with equal checksums are compared; sparse rows are equal if they have the same terms with the same numbers.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.exact.twofold import are_proportional
from tieproof.inputs.arrays import BLOCK_BYTES, Embeddings, not_finite
from tieproof.inputs.sparse_rows import SparseRows, Terms
from tieproof.native.calls import Output, native
from tieproof.native.threads import for_each, stripes
from tieproof.ties import Array, BoolArray, FloatArray, IntArray

Checksums = npt.NDArray[np.uint64]

ROUNDS = 16
"""Each round settles one group of each checksum. Distinct rows share one only if float64 rounds them alike."""


def summands(embeddings: Embeddings | SparseRows) -> int:
    """The most summands of a product of two rows: the dimensions, or the most entries of sparse rows."""
    return embeddings.longest if isinstance(embeddings, SparseRows) else int(embeddings.shape[1])


def numbers_of(embeddings: Embeddings | SparseRows, rows: slice | IntArray) -> Array:
    """The numbers of some rows; those of sparse rows without the zeros between them."""
    return embeddings.packed(rows)[0] if isinstance(embeddings, SparseRows) else embeddings[rows]


def spans(count: int, dimensions: int) -> Iterator[slice]:
    """Slices of `count` rows, each small enough in float64 for a cache."""
    size = max(1, BLOCK_BYTES // (8 * dimensions))
    return stripes(0, count, size)


class Statistics(NamedTuple):
    """Statistics of each row, arrays of shape (n,)."""

    largest: FloatArray  # largest absolute value
    smallest: FloatArray  # smallest absolute value that is not zero; inf for a row of zeros
    square: FloatArray  # squared norm of the row scaled so that its largest absolute value is in [1, 2)
    negative: npt.NDArray[np.bool_]  # whether an entry is negative
    checksum: Checksums  # equal for identical rows, or for rows equal up to a positive factor


@native
def scan_block(
    block: FloatArray, multipliers: Checksums, up_to_factor: bool, start: int, statistics: Output[Statistics]
) -> int:
    """Fill `statistics` from row `start` on; return the first row of `block` that is not finite, or -1."""


@native
def scan_terms(
    rows: Terms,
    multipliers: Checksums,
    up_to_factor: bool,
    first: int,
    stop: int,
    room: Output[FloatArray],
    statistics: Output[Statistics],
) -> None:
    """Fill `statistics` for the rows first … stop-1, which are finite; `room` is working memory for a row."""


def scan(embeddings: Embeddings | SparseRows, name: str, up_to_factor: bool, threads: int = 1) -> Statistics:
    """Read every row once; NaN and infinity are refused with the first row that has one."""
    count, dimensions = len(embeddings), summands(embeddings)
    # Random odd multipliers, so that nobody can prepare rows whose checksums collide. They never affect a result.
    multipliers = np.frombuffer(os.urandom(16 * dimensions), dtype=np.uint64) | np.uint64(1)
    largest, smallest, square = np.empty((3, count))
    statistics = Statistics(largest, smallest, square, np.empty(count, np.bool_), np.empty(count, np.uint64))

    def look(span: slice) -> None:
        if isinstance(embeddings, SparseRows):
            room = np.empty(dimensions)
            scan_terms(embeddings.entries, multipliers, up_to_factor, span.start, span.stop, room, statistics)
            return
        block = np.ascontiguousarray(embeddings[span], dtype=np.float64)
        bad = scan_block(block, multipliers[:dimensions], up_to_factor, span.start, statistics)
        if bad >= 0:
            raise not_finite(name, span.start + bad, block[bad])

    for_each(look, spans(count, max(1, dimensions)), threads)
    return statistics


def first_equal(embeddings: Embeddings | SparseRows, checksums: Checksums, up_to_factor: bool) -> IntArray:
    """For each row (n,) the first row that equals it or, with `up_to_factor`, a positive multiple of it.

    Rows with equal checksums are candidates, which are compared exactly. A missed pair would cost time, but would not
    change any result.
    """
    first = np.arange(len(embeddings))
    unsettled = first
    for _ in range(ROUNDS):
        rising = np.sort(checksums[unsettled])
        if not (rising[1:] == rising[:-1]).any():
            break
        _, earliest, inverse = np.unique(checksums[unsettled], return_index=True, return_inverse=True)
        leader = unsettled[earliest[inverse]]
        others = unsettled != leader
        members, leaders = unsettled[others], leader[others]
        matched = _same_rows(embeddings, members, leaders, up_to_factor)
        first[members[matched]] = leaders[matched]
        unsettled = members[~matched]
    return first


def _same_rows(
    embeddings: Embeddings | SparseRows, members: IntArray, leaders: IntArray, up_to_factor: bool
) -> BoolArray:
    """Whether each row members[i] equals row leaders[i], or a positive multiple of it, computed block by block."""
    # With more than 53 bits the products in `are_proportional` would not be exact.
    by_products = up_to_factor and not (embeddings.dtype.kind in "iu" and embeddings.dtype.itemsize == 8)
    matched = np.zeros(len(members), dtype=np.bool_)
    for span in spans(len(members), summands(embeddings)):
        if isinstance(embeddings, SparseRows):
            matched[span] = _same_terms(embeddings, members[span], leaders[span], up_to_factor)
            continue
        a, b = embeddings[members[span]], embeddings[leaders[span]]
        matched[span] = are_proportional(a, b) if by_products else (a == b).all(axis=1)
    return matched


def _same_terms(embeddings: SparseRows, members: IntArray, leaders: IntArray, up_to_factor: bool) -> BoolArray:
    """As `_same_rows`, for few sparse rows."""
    length = np.diff(embeddings.starts)
    matched: BoolArray = length[members] == length[leaders]
    some = np.flatnonzero(matched)
    (a, a_terms), (b, b_terms) = (embeddings.packed(side[some]) for side in (members, leaders))
    same = are_proportional(a, b) if up_to_factor else (a == b).all(axis=1)
    matched[some] = same & (a_terms == b_terms).all(axis=1)
    return matched


def numbered(leaders: IntArray, order: IntArray) -> tuple[IntArray, IntArray]:
    """Number the rows that are their own leaders by the first appearance of their followers in `order`.

    Returns the number of each row's leader (n,), and the row that appears first for each number (u,).
    """
    in_order, places = leaders[order], np.arange(len(order))
    appearance, number = np.empty_like(places), np.empty_like(places)
    appearance[in_order[::-1]] = places[::-1]  # written last, and so kept, is the first appearance of each row
    first = in_order[appearance[in_order] == places]
    number[first] = places[: len(first)]
    return number[leaders], first
