"""`Gauge`: distances that pairs of different queries share one scale for, from a float64 block down to exact numbers.

The spaces of `tieproof.exact` rank the items of one query, and leave out what all of them have in common. Here pairs
of all queries are compared, so a gauge adds it:

| distance | value, in units of the rows' divisors | exact key |
|---|---|---|
| cosine | minus x.y / (|x| |y|); of integers minus s |s| / (|x|^2 |y|^2) with s = x.y | minus s |s| / (|x|^2 |y|^2) |
| dot | - x.y | - x.y |
| Euclidean, squared or not | |x|^2 + |y|^2 - 2 x.y | the same |
| city-block, Hamming | the distance | the distance |

Larger is farther. A value is off by at most absolute + relative |value|; where both are zero (`certain`) values have
exactly the order and the ties of the distances.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tieproof.distances.cityblock import CityBlock
from tieproof.distances.cosine import RATIO_EXACT, Cosine
from tieproof.distances.dot import Dot
from tieproof.distances.euclidean import Euclidean
from tieproof.distances.hamming import Hamming
from tieproof.distances.space import Space
from tieproof.exact import bounds
from tieproof.exact.exact_rows import Batch, ExactRows
from tieproof.exact.rows import FloatArray, IntArray
from tieproof.exact.slices import Sums
from tieproof.pooled import exact_pairs
from tieproof.pooled.reals import Real, Rounding, rounded, rounded_of_root

FLOAT64 = np.dtype(np.float64)
LARGEST_INTEGER = bounds.EXACT_INTEGERS[FLOAT64]
UNIT_ROUNDOFF = bounds.UNIT_ROUNDOFF[FLOAT64]

NEAR = 2.0**-50
"""Relative error of `Gauge.near`, and of what is computed with it."""


class Gauge(ABC):
    """Distances of distinct query rows to distinct item rows.

    unit : the keys of `exact` times it are the numbers that `near`, `distance` and `key_of` speak of
    """

    identity: tuple[IntArray, IntArray]  # the distinct row of each query, and of each item
    weight: tuple[IntArray, IntArray]  # the queries, and the items, that each distinct row stands for
    symmetric: bool
    certain = True
    absolute = relative = 0.0
    unit = Fraction(1)
    stripe_rows: int | None = None  # a size of blocks that must be kept to
    zero_vectors = 0

    @abstractmethod
    def values(self, rows: slice, columns: slice) -> FloatArray:
        """A block of values, which is the caller's to change."""

    @abstractmethod
    def exact(self, values: FloatArray, rows: IntArray, columns: IntArray) -> list[Any]:
        """The exact keys of the pairs (rows[i], columns[i]), whose values are given."""

    @abstractmethod
    def near(self, key: Real) -> float:
        """The value that belongs to a key, up to a relative `NEAR`."""

    def sharp(self, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray] | None:
        """Exact keys of pairs rounded to float64, with errors relative to the keys; None: not to be had.

        To those of cosine 1 is added, so that they are small where pairs are close to each other.
        """
        return None

    def distance(self, key: Real, rounding: Rounding = rounded) -> float:
        """The distance that belongs to a key, rounded once: to float64 unless `rounding` rounds otherwise."""
        return rounding(key)

    def key_of(self, distance: Fraction) -> Fraction:
        """The key of a distance, so that keys at or beyond it are those of distances at or beyond."""
        return distance

    def reach(self, value: float) -> float:
        """How far from `value` the values of pairs at nearly the same distance may be, four times over."""
        underflow = bounds.SMALLEST_NORMAL[FLOAT64]
        return 4 * (self.absolute + (self.relative + NEAR) * abs(value) + underflow)


