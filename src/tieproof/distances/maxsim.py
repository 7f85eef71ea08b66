"""Late interaction: the sum over a query's vectors of the largest dot product with a vector of the item, or its mean.

Sum and mean rank alike, because a query divides all of its sums by one number. Products are those of a space of
vectors, whose rows are the vectors of items and whose columns those of queries.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, repeat
from typing import Any

import numpy as np

from tieproof.distances import Distance
from tieproof.distances.codes import CodedTile
from tieproof.distances.dot import Dot, minus_products
from tieproof.distances.exact import bounds, reals
from tieproof.distances.exact.bounds import Intervals
from tieproof.distances.exact.reals import Digits, rounded
from tieproof.distances.exact.sets import Sets
from tieproof.distances.exact.slices import as_integers, key_batches
from tieproof.distances.gauge import LONGEST_SUM, SpaceGauge
from tieproof.distances.space import FLOAT32, FLOAT64, Entries, Error, Resources, Space
from tieproof.inputs.multi_vectors import as_multi_vectors
from tieproof.native.calls import Output, native
from tieproof.native.threads import cut, stripes
from tieproof.ties import Array, FloatArray, IntArray

VECTORS, PRODUCTS = 1024, 2**21
"""About how many vectors of items are multiplied at a time, and the most products, if memory allows (measured)."""


@native
def add_largest(entries: Array, ends: IntArray, query: IntArray, out: Output[FloatArray]) -> None:
    """Add to out[q, i], over the columns of query q, the largest entry among the rows of item i.

    ends : where the rows of each item end
    query : the query of each column
    """


@native
def add_largest_of_codes(tile: CodedTile, ends: IntArray, query: IntArray, out: Output[FloatArray]) -> None:
    """Add largest products of codes, of items as rows, as `add_largest` does."""


class MaxSim(Space):
    """Keys: the sum over the query's vectors of the largest product with a vector of the item.

    products : the space of the products of all vectors, those of items as rows
    precise : this space with float64 tiles
    """

    queries: Any  # Sets, which the engine reads like Rows
    items: Any
    pair_cost = 0.09
    symmetric = False  # the largest products of x with y are not those of y with x

    def __init__(self, queries: Sets, items: Sets, resources: Resources) -> None:
        self.queries, self.items = queries, items
        self.products = Dot(items.vectors, queries.vectors, resources)
        self.has_codes = self.products.has_codes
        norms = self.products.items.norm
        self.size = np.add.reduceat(norms, queries.starts) * bounds.SAFETY  # of a query: the sum of its norms
        self.largest_norm = np.maximum.reduceat(self.products.queries.norm, items.starts) * bounds.SAFETY
        self.largest_sum = float(self.size.max() * self.largest_norm.max())
        self.integers = self.products.integers and self.largest_sum <= bounds.EXACT_INTEGERS[FLOAT64]
        self.choose_tiles(resources)
        self.precise: Any = self.variant(FLOAT64, LONGEST_SUM)

    @property
    def zero_vectors(self) -> int:
        """The number of items that have only zeros; in leave-one-out, each item counts once."""
        own: int = self.queries.zero_vectors
        return own if self.queries.embeddings is self.items.embeddings else own + int(self.items.zero_vectors)

    def choose_tiles(self, resources: Resources) -> None:
        """Choose the tiles of products, whose largest ones are added in float64."""
        self.resources, self.products = resources, copy(self.products)
        self.products.choose_tiles(resources)
        exact = self.products.integers
        fits = self.largest_sum <= bounds.EXACT_INTEGERS[FLOAT32] if exact else resources.dtype != FLOAT64
        self.tile_type = FLOAT32 if fits else FLOAT64
        self.describe_tiles()

    def error(self) -> Error:
        """The sum of the errors of the products of a query's vectors, and of adding the largest ones (README, 15)."""
        if self.integers:
            return self.make_error()
        each, most = self.products.all_errors, int(self.queries.lengths.max())
        unit = bounds.UNIT_ROUNDOFF
        adding = 2 * unit[self.tile_type] + bounds.gamma(most + 2, unit[FLOAT64])
        if self.products.relative and not each.row.any() and not each.constant.any():
            return self.make_error(relative=(each.relative + adding) / (1 - adding) * bounds.SAFETY)
        of_products = np.maximum.reduceat(each.row, self.items.starts)
        return self.make_error(
            relative=bounds.ARITHMETIC,
            row=self.size,
            column=(of_products + (each.relative + adding) * 4 * self.largest_norm) * bounds.SAFETY,
            constant=most * float(each.constant.max()) * bounds.SAFETY,
        )

    def keep_rows(self) -> None:
        """Prepare the vectors."""
        self.products.keep_rows()

    def tile(self, rows: slice | IntArray, columns: slice | IntArray) -> Entries:
        """Return the sums of the largest products, block after block of vectors."""
        of_row, x = self.queries.vectors_of(rows)
        of_column, y = self.items.vectors_of(columns)
        out, query = np.zeros((len(of_row), len(of_column))), np.repeat(np.arange(len(of_row)), of_row)
        ends = np.cumsum(of_column)
        for some in cut(of_column, VECTORS):
            start = int(ends[some.start] - of_column[some.start])
            own_ends = ends[some] - start
            of_items = part_of(y, slice(start, int(ends[some.stop - 1])))
            if isinstance(of_items, slice) and isinstance(x, slice):
                coded = self.products.coded_tile(of_items, x)
                if coded is not None:
                    add_largest_of_codes(coded, own_ends, query, out[:, some])
                    continue
            for span in stripes(0, len(query), max(1, min(PRODUCTS, self.resources.batch) // int(own_ends[-1]))):
                add_largest(self.products.tile(of_items, part_of(x, span)), own_ends, query[span], out[:, some])
        return out.astype(self.tile_type, copy=False)

    def keys(self, rows: IntArray, columns: IntArray) -> Intervals:
        """The sums in float64, and bounds on their errors."""
        keys, error = np.empty(len(rows)), self.precise.all_errors
        for row, places in self.by_row(rows, columns):
            keys[places] = self.precise.tile(row, columns[places])[0]
        bound = error.relative * np.abs(keys) + error.row[rows] * error.column[columns] + error.constant[columns]
        return keys, bound

    def exact_keys(self, rows: IntArray, columns: IntArray) -> Digits:
        """The digits of the exact sums, of products in units of the exact rows of `products`."""
        length = reals.digit_count(self.products.exact_rows.product_bits)
        sums = np.empty((len(rows), length), dtype=np.int64)
        for row, places in self.by_row(rows, columns):
            sums[places] = self.largest_products(row, columns[places])[:, ::-1]
        keys = np.empty((len(rows), length + 2), dtype=np.int64)
        reals.of_sums(sums, reals.DIGIT, keys)  # sums of digits, with carries
        return keys

    def by_row(self, rows: IntArray, columns: IntArray) -> Iterator[tuple[slice, IntArray]]:
        """Yield the rows of pairs, each with the indices of some of its pairs, whose products fit into memory."""
        order = np.argsort(rows, kind="stable")
        runs = np.flatnonzero(np.diff(rows[order], prepend=-1))
        for start, stop in pairwise([*runs, len(order)]):
            row, own = int(rows[order[start]]), order[start:stop]
            most = max(1, self.resources.batch // 8 // int(self.queries.lengths[row]))
            for part in cut(self.items.lengths[columns[own]], most):
                yield slice(row, row + 1), own[part]

    def largest_products(self, row: slice, columns: IntArray) -> IntArray:
        """Return for each item the sum, digit by digit, of the exact largest products of a query's vectors.

        Only products whose float64 intervals reach the largest lower end are computed exactly.
        """
        products: Dot = self.precise.products
        count, x = self.queries.vectors_of(row)
        length, y = self.items.vectors_of(columns)
        starts = np.cumsum(length) - length
        values = products.tile(y, x)
        error = products.all_errors.part(y, x)
        bound = error.relative * np.abs(values) + error.row[:, None] * error.column + error.constant
        lowest = np.maximum.reduceat(values - bound, starts, axis=0)
        vector, column = np.nonzero(values + bound >= np.repeat(lowest, length, axis=0))
        sought = np.repeat(np.arange(len(columns)), length)[vector] * count[0] + column
        order = np.argsort(sought, kind="stable")
        exact = products.exact_rows
        pairs = y[vector[order]], x.start + column[order]
        digits = np.concatenate([exact.digits(-minus_products(exact, each)) for each in key_batches(exact, *pairs)])
        largest = largest_digits(digits, np.flatnonzero(np.diff(sought[order], prepend=-1)))
        return np.asarray(largest.reshape(len(columns), int(count[0]), -1).sum(axis=1))


def part_of(rows: slice | IntArray, span: slice) -> slice | IntArray:
    """Return some of the rows."""
    return slice(rows.start + span.start, rows.start + span.stop) if isinstance(rows, slice) else rows[span]


def largest_digits(digits: Digits, starts: IntArray) -> Digits:
    """The digits of the largest number of each run of consecutive numbers."""
    length = np.diff(np.append(starts, len(digits)))
    largest, alive = np.empty((len(starts), digits.shape[1]), dtype=np.int64), np.ones(len(digits), dtype=np.bool_)
    for place, digit in enumerate(digits.T):
        largest[:, place] = np.maximum.reduceat(np.where(alive, digit, np.iinfo(np.int64).min), starts)
        alive &= digit == np.repeat(largest[:, place], length)
    return largest


class MaxSimGauge(SpaceGauge):
    """Minus the sum of the largest products."""

    space: MaxSim
    mean = False  # over the query's vectors

    def distances(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """The distances of pairs, from exact sums, each rounded once to float64."""
        unit = Fraction(2) ** (2 * self.space.products.exact_rows.base)
        sums = as_integers(self.space.exact_keys(rows, columns)[:, ::-1], reals.DIGIT)
        divisors = self.space.queries.lengths[rows].tolist() if self.mean else repeat(1)
        return np.array([rounded(-number * unit / by) for number, by in zip(sums, divisors, strict=False)])


class MeanMaxSimGauge(MaxSimGauge):
    """Minus the mean of the largest products over the query's vectors."""

    mean = True


MAXSIM = Distance(
    meaning="the sum over x in the query of the largest x.y with y in the item, larger is nearer",
    space=MaxSim,
    gauge=MaxSimGauge,
    several=True,
    takes=lambda values, name, bits: as_multi_vectors(values, name),
)

MEANMAXSIM = replace(MAXSIM, meaning=MAXSIM.meaning.replace("sum", "mean"), gauge=MeanMaxSimGauge)
