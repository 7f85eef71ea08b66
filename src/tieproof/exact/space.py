"""`Space`: what the engine asks of a distance, from a float32 tile down to exact integers."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.exact.bounds import SAFETY
from tieproof.exact.rows import FloatArray, IntArray, Rows, spans

Tile = npt.NDArray[np.floating[Any]]


class Error(NamedTuple):
    """Bounds of |computed - exact| nearness in a tile.

    error of an entry = relative |nearness| + row[its row] column[its column] + constant[its column]
    """

    relative: float
    row: FloatArray
    column: FloatArray
    constant: FloatArray
    certain: bool  # every error is zero


def make_error(
    rows: slice,
    columns: slice,
    *,
    relative: float = 0.0,
    row: npt.NDArray[Any] | None = None,
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


def infinite_if_unknown(bound: npt.NDArray[Any]) -> FloatArray:
    """A bound whose NaN are infinite."""
    return np.where(np.isnan(bound), np.inf, bound)


class Resources(NamedTuple):
    """What the plan grants a space."""

    keep_bytes: int  # for rows made ready once instead of tile by tile
    dtype: np.dtype[Any]  # of tiles that are not exact
    chunk: int  # dimensions that a product sums up at once; fewer have a smaller bound


class Space(ABC):
    """A distance over distinct query rows and distinct gallery rows.

    In leave-one-out `queries` and `items` are the same object, and a tile serves both directions.
    """

    queries: Rows
    items: Rows

    @property
    def symmetric(self) -> bool:
        """Whether queries and gallery are the same rows."""
        return self.queries is self.items

    @abstractmethod
    def tile(self, rows: slice, columns: slice) -> Tile:
        """Raw entries for some query rows and gallery rows; in leave-one-out the transpose serves the columns."""

    @property
    @abstractmethod
    def nearness_type(self) -> np.dtype[Any]:
        """The type of nearness, which holds it exactly where its error is zero."""

    def nearness(self, tile: Tile, columns: slice) -> Tile:
        """A raw tile as nearness: larger is nearer."""
        return tile

    @abstractmethod
    def error(self, rows: slice, columns: slice) -> Error:
        """How far the nearness of that tile may be from the exact one."""

    @cached_property
    def largest_error(self) -> tuple[float, FloatArray]:
        """Error of an entry of each query row in terms of its exact nearness t: relative |t| + absolute[row]."""
        error = self.error(slice(0, len(self.queries)), slice(0, len(self.items)))
        relative = error.relative / (1 - error.relative) * SAFETY
        absolute = (error.row * error.column.max() + error.constant.max()) * SAFETY
        return relative, infinite_if_unknown(absolute * (1 + relative) * SAFETY)

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
        """Integers (m, k): among pairs of one row their lexicographic order is that of exact nearness.

        The same for all calls; equal only at ties.
        """


class Prepared:
    """Rows ready for a tile: divided, rounded to the tile's type, and kept if memory allows."""

    def __init__(self, rows: Rows, dtype: np.dtype[Any], normalise: bool, keep_bytes: int) -> None:
        self.rows = rows
        self.dtype = dtype
        self.norm = np.where(rows.norm > 0, rows.norm, 1.0) if normalise else None
        self.kept: Tile | None = None
        if len(rows) * rows.dimensions * dtype.itemsize <= keep_bytes:
            kept = np.empty((len(rows), rows.dimensions), dtype=dtype)
            for span in spans(len(rows), rows.dimensions):
                kept[span] = self.make(span)
            self.kept = kept

    def make(self, span: slice) -> Tile:
        """The rows of `span`, computed from the embeddings."""
        values = self.rows.values(span)
        if self.norm is not None:
            values /= self.norm[span, None]
        return values.astype(self.dtype)

    def __getitem__(self, span: slice) -> Tile:
        """The rows of `span`."""
        return self.make(span) if self.kept is None else self.kept[span]
