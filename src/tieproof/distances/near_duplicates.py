"""Near-duplicates: nearness from rows minus a common row, with errors as small as they are.

The difference of two floats of the same sign, of which neither is more than twice the other, is exact in their type
(Sterbenz 1974). Euclidean distances stay the same real numbers, and the error bounds, which grow with the norms of
rows, become as small as the differences. Dot products and cosines follow from them.

Tiles are products of differences, and the nearness is a line in each column: factor * product - shift (`exact`'s
README, 13).
"""

from copy import copy
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tieproof.distances.exact import bounds
from tieproof.distances.exact.bounds import Intervals
from tieproof.distances.exact.equal import scan, spans
from tieproof.distances.exact.rows import Rows, describe, share_divisor
from tieproof.distances.exact.slices import ExactRows
from tieproof.distances.inner_space import InnerSpace
from tieproof.distances.space import FLOAT64, Error, KeyScale, NearnessForm, Space
from tieproof.ties import Array, FloatArray, IntArray

LARGEST_RATIO = 2.0**60  # of the common row to differences; normal numbers of float64 have no closer neighbors
LARGEST_LOSS = 2.0**-10  # the largest error of a projected row whose terms of second order are within the bound


def centered(sides: tuple[Rows, ...], keep_bytes: int, threads: int) -> tuple[tuple[Rows, ...], Array] | None:
    """Return the rows of all sides minus the first row, and this row; None if a difference might not be exact."""
    # keep_bytes: the memory for a side, of which the differences may take half; otherwise the result is None, too
    arrays = [side.embeddings for side in sides]
    kind = arrays[0].dtype
    if sides[0].sparse:
        return None
    if kind.kind != "f" or any(array.dtype != kind or 2 * array.nbytes > keep_bytes for array in arrays):
        return None
    center = np.array(arrays[0][0])
    if ((arrays[-1][-1] > 0) != (center > 0)).any():  # which shows it at once for most data
        return None
    half = center / 2
    if not (np.abs(half) < np.finfo(kind).max / 4).all() or (2 * half != center).any():
        return None
    low, high = np.minimum(half, 4 * half), np.maximum(half, 4 * half)
    blocks = (array[span] for array in arrays for span in spans(*array.shape))
    if not all(((low <= block) & (block <= high)).all() for block in blocks):
        return None
    return tuple(_minus(side, center, threads) for side in sides), center


def _minus(side: Rows, center: Array, threads: int) -> Rows:
    """The rows minus the center, with new statistics."""
    embeddings = np.subtract(side.embeddings, center)
    rows = describe(embeddings, side.identity, side.first, scan(embeddings, "embeddings", False, threads))
    return replace(rows, zero_vectors=side.zero_vectors)


class Lines(NamedTuple):
    """The nearness of item j to a query, factor[j] * product - shift[j], and errors besides that of the product."""

    factor: FloatArray
    shift: FloatArray
    error: FloatArray  # of the shift and the row of each item; in float64
    relative: float  # of the factor


class NearDuplicates(InnerSpace):
    """Differences from a common row, ranked by lines; pairs that floats leave open are keys of the rows as passed."""

    def __init__(self, whole: InnerSpace, sides: tuple[Rows, ...], lines: Lines, scale: KeyScale) -> None:
        self.whole, self.lines, self.scale = whole, lines, scale
        super().__init__(sides[0], sides[-1], False, False, False)
        self.relative = False  # to the products: it would not be relative to the nearness
        self.choose_tiles(whole.resources)

    @property
    def as_passed(self) -> Space:
        """The space of the rows as they were passed."""
        return self.whole

    def make_form(self) -> NearnessForm:
        """Return the lines in the tile's type."""
        form = super().make_form()
        factor, shift = self.lines.factor.astype(self.tile_type), self.lines.shift.astype(self.tile_type)
        return form._replace(factor=factor, shift=shift)

    def error(self) -> Error:
        """Return the error of the product, and of lines that are rounded to the tile's type."""
        rounding = 8 * bounds.UNIT_ROUNDOFF[self.tile_type]
        lines = self.lines
        row = (self.product_errors + rounding) * bounds.SAFETY**2 * self.queries.norm
        constant = lines.error + rounding * np.abs(lines.shift)
        return self.make_error(
            relative=bounds.ARITHMETIC + lines.relative,
            row=row,
            column=self.items.norm * lines.factor,
            constant=constant * bounds.SAFETY + bounds.underflow(self.items.dimensions, self.tile_type),
        )

    def keys(self, rows: IntArray, columns: IntArray) -> Intervals:
        """The nearness in float64, and bounds on its errors."""
        lines, rounding = self.lines, 8 * bounds.UNIT_ROUNDOFF[FLOAT64]
        factor, shift = lines.factor[columns], lines.shift[columns]
        keys = bounds.inner_products(self.queries, self.items, rows, columns) * factor - shift
        lengths = self.queries.norm[rows] * self.items.norm[columns] * factor
        error = (self.pair_error + rounding) * lengths + lines.error[columns] + rounding * np.abs(shift)
        error = error * bounds.SAFETY**2 + bounds.underflow(self.items.dimensions, FLOAT64)
        return keys, error + (bounds.ARITHMETIC + lines.relative) * np.abs(keys)

    def sharp_keys(self, rows: IntArray, columns: IntArray) -> Intervals | None:
        """The sharp keys of the rows as passed."""
        return self.whole.sharp_keys(rows, columns)

    @property
    def exact_rows(self) -> ExactRows:
        """The rows as passed."""
        return self.whole.exact_rows

    def exact_keys(self, rows: IntArray, columns: IntArray) -> IntArray:
        """The exact keys of the rows as passed."""
        return self.whole.exact_keys(rows, columns)


