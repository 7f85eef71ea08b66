"""Dot product: x.y, larger is nearer; and what distances share that are made of inner products."""

from fractions import Fraction
from typing import Any

import numpy as np

from tieproof.distances import Distance
from tieproof.distances.exact import bounds, slices
from tieproof.distances.exact.bounds import Intervals
from tieproof.distances.exact.reals import Digits, Sums
from tieproof.distances.exact.rows import Rows, as_integers, share_divisor
from tieproof.distances.exact.slices import ExactRows, PairBatch
from tieproof.distances.exact.terms import inner_products
from tieproof.distances.exact.twofold import Pair, are_direct, of_pairs, sum_error, twofold_products
from tieproof.distances.exact.words import products_of_words
from tieproof.distances.gauge import SpaceGauge
from tieproof.distances.inner_space import InnerSpace
from tieproof.distances.near_duplicates import by_dot
from tieproof.distances.space import FLOAT32, FLOAT64, Error, KeyScale, Resources
from tieproof.ties import FloatArray, IntArray


def fits(queries: Rows, items: Rows, dtype: np.dtype[Any]) -> bool:
    """Whether every sum of products of these integers, in any order, is exact in `dtype`: |x| |y| bounds it."""
    return bool(queries.norm.max() * items.norm.max() * bounds.SAFETY <= bounds.EXACT_INTEGERS[dtype])


def minus_products(exact: ExactRows, batch: PairBatch) -> Sums:
    """- x.y, which is - (a.b + a.c + b.c + c.c)."""
    a_with_c, b_with_c, c_with_c = (
        slices.dots_with(side, exact.center_slices) for side in (batch.x, batch.y, exact.center_slices)
    )
    of_row = -slices.added(a_with_c, c_with_c)
    return batch.sums(slices.dots(*batch), -1, of_row, -b_with_c)


class Dot(InnerSpace):
    """Keys: x.y, with each side divided by a number, which changes no order."""

    of_near_duplicates = by_dot
    sum_of_words = staticmethod(products_of_words)

    def __init__(self, queries: Rows, items: Rows, resources: Resources) -> None:
        symmetric = queries is items
        sides = (queries,) if symmetric else (queries, items)
        whole = [as_integers(side, per_row=False, threads=resources.threads) for side in sides]
        integer_sides = [side[0] for side in whole if side is not None]
        integers = len(integer_sides) == len(whole) and fits(integer_sides[0], integer_sides[-1], FLOAT64)
        if integers:
            queries, items = integer_sides[0], integer_sides[-1]
        else:
            (shared,) = share_divisor(queries)
            queries, items = shared, shared if symmetric else share_divisor(items)[0]
        super().__init__(queries, items, integers, False, fits(queries, items, FLOAT32))
        self.scale = KeyScale.of(integers, float(queries.divisor[0]), float(items.divisor[0]))
        self.choose_tiles(resources)

    def error(self) -> Error:
        """An error in proportion to both norms."""
        if self.integers:
            return self.make_error()
        if self.relative and self.codes is None:
            error = self.product_error * bounds.SAFETY
            return self.make_error(relative=error / (1 - error))
        return self.make_error(
            relative=bounds.ARITHMETIC,
            row=self.product_errors * bounds.SAFETY * self.queries.norm,
            column=self.items.norm,
            constant=bounds.underflow(self.items.dimensions, self.tile_type),
        )

    def keys(self, rows: IntArray, columns: IntArray) -> Intervals:
        """The inner products in float64, and bounds on their errors."""
        keys = inner_products(self.queries, self.items, rows, columns)
        if self.integers:
            return keys, np.zeros(len(keys))
        error = self.pair_error * bounds.SAFETY
        if self.relative:
            return keys, error / (1 - error) * keys
        lengths = self.queries.norm[rows] * self.items.norm[columns]
        errors = error * lengths + bounds.underflow(self.items.dimensions, FLOAT64)
        return keys, np.where(self.share_nothing(keys), 0.0, errors)

    def keys_of_batch(self, exact: ExactRows, batch: PairBatch) -> Digits:
        """Return x.(y - c), where c is the common row: x.c is the same for all items."""
        b_with_c = slices.dots_with(batch.y, exact.center_slices)
        return exact.digits(batch.sums(slices.dots(*batch), 1, slices.nothing(batch.x), b_with_c))


class DotGauge(SpaceGauge):
    """Minus the inner product; values are in units of the divisors of the rows."""

    space: Dot
    sums = staticmethod(minus_products)

    def __init__(self, space: Dot) -> None:
        super().__init__(space)
        of_queries, of_items = self.divisors()
        self.scale, self.unit = of_queries * of_items, Fraction(2) ** (2 * space.exact_rows.base)
        self.certain = space.integers
        if not space.integers:
            error = max(space.product_error, space.pair_error) * bounds.SAFETY
            if space.relative:
                self.relative = error / (1 - error)
            else:
                largest, other = self.largest_norms()
                self.absolute = error * largest * other + bounds.underflow(space.items.dimensions, FLOAT64)

    def of_floats(self, rows: IntArray, columns: IntArray) -> tuple[Pair, FloatArray] | None:
        """Minus the products of floats."""
        queries, items = self.space.queries, self.space.items
        if not are_direct(queries, items):
            return None
        norms = queries.norm[rows] * queries.divisor[rows] * (items.norm[columns] * items.divisor[columns])
        number = -of_pairs(twofold_products, (queries, items), rows, columns)
        return number, sum_error(items.dimensions) * bounds.SAFETY * norms


DOT = Distance(
    meaning="x.y, larger is nearer",
    space=Dot,
    gauge=DotGauge,
    extent=lambda first, second, dimensions: dimensions * first * second,
    sparse=True,
    other_names=("ip", "inner_product", "dot_product"),
)
