"""Exact keys that are single integers of 64 bits: of half precision, decimals with few digits, and the like.

If all entries of both sides are multiples of one power of two, and short enough, then products, squared differences
and differences of entries are integers whose sums do not overflow, so that nothing has to be cut into slices.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tieproof.distances.exact import reals
from tieproof.distances.exact.reals import Digits
from tieproof.distances.exact.rows import Rows
from tieproof.distances.exact.slices import ExactRows
from tieproof.native.calls import Output, native
from tieproof.ties import IntArray

WordArray = npt.NDArray[np.int32]

SumOfWords = Callable[[WordArray, WordArray, IntArray, IntArray, IntArray], None]
"""Writes a sum over the entries of x[rows[i]] and y[columns[i]] to out[i]: the keys of a space, in integers."""


@native
def products_of_words(x: WordArray, y: WordArray, rows: IntArray, columns: IntArray, out: Output[IntArray]) -> None:
    """Write x[rows[i]] . y[columns[i]] to out[i]."""


@native
def squares_of_words(x: WordArray, y: WordArray, rows: IntArray, columns: IntArray, out: Output[IntArray]) -> None:
    """Write minus the sums of squared differences."""


@native
def distances_of_words(x: WordArray, y: WordArray, rows: IntArray, columns: IntArray, out: Output[IntArray]) -> None:
    """Write minus the sums of the magnitudes of differences."""


def bits_of_differences(exact: ExactRows) -> int:
    """A number of bits c such that entries, and their differences (one bit more with signs), are below 2^c."""
    sides = exact.queries, exact.items
    return max(side.highest_exponent for side in sides) - exact.base + any(side.negative for side in sides)


def are_short(exact: ExactRows) -> bool:
    """Whether differences of entries fit into 32 bits, and sums of their squares, or of products, into 64."""
    bits = bits_of_differences(exact)
    return bits < 32 and 2 * bits + exact.items.dimensions.bit_length() < 64


def exact_keys(exact: ExactRows, rows: IntArray, columns: IntArray, sum_of_words: SumOfWords) -> Digits:
    """The exact keys of the pairs (rows[i], columns[i]) as digits."""
    keys = np.empty(len(rows), dtype=np.int64)
    start = 0
    for x, y in exact.parts(rows, columns, exact.items.dimensions, 1):
        stop = start + len(x[1])
        sum_of_words(
            _words(exact.queries, x[0], exact.base),
            _words(exact.items, y[0], exact.base),
            x[1],
            y[1],
            keys[start:stop],
        )
        start = stop
    out = np.empty((len(keys), reals.digit_count(64)), dtype=np.int64)
    reals.of_sums(keys[:, None], reals.DIGIT, out)
    return out


def _words(side: Rows, chosen: IntArray, base: int) -> WordArray:
    """Some rows of a side in units of 2^base."""
    return (side.raw(chosen) / np.float64(2.0) ** base).astype(np.int32)
