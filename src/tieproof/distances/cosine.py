"""Cosine similarity: x.y / (|x| |y|), larger is nearer; a zero vector has similarity 0 to everything."""

import numpy as np

from tieproof.distances import sines
from tieproof.distances.inner import FLOAT64, InnerSpace, fits
from tieproof.distances.space import (
    Error,
    Form,
    Resources,
    make_error,
)
from tieproof.exact import bounds
from tieproof.exact.digits import Digits
from tieproof.exact.exact_rows import Batch
from tieproof.exact.pairs import inner_products
from tieproof.exact.rows import FloatArray, IntArray, Rows, as_integers

RATIO_EXACT = 2.0**50
"""Where s^2 n stays below it, the rounded quotients s |s| / n keep distinct values apart (README, 4)."""


class Cosine(InnerSpace):
    """Keys: integers s, n give sign(s) s^2 / n with s = x.y and n = |y|^2; else the similarity itself."""

    def __init__(self, queries: Rows, items: Rows, resources: Resources) -> None:
        sides = (queries,) if queries is items else (queries, items)
        found = as_integers(*sides, per_row=True)
        integers = found is not None and fits(found[0], found[-1], FLOAT64)
        if found is not None and integers:
            queries, items = found[0], found[-1]
        super().__init__(queries, items, integers, not integers, resources)
        self.ratio = False
        if integers:
            self.ratio_of = np.maximum(items.square, 1.0)  # a zero vector has s = 0, whatever it is divided by
            norms = items.square[items.square > 0]
            self.ratio = bool(len(norms) and norms.min() < norms.max())
            largest = queries.square.max() * items.square.max() ** 2
            self.ratio_error = 0.0 if largest <= RATIO_EXACT else bounds.ARITHMETIC
        self.describe_tiles()

    def make_form(self) -> Form:
        """The similarity as it is; of integers whose norms differ, s / |y|."""
        form = super().make_form()
        if not self.ratio:
            return form
        return form._replace(
            factor=(1 / np.sqrt(self.ratio_of)).astype(self.dtype), square=self.ratio_of, ratio=True, whole=False
        )

    def error(self, rows: slice, columns: slice) -> Error:
        """One error for all pairs of vectors that are not zero; mostly none for integers."""
        if self.integers:
            return make_error(rows, columns, relative=self.ratio_error if self.ratio else 0.0)
        error = self.product_error + self.norm_error
        if self.relative:
            return make_error(rows, columns, relative=error / (1 - error))
        error += bounds.underflow(self.items.dimensions, self.dtype)
        return make_error(
            rows,
            columns,
            relative=bounds.ARITHMETIC,
            row=error * (self.queries.norm[rows] > 0),
            column=(self.items.norm[columns] > 0).astype(np.float64),
        )

    @property
    def norm_error(self) -> float:
        """What the two computed norms add, relative to the similarity."""
        return 2 * bounds.norm(self.items.dimensions)

    def keys(self, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """The similarity, or the ratio of integers."""
        products = inner_products(self.queries, self.items, rows, columns)
        if self.integers and not self.ratio:
            return products, np.zeros(len(products))
        if self.integers:
            keys = products * np.abs(products) / self.ratio_of[columns]
            return keys, np.asarray(self.ratio_error * np.abs(keys))
        lengths = self.queries.norm[rows] * self.items.norm[columns]
        keys = np.divide(products, lengths, out=np.zeros(len(rows)), where=lengths > 0)
        error = self.pair_error + self.norm_error
        if self.relative:
            return keys, error / (1 - error) * np.abs(keys)
        error += bounds.underflow(self.items.dimensions, FLOAT64)
        return keys, np.where(lengths > 0, error, 0.0)

    def sharp_keys(self, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray] | None:
        """Minus the squared sine, from exact differences."""
        if not sines.can_round(self.exact_rows):
            return None
        found = [sines.minus_squared_sines(self.exact_rows, b) for b in self.exact_rows.batches(rows, columns, 4)]
        keys, errors = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return keys, errors

    @property
    def key_length(self) -> int:
        """How many digits an exact key has, which is a ratio."""
        return sines.ratio_length(self.exact_rows)

    def keys_of_batch(self, batch: Batch) -> Digits:
        """The exact keys of a batch, as digits of ratios of integers."""
        return sines.ratios(self.exact_rows, batch)
