"""`Gauge`: all distances on one scale, to compare pairs of different queries."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tieproof.distances.exact import bounds, reals, slices
from tieproof.distances.exact.bounds import Intervals
from tieproof.distances.exact.reals import Real, Rounding, Sums, rounded
from tieproof.distances.exact.slices import ExactRows, PairBatch
from tieproof.distances.exact.twofold import Pair, of_digits, rounded_once, scaled
from tieproof.distances.space import FLOAT64, Resources, Space
from tieproof.errors import InputError
from tieproof.inputs.arrays import Embeddings, as_numbers
from tieproof.native.threads import stripes
from tieproof.ties import FloatArray, IntArray

NEAR = 2.0**-50  # the relative error of `Gauge.near`, and of values computed with it
LONGEST_SUM = 2**16  # the most dimensions of a product that are summed at a time, so that its error bound stays valid
CHUNK_PAIRS = 2**14  # how many exact keys, Python numbers of some hundred bytes, are in memory at a time
LARGEST_STRIPE = 512  # the most queries at a time; more do not make the product faster
COLUMNS = 2048  # the number of item rows that are prepared at a time
# The largest block of queries and of items for a distance function, and the most distances kept at a time.
FUNCTION_ROWS, FUNCTION_COLUMNS, FUNCTION_ENTRIES = 256, 4096, 2**24

# The distance d as a function of the value v. LINEAR: d = v; ROOT: d = sqrt(v); SIMILARITY: d = 1 + v, where v is
# minus a cosine; SIGNED_SQUARE: v is minus the signed square of a cosine; SINE: v is the same plus 1, which is the
# squared sine up to a right angle.
LINEAR, ROOT, SIMILARITY, SIGNED_SQUARE, SINE = range(5)
_LARGEST_EXPONENT = 1023  # of the powers of two among float64
CURVE_ERROR = 2.0**-49  # relative, of `distance_of` (rounding.h): six operations of at most 2^-53, with a margin
SLACK = 2.0**-48  # the relative error of a few operations, with a margin; noise is rounded outward by far more


class Curve(NamedTuple):
    """The distance as a shape of the value, times factor and two powers of two, as one might overflow; in float64."""

    shape: int
    factor: float
    first: float
    second: float
    error: float  # relative error of `distance_of`


def curve(shape: int, scale: Fraction = Fraction(1)) -> Curve:
    """Return a shape times `scale`; it is exact if a line is multiplied by a power of two."""
    exponent = scale.numerator.bit_length() - scale.denominator.bit_length()
    factor = scale / Fraction(2) ** exponent
    is_power = math.frexp(float(factor))[0] == 0.5 and Fraction(float(factor)) == factor
    error = 0.0 if shape == LINEAR and is_power else CURVE_ERROR
    first = min(exponent // 2, _LARGEST_EXPONENT)
    second = min(exponent - first, _LARGEST_EXPONENT)
    return Curve(shape, float(factor * 2 ** (exponent - first - second)), 2.0**first, 2.0**second, error)


def resources_of_gauge(keep_bytes: int) -> Resources:
    """Return the resources of the space of a gauge, whose values are always float64."""
    return Resources(keep_bytes=keep_bytes, dtype=FLOAT64, chunk=LONGEST_SUM)


class Gauge(ABC):
    """Distances of distinct query rows to distinct item rows."""

    identity: tuple[IntArray, IntArray]  # the distinct row of each query, and of each item
    weight: tuple[IntArray, IntArray]  # the queries, and the items, that each distinct row stands for
    symmetric: bool
    certain = True
    absolute = relative = 0.0
    # The keys of `exact` times `unit` are those of `near`, `distance` and `key_of`; so are values times `scale`.
    unit = scale = Fraction(1)
    stripe_rows: int | None = None  # the required number of rows of a block, if any
    spare_bytes = 0  # of the memory for prepared rows, what they leave

    @abstractmethod
    def values(self, rows: slice, columns: slice) -> FloatArray:
        """Return a block of values, which the caller may change."""

    def parts(self, columns: slice) -> Iterator[slice]:
        """Yield the columns that are processed at a time."""
        step = columns.stop - columns.start if self.stripe_rows else COLUMNS
        return stripes(columns.start, columns.stop, step)

    def wide_values(self, rows: slice, columns: slice) -> FloatArray:
        """The values of any number of columns, part by part."""
        values = np.empty((rows.stop - rows.start, columns.stop - columns.start))
        for part in self.parts(columns):
            values[:, part.start - columns.start : part.stop - columns.start] = self.values(rows, part)
        return values

    @abstractmethod
    def exact(self, values: FloatArray, rows: IntArray, columns: IntArray) -> list[Any]:
        """The exact keys of the pairs (rows[i], columns[i]), whose values are given."""

    def exact_by_part(
        self, values: FloatArray, rows: IntArray, columns: IntArray
    ) -> Iterator[tuple[slice, list[Any]]]:
        """Yield the exact keys of any number of pairs, some at a time."""
        for start in range(0, len(values), CHUNK_PAIRS):
            some = slice(start, start + CHUNK_PAIRS)
            yield some, self.exact(values[some], rows[some], columns[some])

    def near(self, key: Real) -> float:
        """Return the value of a key, with a relative error of at most `NEAR`."""
        return rounded(key / self.scale)

    def sharp(self, rows: IntArray, columns: IntArray) -> Intervals | None:
        """Exact keys rounded to float64, on the scale of `sharp_curve`, and their errors; None: there are none."""
        return None

    def distance(self, key: Real, rounding: Rounding = rounded) -> float:
        """Return the distance of a key, rounded once by `rounding`, by default to float64."""
        return rounding(key)

    def key_of(self, distance: Fraction) -> Fraction:
        """Return the key of a distance; larger distances have larger keys."""
        return distance

    def digits(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Return the exact keys of pairs as in a space: digits, in the order of the distances of one query row."""
        raise AssertionError("values without an error leave nothing to decide")

    def is_closer(self, near: Fraction, far: Fraction, epsilon: Fraction) -> bool:
        """Whether the distances of two keys times `unit`, the smaller one first, differ by less than epsilon."""
        return far - near < epsilon

    def curve(self) -> Curve:
        """Return the curve from values to distances."""
        return curve(LINEAR, self.scale)

    def sharp_curve(self) -> Curve:
        """Return the curve from sharp keys to distances."""
        return curve(LINEAR, self.unit)

    def errors(self) -> tuple[float, float]:
        """Return the absolute and the relative error of the values to which `curve` is applied."""
        return self.absolute, self.relative

    def reach(self, value: float) -> float:
        """Return four times the largest difference to `value` of values of pairs at nearly the same distance."""
        underflow = bounds.SMALLEST_NORMAL[FLOAT64]
        return 4 * (self.absolute + (self.relative + NEAR) * abs(value) + underflow)


