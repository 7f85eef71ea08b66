"""Cosine similarity, its ratios of integers, and the chord between rows of norm 1."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from tieproof.distances import Distance
from tieproof.distances.cosine_sums import (
    by_sines,
    minus_squared_cosines,
    minus_squared_sines,
    ratio_length,
    ratios,
    squared_norms,
)
from tieproof.distances.dot import fits, minus_products
from tieproof.distances.exact import bounds
from tieproof.distances.exact.bounds import Intervals
from tieproof.distances.exact.reals import Digits, Real, Rounding, root_is_less, rounded, rounded_of_root
from tieproof.distances.exact.rows import Rows, as_integers
from tieproof.distances.exact.slices import ExactRows, PairBatch
from tieproof.distances.exact.terms import inner_products
from tieproof.distances.exact.twofold import (
    ERROR,
    Pair,
    are_direct,
    of_digits,
    of_pairs,
    over,
    root,
    sum_error,
    twofold_products,
)
from tieproof.distances.gauge import NEAR, SIGNED_SQUARE, SIMILARITY, SINE, SLACK, Curve, SpaceGauge, curve, widened
from tieproof.distances.inner_space import InnerSpace
from tieproof.distances.near_duplicates import by_cosine
from tieproof.distances.space import FLOAT32, FLOAT64, Error, KeyScale, NearnessForm, Resources
from tieproof.ties import FloatArray, IntArray

RATIO_EXACT = 2.0**50  # up to this s^2 n, rounded quotients s |s| / n of distinct values are distinct (README, 4)


class Cosine(InnerSpace):
    """Keys: integers s, n give sign(s) s^2 / n with s = x.y and n = |y|^2; else the similarity itself."""

    of_near_duplicates = by_cosine
    key_length = staticmethod(ratio_length)

    def __init__(self, queries: Rows, items: Rows, resources: Resources) -> None:
        sides = (queries,) if queries is items else (queries, items)
        whole = as_integers(*sides, per_row=True, threads=resources.threads)
        integers = whole is not None and fits(whole[0], whole[-1], FLOAT64)
        if whole is not None and integers:
            queries, items = whole[0], whole[-1]
        super().__init__(queries, items, integers, not integers, fits(queries, items, FLOAT32))
        self.norm_error = 2 * bounds.norm(items.dimensions)  # of two computed norms, relative to the similarity
        self.ratio = False
        if integers:
            self.ratio_of = np.maximum(items.square, 1.0)  # a zero vector has s = 0, whatever it is divided by
            norms = items.square[items.square > 0]
            self.ratio = bool(len(norms) and norms.min() < norms.max())
            largest = queries.square.max() * items.square.max() ** 2
            self.ratio_error = 0.0 if largest <= RATIO_EXACT else bounds.ARITHMETIC
        self.scale = KeyScale(("integers", self.ratio) if integers else ("similarity",))
        self.choose_tiles(resources)

    def make_form(self) -> NearnessForm:
        """Return the form of the similarity itself, or of s / |y| for integers whose norms differ."""
        form = super().make_form()
        if not self.ratio:
            return form
        return form._replace(
            factor=(1 / np.sqrt(self.ratio_of)).astype(self.tile_type), square=self.ratio_of, ratio=True, whole=False
        )

    def level_offset(self) -> FloatArray | None:
        """Return the numbers for inner products, unless norms differ."""
        return None if self.ratio else super().level_offset()

    def error(self) -> Error:
        """Return one error for all pairs of vectors that are not zero; for integers it is usually 0."""
        if self.integers:
            return self.make_error(relative=self.ratio_error if self.ratio else 0.0)
        if self.relative and self.codes is None:
            error = self.product_error + self.norm_error
            return self.make_error(relative=error / (1 - error))
        errors = self.product_errors + self.norm_error + bounds.underflow(self.items.dimensions, self.tile_type)
        return self.make_error(
            relative=bounds.ARITHMETIC,
            row=(errors + bounds.underflow(self.items.dimensions, self.tile_type)) * (self.queries.norm > 0),
            column=(self.items.norm > 0).astype(np.float64),
        )

    def keys(self, rows: IntArray, columns: IntArray) -> Intervals:
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
        return keys, np.where((lengths > 0) & ~self.share_nothing(products), error, 0.0)

    def sharp_keys(self, rows: IntArray, columns: IntArray) -> Intervals | None:
        """Minus the squared sine, from exact differences."""
        exact = self.exact_rows
        if not exact.can_round:
            return None
        of_batches = [minus_squared_sines(exact, batch) for batch in exact.batches(rows, columns, 4)]
        keys, errors = (np.concatenate(parts) for parts in zip(*of_batches, strict=True))
        return keys, errors

    def keys_of_batch(self, exact: ExactRows, batch: PairBatch) -> Digits:
        """The exact keys of a batch, as digits of ratios of integers."""
        return ratios(exact, batch)


class CosineGauge(SpaceGauge):
    """The distance is 1 - x.y / (|x| |y|).

    Values: minus x.y / (|x| |y|); of integers minus s |s| / (|x|^2 |y|^2) with s = x.y, which is the exact key, too.
    """

    space: Cosine

    def __init__(self, space: Cosine) -> None:
        super().__init__(space)
        self.certain = False
        if space.integers:
            self.squares = [np.maximum(side.square, 1.0) for side in (space.queries, space.items)]
            largest = self.squares[0].max() * self.squares[1].max()
            # Two different ratios s^2 / n, with s^2 and n up to `largest`, are at least 1 / largest^2 apart.
            self.certain = bool(largest**2 <= RATIO_EXACT)
            self.relative = 0.0 if self.certain else 2 * bounds.ARITHMETIC
        else:
            error = max(space.product_error, space.pair_error) + space.norm_error
            self.relative = error / (1 - error) if space.relative else bounds.ARITHMETIC
            if not space.relative:
                self.absolute = error + bounds.underflow(space.items.dimensions, FLOAT64)

    def values(self, rows: slice | IntArray, columns: slice | IntArray) -> FloatArray:
        """Minus the cosine similarities, in float64."""
        values = super().values(rows, columns)
        if self.space.integers:
            values *= np.abs(values)
            values /= self.squares[0][rows][:, None] * self.squares[1][columns]
        return values

    def values_of_pairs(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Minus the cosine similarities of pairs."""
        if not self.space.integers:
            return super().values_of_pairs(rows, columns)
        values = -inner_products(self.space.queries, self.space.items, rows, columns)
        values *= np.abs(values)
        values /= self.squares[0][rows] * self.squares[1][columns]
        return values

    def exact(self, values: FloatArray, rows: IntArray, columns: IntArray) -> list[Any]:
        """Minus the signed squares of the similarities."""
        return minus_squared_cosines(self.space.exact_rows, rows, columns)

    def near(self, key: Real) -> float:
        """Return the value of a key: the key itself for integers, otherwise the similarity."""
        if self.space.integers:
            return rounded(key)
        sign = -1 if key < 0 else 1
        return sign * rounded_of_root(Fraction(key * sign), lambda root: root)

    def sharp(self, rows: IntArray, columns: IntArray) -> Intervals | None:
        """Return squared sines from exact differences; beyond a right angle, 2 minus the squared sine."""
        sharp = self.space.sharp_keys(rows, columns)
        return None if sharp is None else (-sharp[0], sharp[1])

    def of_floats(self, rows: IntArray, columns: IntArray) -> tuple[Pair, FloatArray] | None:
        """The distances from cosines of floats."""
        queries, items = self.space.queries, self.space.items
        if not are_direct(queries, items):
            return None
        (x, where), (y, place) = bounds.distinct(rows, len(queries)), bounds.distinct(columns, len(items))
        product = -of_pairs(twofold_products, (queries, items), rows, columns)
        x_norm = root(of_pairs(twofold_products, (queries, queries), x, x))[where]
        y_norm = root(of_pairs(twofold_products, (items, items), y, y))[place]
        distance = over(product, x_norm * y_norm) + 1.0
        return distance, np.full(len(rows), 4 * sum_error(items.dimensions))

    def of_batch(self, exact: ExactRows, batch: PairBatch) -> tuple[Pair, FloatArray]:
        """The distances from cosines or, where these are near 1, from sines, whichever is more exact."""
        product = of_digits(exact.digits(minus_products(exact, batch)))
        x, y = (of_digits(exact.digits(squared_norms(exact, side))) for side in (batch.x, batch.y))
        minus_cosine = over(product, root(x[batch.rows] * y[batch.columns]))
        distance, error = minus_cosine + 1.0, np.full(len(batch.rows), ERROR)
        near = np.flatnonzero(distance.hi < 0.5)
        if len(near):
            some = batch._replace(rows=batch.rows[near], columns=batch.columns[near])
            sharp, sharp_error = by_sines(exact, some, minus_cosine[near])
            better = sharp_error < error[near]
            for part, of_sine in zip(
                (distance.hi, distance.lo, error), (sharp.hi, sharp.lo, sharp_error), strict=True
            ):
                part[near[better]] = of_sine[better]
        return distance, error

    def distance(self, key: Real, rounding: Rounding = rounded) -> float:
        """The cosine distance, 1 - x.y / (|x| |y|), of a key."""
        sign = -1 if key < 0 else 1
        return rounded_of_root(Fraction(key * sign), lambda root: 1 + sign * root, rounding)

    def key_of(self, distance: Fraction) -> Fraction:
        """Minus the signed square of the similarity."""
        similarity = 1 - distance
        return -similarity * abs(similarity)

    def is_closer(self, near: Fraction, far: Fraction, epsilon: Fraction) -> bool:
        """Compare the cosines; the keys are minus their signed squares."""
        return root_is_less(-near, -far, epsilon)

    def distance_range(self, rows: IntArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return 1 minus the cosines."""
        least, most = (1.0 - self._cosines(rows, keys) for keys in (high, low))
        return widened(least, most, SLACK)

    def key_range(self, rows: IntArray, distances: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the keys of the cosines: the cosine itself, or what integers have in its place."""
        cosines = 1.0 - distances
        if not self.space.integers:
            return widened(cosines, cosines, SLACK)
        least, most = widened(cosines, cosines, SLACK)
        low, high = (self._factors(rows) * (end * np.abs(end) if self.space.ratio else end) for end in (least, most))
        return widened(low, high)

    def _cosines(self, rows: IntArray, keys: FloatArray) -> FloatArray:
        """The cosines of keys; 0 for a row of zeros."""
        if not self.space.integers:
            return keys
        factor = self._factors(rows)
        cosines = np.divide(keys, factor, out=np.zeros_like(keys), where=factor > 0)
        return np.sign(cosines) * np.sqrt(np.abs(cosines)) if self.space.ratio else cosines

    def _factors(self, rows: IntArray) -> FloatArray:
        """The numbers by which cosines, or their signed squares, are multiplied in the keys of integers."""
        square = self.space.queries.square[rows]
        return square if self.space.ratio else np.sqrt(square * self.space.items.square.max())

    def curve(self) -> Curve:
        """Return the curve 1 + v; for integers, v is first computed from minus the signed square of the cosine."""
        return curve(SIGNED_SQUARE if self.space.integers else SIMILARITY)

    def sharp_curve(self) -> Curve:
        """Return the curve of the squared sine, up to a right angle."""
        return curve(SINE)

    def errors(self) -> tuple[float, float]:
        """Return the errors of values; ratios of integers are rounded, even if their ties are exact."""
        return self.absolute, max(self.relative, NEAR)


class ChordGauge(CosineGauge):
    """The length of the chord between rows of norm 1, sqrt(2 (1 - cosine)), which ranks as the cosine does.

    Rows that move change this distance by at most as much as they moved themselves, by the triangle inequality.
    """

    def distance_range(self, rows: IntArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the chords of cosine distances."""
        least, most = super().distance_range(rows, low, high)
        return widened(np.sqrt(2 * np.maximum(least, 0.0)), np.sqrt(2 * np.maximum(most, 0.0)))

    def key_range(self, rows: IntArray, distances: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the keys of the cosine distances of chords; a negative chord has that of minus a square."""
        return super().key_range(rows, distances * np.abs(distances) / 2)

    def distances(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """The roots of twice the rounded cosine distances, with two more roundings."""
        return np.asarray(np.sqrt(2 * np.maximum(super().distances(rows, columns), 0.0)))

    def key_of(self, distance: Fraction) -> Fraction:
        """Return the key of the cosine distance of a chord."""
        return super().key_of(distance * abs(distance) / 2)


COSINE = Distance(
    meaning="x.y / (|x| |y|), larger is nearer",
    space=Cosine,
    gauge=CosineGauge,
    extent=lambda first, second, dimensions: 2.0,
    sparse=True,
    other_names=("cos", "cosine_distance", "cosine_similarity"),
    up_to_factor=True,
)

CHORD = replace(COSINE, meaning="|x / |x| - y / |y||", gauge=ChordGauge, other_names=())
"""The distance of unit vectors, which ranks as cosine does, and obeys the triangle inequality for noise of rows."""
