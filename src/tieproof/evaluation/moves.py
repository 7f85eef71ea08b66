"""By how much the distances of embeddings may be off: by a number, or because rows moved.

Rows may have been rounded to a number format, or move as far as they are from the same rows computed again.

engine/README.md derives the bounds. All are rounded outward by `OUTWARD`, far more than the errors of float64.
"""

from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from tieproof.distances import Distance
from tieproof.distances.cityblock import CITYBLOCK
from tieproof.distances.cosine import CHORD, COSINE
from tieproof.distances.dot import DOT
from tieproof.distances.euclidean import EUCLIDEAN, SQEUCLIDEAN
from tieproof.distances.exact.bounds import UNIT_ROUNDOFF, gamma
from tieproof.distances.exact.equal import spans
from tieproof.engine.problem import Noise, Search
from tieproof.errors import InputError, about
from tieproof.evaluation.noise import parse_radius
from tieproof.inputs.arrays import Embeddings, as_finite_embeddings, first_true
from tieproof.inputs.options import FORMATS, NAMED_NOISE, PRODUCTS, BinaryFormat
from tieproof.ties import FloatArray

OUTWARD = 1 + 2.0**-20  # covers the rounding of all bounds of rows and pairs, of up to a million dimensions
SMALLEST_EXTENT, LARGEST_EXTENT = 1e-250, 1e250  # of the largest distance, so that its square is within float64
WIDE_INTEGERS = 2.0**-50  # the change of a row, relative to its norm, by rounding of integers, with a margin
INT8_STEPS = 127  # in int8, the largest absolute entry of a row is this number
FRACTION_BITS = 52
EXPONENT_BITS = 0x7FF << FRACTION_BITS  # of float64


class Moved(NamedTuple):
    """How a distance changes if rows move."""

    ranked: Distance  # the distance that changes by at most as much as both rows moved, and that ranks the same
    absolute: bool = False  # moves are sums of absolute differences, not Euclidean norms
    unit: bool = False  # moves are those of rows of norm 1
    by_norm: bool = False  # the distance changes in proportion to norms


MOVED = {
    "cosine": Moved(CHORD, unit=True),
    "euclidean": Moved(EUCLIDEAN),
    "sqeuclidean": Moved(EUCLIDEAN),
    "cityblock": Moved(CITYBLOCK, absolute=True),
    "dot": Moved(DOT, by_norm=True),
}

# The distances that are computed from products, and those of which the error is bounded, which rank the same.
BY_PRODUCTS = {"cosine": COSINE, "euclidean": SQEUCLIDEAN, "sqeuclidean": SQEUCLIDEAN, "dot": DOT}
OTHER_ROUNDINGS = 24  # besides those of sums: of entries to float32, of divisions, roots, differences; with a margin
SMALLEST_NORM, LARGEST_NORM = 2.0**-40, 2.0**60  # in between, nothing overflows in float32, or underflows by much


class Moves(NamedTuple):
    """For each row, how far it may have moved, and its Euclidean norm; (n,) each."""

    move: FloatArray
    norm: FloatArray


def noise_of(problem: Search, noise: Any) -> Noise:
    """Return by how much the distances of a problem may be off: by a number, or because its rows may have moved."""
    if problem.format is not None:
        raise InputError(
            "noise and precision cannot be combined: noise is about distances before they are rounded. Leave out one "
            "of them.",
            "noise",
        )
    distance = problem.distance if isinstance(problem.distance, Distance) else None
    if isinstance(noise, Real):
        of_query = np.full((len(problem.queries), 1), parse_radius(noise, "each distance")) * [1.0, 0.0]
        extent = np.inf if distance is None else extent_of(problem, distance)
        return Noise(of_query, np.array([[1.0, 0.0]]), distance, extent)
    of_products = isinstance(noise, str) and noise in PRODUCTS
    known = BY_PRODUCTS if of_products else MOVED
    if distance is None or problem.called not in known:
        arrived = repr(noise) if isinstance(noise, str) else type(noise).__name__
        raise InputError(
            f"noise must be a number for the {problem.called}, not {arrived}: "
            f"{'products' if of_products else 'formats and other embeddings'} are for the distances "
            f"{', '.join(known)}.",
            "noise",
        )
    if of_products:
        return noise_of_products(problem, noise)
    moved = MOVED[problem.called]
    queries, items = moves_of(problem, noise, moved)
    of_query, of_item = np.ones((len(queries.move), 2)), np.ones((len(items.move), 2))
    of_query[:, 0], of_item[:, 1] = queries.move, items.move
    if moved.by_norm:  # |x'.y' - x.y| <= |x' - x| |y| + |x| |y' - y| + |x' - x| |y' - y|
        of_query[:, 1], of_item[:, 0] = queries.norm + queries.move, items.norm
    return Noise(of_query * OUTWARD, of_item, moved.ranked, extent_of(problem, moved.ranked))