def by_dot(whole: InnerSpace) -> Space:
    """Return a space of differences for the dot product of near-duplicates, otherwise the given one."""
    # For the differences a and b from c, x.y - x.c = a.b + c.b, of which c.b is a number for each item.
    if (found := _differences(whole, 1)) is None:
        return whole
    sides, center = found
    sides = share_divisor(sides[0]) if len(sides) == 1 else (*share_divisor(sides[0]), *share_divisor(sides[1]))
    unit = _unit(center)
    ratio = unit / float(sides[0].divisor[0])
    if not 1 / LARGEST_RATIO <= ratio <= LARGEST_RATIO:
        return whole
    items, center = sides[-1], center / unit
    norm = float(np.sqrt(center @ center))
    error = bounds.inner_product(items.dimensions, items.dimensions, FLOAT64) * norm * bounds.SAFETY * items.norm
    lines = Lines(
        np.ones(len(items)),
        -ratio * np.concatenate([items.values(span) @ center for span in spans(len(items), items.dimensions)]),
        ratio * (error * bounds.SAFETY + bounds.underflow(items.dimensions, FLOAT64)),
        0.0,
    )
    own = KeyScale.of(False, float(sides[0].divisor[0]), float(items.divisor[0]))
    return NearDuplicates(whole, sides, lines, own._replace(kind=("differences", center.tobytes(), unit)))


def by_cosine(whole: InnerSpace) -> Space:
    """Return a space of differences for the cosine of near-duplicates, otherwise the given one."""
    # Every row is stretched until its difference z from c is orthogonal to c. With q = |z_y|^2 / |c|^2, cosines are
    # in the order of (z_x.z_y - |z_y|^2 / (1 + sqrt(1 + q))) / sqrt(1 + q).
    if (found := _differences(whole, 2)) is None:
        return whole
    sides, center = found
    sides = share_divisor(*sides)
    dimensions, divisor, unit = sides[0].dimensions, float(sides[0].divisor[0]), _unit(center)
    center = center / unit
    ratio, square = divisor / unit, float(center @ center)
    lost = 16 * bounds.norm(dimensions)  # of a projected row, relative to its difference
    if not lost < LARGEST_LOSS or ratio < 1 / LARGEST_RATIO:
        return whole
    longest = max(float(side.norm.max()) for side in sides)
    projected = tuple(_projected(side, center, square, ratio, whole.resources.threads) for side in sides)
    items, largest = projected[-1], max(float(side.norm.max()) for side in projected)
    error = lost * longest * bounds.SAFETY + bounds.underflow(dimensions, FLOAT64)
    root = np.sqrt(1 + items.square * (ratio * ratio / square))
    lines = Lines(
        1 / root,
        items.square / (1 + root) / root,
        2 * items.square * lost + error * (4 * items.norm + 2 * largest + 4 * error),
        4 * lost,
    )
    scale = KeyScale(("projections", center.tobytes(), unit), 2 * int(np.frexp(divisor)[1]))
    return NearDuplicates(whole, projected, lines, scale)


def _differences(whole: InnerSpace, share: int) -> tuple[tuple[Rows, ...], FloatArray] | None:
    """The rows minus the first one, and that in float64; None if not near it, or above 1 / `share` of the memory."""
    if whole.integers:
        return None
    sides = (whole.queries,) if whole.symmetric else (whole.queries, whole.items)
    keep_bytes, size = whole.resources.keep_bytes, whole.items.embeddings.dtype.itemsize
    found = centered(sides, keep_bytes * size // (8 * share), whole.resources.threads)
    if found is None or not found[1].any():
        return None
    return found[0], found[1].astype(np.float64)


def _unit(center: FloatArray) -> float:
    """The power of two that brings the largest entry to [1, 2)."""
    return float(np.ldexp(1.0, int(np.frexp(np.abs(center).max())[1]) - 1))


def _projected(rows: Rows, center: FloatArray, square: float, ratio: float, threads: int) -> Rows:
    """The rows (c + b) |c|^2 / c.(c + b) - c, in the unit of b; `ratio` is that unit in the unit of c."""
    embeddings = np.empty((len(rows), rows.dimensions))
    for span in spans(*embeddings.shape):
        values = rows.values(span)
        along = values @ center / square
        embeddings[span] = (values - along[:, None] * center) / (1 + ratio * along)[:, None]
    places = np.arange(len(rows))
    projected = describe(embeddings, places, places, scan(embeddings, "embeddings", False, threads))
    ones = np.ones(len(rows))
    norm = projected.norm * np.where(projected.largest > 0, projected.divisor, 0.0)
    projected = copy(projected)
    projected.identity, projected.weight, projected.zero_vectors = rows.identity, rows.weight, rows.zero_vectors
    projected.divisor, projected.norm, projected.square = ones, norm, norm**2
    return projected
