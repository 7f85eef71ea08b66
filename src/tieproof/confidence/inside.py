"""Which points are inside which ellipsoids, counted by class: a ladder from a matrix product to fractions.

The squared distance from point x to an ellipsoid's centre m, in units of its scale s, is D = sum of ((x - m) / s)²;
the point is inside where D <= limit. With w = 1 / s²:

1. product: D = (sum of w x²) - 2 (sum of w m x) + (sum of w m²), two matrix products for a tile, or one where a
   scale holds for all dimensions. A term carries at most 6 roundings, its sum d, the sum of the three 3 more: each of
   the three is off by at most gamma_(d + 9) times the sizes of its terms, added up, which for the second are at most
   those of the others (2 |m x| <= m² + x²). So D is off by at most gamma_(d + 9) × 2 (first + third); twice that is
   taken, since these are known as floats only.
2. direct: the terms of D itself, each with at most 5 roundings and none negative, so D is off by gamma_(d + 5) D.
3. exact: fractions.

A stage hands on what its bound leaves open. Domain: entries up to 1e60 in size, scales from 1e-60 on, so nothing
overflows; what underflow takes away is below 1e-300 a term, which `TINY` covers. The matrix product is checked to be
one of float64 before the first use (`exact.blas.check_products`).
"""

from collections import defaultdict
from fractions import Fraction

import numpy as np

from tieproof.exact.blas import check_products
from tieproof.exact.bounds import SAFETY, UNIT_ROUNDOFF, gamma
from tieproof.ties import BoolArray, FloatArray, IntArray

TINY = 1e-290
"""Larger than all that underflow can take from a sum."""

QUERIES, ITEMS = 256, 4096
"""The shape of a tile, and with the dimensions the size of the blocks it is made from."""


def counts_inside(
    means: FloatArray, scales: FloatArray, classes: IntArray, queries: IntArray, limits: FloatArray
) -> tuple[IntArray, IntArray]:
    """How many means are inside each query's ellipsoid, itself included, and how many of these are of its class.

    means : (n, d)
    scales : (n, d), or (n, 1) where one holds for all dimensions; larger than 0
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
    """Squared distances of points (n, d) from centres (q, d), shape (q, n), and what each may be off by.

    squares : those of the points
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
    """Whether each point (p, d) is inside the ellipsoid of its own centre and unit."""
    distances = (((points - centres) / units) ** 2).sum(axis=1)
    inside = distances <= limit
    error = roundings(points.shape[1]) * distances + TINY
    for at in np.flatnonzero(np.abs(distances - limit) <= error):
        inside[at] = is_inside(points[at], centres[at], units[at], limit)
    return np.asarray(inside)


def is_inside(point: FloatArray, centre: FloatArray, unit: FloatArray, limit: float) -> bool:
    """Whether a point is inside, in fractions; dimensions of one unit share a denominator."""
    sums: defaultdict[float, Fraction] = defaultdict(Fraction)
    for x, m, s in zip(point.tolist(), centre.tolist(), np.broadcast_to(unit, point.shape).tolist(), strict=True):
        sums[s] += (Fraction(x) - Fraction(m)) ** 2
    return sum(total / Fraction(s) ** 2 for s, total in sums.items()) <= Fraction(limit)


def roundings(dimensions: int) -> float:
    """The relative error of a sum of `dimensions` terms with a few roundings each, in float64."""
    return gamma(dimensions + 10, UNIT_ROUNDOFF[np.dtype(np.float64)]) * SAFETY