def noise_of_products(problem: Search, name: str) -> Noise:
    """Return by how much distances are off that are computed from matrix products, in any order of summation."""
    distance, products, d = BY_PRODUCTS[problem.called], PRODUCTS[name], problem.dimensions
    others = OTHER_ROUNDINGS + (d if problem.called == "cosine" else 0)  # its rows are divided by their norms
    sums = (1 + gamma(d, products.sums)) * (1 + gamma(others, UNIT_ROUNDOFF[np.dtype(np.float32)]))
    error = (1 + products.entries) ** 2 * sums - 1
    if not error < np.inf:
        raise InputError(f"Sums of {d:,} products in {name.split()[0]} have no error bound. Pass a number.", "noise")
    queries = _norms_in_range(problem.queries, name)
    items = queries if problem.gallery is None else _norms_in_range(problem.gallery, name)
    one, other = np.ones((len(queries), 2)), np.ones((len(items), 2))
    if problem.called == "cosine":
        one[:, 0], other = 0.0, np.ones((1, 2))
    elif problem.called == "dot":
        one *= [0.0, 1.0]
        one[:, 1], other[:, 1] = queries, items
    else:  # the error is relative to |x|^2 + |y|^2 + 2 |x.y|, which is at most 2 |x|^2 + 2 |y|^2
        one[:, 0], other[:, 1] = queries * queries, items * items
        error *= 2
    return Noise(one * (error * OUTWARD), other, distance, extent_of(problem, distance))


def _norms_in_range(rows: Embeddings, name: str) -> FloatArray:
    norms = _moves(rows, lambda span, block: block, MOVED["cosine"], rounded=False).norm
    row = first_true((norms > LARGEST_NORM) | ((norms > 0) & (norms < SMALLEST_NORM)))
    if row is not None:
        raise InputError(
            f"{name!r} needs norms between {SMALLEST_NORM:.0e} and {LARGEST_NORM:.0e}, whose squares float32 can "
            f"represent, but row {row} has the norm {norms[row]:.3g}. Multiply all embeddings by the same number.",
            "noise",
        )
    return norms


def extent_of(problem: Search, distance: Distance) -> float:
    """Return a number that no distance of the problem exceeds; refuse distances that float64 cannot represent."""
    sides = problem.queries, problem.queries if problem.gallery is None else problem.gallery
    one, other = (max(abs(float(rows.max(initial=0))), abs(float(rows.min(initial=0)))) for rows in sides)
    extent = distance.extent(one, other, problem.dimensions)
    if (extent or (one and other)) and not SMALLEST_EXTENT < extent < LARGEST_EXTENT:
        raise InputError(
            f"noise needs distances between {SMALLEST_EXTENT:.0e} and {LARGEST_EXTENT:.0e}, but those of these "
            f"embeddings may be as large as {extent:g}. Multiply all embeddings by the same number.",
            "noise",
        )
    return extent or 1.0


def moves_of(problem: Search, noise: Any, moved: Moved) -> tuple[Moves, Moves]:
    """Return how far the queries and the items may have moved."""
    sides = [problem.queries] if problem.gallery is None else [problem.queries, problem.gallery]
    if isinstance(noise, str):
        largest_change = change_of(noise)
        moves = [_moves(side, lambda span, rows: largest_change(rows), moved, rounded=True) for side in sides]
        return moves[0], moves[-1]
    again = (noise,) if len(sides) == 1 else noise
    if not isinstance(again, tuple) or len(again) != len(sides):
        raise InputError(
            "With a gallery, noise must be a number, a format, or a tuple (queries, gallery) of the same items "
            f"computed again, not {type(noise).__name__}.",
            "noise",
        )
    moves = [moves_between(side, values, moved) for side, values in zip(sides, again, strict=True)]
    return moves[0], moves[-1]


def change_of(name: str) -> Callable[[FloatArray], FloatArray]:
    """Return the function that bounds by how much rounding to a format changes each entry of rows."""
    if name not in NAMED_NOISE:
        raise InputError(
            f"Unknown noise {name!r}. Known: {', '.join(NAMED_NOISE)}; or pass a number, or the embeddings "
            "computed again.",
            "noise",
        )
    if name == "int8":
        return lambda rows: np.abs(rows).max(axis=1, initial=0.0, keepdims=True) / (2 * INT8_STEPS) + 0 * rows
    return lambda rows: half_steps(rows, FORMATS[name], name)


