"""`Gauge`: distances that pairs of different queries share one scale for, from a float64 block down to exact numbers.

A space ranks the items of one query, and leaves out what all of them have in common. Where pairs of all queries are
compared, where distances are rounded, or where their differences count, a gauge adds it.

Larger is farther. A value is off by at most absolute + relative |value|; where both are zero (`certain`) values have
exactly the order and the ties of the distances.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from tieproof.distances.curves import LINEAR, Curve, curve
from tieproof.distances.space import FLOAT64, Entries, Resources, Space
from tieproof.exact import bounds, pair_keys
from tieproof.exact.digits import Sums
from tieproof.exact.reals import Real, Rounding, rounded
from tieproof.exact.slices import Batch, ExactRows
from tieproof.ties import FloatArray, IntArray

NEAR = 2.0**-50
"""Relative error of `Gauge.near`, and of what is computed with it."""


LONGEST_SUM = 2**16
"""Dimensions of a product that are summed up at once, so that its bound never runs out."""

CHUNK_PAIRS = 2**14
"""Pairs whose exact keys, Python numbers of some hundred bytes each, are held at a time."""

LARGEST_STRIPE = 512
"""Queries at a time; more would not make the product faster."""

COLUMNS = 2048
"""Item rows that are made ready at a time."""


def resources_of_gauge(keep_bytes: int) -> Resources:
    """What the space of a gauge is granted: values are float64 whatever they cost."""
    return Resources(keep_bytes=keep_bytes, dtype=FLOAT64, chunk=LONGEST_SUM)


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

    def parts(self, columns: slice) -> Iterator[slice]:
        """The columns that are looked at at a time."""
        step = columns.stop - columns.start if self.stripe_rows else COLUMNS
        for start in range(columns.start, columns.stop, step):
            yield slice(start, min(start + step, columns.stop))

    def wide_values(self, rows: slice, columns: slice) -> FloatArray:
        """The values of any number of columns, part by part."""
        values = np.empty((rows.stop - rows.start, columns.stop - columns.start))
        for part in self.parts(columns):
            values[:, part.start - columns.start : part.stop - columns.start] = self.values(rows, part)
        return values

    @abstractmethod
    def exact(self, values: FloatArray, rows: IntArray, columns: IntArray) -> list[Any]:
        """The exact keys of the pairs (rows[i], columns[i]), whose values are given."""

    def exact_by_part(
        self, values: FloatArray, rows: IntArray, columns: IntArray
    ) -> Iterator[tuple[slice, list[Any]]]:
        """The exact keys of any number of pairs, some at a time."""
        for start in range(0, len(values), CHUNK_PAIRS):
            some = slice(start, start + CHUNK_PAIRS)
            yield some, self.exact(values[some], rows[some], columns[some])

    @abstractmethod
    def near(self, key: Real) -> float:
        """The value that belongs to a key, up to a relative `NEAR`."""

    def sharp(self, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray] | None:
        """Exact keys of pairs rounded to float64, with errors relative to the keys; None: not to be had.

        They may be on a scale of their own (`sharp_curve`), where pairs that are close to each other are small.
        """
        return None

    def distance(self, key: Real, rounding: Rounding = rounded) -> float:
        """The distance that belongs to a key, rounded once: to float64 unless `rounding` rounds otherwise."""
        return rounding(key)

    def key_of(self, distance: Fraction) -> Fraction:
        """The key of a distance, so that keys at or beyond it are those of distances at or beyond."""
        return distance

    def digits(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Exact keys of pairs as a space has them: digits, in the order of the distances of one query row."""
        raise AssertionError("values without an error leave nothing to decide")

    def is_closer(self, near: Fraction, far: Fraction, epsilon: Fraction) -> bool:
        """Whether the distances of two keys times `unit` differ by less than epsilon, the first being the smaller."""
        return far - near < epsilon

    def curve(self) -> Curve:
        """How values become distances."""
        return curve(LINEAR)

    def sharp_curve(self) -> Curve:
        """How sharp values become distances."""
        return curve(LINEAR, self.unit)

    def errors(self) -> tuple[float, float]:
        """How far values may be from those that `curve` speaks of, absolutely and relatively."""
        return self.absolute, self.relative

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

    @abstractmethod
    def values(self, rows: slice | IntArray, columns: slice | IntArray) -> FloatArray:
        """A block of values, which is the caller's to change."""

    def values_of_pairs(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """The values of the pairs (rows[i], columns[i]), off by no more than those of a block: minus the keys."""
        keys: FloatArray = self.space.keys(rows, columns)[0]
        return np.negative(keys, out=keys)

    def near(self, key: Real) -> float:
        """The key in units of the divisors."""
        return rounded(key / self.scale)

    def sharp(self, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray] | None:
        """The exact keys, rounded."""
        return pair_keys.rounded_keys(self.sums, self.space.exact_rows, rows, columns)

    def exact(self, values: FloatArray, rows: IntArray, columns: IntArray) -> list[Any]:
        """The exact keys of pairs."""
        return pair_keys.keys(self.sums, self.space.exact_rows, rows, columns)

    def digits(self, rows: IntArray, columns: IntArray) -> IntArray:
        """The exact keys of the space."""
        keys: IntArray = self.space.exact_keys(rows, columns)
        return keys

    def curve(self) -> Curve:
        """Values are in units of the divisors."""
        return curve(LINEAR, self.scale)

    def divisors(self) -> tuple[Fraction, Fraction]:
        """What all queries, and all items, are divided by."""
        first, second = (float(side.divisor[0]) for side in (self.space.queries, self.space.items))
        return Fraction(first), Fraction(second)

    def largest_norms(self) -> tuple[float, float]:
        """The largest norms of a query and of an item, rounded up."""
        first, second = (float(side.norm.max()) * bounds.SAFETY for side in (self.space.queries, self.space.items))
        return first, second


def minus(tile: Entries) -> FloatArray:
    """Minus the entries of a tile that nobody else reads, in float64."""
    values: FloatArray = tile.astype(np.float64, copy=False)
    return np.negative(values, out=values)
