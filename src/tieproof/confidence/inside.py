"""Count by class which points are inside which ellipsoids, in three stages from a matrix product to fractions.

The squared distance from a point x to an ellipsoid's centre m, in units of its scale s, is D = sum of ((x - m) / s)²;
the point is inside if D <= limit. With w = 1 / s²:

1. product: D = (sum of w x²) - 2 (sum of w m x) + (sum of w m²), with two matrix products for a tile, or one if each
   scale is the same in all dimensions. A term has at most 6 roundings, its sum d, and the sum of the three sums 3
   more. So each of the three has an error of at most gamma_(d + 9) times the sum of the absolute values of its terms,
   which for the second is at most the sum for the others (2 |m x| <= m² + x²). The error of D is therefore at most
   gamma_(d + 9) × 2 (first + third); the code uses twice that, because first and third are themselves rounded.
2. direct: the terms of D, each with at most 5 roundings and none negative, so the error of D is at most
   gamma_(d + 5) D.
3. exact: fractions.

Each stage passes on the pairs that its bound cannot decide. Domain: entries up to 1e60 in absolute value and scales
of at least 1e-60, so nothing overflows; underflow loses less than 1e-300 in a term, which `TINY` covers. Before the
first use, a check makes sure that matrix products are computed in float64 (`exact.blas.check_products`).
"""

from collections import defaultdict
from fractions import Fraction

import numpy as np

from tieproof.exact.blas import check_products
from tieproof.exact.bounds import SAFETY, UNIT_ROUNDOFF, gamma
from tieproof.ties import BoolArray, FloatArray, IntArray

TINY = 1e-290
"""An upper bound on what a sum can lose by underflow."""

QUERIES, ITEMS = 256, 4096
"""The shape of a tile, in queries and items."""


def counts_inside(
    means: FloatArray, scales: FloatArray, classes: IntArray, queries: IntArray, limits: FloatArray
) -> tuple[IntArray, IntArray]:
    """Count the means inside each query's ellipsoid, including the query itself, and those among them of its class.

    means : (n, d)
    scales : (n, d), or (n, 1) if a scale is the same in all dimensions; larger than 0
    classes : (n,)
    queries : (Q,) rows of `means`
    limits : (M,) squared radii, in units of the scale

    Returns two arrays of shape (M, Q).
    """
    check_products()
    held = np.zeros((len(limits), len(queries)), dtype=np.int64)
    relevant = np.zeros_like(held)
    for first in range(0, len(means), ITEMS):
        points, of_points = means[first : first + ITEMS], classes[first : first + ITEMS]
        squares = points * points
        for start in range(0, len(queries), QUERIES):
            span = slice(start, start + QUERIES)
            rows = queries[span]
            centres, units = means[rows], scales[rows]
            distances, error = by_product(points, squares, centres, units)
            same = classes[rows][:, None] == of_points
            for at, limit in enumerate(limits.tolist()):
                inside = distances <= limit
                query, item = np.nonzero(np.abs(distances - limit) <= error)
                inside[query, item] = decide(points[item], centres[query], units[query], limit)
                held[at, span] += np.count_nonzero(inside, axis=1)
                relevant[at, span] += np.count_nonzero(inside & same, axis=1)
    return held, relevant


def by_product(
    points: FloatArray, squares: FloatArray, centres: FloatArray, units: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Squared distances of points (n, d) from centres (q, d), shape (q, n), and a bound on the error of each.

    squares : the squares of the points' entries
    units : (q, d) or (q, 1)
    """
    weights = 1 / (units * units)
    weighted = centres * weights
    size = weights @ squares.T if weights.shape == centres.shape else weights * squares.sum(axis=1)
    size += (weighted * centres).sum(axis=1)[:, None]
    distances = size - 2 * (weighted @ points.T)
    size *= 4 * roundings(points.shape[1])
    size += TINY
    return distances, size


def decide(points: FloatArray, centres: FloatArray, units: FloatArray, limit: float) -> BoolArray:
    """Whether each point (p, d) is inside the ellipsoid with the centre and unit in the same row."""
    distances = (((points - centres) / units) ** 2).sum(axis=1)
    inside = distances <= limit
    error = roundings(points.shape[1]) * distances + TINY
    for at in np.flatnonzero(np.abs(distances - limit) <= error):
        inside[at] = is_inside(points[at], centres[at], units[at], limit)
    return np.asarray(inside)


def is_inside(point: FloatArray, centre: FloatArray, unit: FloatArray, limit: float) -> bool:
    """Whether a point is inside, computed in fractions; dimensions with the same unit share a denominator."""
    sums: defaultdict[float, Fraction] = defaultdict(Fraction)
    for x, m, s in zip(point.tolist(), centre.tolist(), np.broadcast_to(unit, point.shape).tolist(), strict=True):
        sums[s] += (Fraction(x) - Fraction(m)) ** 2
    return sum(total / Fraction(s) ** 2 for s, total in sums.items()) <= Fraction(limit)


def roundings(dimensions: int) -> float:
    """The relative error of a sum of `dimensions` terms with a few roundings each, in float64."""
    return gamma(dimensions + 10, UNIT_ROUNDOFF[np.dtype(np.float64)]) * SAFETY