class SpaceGauge(Gauge):
    """A gauge made from a space."""

    space: Any
    # Returns the exact keys of pairs, or the sums from which they are computed.
    sums: Callable[[ExactRows, PairBatch], Sums]

    def __init__(self, space: Space) -> None:
        space.keep_rows()
        self.space = space
        self.identity = (space.queries.identity, space.items.identity)
        self.weight = (space.queries.weight, space.items.weight)
        self.symmetric = space.symmetric
        if space.symmetric and space.prepared:
            (rows,) = set(space.prepared)
            taken = space.items.embeddings.nbytes + (0 if rows.kept is None else rows.kept.nbytes)
            self.spare_bytes = max(0, space.resources.keep_bytes - taken)  # embeddings may be differences

    def values(self, rows: slice | IntArray, columns: slice | IntArray) -> FloatArray:
        """Minus the entries of a tile, as far as the distance does not say otherwise."""
        values: FloatArray = self.space.tile(rows, columns).astype(np.float64, copy=False)
        return np.negative(values, out=values)

    def values_of_pairs(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the values of the pairs (rows[i], columns[i]): minus the keys, with the errors of a block."""
        keys: FloatArray = self.space.keys(rows, columns)[0]
        return np.negative(keys, out=keys)

    def sharp(self, rows: IntArray, columns: IntArray) -> Intervals | None:
        """The exact keys, rounded."""
        exact = self.space.exact_rows
        if not exact.can_round:
            return None
        sums = (self.sums(exact, batch) for batch in slices.key_batches(exact, rows, columns))
        values = np.concatenate([reals.rounded_digits(exact.digits(each)) for each in sums])
        return values, np.abs(values) * (reals.digit_count(exact.product_bits) * slices.KEY_ERROR)

    def exact(self, values: FloatArray, rows: IntArray, columns: IntArray) -> list[Any]:
        """The exact keys of pairs."""
        exact = self.space.exact_rows
        sums = (self.sums(exact, batch) for batch in slices.key_batches(exact, rows, columns))
        return [key for each in sums for key in slices.as_integers(each, exact.bits)]

    def distances(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """The distances of the pairs (rows[i], columns[i]), each rounded once to float64.

        Pairs of floats of the rows round nearly all of them with certainty, those of exact keys most others.
        """
        out, left = np.zeros(len(rows)), np.arange(len(rows))
        for steps in (self.of_floats, self.of_sums):
            for start in range(0, len(left), CHUNK_PAIRS):
                some = left[start : start + CHUNK_PAIRS]
                parts = steps(rows[some], columns[some])
                if parts is None:
                    break
                number, error = parts
                out[some], certain = rounded_once(number, error)
                left[start : start + CHUNK_PAIRS] = np.where(certain, -1, some)
            left = left[left >= 0]
        if len(left):
            values = self.values_of_pairs(rows[left], columns[left])
            for place, keys in self.exact_by_part(values, rows[left], columns[left]):
                out[left[place]] = [self.distance(key * self.unit) for key in keys]
        return out + 0.0  # no zero is negative

    def of_floats(self, rows: IntArray, columns: IntArray) -> tuple[Pair, FloatArray] | None:
        """The distances with about 80 bits, from floats, and bounds of errors; None: `of_sums` is as fast."""
        return None

    def of_sums(self, rows: IntArray, columns: IntArray) -> tuple[Pair, FloatArray] | None:
        """The distances of pairs with about 100 bits, from exact sums, and bounds of absolute errors."""
        exact = self.space.exact_rows
        if not exact.can_round:
            return None
        parts = [self.of_batch(exact, batch) for batch in slices.key_batches(exact, rows, columns)]
        hi, lo, error = (np.concatenate(column) for column in zip(*((n.hi, n.lo, e) for n, e in parts), strict=True))
        return Pair(hi, lo), error

    def of_batch(self, exact: ExactRows, batch: PairBatch) -> tuple[Pair, FloatArray]:
        """The distances of a batch, from `sums`."""
        exponent = self.unit.numerator.bit_length() - self.unit.denominator.bit_length()
        return scaled(of_digits(exact.digits(self.sums(exact, batch))), exponent)

    def digits(self, rows: IntArray, columns: IntArray) -> IntArray:
        """The exact keys of the space."""
        keys: IntArray = self.space.exact_keys(rows, columns)
        return keys

    def distance_range(self, rows: IntArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return distances between which those of pairs are whose keys in the space are between two numbers.

        rows : the query's row of each pair
        """
        scale = float(self.scale)
        return widened(-high * scale, -low * scale)

    def key_range(self, rows: IntArray, distances: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return keys in the space between which the key of each distance is, which need not be that of a pair.

        Larger distances have smaller keys, down to negative distances.
        """
        keys = distances / -float(self.scale)
        return widened(keys, keys)

    def divisors(self) -> tuple[Fraction, Fraction]:
        """Return the divisors of all queries and of all items."""
        first, second = (float(side.divisor[0]) for side in (self.space.queries, self.space.items))
        return Fraction(first), Fraction(second)

    def largest_norms(self) -> tuple[float, float]:
        """The largest norms of a query and of an item, rounded up."""
        first, second = (float(side.norm.max()) * bounds.SAFETY for side in (self.space.queries, self.space.items))
        return first, second


def widened(low: FloatArray, high: FloatArray, by: FloatArray | float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Return the ends of a range, moved apart by `by` and by the error of a few operations."""
    return low - (SLACK * np.abs(low) + by), high + (SLACK * np.abs(high) + by)


class FunctionGauge(Gauge):
    """Distances of a function, which is called with blocks whose shape depends only on the size of the data.

    A function may round differently for blocks of other shapes, so memory and threads must not affect them.
    """

    def __init__(self, function: Callable[[Any, Any], Any], queries: Embeddings, items: Embeddings) -> None:
        self.function, self.queries, self.items = function, queries, items
        self.identity = (np.arange(len(queries)), np.arange(len(items)))
        self.weight = (np.ones(len(queries), dtype=np.int64), np.ones(len(items), dtype=np.int64))
        self.symmetric = False
        self.stripe_rows = max(1, min(FUNCTION_ROWS, FUNCTION_ENTRIES // len(items)))

    def values(self, rows: slice, columns: slice) -> FloatArray:
        """Compute the distances of all columns, because a function may round fewer ones differently; return some."""
        distances = np.empty((rows.stop - rows.start, len(self.items)))
        for span in stripes(0, len(self.items), FUNCTION_COLUMNS):
            returned = self.function(self.queries[rows], self.items[span])
            distances[:, span] = _checked_distances(returned, rows, span)
        return np.ascontiguousarray(distances[:, columns])

    def exact(self, values: FloatArray, rows: IntArray, columns: IntArray) -> list[Any]:
        """The exact keys of pairs: what the function returned, as fractions."""
        return [Fraction(value) for value in values.tolist()]


def _checked_distances(values: Any, rows: slice, columns: slice) -> FloatArray:
    """Return the distances of a function after checking that they are a matrix of finite numbers of this shape."""
    distances = as_numbers(values, "distances")
    expected = (rows.stop - rows.start, columns.stop - columns.start)
    if distances.shape != expected:
        raise InputError(
            f"The distance function returned the shape {distances.shape} for {expected[0]} queries and "
            f"{expected[1]} gallery items. It must return the shape {expected}.",
            "distance",
        )
    if not np.isfinite(distances).all():
        query, item = np.argwhere(~np.isfinite(distances))[0]
        raise InputError(
            f"The distance function returned {distances[query, item]} for query {rows.start + query} and gallery "
            f"item {columns.start + item}. It must return finite numbers.",
            "distance",
        )
    if distances.dtype.kind in "iu" and (np.abs(distances.astype(np.float64)) >= 2.0**53).any():
        raise InputError(
            f"The distance function returned integers beyond 2^53 ({distances.dtype.name}), which float64 cannot "
            "represent exactly. It must return floats, or smaller integers.",
            "distance",
        )
    return distances.astype(np.float64)