class SpaceGauge(Gauge):
    """A gauge made of a space; its values times `scale` are the keys times `unit`.

    sums : the exact keys of pairs, or what they are made of
    """

    space: Any
    scale = Fraction(1)
    sums: Callable[[ExactRows, Batch], Sums]

    def __init__(self, space: Space) -> None:
        space.keep_rows()
        self.space = space
        self.identity = (space.queries.identity, space.items.identity)
        self.weight = (space.queries.weight, space.items.weight)
        self.symmetric = space.symmetric
        self.zero_vectors = space.zero_vectors

    def near(self, key: Real) -> float:
        """The key in units of the divisors."""
        return rounded(key / self.scale)

    def sharp(self, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray] | None:
        """The exact keys, rounded."""
        return exact_pairs.rounded_keys(self.sums, self.space.exact_rows, rows, columns)

    def exact(self, values: FloatArray, rows: IntArray, columns: IntArray) -> list[Any]:
        """The exact keys of pairs."""
        return exact_pairs.keys(self.sums, self.space.exact_rows, rows, columns)

    def divisors(self) -> tuple[Fraction, Fraction]:
        """What all queries, and all items, are divided by."""
        first, second = (float(side.divisor[0]) for side in (self.space.queries, self.space.items))
        return Fraction(first), Fraction(second)

    def largest_norms(self) -> tuple[float, float]:
        """The largest norms of a query and of an item, rounded up."""
        first, second = (float(side.norm.max()) * bounds.SAFETY for side in (self.space.queries, self.space.items))
        return first, second


class DotGauge(SpaceGauge):
    """Minus the inner product."""

    space: Dot
    sums = staticmethod(exact_pairs.minus_products)

    def __init__(self, space: Dot) -> None:
        super().__init__(space)
        of_queries, of_items = self.divisors()
        self.scale, self.unit = of_queries * of_items, Fraction(2) ** (2 * space.exact_rows.base)
        self.certain = space.integers
        if not space.integers:
            error = space.product_error * bounds.SAFETY
            if space.relative:
                self.relative = error / (1 - error)
            else:
                largest, other = self.largest_norms()
                self.absolute = error * largest * other + bounds.underflow(space.items.dimensions, FLOAT64)

    def values(self, rows: slice, columns: slice) -> FloatArray:
        """Minus the products of divided rows."""
        return -self.space.tile(rows, columns).astype(np.float64, copy=False)


class CosineGauge(SpaceGauge):
    """Minus the cosine, or minus its square with the sign kept: the distance is 1 - x.y / (|x| |y|)."""

    space: Cosine

    def __init__(self, space: Cosine) -> None:
        super().__init__(space)
        self.certain = False
        if space.integers:
            self.squares = [np.maximum(side.square, 1.0) for side in (space.queries, space.items)]
            largest = self.squares[0].max() * self.squares[1].max()
            # Two different ratios s^2 / n, with s^2 and n up to `largest`, are at least 1 / largest^2 apart.
            self.certain = bool(largest**2 <= RATIO_EXACT)
            self.relative = 0.0 if self.certain else 2 * bounds.ARITHMETIC
        else:
            error = space.product_error + space.norm_error
            self.relative = error / (1 - error) if space.relative else bounds.ARITHMETIC
            if not space.relative:
                self.absolute = error + bounds.underflow(space.items.dimensions, FLOAT64)

    def values(self, rows: slice, columns: slice) -> FloatArray:
        """Minus the cosine similarities, in float64."""
        values = -self.space.tile(rows, columns).astype(np.float64, copy=False)
        if self.space.integers:
            values *= np.abs(values)
            values /= self.squares[0][rows][:, None] * self.squares[1][columns]
        return values

    def exact(self, values: FloatArray, rows: IntArray, columns: IntArray) -> list[Any]:
        """Minus the signed squares of the similarities."""
        return exact_pairs.minus_squared_cosines(self.space.exact_rows, rows, columns)

    def near(self, key: Real) -> float:
        """The similarity without its square, where the space has it so."""
        if self.space.integers:
            return rounded(key)
        sign = -1 if key < 0 else 1
        return sign * rounded_of_root(Fraction(key * sign), lambda root: root)

    def sharp(self, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray] | None:
        """Squared sines, past a right angle 2 less those, from exact differences."""
        found = self.space.sharp_keys(rows, columns)
        return None if found is None else (-found[0], found[1])

    def distance(self, key: Real, rounding: Rounding = rounded) -> float:
        """The cosine distance, 1 - x.y / (|x| |y|), of a key."""
        sign = -1 if key < 0 else 1
        return rounded_of_root(Fraction(key * sign), lambda root: 1 + sign * root, rounding)

    def key_of(self, distance: Fraction) -> Fraction:
        """Minus the signed square of the similarity."""
        similarity = 1 - distance
        return -similarity * abs(similarity)


