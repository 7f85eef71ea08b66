"""`Space`: the interface between the engine and a distance, from float32 tiles down to exact integers."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tieproof.distances.bits import Bits
from tieproof.distances.codes import CodedTile
from tieproof.distances.exact import reals, words
from tieproof.distances.exact.bounds import SAFETY, UNIT_ROUNDOFF, Intervals
from tieproof.distances.exact.reals import Digits
from tieproof.distances.exact.rows import Rows
from tieproof.distances.exact.slices import LARGEST_BATCH, ExactRows, PairBatch
from tieproof.distances.exact.terms import PreparedTerms
from tieproof.distances.exact.words import SumOfWords
from tieproof.distances.prepared import Prepared
from tieproof.ties import Array, FloatArray, IntArray, SmallIntArray

Entries = npt.NDArray[np.floating[Any]]

FLOAT32: np.dtype[Any] = np.dtype(np.float32)
FLOAT64: np.dtype[Any] = np.dtype(np.float64)
INT8: np.dtype[Any] = np.dtype(np.int8)


class Error(NamedTuple):
    """Bounds on errors of nearness in a tile: relative |nearness| + row[row] column[column] + constant[column]."""

    relative: float
    row: FloatArray
    column: FloatArray
    constant: FloatArray
    certain: bool  # every error is zero

    def part(self, rows: slice | IntArray, columns: slice | IntArray) -> "Error":
        """The error of a part of the tile."""
        return Error(self.relative, self.row[rows], self.column[columns], self.constant[columns], self.certain)


def _infinite_if_unknown(bound: Array) -> FloatArray:
    return np.asarray(np.fmin(bound, np.inf))  # which prefers a number to NaN


class NearnessForm(NamedTuple):
    """The conversion of raw entries of a tile to nearness, with one array entry per column.

    nearness = entry * factor[column] - shift[column]. With `ratio` this is the signed root of the nearness, which is
    s |s| / square[column] for the integer entry s, in float64.
    """

    factor: Array
    shift: Array
    square: FloatArray
    ratio: bool
    whole: bool  # nearness consists of whole numbers
    weight: SmallIntArray  # the number of items that a column represents

    def part(self, columns: slice | IntArray) -> "NearnessForm":
        """The form of some columns."""
        kept = {name: getattr(self, name)[columns] for name in ("factor", "shift", "square", "weight")}
        return self._replace(**kept)


class Resources(NamedTuple):
    """The resources that the plan grants a space."""

    keep_bytes: int  # for rows of each side that are prepared once instead of tile by tile
    dtype: np.dtype[Any]  # of tiles that are not exact; int8 if they are of codes, int16 or int32: of long codes
    chunk: int  # the number of dimensions that a product sums at a time; fewer have a smaller error bound
    threads: int = 1  # for passes over all rows
    batch: int = LARGEST_BATCH  # the number of entries of rows, or of sums, that are compared exactly at a time


class KeyScale(NamedTuple):
    """The scale of keys: keys of spaces of the same kind can be compared after multiplying them by 2^exponent."""

    kind: tuple[Any, ...]
    exponent: int = 0

    @classmethod
    def of(cls, integers: bool, *divisors: float) -> "KeyScale":
        """Return the scale of products of divided entries; the divisors of floats are powers of two."""
        if integers:
            return cls(("integers", *divisors))
        return cls(("floats",), sum(int(np.frexp(divisor)[1]) for divisor in divisors))


Side = TypeVar("Side")


class Space(ABC):
    """A distance over distinct query rows and distinct gallery rows.

    In leave-one-out `queries` and `items` are the same object, and a tile is used for both directions.

    Threads share a space and only read it: it is complete when its constructor returns, and its prepared rows are
    complete when `keep_rows` returns.
    """

    queries: Rows
    items: Rows
    integers: bool  # the raw entries of tiles are exact integers
    tile_type: np.dtype[Any]  # of tiles; it represents nearness exactly if its error is zero
    resources: Resources
    scale: KeyScale | None = None  # of keys; None if keys cannot be compared with those of other rows
    pair_cost = 1.0  # how long a pair that tiles leave open takes, compared with a tile, in terms of other distances
    zeros_tie = False  # an entry of 0 is exact, and that of many items (engine/zeros.py)
    has_codes = False  # tiles can be computed from codes, in less time than from floats
    finer: "Space | None" = None  # the form and the errors of `quick_keys`, if there are any
    unrounded: "Space | None" = None  # the same distances before rounding, whose tiles may take less time
    before_rounding = False  # tiles are of distances before rounding, keys of ranked items of rounded ones
    bits: tuple[Bits, Bits] | None = None  # of queries and items, from which tiles are computed, if any
    sum_of_words: SumOfWords | None = None  # of short integers, in the order of exact keys, if there is such a sum
    prepared: tuple[Any, ...] = ()  # the prepared rows from which tiles are computed, if any
    form: NearnessForm  # the conversion of entries to nearness
    entries_are_nearness: bool  # the form changes no entry
    all_errors: Error  # the error of all queries and items

    @abstractmethod
    def __init__(self, queries: Rows, items: Rows, resources: Resources) -> None:
        """Find out what is known of the rows for all kinds of tiles. Constructors must end with `choose_tiles`."""

    def choose_tiles(self, resources: Resources) -> None:
        """Set all that depends on the resources: the type of tiles, their rows, their form and their errors."""
        self.resources, self.tile_type = resources, resources.dtype
        self.describe_tiles()

    def prepare_rows(self, normalize: bool = False) -> None:
        """Set `prepared`, the rows from which tiles are computed, normalized to norm 1 if `normalize`."""
        kind, own = self.tile_type, self.resources
        if self.items.sparse:
            self.prepared = self.of_sides(lambda rows: PreparedTerms(rows, kind, normalize, own.keep_bytes))
        else:
            self.prepared = self.of_sides(lambda rows: Prepared(rows, kind, normalize, own.keep_bytes, own.threads))

    def of_sides(self, make: Callable[[Rows], Side]) -> tuple[Side, Side]:
        """Return what is made of the queries, and of the items; only once if they are the same rows."""
        items = make(self.items)
        return items if self.symmetric else make(self.queries), items

    def describe_tiles(self) -> None:
        """Set what `form` and `error` say of all entries, the last step of `choose_tiles`."""
        self.form = form = self.make_form()
        self.entries_are_nearness = not (form.ratio or (form.factor != 1).any() or form.shift.any())
        self.all_errors = self.error()

    def keep_rows(self) -> None:
        """Prepare the rows once, if memory allows, by threads of its own: call it before threads compute tiles."""
        for rows in self.prepared:
            rows.keep()

    def of_near_duplicates(self) -> "Space":
        """Return a space that ranks near-duplicates with smaller errors, or this one."""
        return self

    @property
    def as_passed(self) -> "Space":
        """The space of the rows as they were passed, from which distances are computed; usually this one."""
        return self

    @property
    def exact_rows(self) -> ExactRows:
        """Both sides as exact integers, which most evaluations do not need."""
        return ExactRows(self.queries, self.items, self.resources.batch)

    @property
    def symmetric(self) -> bool:
        """Whether queries and gallery are the same rows."""
        return self.queries is self.items

    @property
    def zero_vectors(self) -> int:
        """The number of rows, of queries and gallery together, that are all zero."""
        sides = [self.queries] if self.symmetric else [self.queries, self.items]
        return sum(side.zero_vectors for side in sides)

    @abstractmethod
    def tile(self, rows: slice | IntArray, columns: slice | IntArray) -> Entries:
        """Return the raw entries of some query rows and gallery rows."""

    def coded_tile(self, rows: slice, columns: slice) -> CodedTile | None:
        """Return the codes whose products are the raw entries of some rows; None if tiles are of another kind."""
        return None

    def make_form(self) -> NearnessForm:
        """Return the conversion of entries to nearness; by default entries are the nearness."""
        ones = np.ones(len(self.items))
        return NearnessForm(
            factor=ones.astype(self.tile_type),
            shift=np.zeros_like(ones, self.tile_type),
            square=ones,
            ratio=False,
            whole=self.integers,
            weight=self.items.weight.astype(np.int32),
        )

    def error(self) -> Error:
        """Return bounds on the errors of the nearness of all pairs in tiles; by default, there are none."""
        return self.make_error()

    def make_error(
        self,
        relative: float = 0.0,
        row: Array | None = None,
        column: FloatArray | None = None,
        constant: FloatArray | float = 0.0,
    ) -> Error:
        """Return the error with these terms; a bound that cannot be computed is infinite, and decides nothing."""
        height, width = len(self.queries), len(self.items)
        if not 0.0 <= relative < 0.5:
            raise AssertionError(
                f"a relative error of {relative} bounds nothing; sum in shorter chunks or in float64"
            )
        return Error(
            relative=relative,
            row=np.zeros(height) if row is None else _infinite_if_unknown(row),
            column=np.zeros(width) if column is None else _infinite_if_unknown(column),
            constant=_infinite_if_unknown(np.full(width, constant, dtype=np.float64)),
            certain=relative == 0.0 and row is None and not np.any(constant),
        )

    def margins(self, rows: IntArray, largest: FloatArray) -> FloatArray:
        """Return how far entries of the rows may be from exact ones of at most `largest`, or its roots for ratios."""
        absolute, relative = self.margin(rows)
        return absolute + relative * (np.sqrt(largest) if self.form.ratio else largest)

    def margin(self, rows: IntArray) -> tuple[FloatArray, float]:
        """Return how far entries of the rows may be from exact entries: absolutely, and relative to either of them.

        With ratios, entries are roots: there are three roundings to the tile's type, and two of the root itself.
        Otherwise the rounding of bounds to the tile's type is added to the error.
        """
        rounding = 4 * UNIT_ROUNDOFF[self.tile_type]
        error = self.all_errors
        if self.form.ratio:
            return np.zeros(len(rows)), 4 * rounding
        relative = error.relative / (1 - error.relative) * SAFETY
        absolute = (error.row[rows] * error.column.max() + error.constant.max()) * SAFETY
        absolute = _infinite_if_unknown(absolute * (1 + relative) * SAFETY)
        if relative == 0.0 and not absolute.any():
            return np.zeros(len(rows)), 0.0
        return absolute, relative + rounding

    def level_offset(self) -> FloatArray | None:
        """Return a number for each item: the nearer, the smaller it is plus the differing `bits`.

        None: the rows do not have two values, or such sums do not decide which item is nearer.
        """
        return None

    def fine(self) -> "Space":
        """Return this space if its tiles are exact or float64, otherwise a space with float64 tiles."""
        if self.integers or self.tile_type == FLOAT64:
            return self
        return self.variant(FLOAT64, self.items.dimensions)

    def variant(self, dtype: np.dtype[Any], chunk: int) -> "Space":
        """Return this space with tiles of another type, or with sums of other lengths, unless its tiles are exact."""
        own, dimensions = self.resources, self.items.dimensions
        if dtype == own.dtype and min(chunk, dimensions) == min(own.chunk, dimensions):
            return self
        variant = copy(self)
        variant.choose_tiles(own._replace(dtype=dtype, chunk=chunk))
        return variant

    def key_block(self, rows: slice | IntArray, columns: slice | IntArray) -> Intervals:
        """Return `keys` of all pairs of some rows and columns, from a tile, and one error bound for each row."""
        keys = self.tile(rows, columns).astype(np.float64, copy=False)
        if self.form.ratio:
            keys *= np.abs(keys)
            keys /= self.form.square[columns]
        elif not self.entries_are_nearness:
            keys *= self.form.factor[columns]
            keys -= self.form.shift[columns]
        error = self.all_errors
        if error.certain:
            return keys, np.zeros(len(keys))
        bound = error.relative * np.abs(keys).max(axis=1) if error.relative else np.zeros(len(keys))
        return keys, bound + error.row[rows] * error.column[columns].max() + error.constant[columns].max()

    @abstractmethod
    def keys(self, rows: IntArray, columns: IntArray) -> Intervals:
        """Return the nearness of pairs (rows[i], columns[i]) in float64, and its error bounds."""

    def quick_keys(self, rows: IntArray, columns: IntArray) -> Intervals | None:
        """Return `keys` with larger errors, but in less time; None: there is no faster way than `keys`."""
        return None

    def sharp_keys(self, rows: IntArray, columns: IntArray) -> Intervals | None:
        """Return keys on another scale, with errors that separate near-duplicates; None: exact keys are as fast."""
        return None

    def exact_keys(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Return digits (m, k) as in reals.py; among pairs of one row they are in the order of exact nearness.

        A pair has the same digits in all calls, and only tied pairs have equal digits.
        """
        exact = self.exact_rows
        if self.sum_of_words is not None and words.are_short(exact):
            return words.exact_keys(exact, rows, columns, self.sum_of_words)
        batches = exact.batches(rows, columns, self.key_length(exact))
        keys = [self.keys_of_batch(exact, batch) for batch in batches]
        return keys[0] if len(keys) == 1 else np.concatenate(keys)

    @staticmethod
    def key_length(exact: ExactRows) -> int:
        """Return the number of digits of an exact key."""
        return reals.digit_count(exact.product_bits)

    def keys_of_batch(self, exact: ExactRows, batch: PairBatch) -> Digits:
        """Return the exact keys of the pairs of a batch."""
        raise NotImplementedError
