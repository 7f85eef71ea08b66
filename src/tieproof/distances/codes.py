"""Rows as int8 codes times a scale each: products of integers, which are exact, in a fraction of the time of floats.

A row x is s q + r with a scale s, codes q, and a remainder r whose norm is known. So the product of the codes of two
rows, times their scales, differs from x.y by at most |r_x| |y| + |x| |r_y| + |r_x| |r_y| (exact/README.md, 2).
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.exact.bounds import ARITHMETIC, SAFETY, UNIT_ROUNDOFF
from tieproof.distances.exact.equal import spans
from tieproof.distances.exact.rows import Rows
from tieproof.native.calls import Output, best_library, native
from tieproof.native.threads import for_each
from tieproof.ties import Array, FloatArray, IntArray, SmallIntArray

CharArray = npt.NDArray[np.int8]
ByteArray = npt.NDArray[np.uint8]

LARGEST_CODE = 127  # the largest code of a row that is not made of integers
MOST_DIMENSIONS = 2**15  # up to this many dimensions, sums of products of codes and unsigned codes are below 2^31

FINER = 254.0  # how many units of finer codes are a unit of codes

SMALLEST_SCALE = 2.0**-60
"""The codes of a row with a smaller scale are zeros, so that products of scales do not underflow in float32."""

ROUNDED = 2.0**-50  # what is added to `lost` for the rounding of the divided rows and of the norms
EXCESS = 128  # what is added to the codes of items, which the instructions of most processors take as unsigned bytes
IN_BLOCK, IN_STEP = 16, 4  # a block contains the codes of 16 items, and 4 codes of an item lie side by side
MATRIX_UNIT, IN_PANEL = 3, 64  # the way by a matrix unit, and the codes of a row that it takes at a time
CACHE_LINE = 64  # vectors of as many bytes are read in less time if each of them lies in one line of the cache


@cache
def fastest_way() -> int:
    """The fastest way to multiply codes: a loop (0), vectors (1, 2), or a matrix unit that was checked (3)."""
    return int(best_library().dots_of_bytes())


def multiplies_codes() -> bool:
    """Whether this processor has an instruction for products of codes; otherwise floats are faster."""
    return fastest_way() > 0


@native
def encode(
    x: Array,
    first: IntArray,
    unit: FloatArray,
    scale: FloatArray,
    codes: Output[CharArray],
    finer: Output[CharArray],
    total: Output[SmallIntArray],
    lost: Output[FloatArray],
) -> None:
    """Write the codes of the rows x[first] / unit in units of `scale`, and finer codes of what is left.

    finer : the finer codes and then, if `total` has a third column, the still finer codes of what these leave
    total : (r, 2) or (r, 3) the sum of the codes, of the finer codes, and so on, of each row
    lost : the norms of what the codes lack of each row, of what they lack together with the finer codes, and so on
    """


@native
def arrange_codes(codes: CharArray, excess: int, blocks: Output[ByteArray]) -> None:
    """Arrange the codes of items, `excess` larger, in blocks; the last block is filled with codes of zero."""


@native
def multiply_codes(
    rows: CharArray,
    total: SmallIntArray,  # the sum of the codes of each row; of each of its slices if there are several
    row_scale: Array,
    blocks: ByteArray,
    item_scale: Array,
    first: int,
    way: int,  # the fastest way that may be used; all of them give the same products
    out: Output[Array],
) -> None:
    """out[i, j] = rows[i] . the codes of item first + j of the blocks, times the scales of both.

    Of several slices (long_codes.py): the sum of the products of a slice s of the row with a slice t of the item that
    are not below the last digit, each times 254^(slices - 1 - s - t).
    """


@native
def multiply_pairs_of_codes(
    x: CharArray,
    finer_x: CharArray,
    y: CharArray,
    finer_y: CharArray,
    total: SmallIntArray,  # (n, 2) the sums of the codes, and of the finer codes, of y
    rows: IntArray,
    columns: IntArray,
    way: int,
    out: Output[FloatArray],
) -> None:
    """out[i] = x[rows[i]] . y[columns[i]], where finer codes are 254 times smaller."""


class Encoded(NamedTuple):
    """The codes of some rows that are multiplied in tiles, the finer codes, and the sums of both for each row."""

    codes: CharArray
    finer: CharArray
    total: SmallIntArray

    def part(self, span: slice | IntArray) -> "Encoded":
        """Return some of the rows."""
        return Encoded(self.codes[span], self.finer[span], self.total[span])


class Codes:
    """The codes of distinct rows, kept if memory allows, otherwise computed for each tile.

    scale : (u,) the number by which the codes of a row are multiplied, in the type of tiles
    lost : (2, u) bounds of the norm of what the codes, and of what the codes and the finer codes, lack of a row,
        relative to the row's norm; 0 for integers and for a row of zeros
    """

    slices, multiplied = 2, 1  # the codes of a number, and how many of them are multiplied in tiles

    def __init__(
        self, rows: Rows, dtype: np.dtype[Any], normalize: bool, exact: bool, keep_bytes: int, threads: int
    ) -> None:
        self.rows, self.threads = rows, threads
        self.norm = np.where(rows.norm > 0, rows.norm, 1.0) if normalize else np.ones(len(rows))
        step = IN_PANEL if fastest_way() == MATRIX_UNIT else IN_STEP
        self.width = -(-rows.dimensions // step) * step
        self.keeps = 3 * len(rows) * self.width <= keep_bytes
        self.kept: Encoded | None = None
        self.blocks: ByteArray | None = None
        self.scale, self.lost = np.ones(len(rows), dtype), np.zeros((self.slices, len(rows)))
        if not exact:
            scale = rows.largest / rows.divisor / self.norm / LARGEST_CODE
            has_codes = scale >= SMALLEST_SCALE
            self.scale[:] = np.where(has_codes, scale, 1.0)
            length = np.where(has_codes, rows.norm / self.norm, 1.0)
            self.lost[:] = np.where(has_codes, self._encode_all().T / length + ROUNDED, rows.largest > 0) * SAFETY

    def keep(self, in_blocks: bool) -> None:
        """Encode all rows and, for items, arrange them in blocks: once, and if memory allows."""
        if not self.keeps:
            return
        if self.kept is None:
            self._encode_all()
        if in_blocks and self.blocks is None and self.kept is not None:
            self.blocks = arranged(self.kept.codes, EXCESS, self.multiplied)

    def room(self, count: int) -> Encoded:
        """Return arrays for the codes of `count` rows."""
        codes, finer = np.empty((2, count, self.width), np.int8)
        return Encoded(codes, finer, np.empty((count, self.slices), np.int32))

    def _encode_all(self) -> FloatArray:
        """Encode all rows, keep their codes if memory allows, and return the norms of what they lack, (u, slices)."""
        count = len(self.rows)
        kept = self.room(count) if self.keeps else None
        lost = np.empty((count, self.slices))

        def fill(span: slice) -> None:
            into = self.room(len(lost[span])) if kept is None else kept.part(span)
            self._encode(span, into, lost[span])

        for_each(fill, spans(count, self.rows.dimensions), self.threads)
        self.kept = kept
        return lost

    def _encode(self, span: slice | IntArray, into: Encoded, lost: FloatArray) -> None:
        """Encode some rows, and write to `lost` what their codes lack."""
        rows, norm = self.rows, self.norm[span]
        codes = into.codes[:, : self.width], *into[1:]
        scale = self.scale[span].astype(np.float64)
        if rows.direct:
            encode(rows.embeddings, rows.first[span], rows.divisor[span] * norm, scale, *codes, lost)
        else:
            encode(rows.values(span), np.arange(len(norm)), norm, scale, *codes, lost)

    def of_rows(self, span: slice | IntArray) -> Encoded:
        """The codes of some rows."""
        if self.kept is not None:
            return self.kept.part(span)
        count = len(self.scale[span])
        encoded = self.room(count)
        self._encode(span, encoded, np.empty((count, self.slices)))
        return encoded

    def in_blocks(self, span: slice | IntArray) -> tuple[ByteArray, int]:
        """The codes of some items in blocks, and where the first of these items is."""
        if self.blocks is None or not isinstance(span, slice):
            return arranged(self.of_rows(span).codes, EXCESS, self.multiplied), 0
        return self.blocks, span.start


def arranged(codes: CharArray, excess: int, slices: int = 1) -> ByteArray:
    """The codes of items, `excess` larger, in blocks; of several slices, the last one is the first in its block."""
    shape = -(-len(codes) // IN_BLOCK), IN_BLOCK * codes.shape[1]
    room = np.empty(shape[0] * shape[1] + CACHE_LINE, dtype=np.uint8)
    start = -room.ctypes.data % CACHE_LINE
    blocks = room[start : len(room) - CACHE_LINE + start].reshape(shape)
    width, of_slice = codes.shape[1] // slices, shape[1] // slices
    for s in range(slices):
        to = (slices - 1 - s) * of_slice
        arrange_codes(codes[:, s * width : (s + 1) * width], excess, blocks[:, to : to + of_slice])
    return blocks


class CodedTile(NamedTuple):
    """The codes of consecutive rows and items, whose products are compared as they are computed."""

    rows: CharArray
    total: SmallIntArray  # (r, 2) the sum of the codes of each row, and another number
    row_scale: Array
    blocks: ByteArray  # codes of items in blocks, of which the tile has `item_scale.size` from `first` on
    item_scale: Array
    first: int
    way: int  # the fastest way that may be used
    row: int  # row, column: the first distinct query row and item
    column: int


def coded_tile(queries: Codes, items: Codes, rows: slice, columns: slice) -> CodedTile:
    """The codes of some rows and items."""
    codes, _, total = queries.of_rows(rows)
    blocks, first = items.in_blocks(columns)
    scales = queries.scale[rows], items.scale[columns]
    return CodedTile(codes, total, scales[0], blocks, scales[1], first, fastest_way(), rows.start, columns.start)


def product(queries: Codes, items: Codes, rows: slice | IntArray, columns: slice | IntArray) -> Array:
    """The products of the codes of rows and columns, times their scales."""
    codes, _, total = queries.of_rows(rows)
    blocks, first = items.in_blocks(columns)
    scale = items.scale[columns] / FINER ** (items.multiplied - 1)
    out = np.empty((len(codes), len(scale)), dtype=scale.dtype)
    multiply_codes(
        codes, total[:, : queries.multiplied], queries.scale[rows], blocks, scale, first, fastest_way(), out
    )
    return out


def product_errors(queries: Codes, items: Codes, finer: bool = False) -> FloatArray:
    """For each query row, the bound of |product - x.y| / (|x| |y|): of tiles, or of pairs (exact/README.md, 2).

    It follows from what the codes, or with the finer ones, lack, and from the rounding of the product.
    """
    some = slice(1, 2) if finer else slice(queries.multiplied)
    rounding = ARITHMETIC if finer else (3 + queries.multiplied) * UNIT_ROUNDOFF[queries.scale.dtype]
    of_queries, most = queries.lost[some], items.lost[some].max(axis=1)[::-1]
    parts = np.concatenate([np.ones_like(of_queries[:1]), of_queries[:-1]]) + of_queries
    return np.asarray((of_queries[-1] + (most + rounding * (1 + most)) @ parts) * SAFETY)


def products_of_pairs(queries: Codes, items: Codes, rows: IntArray, columns: IntArray) -> FloatArray:
    """The products of pairs of rows by their codes and finer codes, which are in memory."""
    assert queries.kept is not None
    assert items.kept is not None
    (x, finer_x, _), (y, finer_y, total) = queries.kept, items.kept
    out = np.empty(len(rows))
    multiply_pairs_of_codes(x, finer_x, y, finer_y, total, rows, columns, fastest_way(), out)
    out *= queries.scale[rows]
    out *= items.scale[columns]
    return out
