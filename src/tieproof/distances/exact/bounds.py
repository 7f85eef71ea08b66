"""What floats decide: error bounds, the check that matrix products keep them, and step 2 of the ladder, single pairs.

README.md in this folder derives each of the bounds. The products of this machine are also limited to one thread each.
"""

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from tieproof.errors import UnsafeProductError
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray

if TYPE_CHECKING:
    from tieproof.distances.exact.rows import Rows

Intervals = tuple[FloatArray, FloatArray]
"""The centers of intervals, and half of their lengths: numbers in float64, and bounds of their errors."""

UNIT_ROUNDOFF = {np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}
SMALLEST_NORMAL = {np.dtype(np.float32): 2.0**-126, np.dtype(np.float64): 2.0**-1022}
EXACT_INTEGERS = {np.dtype(np.float32): 2.0**24, np.dtype(np.float64): 2.0**53}

SAFETY = 1 + 2.0**-20
"""A factor that covers the rounding of the bounds, which are each computed in a few float64 operations."""

ARITHMETIC = 2.0**-51
"""The relative error of the two or three float64 operations that compute a nearness and its interval (README, 4)."""


def gamma(operations: int, unit: float) -> float:
    """The relative error of n roundings, n u / (1 - n u) (Higham 2002, lemma 3.1); infinite if n u is too large."""
    product = operations * unit
    return product / (1 - product) * SAFETY if product < 0.5 else math.inf


