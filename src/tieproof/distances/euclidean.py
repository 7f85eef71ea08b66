"""Euclidean distance, squared or not: the order of |y|^2 - 2 x.y, smaller is nearer; |x|^2 is common."""

from typing import Any

import numpy as np

from tieproof.distances.inner import FLOAT64, InnerSpace
from tieproof.distances.space import (
    Error,
    Form,
    Resources,
    make_error,
)
from tieproof.exact import bounds, slices
from tieproof.exact.digits import Digits
from tieproof.exact.exact_rows import Batch
from tieproof.exact.pairs import inner_products
from tieproof.exact.rows import FloatArray, IntArray, Rows, as_integers, share_divisor


class Euclidean(InnerSpace):
    """Keys: 2 x.y - |y|^2, both sides divided by the same number."""

    def __init__(self, queries: Rows, items: Rows, resources: Resources) -> None:
        sides = (queries,) if queries is items else (queries, items)
        found = as_integers(*sides, per_row=False)
        integers = found is not None and self.fit(found[0], found[-1], FLOAT64)
        divided = found if found is not None and integers else share_divisor(*sides)
        super().__init__(divided[0], divided[-1], integers, False, resources, self.fit)
        self.describe_tiles()

    @staticmethod
    def fit(queries: Rows, items: Rows, dtype: np.dtype[Any]) -> bool:
        """Whether 2 x.y - |y|^2 of these integers is exact in `dtype`."""
        largest = items.norm.max() * (2 * queries.norm.max() + items.norm.max())
        return bool(largest * bounds.SAFETY <= bounds.EXACT_INTEGERS[dtype])

    def make_form(self) -> Form:
        """How a tile of inner products becomes nearness: 2 x.y - |y|^2."""
        form = super().make_form()
        return form._replace(factor=2 * form.factor, shift=self.items.square.astype(self.dtype))

    def error(self, rows: slice, columns: slice) -> Error:
        """Twice the error of the product, and that of the squared norm."""
        if self.integers:
            return make_error(rows, columns)
        square = self.items.square[columns]
        # Rounding |y|^2 to the tile's type, and the difference: at most 2 u (2 |x| |y| + |y|^2) in all.
        rounding = 4 * bounds.UNIT_ROUNDOFF[self.dtype]
        error = 2 * self.product_error + rounding
        underflow = 2 * bounds.underflow(self.items.dimensions, self.dtype)
        return make_error(
            rows,
            columns,
            relative=bounds.ARITHMETIC,
            row=error * bounds.SAFETY * self.queries.norm[rows],
            column=self.items.norm[columns],
            constant=square * (self.square_error + rounding) + underflow,
        )

    @property
    def square_error(self) -> float:
        """Relative error of the squared norms."""
        return 4 * bounds.norm(self.items.dimensions)

    def keys(self, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """The nearness 2 x.y - |y|^2 in float64, and bounds on its errors."""
        square = self.items.square[columns]
        keys = 2 * inner_products(self.queries, self.items, rows, columns) - square
        if self.integers:
            return keys, np.zeros(len(keys))
        lengths = self.queries.norm[rows] * self.items.norm[columns]
        error = 2 * self.pair_error * bounds.SAFETY * lengths
        error += square * self.square_error + 2 * bounds.underflow(self.items.dimensions, FLOAT64)
        return keys, error + bounds.ARITHMETIC * np.abs(keys)

    def keys_of_batch(self, batch: Batch) -> Digits:
        """2 x.y - |y|^2, both less the common row, which changes no distance."""
        sums = batch.sums(slices.dots(*batch), 2, slices.nothing(batch.x), -slices.squares(batch.y))
        return self.exact_rows.digits(sums)