def half_steps(rows: FloatArray, target: BinaryFormat, name: str) -> FloatArray:
    """Return half the distance between neighboring numbers of a format at each entry."""
    largest = max(float(rows.max(initial=0.0)), -float(rows.min(initial=0.0)))
    if largest >= target.infinity:
        raise InputError(
            f"The embeddings contain {largest:g}, which {name} cannot represent: it would be infinite.", "noise"
        )
    # The bits of the exponent of a float64 are those of the largest power of two up to its absolute value.
    powers = np.ascontiguousarray(rows).view(np.int64) & EXPONENT_BITS
    np.maximum(powers, np.float64(2.0**target.smallest_exponent).view(np.int64), out=powers)
    powers -= target.precision << FRACTION_BITS
    return powers.view(np.float64)


def moves_between(rows: Embeddings, values: Any, moved: Moved) -> Moves:
    """Return how far rows are from the same rows computed again."""
    with about("noise"):
        others = as_finite_embeddings(values, "noise")
    if others.shape != rows.shape:
        raise InputError(
            f"noise has the shape {others.shape}, but the embeddings have {rows.shape}. Pass the same items in the "
            "same order, computed again.",
            "noise",
        )
    return _moves(
        rows, lambda span, _: others[span].astype(np.float64), moved, rounded=False, inexact=_inexact(others)
    )


def _moves(
    rows: Embeddings,
    other: Callable[[slice, FloatArray], FloatArray],
    moved: Moved,
    rounded: bool,
    inexact: bool = False,
) -> Moves:
    """How far rows may have moved: to the rows that `other` returns for some of them, or by these if `rounded`."""
    # inexact: whether rows had to be rounded to float64
    slack = WIDE_INTEGERS if inexact or _inexact(rows) else 0.0
    move, norm = np.empty(len(rows)), np.empty(len(rows))
    for span in spans(*rows.shape):
        block = rows[span].astype(np.float64)
        scale = np.abs(block).max(axis=1, initial=0.0)
        scale = np.where(scale > 0, 2.0 ** np.frexp(scale)[1], 1.0)  # so that no square overflows
        own, theirs = block / scale[:, None], other(span, block) / scale[:, None]
        change = theirs if rounded else theirs - own
        lengths = _norms(own)
        norm[span] = lengths * scale
        if not moved.unit:
            move[span] = (np.abs(change).sum(axis=1) if moved.absolute else _norms(change)) * scale
        elif rounded:
            move[span] = _chords(_norms(change), lengths)
        else:
            move[span] = _chords_between(own, theirs)
    return Moves((move + slack * (1.0 if moved.unit else norm * rows.shape[1])) * OUTWARD, norm * OUTWARD)


def _inexact(rows: Embeddings) -> bool:
    """Whether float64 may have to round the entries of rows."""
    return rows.dtype.kind in "iu" and rows.dtype.itemsize == 8


def _norms(rows: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


def _chords(changes: FloatArray, lengths: FloatArray) -> FloatArray:
    """How far rows of norm 1 move if rows of these lengths change so much: 2 sin(asin(change / length) / 2)."""
    sines = np.divide(changes, lengths, out=np.full_like(changes, 2.0), where=lengths > 0) * OUTWARD
    inside = np.minimum(sines, 1.0)
    # 2 - 2 sqrt(1 - s^2) = 2 s^2 / (1 + sqrt(1 - s^2))
    chords = inside * np.sqrt(2 / (1 + np.sqrt(1 - inside * inside)))
    return np.where(sines < 1, chords, 2.0)


def _chords_between(rows: FloatArray, others: FloatArray) -> FloatArray:
    """The distances between rows after both are divided by their norms; 2 if one of them is zero."""
    scale = np.abs(others).max(axis=1, initial=0.0, keepdims=True)
    scaled = np.divide(others, scale, out=np.zeros_like(others), where=scale > 0)
    first, second = _norms(rows)[:, None], _norms(scaled)[:, None]
    zero = ((first == 0) | (second == 0)).ravel()
    with np.errstate(invalid="ignore", divide="ignore"):
        chords = _norms(rows / first - scaled / second) + 2.0**-50
    same = (rows == others).all(axis=1)
    return np.where(same, 0.0, np.where(zero, 2.0, chords))
