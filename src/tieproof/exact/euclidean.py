"""Euclidean distance, squared or not: the order of |y|^2 - 2 x.y, smaller is nearer; |x|^2 is common."""

import numpy as np

from tieproof.exact import bounds, slices
from tieproof.exact.inner import FLOAT64, InnerSpace, fits
from tieproof.exact.pairs import inner_products
from tieproof.exact.rows import FloatArray, IntArray, Rows, as_integers, share_divisor
from tieproof.exact.slices import ObjectArray, Slices
from tieproof.exact.space import Form, Resources, make_form


class Euclidean(InnerSpace):
    """Keys: 2 x.y - |y|^2, both sides divided by the same number."""

    def __init__(self, queries: Rows, items: Rows, resources: Resources) -> None:
        sides = (queries,) if queries is items else (queries, items)
        found = as_integers(*sides, per_row=False)
        integers = found is not None and self.exact_keys_fit(found[0], found[-1])
        divided = found if found is not None and integers else share_divisor(*sides)
        super().__init__(divided[0], divided[-1], integers, False, resources)

    @staticmethod
    def exact_keys_fit(queries: Rows, items: Rows) -> bool:
        """Whether 2 x.y - |y|^2 of these integers is exact in float64."""
        largest = items.norm.max() * (2 * queries.norm.max() + items.norm.max())
        return bool(fits(queries, items, FLOAT64) and largest * bounds.SAFETY <= bounds.EXACT_INTEGERS[FLOAT64])

    def form(self, rows: slice, columns: slice) -> Form:
        """Twice the error of the product, and that of the squared norm."""
        square = self.items.square[columns]
        if self.integers:
            return make_form(rows, columns, scale=2.0, offset=-square)
        error = 2 * bounds.inner_product(self.items.dimensions, self.dtype) * bounds.SAFETY
        underflow = 2 * bounds.underflow(self.items.dimensions, self.dtype)
        return make_form(
            rows,
            columns,
            scale=2.0,
            offset=-square,
            relative=bounds.ARITHMETIC,
            row=error * self.queries.norm[rows],
            column=self.items.norm[columns],
            constant=square * self.square_error + underflow,
        )

    @property
    def square_error(self) -> float:
        """Relative error of the squared norms."""
        return 4 * bounds.norm(self.items.dimensions)

    def keys(self, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """The key in float64."""
        square = self.items.square[columns]
        keys = 2 * inner_products(self.queries, self.items, rows, columns) - square
        if self.integers:
            return keys, np.zeros(len(keys))
        lengths = self.queries.norm[rows] * self.items.norm[columns]
        error = 2 * bounds.inner_product(self.items.dimensions, FLOAT64) * bounds.SAFETY * lengths
        error += square * self.square_error + 2 * bounds.underflow(self.items.dimensions, FLOAT64)
        return keys, error + bounds.ARITHMETIC * np.abs(keys)

    def integer_keys(self, dots: ObjectArray, columns: Slices) -> list[int]:
        """2 x.y - |y|^2."""
        squares = slices.squares(columns, self.items.dimensions, len(dots))
        return [2 * int(s) - int(n) for s, n in zip(dots, squares, strict=True)]