def inner_product(dimensions: int, chunk: int, dtype: np.dtype[np.floating]) -> float:
    """The bound of |computed - exact| / (|x| |y|), for rows that were themselves rounded to `dtype` (README, 2).

    chunk : the number of dimensions that are summed before these sums are added
    """
    return gamma(chunk + -(-dimensions // chunk) + 8, UNIT_ROUNDOFF[dtype])


def norm(dimensions: int) -> float:
    """The relative error of a float64 norm, and of numbers divided by it (README, 3)."""
    return gamma(dimensions + 8, UNIT_ROUNDOFF[np.dtype(np.float64)])


def sum_of_distances(dimensions: int, dtype: np.dtype[np.floating]) -> float:
    """The relative error of a computed sum of |x - y|, for rows that are exact in `dtype` (README, 5)."""
    return gamma(dimensions + 8, UNIT_ROUNDOFF[dtype])


def underflow(dimensions: int, dtype: np.dtype[np.floating]) -> float:
    """The largest error by underflow in a sum of products of entries below 2, flushed to zero or not (README, 6)."""
    return 16 * (dimensions + 1) * SMALLEST_NORMAL[dtype]


HALF, SMALL_HALF, DIMENSIONS = 504, 64, 64
"""The matrices of the check have 2 * HALF rows, as tiles have, because a large product may be computed in another way
than a small one; or 2 * SMALL_HALF rows if no larger matrices are multiplied."""

libraries = ThreadpoolController().select(user_api="blas")  # includes NumPy's library, which NumPy has loaded
_lock = threading.Lock()
_users: set[object] = set()
_original: list[tuple[Any, int]] = []


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit matrix products to one thread each; the last user to leave restores the previous limits.

    An interruption may come at any moment, so each step can be repeated. Do not use this across a `yield`: the caller
    may never ask for the next result.
    """
    user = object()
    try:
        _limit(user)
        yield
    finally:
        try:
            _restore(user)
        except BaseException:
            _restore(user)
            raise


def _limit(user: object) -> None:
    """Add a user; the first one notes and sets the numbers of threads."""
    with _lock:
        if not _users:
            _original[:] = [(library, library.num_threads) for library in libraries.lib_controllers]
            for library, _ in _original:
                library.set_num_threads(1)
        _users.add(user)


def _restore(user: object) -> None:
    """Remove a user; the last one restores the numbers of threads."""
    with _lock:
        _users.discard(user)
        if not _users:
            for library, number in _original:
                library.set_num_threads(number)


def check_products(rows: int = 2 * HALF) -> None:
    """Refuse inexact matrix products; `rows` is the largest number of rows that will be multiplied."""
    check_products_of(SMALL_HALF if rows <= 2 * SMALL_HALF else HALF)


@cache
def check_products_of(half: int) -> None:
    """Multiply matrices for which TF32, bfloat16 and Strassen-like products are wrong, and refuse wrong products."""
    with single_threaded():
        for dtype in (np.dtype(np.float32), np.dtype(np.float64)):
            probe = make_probe(dtype, half)
            left, right = probe.matrices(dtype)
            check_product(probe, left @ right.T, dtype)


class Probe(NamedTuple):
    """Matrices in which the product of a long and a short row is exact in every order of summation."""

    # (half, DIMENSIONS) odd integers: half of the rows with as many digits as the sums allow, the others with
    # all digits of the dtype.
    long: IntArray
    short: IntArray  # (half, DIMENSIONS) half of the rows consist of 1 and -1, the others have a single nonzero entry
    exponent: IntArray  # (2 half,) the exponent of the power of two by which each row is multiplied

    def matrices(self, dtype: np.dtype[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The long rows above the short ones, and the short above the long, so that long rows meet short ones."""
        left, right = np.concatenate([self.long, self.short]), np.concatenate([self.short, self.long])
        scale = np.ldexp(1.0, self.exponent)[:, None]
        return (left * scale).astype(dtype), (right * scale).astype(dtype)


def make_probe(dtype: np.dtype[Any], half: int = HALF) -> Probe:
    """Make matrices whose product shows shortened mantissas and Strassen-like algorithms.

    A product with shortened mantissas loses the last digits of long rows, on the left or on the right. An algorithm
    that adds rows before it multiplies them (Strassen) loses digits of rows that are smaller by powers of two.
    """
    digits = np.finfo(dtype).nmant + 1
    quarter = half // 2
    length = np.repeat([digits - DIMENSIONS.bit_length(), digits], quarter)[:, None]
    long = _random_integers(0, half, DIMENSIONS) % 2 ** (length - 1) + 2 ** (length - 1) | 1
    short = 1 - _random_integers(1, half, DIMENSIONS) % 2 * 2
    short[quarter:] *= np.arange(DIMENSIONS) == _random_integers(2, quarter, 1) % DIMENSIONS
    return Probe(long, short, -np.linspace(0, digits, 2 * half).astype(np.int64))


def _random_integers(seed: int, rows: int, columns: int) -> IntArray:
    """Integers of 63 bits, (rows, columns), by SplitMix64 (Steele, Lea, Flood 2014); NumPy's take 10 ms to load."""
    state = np.arange(1, rows * columns + 1, dtype=np.uint64).reshape(rows, columns)
    state = (state + np.uint64(seed << 32)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    return ((state ^ (state >> np.uint64(31))) >> np.uint64(1)).astype(np.int64)


def check_product(probe: Probe, product: npt.NDArray[Any], dtype: np.dtype[Any]) -> None:
    """Raise UnsafeProductError if the product of the probe's matrices has a wrong entry."""
    half = len(probe.long)
    scale = np.ldexp(1.0, -probe.exponent)
    whole = product * scale[:, None] * scale
    if not (_is_product(probe, whole[:half, :half]) and _is_product(probe, whole[half:, half:].T)):
        raise UnsafeProductError(
            f"NumPy's {dtype.name} matrix product on this machine is less exact than {dtype.name}: a reduced "
            "precision (TF32, bfloat16) or a fast algorithm (Strassen) is switched on. Switch it off in the "
            "BLAS library that NumPy uses; numpy.show_config() prints the library's name."
        )


def _is_product(probe: Probe, product: FloatArray) -> bool:
    """Whether this is long short^T, except for the products of long rows with all digits and short rows of 1 and -1.

    Freivalds 1977: the product times a vector is compared with the factors times the vector, which needs no matrix
    product. Integers are added modulo 2^64. If an entry is wrong by an integer below 2^54, its random odd factor
    leaves a probability of at most 2^-10 that its row looks right.
    """
    half = len(probe.long)
    quarter = half // 2
    factors = _random_integers(3, half, 1)[:, 0] << 1 | 1
    for rows, columns in ((slice(quarter), slice(half)), (slice(quarter, half), slice(quarter, half))):
        part, factor = product[rows, columns], factors[columns]
        if not (np.abs(part) < 2.0**53).all():
            return False
        integers = part.astype(np.int64)
        expected = probe.long[rows] @ (probe.short[columns].T @ factor)
        if (integers != part).any() or (integers @ factor != expected).any():
            return False
    return True


SMALLEST_CHUNK, LARGEST_CHUNK = 2**13, 2**22  # the limits of the number of pairs in a chunk
CONVERTED = 2**19  # about how many numbers of items are converted at a time for a matrix product
FEW_ROWS = 16  # from this many rows per value on, sorting the values is faster than marking the rows (measured)

FEW_DIRECT = 2**9
"""Up to so many pairs, finding their distinct rows takes longer than products from the original array (measured)."""

PairKernel = Callable[[Any, Any, IntArray, IntArray, FloatArray], None]


@native
def products(
    x: npt.NDArray[Any], y: npt.NDArray[Any], rows: IntArray, columns: IntArray, out: Output[FloatArray]
) -> None:
    """out[i] = x[rows[i]] . y[columns[i]], in float64."""


@native
def city_blocks(
    x: npt.NDArray[Any], y: npt.NDArray[Any], rows: IntArray, columns: IntArray, out: Output[FloatArray]
) -> None:
    """out[i] = sum over d of |x[rows[i], d] - y[columns[i], d]|, in float64."""


def inner_products(queries: "Rows", items: "Rows", rows: IntArray, columns: IntArray) -> FloatArray:
    """Inner products of pairs of divided rows; many pairs of few rows are computed by a matrix product."""
    return _of_pairs(queries, items, rows, columns, products)


def city_block_distances(queries: "Rows", items: "Rows", rows: IntArray, columns: IntArray) -> FloatArray:
    """City-block distances of pairs of divided rows."""
    return _of_pairs(queries, items, rows, columns, city_blocks)


def _of_pairs(queries: "Rows", items: "Rows", rows: IntArray, columns: IntArray, kernel: PairKernel) -> FloatArray:
    """Compute the pairs in chunks, which are about square if neighboring queries share their items."""
    out = np.empty(len(rows))
    size = SMALLEST_CHUNK
    if len(rows) > size:
        per_row = len(rows) / (1 + np.count_nonzero(rows[1:] != rows[:-1]))
        size = min(max(int(per_row**2), size), LARGEST_CHUNK)
    for start in range(0, len(rows), size):
        span = slice(start, start + size)
        _chunk(queries, items, rows[span], columns[span], kernel, out[span])
    return out


def _chunk(
    queries: "Rows", items: "Rows", rows: IntArray, columns: IntArray, kernel: PairKernel, out: FloatArray
) -> None:
    """Compute one chunk by a matrix product, from the original array, or from converted rows."""
    direct = queries.direct and items.direct and queries.embeddings.dtype == items.embeddings.dtype
    if direct and len(rows) <= FEW_DIRECT:
        _directly(queries, items, rows, columns, kernel, out)
        return
    x_rows, x_place = distinct(rows, len(queries))
    y_rows, y_place = distinct(columns, len(items))
    if kernel is products and len(x_rows) * len(y_rows) <= 4 * len(rows):
        first, product = queries.values(x_rows), np.empty((len(x_rows), len(y_rows)))
        size = max(1, CONVERTED // items.dimensions)
        for start in range(0, len(y_rows), size):
            span = slice(start, start + size)
            product[:, span] = first @ items.values(y_rows[span]).T
        out[:] = product[x_place, y_place]
    elif direct:
        _directly(queries, items, rows, columns, kernel, out)
    else:
        size = max(1, 2**21 // queries.dimensions)  # the rows of a few thousand pairs are converted at a time
        for start in range(0, len(out), size):
            span = slice(start, start + size)
            x, x_at = distinct(x_place[span], len(x_rows))
            y, y_at = distinct(y_place[span], len(y_rows))
            kernel(queries.values(x_rows[x]), items.values(y_rows[y]), x_at, y_at, out[span])


def _directly(
    queries: "Rows", items: "Rows", rows: IntArray, columns: IntArray, kernel: PairKernel, out: FloatArray
) -> None:
    """Compute pairs from the original array."""
    kernel(queries.embeddings, items.embeddings, queries.first[rows], items.first[columns], out)
    # The divisors are powers of two within 2^±400: their product is exact, and so is a quotient unless subnormal.
    divisor = queries.divisor[rows]
    out /= divisor * items.divisor[columns] if kernel is products else divisor


def distinct(values: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """The distinct values in ascending order, all below `size`, and the index of each value among them.

    numpy.unique sorts the values, which takes longer than the products unless there are few values.
    """
    if size > FEW_ROWS * len(values):
        return np.unique(values, return_inverse=True)
    place, ascending = np.empty(len(values), dtype=np.int64), np.empty(len(values) + 1, dtype=np.int64)
    count = distinct_values(values, np.zeros(size, dtype=np.int64), place, ascending)
    return ascending[:count], place


@native
def distinct_values(
    values: IntArray, number: Output[IntArray], place: Output[IntArray], found: Output[IntArray]
) -> int:
    """Write the distinct values to `found` in ascending order, and return their number.

    `found` has room for one more than `values`; `number` has a zero for each possible value.
    """
