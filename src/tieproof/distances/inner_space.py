"""`InnerSpace`: the common base of the distances whose tiles are products, of floats, of codes or of bits."""

from copy import copy

import numpy as np

from tieproof.distances import bits, codes, long_codes, short_sums
from tieproof.distances.bits import Bits
from tieproof.distances.codes import CodedTile, Codes
from tieproof.distances.exact import bounds
from tieproof.distances.exact.bounds import Intervals
from tieproof.distances.exact.rows import Rows
from tieproof.distances.exact.terms import products
from tieproof.distances.long_codes import LongCodes
from tieproof.distances.space import FLOAT32, FLOAT64, INT8, Entries, Resources, Space
from tieproof.ties import BoolArray, FloatArray, IntArray

NO_UNDERFLOW = 2.0**-60  # products of two magnitudes of at least this do not underflow, in float32 and in float64


class InnerSpace(Space):
    """A distance whose key is a function of the inner product and of the norms."""

    codes: tuple[Codes, Codes] | None  # of queries and items, from which tiles are computed, if any
    product_error: float  # the bound of |computed - x.y| / (|x| |y|)
    product_errors: float | FloatArray  # the same bound for each query, if tiles are computed from codes

    def __init__(self, queries: Rows, items: Rows, integers: bool, normalize: bool, in_float32: bool) -> None:
        """Prepare what all kinds of tiles share; `in_float32`: sums of products of the integers are exact there."""
        self.queries, self.items, self.integers, self.normalize = queries, items, integers, normalize
        self.integer_type = FLOAT32 if integers and in_float32 else FLOAT64
        self.has_codes = not items.sparse and items.dimensions <= codes.MOST_DIMENSIONS and codes.multiplies_codes()
        self.are_codes = integers and self.has_codes and max(_largest(queries), _largest(items)) <= codes.LARGEST_CODE
        self.each_bit = bits.two_values(queries, items) if integers and not items.sparse else None
        if items.sparse:
            self.sum_of_words = None
        self.pair_error = bounds.inner_product(items.dimensions, items.dimensions, FLOAT64)
        ready = min(_smallest_ready(queries, normalize), _smallest_ready(items, normalize))
        self.no_underflow = ready >= NO_UNDERFLOW
        # If no entry is negative and nothing underflows, the error is relative to the product itself (README, 2).
        self.relative = not (queries.negative or items.negative) and self.no_underflow

    def choose_tiles(self, resources: Resources) -> None:
        """Choose the type of the products, and how many dimensions are summed at a time."""
        self.resources, self.bits, self.codes, self.finer = resources, None, None, None
        if self.each_bit is not None:
            self.choose_bits()
        elif self.are_codes or (resources.dtype == INT8 and not self.integers):
            self.choose_codes()
        elif resources.dtype in long_codes.SLICES and not self.integers:
            self.choose_long_codes()
        else:
            self.tile_type = self.integer_type if self.integers else resources.dtype
            self.chunk = (
                self.items.dimensions
                if self.integers or self.items.sparse
                else min(resources.chunk, self.items.dimensions)
            )
            self.product_errors = bounds.inner_product(self.items.dimensions, self.chunk, self.tile_type)
            self.product_error = self.product_errors
            self.prepare_rows(self.normalize)
        self.describe_tiles()
        self.zeros_tie = self.items.sparse and self.no_underflow and not self.form.shift.any()

    def choose_bits(self) -> None:
        """Compute tiles from the bits of rows of two values."""
        self.tile_type, self.prepared, self.product_error, self.product_errors = self.integer_type, (), 0.0, 0.0
        own = self.resources
        self.bits = self.of_sides(lambda rows: Bits(rows, self.tile_type, own.keep_bytes, own.threads))

    def choose_codes(self) -> None:
        """Compute tiles from codes, exactly if the rows are integers."""
        self.tile_type, self.prepared = self.integer_type if self.integers else FLOAT32, ()
        kinds, own = (self.tile_type, self.normalize, self.integers), self.resources
        self.codes = self.of_sides(lambda rows: Codes(rows, *kinds, own.keep_bytes, own.threads))
        self.product_errors = codes.product_errors(*self.codes)
        self.product_error = float(self.product_errors.max())
        if not self.integers and all(side.keeps for side in self.codes):
            finer = copy(self)
            finer.tile_type, finer.product_errors = FLOAT64, codes.product_errors(*self.codes, finer=True)
            finer.describe_tiles()
            self.finer = finer

    def choose_long_codes(self) -> None:
        """Compute tiles from several codes of each number."""
        own, self.prepared = self.resources, ()
        slices, self.tile_type = long_codes.SLICES[own.dtype]
        kinds = self.tile_type, self.normalize, slices
        self.codes = self.of_sides(lambda rows: LongCodes(rows, *kinds, own.keep_bytes, own.threads))
        self.product_errors = codes.product_errors(*self.codes)
        self.product_error = float(self.product_errors.max())

    def level_offset(self) -> FloatArray | None:
        """Return minus the squared norms of bits, since x.y = (|x|^2 + |y|^2 - |x - y|^2) / 2."""
        return None if self.bits is None else -self.items.square

    def keep_rows(self) -> None:
        """Prepare the rows, their bits or their codes."""
        super().keep_rows()
        for prepared in (self.bits, self.codes):
            if prepared is not None:
                queries, items = prepared
                items.keep(in_blocks=True)
                queries.keep(in_blocks=False)

    def tile(self, rows: slice | IntArray, columns: slice | IntArray) -> Entries:
        """Return inner products of prepared rows, summed in chunks of dimensions, or products of bits or codes."""
        if self.bits is not None and self.each_bit is not None:
            return bits.product(*self.bits, self.each_bit, rows, columns)
        if self.codes is not None:
            return codes.product(*self.codes, rows, columns)
        queries, items = self.prepared
        if self.items.sparse:
            return products(queries[rows], items[columns], self.items.embeddings.shape[1])
        x, y = queries[rows], items[columns]
        if self.tile_type == FLOAT32 and self.resources.chunk == short_sums.SUMMED and short_sums.sums_by_vectors():
            return short_sums.product(x, y)
        tile: Entries = x[:, : self.chunk] @ y[:, : self.chunk].T
        for start in range(self.chunk, x.shape[1], self.chunk):
            tile += x[:, start : start + self.chunk] @ y[:, start : start + self.chunk].T
        return tile

    def share_nothing(self, products: FloatArray) -> BoolArray:
        """Return which `inner_products` are those of sparse rows that share no term, and so exactly 0."""
        return np.asarray((products == 0) & np.signbit(products) & self.items.sparse)

    def coded_tile(self, rows: slice, columns: slice) -> CodedTile | None:
        """Return the codes of some rows."""
        if self.codes is None or self.codes[0].multiplied > 1:
            return None
        return codes.coded_tile(*self.codes, rows, columns)

    def quick_keys(self, rows: IntArray, columns: IntArray) -> Intervals | None:
        """Return keys from codes and finer codes."""
        if self.codes is None or self.finer is None:
            return None
        keys = codes.products_of_pairs(*self.codes, rows, columns)
        form, error = self.finer.form, self.finer.all_errors
        if not self.finer.entries_are_nearness:
            keys *= form.factor[columns]
            keys -= form.shift[columns]
        bound = error.row[rows] * error.column[columns] + error.constant[columns]
        return keys, bound + error.relative * np.abs(keys)


def _largest(rows: Rows) -> float:
    """Return the largest magnitude in the divided rows."""
    return float((rows.largest / rows.divisor).max())


def _smallest_ready(rows: Rows, normalize: bool) -> float:
    """Return the smallest nonzero magnitude in the rows prepared for tiles."""
    ready = rows.smallest / rows.divisor
    return float((ready / np.where(rows.norm > 0, rows.norm, 1.0) if normalize else ready).min())
