"""`Space`: what the engine asks of a distance, from a float32 tile down to exact integers."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.exact.bounds import SAFETY, UNIT_ROUNDOFF
from tieproof.exact.rows import Rows, spans
from tieproof.exact.slices import ExactRows
from tieproof.native.threads import for_each
from tieproof.ties import Array, FloatArray, IntArray, SmallIntArray

Entries = npt.NDArray[np.floating[Any]]

FLOAT32: np.dtype[Any] = np.dtype(np.float32)
FLOAT64: np.dtype[Any] = np.dtype(np.float64)


class Error(NamedTuple):
    """Bounds of |computed - exact| nearness in a tile.

    error of an entry = relative |nearness| + row[its row] column[its column] + constant[its column]
    """

    relative: float
    row: FloatArray
    column: FloatArray
    constant: FloatArray
    certain: bool  # every error is zero

    def part(self, rows: slice | IntArray, columns: slice | IntArray) -> "Error":
        """The error of a part of the tile."""
        return Error(self.relative, self.row[rows], self.column[columns], self.constant[columns], self.certain)


def make_error(
    rows: slice,
    columns: slice,
    *,
    relative: float = 0.0,
    row: Array | None = None,
    column: FloatArray | None = None,
    constant: FloatArray | float = 0.0,
) -> Error:
    """The error of a tile of `rows` and `columns`; what is not given adds nothing.

    Nothing in it is NaN: a bound that cannot be computed is infinite, and then decides nothing.
    """
    height, width = rows.stop - rows.start, columns.stop - columns.start
    if not 0.0 <= relative < 0.5:
        raise AssertionError(f"a relative error of {relative} bounds nothing; sum in shorter chunks or in float64")
    return Error(
        relative=relative,
        row=np.zeros(height) if row is None else infinite_if_unknown(row),
        column=np.zeros(width) if column is None else infinite_if_unknown(column),
        constant=infinite_if_unknown(np.broadcast_to(constant, width).astype(np.float64)),
        certain=relative == 0.0 and row is None and not np.any(constant),
    )


def infinite_if_unknown(bound: Array) -> FloatArray:
    """A bound whose NaN are infinite."""
    return np.where(np.isnan(bound), np.inf, bound)


class Form(NamedTuple):
    """How the raw entries of a tile become nearness, one array entry per column.

    nearness = entry factor[column] - shift[column]. With `ratio` this is the signed root of the nearness, which is
    s |s| / square[column] for the integer entry s, in float64.
    """

    factor: Array
    shift: Array
    square: FloatArray
    ratio: bool
    whole: bool  # nearness is whole numbers
    weight: SmallIntArray  # how many items a column stands for

    def part(self, columns: slice | IntArray) -> "Form":
        """The form of some columns."""
        return Form(
            self.factor[columns],
            self.shift[columns],
            self.square[columns],
            self.ratio,
            self.whole,
            self.weight[columns],
        )


class Resources(NamedTuple):
    """What the plan grants a space."""

    keep_bytes: int  # for rows of each side made ready once instead of tile by tile
    dtype: np.dtype[Any]  # of tiles that are not exact
    chunk: int  # dimensions that a product sums up at once; fewer have a smaller bound
    threads: int = 1  # for passes over all rows


class Scale(NamedTuple):
    """What keys are measured by: those of spaces of one kind can be compared, once they are times 2^exponent."""

    kind: tuple[Any, ...]
    exponent: int = 0

    @classmethod
    def of(cls, integers: bool, *divisors: float) -> "Scale":
        """That of products of divided entries; the divisors of integers are any numbers, others are powers of two."""
        if integers:
            return cls(("integers", *divisors))
        return cls(("floats",), sum(int(np.frexp(divisor)[1]) for divisor in divisors))


class Space(ABC):
    """A distance over distinct query rows and distinct gallery rows.

    In leave-one-out `queries` and `items` are the same object, and a tile serves both directions.

    Threads share a space and only read it: all that it has is there when its constructor ends, and the rows that
    `keep_rows` makes ready when that does.
    """

    queries: Rows
    items: Rows
    integers: bool  # the raw entries of tiles are exact integers
    tile_type: np.dtype[Any]  # of tiles, which holds nearness exactly where its error is zero
    resources: Resources
    scale: Scale | None = None  # of keys, where it is the same for other rows; else nobody else can use them
    prepared: tuple["Prepared", ...] = ()  # the rows that tiles are made of, where they have to be made ready
    form: Form  # how entries become nearness
    all_errors: Error  # the error of all queries and items

    @abstractmethod
    def __init__(self, queries: Rows, items: Rows, resources: Resources) -> None:
        """Choose the tiles for these rows. Every constructor ends with `describe_tiles`."""

    def prepare_rows(self, normalise: bool = False) -> None:
        """Let tiles be made of `prepared` rows, those of norm 1 perhaps."""
        items = Prepared(self.items, self.tile_type, normalise, self.resources)
        self.prepared = (
            items if self.symmetric else Prepared(self.queries, self.tile_type, normalise, self.resources),
            items,
        )

    def describe_tiles(self) -> None:
        """Write down `form` and `all_errors`."""
        self.form = self.make_form()
        self.all_errors = self.error(slice(0, len(self.queries)), slice(0, len(self.items)))

    def keep_rows(self) -> None:
        """Make the rows ready once, where memory allows; before that they are made ready for each tile.

        It uses threads of its own, so it is called before tiles are asked for in threads.
        """
        for rows in self.prepared:
            rows.keep()

    @property
    def exact_rows(self) -> ExactRows:
        """Both sides as exact integers, for whoever needs them: most evaluations do not."""
        return ExactRows(self.queries, self.items)

    @property
    def symmetric(self) -> bool:
        """Whether queries and gallery are the same rows."""
        return self.queries is self.items

    @property
    def zero_vectors(self) -> int:
        """How many rows, of queries and gallery together, are all zero."""
        sides = [self.queries] if self.symmetric else [self.queries, self.items]
        return sum(int(side.weight[side.largest == 0].sum()) for side in sides)

    @abstractmethod
    def tile(self, rows: slice | IntArray, columns: slice | IntArray) -> Entries:
        """Raw entries for some query rows and gallery rows; in leave-one-out the transpose serves the columns."""

    def make_form(self) -> Form:
        """How entries become nearness: they are the nearness, unless a distance says otherwise."""
        ones = np.ones(len(self.items))
        return Form(
            factor=ones.astype(self.tile_type),
            shift=np.zeros_like(ones, self.tile_type),
            square=ones,
            ratio=False,
            whole=self.integers,
            weight=self.items.weight.astype(np.int32),
        )

    @abstractmethod
    def error(self, rows: slice, columns: slice) -> Error:
        """How far the nearness of that tile may be from the exact one."""

    def margins(self, rows: IntArray, largest: FloatArray) -> FloatArray:
        """How far entries of queries' rows may be from exact ones that are no larger than `largest`.

        With ratios, entries are their roots: three roundings to the tile's type, and two of the root itself. Else the
        rounding of bounds to the tile's type adds to the error.
        """
        rounding = 4 * UNIT_ROUNDOFF[self.tile_type]
        error = self.all_errors
        if self.form.ratio:
            return 4 * rounding * np.sqrt(largest)
        relative = error.relative / (1 - error.relative) * SAFETY
        absolute = (error.row[rows] * error.column.max() + error.constant.max()) * SAFETY
        absolute = infinite_if_unknown(absolute * (1 + relative) * SAFETY)
        if relative == 0.0 and not absolute.any():
            return np.zeros(len(rows))
        return absolute + (relative + rounding) * largest

    def fine(self) -> "Space":
        """This space with tiles that are exact or float64: itself, or a new one."""
        if self.integers or self.tile_type == FLOAT64:
            return self
        return self.variant(FLOAT64, self.items.dimensions)

    def variant(self, dtype: np.dtype[Any], chunk: int, **resources: Any) -> "Space":
        """This space with tiles of another type, unless they are exact, and with other resources."""
        return type(self)(self.queries, self.items, self.resources._replace(dtype=dtype, chunk=chunk, **resources))

    def key_block(self, rows: slice | IntArray, columns: slice | IntArray) -> tuple[FloatArray, FloatArray]:
        """`keys` of all pairs of some rows and columns from a tile, and one error bound for each row."""
        form = self.form.part(columns)
        keys = self.tile(rows, columns).astype(np.float64)
        if form.ratio:
            keys *= np.abs(keys)
            keys /= form.square
        elif (form.factor != 1).any() or form.shift.any():
            keys *= form.factor
            keys -= form.shift
        error = self.all_errors.part(rows, columns)
        if error.certain:
            return keys, np.zeros(len(keys))
        bound = error.relative * np.abs(keys).max(axis=1) if error.relative else np.zeros(len(keys))
        return keys, bound + error.row * error.column.max() + error.constant.max()

    @abstractmethod
    def keys(self, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Nearness in float64 of pairs (rows[i], columns[i]), and its error bounds."""

    def sharp_keys(self, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray] | None:
        """Keys as those of `keys`, on a scale of their own, with errors that near-duplicates do not drown in.

        None: exact keys are as quick to compute.
        """
        return None

    @abstractmethod
    def exact_keys(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Digits (m, k) as in digits.py: among pairs of one row their lexicographic order is that of exact nearness.

        The same for all calls; equal only at ties.
        """


class Prepared:
    """Rows ready for a tile: divided, rounded to the tile's type, and kept if `keep` was called and memory allows."""

    def __init__(self, rows: Rows, dtype: np.dtype[Any], normalise: bool, resources: Resources) -> None:
        self.rows, self.threads = rows, resources.threads
        self.dtype = dtype
        self.norm = np.where(rows.norm > 0, rows.norm, 1.0) if normalise else None
        self.keeps = len(rows) * rows.dimensions * dtype.itemsize <= resources.keep_bytes
        self.kept: Entries | None = None

    def keep(self) -> None:
        """Make all rows ready, once."""
        if self.kept is not None or not self.keeps:
            return
        kept = np.empty((len(self.rows), self.rows.dimensions), dtype=self.dtype)

        def fill(span: slice) -> None:
            kept[span] = self.values(span)

        for_each(fill, spans(len(self.rows), self.rows.dimensions), self.threads)
        self.kept = kept

    def values(self, span: slice | IntArray) -> FloatArray:
        """The rows of `span`, computed from the embeddings, before they are rounded."""
        values = self.rows.values(span)
        if self.norm is not None:
            values /= self.norm[span, None]
        return values

    def __getitem__(self, span: slice | IntArray) -> Entries:
        """The rows of `span`."""
        return self.values(span).astype(self.dtype) if self.kept is None else self.kept[span]
