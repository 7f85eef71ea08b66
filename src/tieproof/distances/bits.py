"""Rows of two values as bits: their products are numbers of bits that differ, in a fraction of the time of codes.

x.y = (|x|^2 + |y|^2 - |x - y|^2) / 2. If entries are 0 and 1, |x - y|^2 is the number of entries that differ; if they
are -1 and 1, it is four times this number.
"""

from typing import Any

import numpy as np

from tieproof.distances.codes import IN_STEP, ByteArray, CharArray, arranged
from tieproof.distances.exact.equal import spans
from tieproof.distances.exact.rows import Rows
from tieproof.native.calls import Output, native
from tieproof.native.threads import for_each
from tieproof.ties import Array, IntArray

FASTEST_WAY = 1  # the fastest way to count bits that differ, if the processor has it; tests choose the other
MOST_DIMENSIONS = 2**22  # up to this many dimensions, halves of squared norms are exact in float32
OF_SIGNS, OF_BITS = 2.0, 0.5  # how much smaller an entry that differs makes a product of -1 and 1, or of 0 and 1


@native
def differing_tile(
    rows: CharArray,
    of_row: Array,
    blocks: ByteArray,
    of_item: Array,
    first: int,
    each: float,
    way: int,  # the fastest way that may be used; all of them give the same numbers
    out: Output[Array],
) -> None:
    """out[i, j] = of_row[i] + of_item[j] - each * the number of bits that differ between row i and item first + j."""


def two_values(queries: Rows, items: Rows) -> float | None:
    """Return `OF_SIGNS` or `OF_BITS` if the divided rows of both sides have these two values, otherwise None."""
    if items.dimensions > MOST_DIMENSIONS:
        return None
    sides = queries, items
    if not all(np.isin(side.largest / side.divisor, (0, 1)).all() for side in sides):
        return None
    if all((side.square == side.dimensions).all() for side in sides):
        return OF_SIGNS
    same = all(((side.largest == side.smallest) | (side.largest == 0)).all() for side in sides)
    return OF_BITS if same and not any(side.negative for side in sides) else None


class Bits:
    """The signs of the entries of distinct rows as bits, kept if memory allows, otherwise packed for each tile."""

    def __init__(self, rows: Rows, dtype: np.dtype[Any], keep_bytes: int, threads: int) -> None:
        self.rows, self.threads = rows, threads
        self.half = (rows.square / 2).astype(dtype)  # (u,) half of the squared norms, in the type of tiles
        self.width = -(-rows.dimensions // (8 * IN_STEP)) * IN_STEP
        self.keeps = 2 * len(rows) * self.width <= keep_bytes
        self.kept: CharArray | None = None
        self.blocks: ByteArray | None = None

    def keep(self, in_blocks: bool) -> None:
        """Pack all rows and, for items, arrange them in blocks: once, and if memory allows."""
        if not self.keeps:
            return
        if self.kept is None:
            kept = np.empty((len(self.rows), self.width), dtype=np.int8)

            def fill(span: slice) -> None:
                kept[span] = self._pack(span)

            for_each(fill, spans(len(self.rows), self.rows.dimensions), self.threads)
            self.kept = kept
        if in_blocks and self.blocks is None:
            self.blocks = arranged(self.kept, 0)

    def _pack(self, span: slice | IntArray) -> CharArray:
        """Pack some rows, filled up with zeros."""
        packed = np.packbits(self.rows.raw(span) > 0, axis=1)
        return np.pad(packed, ((0, 0), (0, self.width - packed.shape[1]))).view(np.int8)

    def of_rows(self, span: slice | IntArray) -> CharArray:
        """The bits of some rows."""
        return self._pack(span) if self.kept is None else self.kept[span]

    def in_blocks(self, span: slice | IntArray) -> tuple[ByteArray, int]:
        """The bits of some items in blocks, and where the first of these items is."""
        if self.blocks is None or not isinstance(span, slice):
            return arranged(self.of_rows(span), 0), 0
        return self.blocks, span.start


def product(queries: Bits, items: Bits, each: float, rows: slice | IntArray, columns: slice | IntArray) -> Array:
    """The products of rows and columns, `each` smaller for each entry that differs."""
    bits, (blocks, first), half = queries.of_rows(rows), items.in_blocks(columns), items.half[columns]
    out = np.empty((len(bits), len(half)), dtype=half.dtype)
    differing_tile(bits, queries.half[rows], blocks, half, first, each, FASTEST_WAY, out)
    return out
