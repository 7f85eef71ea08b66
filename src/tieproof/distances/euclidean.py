"""Euclidean distance, squared or not: ranked by |y|^2 - 2 x.y, smaller is nearer; |x|^2 is the same for all items."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tieproof.distances import Distance
from tieproof.distances.exact import bounds, slices
from tieproof.distances.exact.bounds import Intervals
from tieproof.distances.exact.reals import Digits, Real, Rounding, Sums, root_is_less, rounded, rounded_of_root
from tieproof.distances.exact.rows import Rows, as_integers, share_divisor
from tieproof.distances.exact.slices import ExactRows, PairBatch
from tieproof.distances.exact.terms import inner_products
from tieproof.distances.exact.twofold import (
    Pair,
    are_direct,
    of_digits,
    of_pairs,
    root,
    scaled,
    sum_error,
    twofold_squares,
)
from tieproof.distances.exact.words import squares_of_words
from tieproof.distances.gauge import ROOT, SLACK, Curve, SpaceGauge, curve, widened
from tieproof.distances.inner_space import InnerSpace
from tieproof.distances.near_duplicates import centered
from tieproof.distances.space import FLOAT32, FLOAT64, Error, KeyScale, NearnessForm, Resources
from tieproof.ties import FloatArray, IntArray

SUMMANDS = 2  # a difference of sparse rows has at most so many times as many entries as a row


class Euclidean(InnerSpace):
    """Keys: 2 x.y - |y|^2, with both sides divided by the same number."""

    sum_of_words = staticmethod(squares_of_words)

    def __init__(self, queries: Rows, items: Rows, resources: Resources) -> None:
        sides: tuple[Rows, ...] = (queries,) if queries is items else (queries, items)
        center = b""
        if (differences := centered(sides, resources.keep_bytes, resources.threads)) is not None:
            sides, center = differences[0], differences[1].tobytes()
        whole = as_integers(*sides, per_row=False, threads=resources.threads)
        integers = whole is not None and self.fit(whole[0], whole[-1], FLOAT64)
        divided = whole if whole is not None and integers else share_divisor(*sides)
        queries, items = divided[0], divided[-1]
        super().__init__(queries, items, integers, False, self.fit(queries, items, FLOAT32))
        divisor = float(self.items.divisor[0])
        own = KeyScale.of(integers, divisor, divisor)
        self.scale = KeyScale((*own.kind, center), own.exponent)  # keys depend on the center
        self.square_error = 4 * bounds.norm(items.dimensions)  # relative, of the squared norms
        self.choose_tiles(resources)

    @staticmethod
    def fit(queries: Rows, items: Rows, dtype: np.dtype[Any]) -> bool:
        """Whether 2 x.y - |y|^2 of these integers is exact in `dtype`."""
        largest = items.norm.max() * (2 * queries.norm.max() + items.norm.max())
        return bool(largest * bounds.SAFETY <= bounds.EXACT_INTEGERS[dtype])

    def level_offset(self) -> FloatArray | None:
        """Return zeros: the distance itself is the number of bits that differ."""
        return None if self.bits is None else np.zeros(len(self.items))

    def make_form(self) -> NearnessForm:
        """Return how a tile of inner products is converted to nearness: 2 x.y - |y|^2."""
        form = super().make_form()
        return form._replace(factor=2 * form.factor, shift=self.items.square.astype(self.tile_type))

    def error(self) -> Error:
        """Return twice the error of the product, plus the error of the squared norm."""
        if self.integers:
            return self.make_error()
        square = self.items.square
        # Rounding |y|^2 and the difference to the tile's type adds at most 2 u (2 |x| |y| + |y|^2).
        rounding = 4 * bounds.UNIT_ROUNDOFF[self.tile_type]
        error = 2 * self.product_errors + rounding
        underflow = 2 * bounds.underflow(self.items.dimensions, self.tile_type)
        return self.make_error(
            relative=bounds.ARITHMETIC,
            row=error * bounds.SAFETY * self.queries.norm,
            column=self.items.norm,
            constant=square * (self.square_error + rounding) + underflow,
        )

    def keys(self, rows: IntArray, columns: IntArray) -> Intervals:
        """The nearness 2 x.y - |y|^2 in float64, and bounds on its errors."""
        square = self.items.square[columns]
        keys = 2 * inner_products(self.queries, self.items, rows, columns) - square
        if self.integers:
            return keys, np.zeros(len(keys))
        lengths = self.queries.norm[rows] * self.items.norm[columns]
        error = 2 * self.pair_error * bounds.SAFETY * lengths
        error += square * self.square_error + 2 * bounds.underflow(self.items.dimensions, FLOAT64)
        return keys, error + bounds.ARITHMETIC * np.abs(keys)

    def keys_of_batch(self, exact: ExactRows, batch: PairBatch) -> Digits:
        """Return 2 x.y - |y|^2 of rows minus the common row, which changes no distance."""
        sums = batch.sums(slices.dots(*batch), 2, slices.nothing(batch.x), -slices.squares(batch.y))
        return exact.digits(sums)


class SquaredEuclideanGauge(SpaceGauge):
    """The squared Euclidean distance: values and keys are |x|^2 + |y|^2 - 2 x.y."""

    space: Euclidean

    def __init__(self, space: Euclidean) -> None:
        super().__init__(space)
        divisor, _ = self.divisors()
        self.scale, self.unit = divisor**2, Fraction(2) ** (2 * space.exact_rows.base)
        first, second = self.largest_norms()
        largest = (first + second) ** 2
        self.certain = space.integers and largest <= bounds.EXACT_INTEGERS[FLOAT64]
        if not self.certain:
            # The product, the two squares, and the roundings of two sums of at most `largest` each.
            product_error = max(space.product_error, space.pair_error)
            error = 2 * product_error * first * second + space.square_error * (first**2 + second**2)
            self.absolute = (error + 8 * bounds.UNIT_ROUNDOFF[FLOAT64] * largest) * bounds.SAFETY
            self.absolute += 4 * bounds.underflow(space.items.dimensions, FLOAT64)

    @staticmethod
    def sums(exact: ExactRows, batch: PairBatch) -> Sums:
        """|x - y|^2 = |a|^2 + |b|^2 - 2 a.b."""
        return batch.sums(slices.dots(*batch), -2, slices.squares(batch.x), slices.squares(batch.y))

    def values(self, rows: slice | IntArray, columns: slice | IntArray) -> FloatArray:
        """|x|^2 + |y|^2 - 2 x.y of divided rows."""
        values = self.space.tile(rows, columns).astype(np.float64, copy=False)
        values *= -2
        values += self.space.items.square[columns]
        values += self.space.queries.square[rows][:, None]
        return values

    def of_floats(self, rows: IntArray, columns: IntArray) -> tuple[Pair, FloatArray] | None:
        """The squares of differences; every summand is positive, so the error is relative."""
        sides = self.space.queries, self.space.items
        if not are_direct(*sides):
            return None
        number = of_pairs(twofold_squares, sides, rows, columns)
        return number, sum_error(SUMMANDS * self.space.items.dimensions) * number.hi

    def values_of_pairs(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return |x|^2 + |y|^2 - 2 x.y of pairs of divided rows."""
        return super().values_of_pairs(rows, columns) + self.space.queries.square[rows]

    def distance_range(self, rows: IntArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return |x|^2 minus the keys, which are 2 x.y - |y|^2."""
        square, scale = self.space.queries.square[rows], float(self.scale)
        both = np.maximum(square - high, 0.0), np.maximum(square - low, 0.0)
        least, most = widened(*both, self.error_of_squares(square))
        return np.maximum(least, 0.0) * scale, most * scale

    def key_range(self, rows: IntArray, distances: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return |x|^2 minus the distances."""
        square = self.space.queries.square[rows]
        keys = square - distances / float(self.scale)
        return widened(keys, keys, self.error_of_squares(square))

    def error_of_squares(self, square: FloatArray) -> FloatArray:
        """Return the error of computed |x|^2, and of adding to them."""
        return square * (SLACK if self.space.integers else self.space.square_error + SLACK)


class EuclideanGauge(SquaredEuclideanGauge):
    """The Euclidean distance, whose keys are squares."""

    def distance_range(self, rows: IntArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the roots of the squares."""
        least, most = super().distance_range(rows, low, high)
        return widened(np.sqrt(least), np.sqrt(most))

    def key_range(self, rows: IntArray, distances: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the keys of the squares; a negative distance has the key of minus a square."""
        return super().key_range(rows, distances * np.abs(distances))

    def distance(self, key: Real, rounding: Rounding = rounded) -> float:
        """The distance of a key: its square root."""
        return rounded_of_root(Fraction(key), lambda root: root, rounding)

    def of_batch(self, exact: ExactRows, batch: PairBatch) -> tuple[Pair, FloatArray]:
        """The distances of pairs, the roots of their exact squares, and bounds of their errors."""
        return scaled(root(of_digits(exact.digits(self.sums(exact, batch)))), exact.base)

    def of_floats(self, rows: IntArray, columns: IntArray) -> tuple[Pair, FloatArray] | None:
        """The distances of pairs from float64 squares, with bounds of their errors; None if these have no bound."""
        squares = super().of_floats(rows, columns)
        if squares is None:
            return None
        number = root(squares[0])
        return number, sum_error(SUMMANDS * self.space.items.dimensions) * number.hi

    def key_of(self, distance: Fraction) -> Fraction:
        """Return the square; a negative distance gets a key below all others."""
        return distance**2 if distance >= 0 else Fraction(-1)

    def is_closer(self, near: Fraction, far: Fraction, epsilon: Fraction) -> bool:
        """Compare the roots of the keys."""
        return root_is_less(far, near, epsilon)

    def curve(self) -> Curve:
        """The root, in units of the divisor."""
        return curve(ROOT, self.divisors()[0])

    def sharp_curve(self) -> Curve:
        """The root of the exact key."""
        return curve(ROOT, Fraction(2) ** self.space.exact_rows.base)


EUCLIDEAN = Distance(
    meaning="sqrt(sum (x - y)^2)",
    space=Euclidean,
    gauge=EuclideanGauge,
    extent=lambda first, second, dimensions: math.sqrt(dimensions) * (first + second),
    sparse=True,
    other_names=("l2", "euclid"),
)

SQEUCLIDEAN = Distance(
    meaning="sum (x - y)^2, the same order as euclidean",
    space=Euclidean,
    gauge=SquaredEuclideanGauge,
    extent=lambda first, second, dimensions: dimensions * (first + second) * (first + second),
    sparse=True,
    other_names=("l2sq", "squared_l2", "squared_euclidean"),
)