class SquaredEuclideanGauge(SpaceGauge):
    """The squared Euclidean distance: the sum of (x - y)^2."""

    space: Euclidean
    sums = staticmethod(exact_pairs.squared_distances)

    def __init__(self, space: Euclidean) -> None:
        super().__init__(space)
        divisor, _ = self.divisors()
        self.scale, self.unit = divisor**2, Fraction(2) ** (2 * space.exact_rows.base)
        first, second = self.largest_norms()
        largest = (first + second) ** 2
        self.certain = space.integers and largest <= LARGEST_INTEGER
        if not self.certain:
            # The product, the two squares, and the roundings of two sums of at most `largest` each.
            error = 2 * space.product_error * first * second + space.square_error * (first**2 + second**2)
            self.absolute = (error + 8 * UNIT_ROUNDOFF * largest) * bounds.SAFETY
            self.absolute += 4 * bounds.underflow(space.items.dimensions, FLOAT64)

    def values(self, rows: slice, columns: slice) -> FloatArray:
        """|x|^2 + |y|^2 - 2 x.y of divided rows."""
        values = self.space.tile(rows, columns).astype(np.float64, copy=False)
        values *= -2
        values += self.space.items.square[columns]
        values += self.space.queries.square[rows][:, None]
        return values


class EuclideanGauge(SquaredEuclideanGauge):
    """The Euclidean distance, whose keys are squares."""

    def distance(self, key: Real, rounding: Rounding = rounded) -> float:
        """The distance of a key: its square root."""
        return rounded_of_root(Fraction(key), lambda root: root, rounding)

    def key_of(self, distance: Fraction) -> Fraction:
        """The square; every pair is beyond a negative distance."""
        return distance**2 if distance >= 0 else Fraction(-1)


class CityBlockGauge(SpaceGauge):
    """The city-block distance: the sum of |x - y|."""

    space: CityBlock
    sums = staticmethod(exact_pairs.city_blocks)

    def __init__(self, space: CityBlock) -> None:
        super().__init__(space)
        self.scale, _ = self.divisors()
        self.unit = Fraction(2) ** space.exact_rows.base
        self.certain = space.integers
        if not space.integers:
            self.relative, self.absolute = space.inexact(FLOAT64)

    def values(self, rows: slice, columns: slice) -> FloatArray:
        """Distances of divided rows."""
        return -self.space.tile(rows, columns).astype(np.float64, copy=False)


class HammingGauge(SpaceGauge):
    """The number of bits that differ: the value is exact."""

    space: Hamming

    def values(self, rows: slice, columns: slice) -> FloatArray:
        """The numbers of bits that differ."""
        return -self.space.tile(rows, columns).astype(np.float64, copy=False)

    def exact(self, values: FloatArray, rows: IntArray, columns: IntArray) -> list[Any]:
        """The exact keys of pairs, which are their values."""
        return [int(value) for value in values]

    def sharp(self, rows: IntArray, columns: IntArray) -> None:
        """No sharper keys: the values are exact already."""


GAUGES: dict[str, type[SpaceGauge]] = {
    "cosine": CosineGauge,
    "euclidean": EuclideanGauge,
    "sqeuclidean": SquaredEuclideanGauge,
    "cityblock": CityBlockGauge,
    "dot": DotGauge,
    "hamming": HammingGauge,
}
