"""City-block distance: the sum of |x - y|, smaller is nearer."""

from fractions import Fraction
from typing import Any

import numpy as np

from tieproof.distances import Distance
from tieproof.distances.exact import bounds, slices, words
from tieproof.distances.exact.bounds import Intervals, city_block_distances
from tieproof.distances.exact.reals import Digits, Sums
from tieproof.distances.exact.rows import Rows, as_integers, share_divisor
from tieproof.distances.exact.slices import ExactRows, PairBatch
from tieproof.distances.gauge import SpaceGauge
from tieproof.distances.space import FLOAT32, FLOAT64, Entries, Error, KeyScale, Resources, Space
from tieproof.native.calls import Output, native
from tieproof.ties import Array, IntArray

LARGEST_RELATIVE = 0.25  # of float32; beyond it, at millions of dimensions, float64 is used


@native
def city_block_tile(x: Array, y: Array, out: Output[Array]) -> None:
    """out[i, j] = - sum over d of |x[i, d] - y[j, d]|, summed in the order of d."""


class CityBlock(Space):
    """Keys: minus the distance, both sides divided by the same number."""

    sum_of_words = staticmethod(words.distances_of_words)

    def __init__(self, queries: Rows, items: Rows, resources: Resources) -> None:
        sides = (queries,) if queries is items else (queries, items)
        whole = as_integers(*sides, per_row=False, threads=resources.threads)
        largest = (
            np.inf
            if whole is None
            else items.dimensions * sum((side.largest / side.divisor).max() for side in (whole[0], whole[-1]))
        )
        self.integers = bool(largest <= bounds.EXACT_INTEGERS[FLOAT64])
        divided = whole if whole is not None and self.integers else share_divisor(*sides)
        self.queries, self.items = divided[0], divided[-1]
        self.scale = KeyScale.of(self.integers, float(self.items.divisor[0]))
        if self.integers:
            self.in_float32 = bool(largest <= bounds.EXACT_INTEGERS[FLOAT32])
        else:
            # The bound is relative to the distance, so the entries must be exact in the type of the tile.
            self.in_float32 = all(side.exact_in_float32 for side in divided)
            self.in_float32 &= bounds.sum_of_distances(items.dimensions, FLOAT32) < LARGEST_RELATIVE
        self.resources = resources
        self.largest_sum = 2 ** (words.bits_of_differences(self.exact_rows) + items.dimensions.bit_length())
        self.choose_tiles(resources)

    def choose_tiles(self, resources: Resources) -> None:
        """Choose the type of the tiles."""
        self.resources = resources
        wanted = FLOAT32 if self.integers else resources.dtype
        self.tile_type = wanted if self.in_float32 else FLOAT64
        self.prepare_rows()
        self.describe_tiles()

    def tile(self, rows: slice | IntArray, columns: slice | IntArray) -> Entries:
        """Return minus the distances of prepared rows."""
        queries, items = self.prepared
        x, y = queries[rows], items[columns]
        out = np.empty((len(x), len(y)), dtype=self.tile_type)
        city_block_tile(x, y, out)
        return out

    def inexact(self, dtype: np.dtype[Any]) -> tuple[float, float]:
        """Relative and absolute error of a computed distance; 0 if all sums of differences are exact."""
        if self.largest_sum <= bounds.EXACT_INTEGERS[dtype]:
            return 0.0, 0.0
        absolute = bounds.underflow(self.items.dimensions, dtype)
        if not (self.queries.exact_in_float64 and self.items.exact_in_float64):
            # Integers beyond 53 bits are rounded before the subtraction; entries are below 2.
            absolute += 8 * self.items.dimensions * bounds.UNIT_ROUNDOFF[FLOAT64]
        return bounds.sum_of_distances(self.items.dimensions, dtype) * bounds.SAFETY, absolute

    def error(self) -> Error:
        """An error in proportion to the distance."""
        if self.integers:
            return self.make_error()
        relative, absolute = self.inexact(self.tile_type)
        return self.make_error(relative=relative, constant=absolute)

    def keys(self, rows: IntArray, columns: IntArray) -> Intervals:
        """Minus the distance in float64."""
        distances = city_block_distances(self.queries, self.items, rows, columns)
        if self.integers:
            return -distances, np.zeros(len(distances))
        relative, absolute = self.inexact(FLOAT64)
        return -distances, relative * distances + absolute

    def keys_of_batch(self, exact: ExactRows, batch: PairBatch) -> Digits:
        """Digits of minus the distance in units of 2^base."""
        return exact.digits(-slices.distances(*batch, exact.bits))


class CityBlockGauge(SpaceGauge):
    """The city-block distance: the sum of |x - y|."""

    space: CityBlock

    def __init__(self, space: CityBlock) -> None:
        super().__init__(space)
        self.scale, _ = self.divisors()
        self.unit = Fraction(2) ** space.exact_rows.base
        self.certain = space.integers
        if not space.integers:
            self.relative, self.absolute = space.inexact(FLOAT64)

    @staticmethod
    def sums(exact: ExactRows, batch: PairBatch) -> Sums:
        """The exact sum of |x - y| of each pair of a batch."""
        return slices.distances(*batch, exact.bits)


CITYBLOCK = Distance(
    meaning="sum |x - y|", space=CityBlock, gauge=CityBlockGauge, other_names=("l1", "manhattan", "taxicab")
)
