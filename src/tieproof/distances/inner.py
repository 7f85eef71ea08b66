"""The common base of cosine, dot and Euclidean distance, whose tiles are matrix products."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from tieproof.distances.space import (
    FLOAT32,
    FLOAT64,
    Entries,
    Resources,
    Space,
)
from tieproof.exact import bounds, reals, slices
from tieproof.exact.reals import Digits, Sums
from tieproof.exact.rows import Rows
from tieproof.exact.slices import Batch, ExactRows
from tieproof.ties import IntArray

NO_UNDERFLOW = 2.0**-60
"""Products of two magnitudes of at least this size do not underflow, in float32 and in float64."""


class InnerSpace(Space):
    """A distance whose key is a function of the inner product and of the norms."""

    def __init__(
        self,
        queries: Rows,
        items: Rows,
        integers: bool,
        normalise: bool,
        resources: Resources,
        fit: Callable[[Rows, Rows, np.dtype[Any]], bool] | None = None,
    ) -> None:
        self.queries, self.items, self.integers = queries, items, integers
        self.resources = resources
        self.tile_type = integer_type(queries, items, fit or fits) if integers else resources.dtype
        self.chunk = items.dimensions if integers else min(resources.chunk, items.dimensions)
        self.product_error = bounds.inner_product(items.dimensions, self.chunk, self.tile_type)
        self.pair_error = bounds.inner_product(items.dimensions, items.dimensions, FLOAT64)
        self.prepare_rows(normalise)
        # If no entry is negative and nothing underflows, the error is relative to the product itself (README, 2).
        self.relative = not (queries.negative or items.negative) and (
            min(smallest_ready(queries, normalise), smallest_ready(items, normalise)) >= NO_UNDERFLOW
        )

    def tile(self, rows: slice | IntArray, columns: slice | IntArray) -> Entries:
        """Return inner products of prepared rows, summed in chunks of dimensions."""
        queries, items = self.prepared
        x, y = queries[rows], items[columns]
        tile: Entries = x[:, : self.chunk] @ y[:, : self.chunk].T
        for start in range(self.chunk, x.shape[1], self.chunk):
            tile += x[:, start : start + self.chunk] @ y[:, start : start + self.chunk].T
        return tile

    def key_length(self, exact: ExactRows) -> int:
        """Return the number of digits of an exact key."""
        return reals.count(exact.product_bits)

    def exact_keys(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Digits of integers made of exact inner products."""
        exact = self.exact_rows
        batches = exact.batches(rows, columns, self.key_length(exact))
        found = [self.keys_of_batch(exact, batch) for batch in batches]
        return found[0] if len(found) == 1 else np.concatenate(found)

    @abstractmethod
    def keys_of_batch(self, exact: ExactRows, batch: Batch) -> Digits:
        """Return the exact keys of the pairs of a batch."""


def integer_type(queries: Rows, items: Rows, fit: Callable[[Rows, Rows, np.dtype[Any]], bool]) -> np.dtype[Any]:
    """Return float32, unless these integers need more bits."""
    return FLOAT32 if fit(queries, items, FLOAT32) else FLOAT64


def fits(queries: Rows, items: Rows, dtype: np.dtype[Any]) -> bool:
    """Whether every sum of products of these integers, in any order, is exact in `dtype`: |x| |y| bounds it."""
    return bool(queries.norm.max() * items.norm.max() * bounds.SAFETY <= bounds.EXACT_INTEGERS[dtype])


def smallest_ready(rows: Rows, normalise: bool) -> float:
    """Return the smallest nonzero magnitude in the rows prepared for tiles."""
    ready = rows.smallest / rows.divisor
    return float((ready / np.where(rows.norm > 0, rows.norm, 1.0) if normalise else ready).min())


def minus_products(exact: ExactRows, batch: Batch) -> Sums:
    """- x.y, which is - (a.b + a.c + b.c + c.c)."""
    a_with_c, b_with_c, c_with_c = (
        slices.dots_with(side, exact.centre_slices) for side in (batch.x, batch.y, exact.centre_slices)
    )
    of_row = -slices.added(a_with_c, c_with_c)
    return batch.sums(slices.dots(*batch), -1, of_row, -b_with_c)
