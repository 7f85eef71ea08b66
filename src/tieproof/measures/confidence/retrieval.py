"""`credible_retrieval`: the items inside the credible regions of probabilistic embeddings."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tieproof.distances.exact.bounds import SAFETY, UNIT_ROUNDOFF, check_products, gamma
from tieproof.errors import InputError
from tieproof.inputs.arrays import as_embeddings, as_numbers
from tieproof.inputs.labels import as_labels
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.mistakes import warn_of_similarities
from tieproof.measures.confidence.inputs import as_masses, check_scale, finite_floats
from tieproof.measures.confidence.regions import squared_radius
from tieproof.show.shown import AsJson
from tieproof.ties import BoolArray, FloatArray, IntArray

_TINY = 1e-290  # an upper bound on what a sum can lose by underflow
_QUERIES, _ITEMS = 256, 4096  # the shape of a tile, in queries and items


@dataclass(frozen=True)
class Held:
    """The numbers of items inside the regions of one mass.

    mass : the probability of each region under its own posterior
    held : (Q,) how many items are inside each query's region, without the query itself
    relevant_held : (Q,) how many of these are of the query's class
    relevant : (Q,) how many items are of the query's class, without the query itself; at least 1
    """

    mass: float
    held: IntArray
    relevant_held: IntArray
    relevant: IntArray

    @property
    def precision(self) -> float:
        """The mean over queries of the share of items in the region that are of the class; 0 for an empty region."""
        return _mean_of_shares(self.relevant_held, np.maximum(self.held, 1))

    @property
    def recall(self) -> float:
        """The mean over queries of the share of the class that is in the region."""
        return _mean_of_shares(self.relevant_held, self.relevant)

    @property
    def coverage(self) -> float:
        """The share of all pairs of a query and an item of its class for which the item is in the query's region.

        It is close to the mass if the posteriors describe well where items of the class are.
        """
        return int(self.relevant_held.sum()) / int(self.relevant.sum())

    @property
    def empty(self) -> int:
        """The number of empty regions."""
        return int(np.count_nonzero(self.held == 0))


@dataclass(frozen=True, eq=False)
class CredibleRetrieval(AsJson):
    """The numbers of items inside credible regions, for each mass.

    query_ids : (Q,) the items that share their class with another item
    without_class : the number of other items, which are not queries but may be inside a region
    points : the numbers for each mass
    """

    query_ids: IntArray
    without_class: int
    points: tuple[Held, ...]

    def __getitem__(self, mass: float) -> Held:
        """The numbers for one of the masses."""
        for point in self.points:
            if point.mass == mass:
                return point
        known = ", ".join(f"{point.mass:g}" for point in self.points)
        raise InputError(f"This result has no mass {mass!r}; it has {known}. Name it in mass=(...).")

    def to_dict(self) -> dict[str, Any]:
        """The means, as plain numbers, lists and dictionaries."""
        names = ("mass", "precision", "recall", "coverage", "empty")
        return {
            "queries": len(self.query_ids),
            "without_class": self.without_class,
            "points": [{name: getattr(point, name) for name in names} for point in self.points],
        }


@unchanged_files
def credible_retrieval(mean: Any, scale: Any, labels: Any, mass: float | Iterable[float] = 0.95) -> CredibleRetrieval:
    """Count how many items of a query's class are inside its credible region.

    Every item is a query, and its posterior is a Gaussian. Its region is the highest posterior density region of the
    given mass (`credible_region`). An item is inside a region if its mean is.

    Parameters
    ----------
    mean : (n, d) numbers
        The means of the posteriors, which are their modes.
    scale : (n,) or (n, d) numbers
        Their standard deviations, larger than 0: one for each item, or one for each item and dimension.
    labels : (n,) integers or strings
    mass : a probability, or several

    Returns
    -------
    CredibleRetrieval
        `found[0.95]` has precision, recall, the empirical coverage and the counts of every query.

    Raises
    ------
    InputError
        NaN, infinity, wrong shapes, scales that are not larger than 0, or no two items of the same class.
    MissingExtraError
        The extra `stats` is not installed: quantiles are computed by scipy.

    Notes
    -----
    ranking-metrics (arrrrrmin) asks how well models retrieve items of the class within the interval of highest
    density around the mode, but does not define what is counted. Here the retrieved set is the set of items inside
    the region, so precision and recall are those of sets; an empty set has precision 0, as in trec_eval's `set_P`.
    Coverage is the usual check of credible intervals: the share of trials in which they contain what they are meant
    to contain.

    Whether an item is inside a region is decided as if in real arithmetic from the given numbers and the quantile,
    which is a float: a matrix product in float64 decides most pairs by a proven bound, and fractions decide the rest.
    So any order of items or dimensions gives the same counts. The full matrix is never stored: time grows with n² d,
    memory with n d.

    Examples
    --------
    >>> from tieproof.measures.confidence import credible_retrieval
    >>> found = credible_retrieval([[0.0], [1.0], [3.0], [3.5]], [1.0, 1.0, 1.0, 2.0], ["a", "a", "a", "b"])
    >>> found[0.95].held.tolist(), found[0.95].relevant_held.tolist()
    ([1, 1, 1], [1, 1, 0])
    >>> found[0.95].coverage
    0.3333333333333333

    """
    masses = as_masses(mass)
    means = finite_floats(as_embeddings(mean, "means"), "means")
    if len(means) == means.shape[1]:
        warn_of_similarities(means, "means")
    scales = _as_scales(scale, means.shape)
    own = as_labels(labels, len(means), "labels", "means", columns=False)
    _, classes, sizes = np.unique(own, return_inverse=True, return_counts=True)
    queries = np.flatnonzero(sizes[classes] > 1)
    if not len(queries):
        raise InputError("No two items are of the same class. Check that labels and means belong together.")
    limits = np.array([squared_radius(each, means.shape[1]) for each in masses])
    held, relevant_held = _counts_inside(means, scales, classes.astype(np.int64), queries, limits)
    relevant = sizes[classes[queries]] - 1
    points = tuple(Held(*parts, relevant) for parts in zip(masses, held - 1, relevant_held - 1, strict=True))
    return CredibleRetrieval(queries, len(means) - len(queries), points)


def _as_scales(scale: Any, shape: tuple[int, ...]) -> FloatArray:
    """Standard deviations of shape (n, d), or (n, 1) if there is one for each item."""
    array = as_numbers(scale, "scales")
    if array.shape == shape[:1]:
        array = array[:, None]
    if array.shape not in (shape, (shape[0], 1)):
        raise InputError(
            f"The scales must have shape ({shape[0]},) or {shape}, the shape of the means, not {array.shape}."
        )
    return check_scale(finite_floats(array, "scales"))


def _mean_of_shares(parts: IntArray, wholes: IntArray) -> float:
    return math.fsum((parts / wholes).tolist()) / len(wholes)


def _counts_inside(
    means: FloatArray, scales: FloatArray, classes: IntArray, queries: IntArray, limits: FloatArray
) -> tuple[IntArray, IntArray]:
    """Count the means inside each query's ellipsoid, with the query itself, and those of its class, (M, Q) each."""
    # scales: (n, d), or (n, 1) if a scale is the same in all dimensions; limits: (M,) squared radii in their unit
    check_products()
    held = np.zeros((len(limits), len(queries)), dtype=np.int64)
    relevant = np.zeros_like(held)
    for first in range(0, len(means), _ITEMS):
        points, of_points = means[first : first + _ITEMS], classes[first : first + _ITEMS]
        squares = points * points
        for start in range(0, len(queries), _QUERIES):
            span = slice(start, start + _QUERIES)
            rows = queries[span]
            centers, units = means[rows], scales[rows]
            distances, error = by_product(points, squares, centers, units)
            same = classes[rows][:, None] == of_points
            for at, limit in enumerate(limits.tolist()):
                inside = distances <= limit
                query, item = np.nonzero(np.abs(distances - limit) <= error)
                inside[query, item] = decide(points[item], centers[query], units[query], limit)
                held[at, span] += np.count_nonzero(inside, axis=1)
                relevant[at, span] += np.count_nonzero(inside & same, axis=1)
    return held, relevant


def by_product(
    points: FloatArray, squares: FloatArray, centers: FloatArray, units: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Squared distances (q, n) of points, whose squares are given, from centers, and bounds on their errors."""
    weights = 1 / (units * units)
    weighted = centers * weights
    size = weights @ squares.T if weights.shape == centers.shape else weights * squares.sum(axis=1)
    size += (weighted * centers).sum(axis=1)[:, None]
    distances = size - 2 * (weighted @ points.T)
    size *= 4 * _roundings(points.shape[1])
    size += _TINY
    return distances, size


def decide(points: FloatArray, centers: FloatArray, units: FloatArray, limit: float) -> BoolArray:
    """Whether each point (p, d) is inside the ellipsoid with the center and unit in the same row."""
    distances = (((points - centers) / units) ** 2).sum(axis=1)
    inside = distances <= limit
    error = _roundings(points.shape[1]) * distances + _TINY
    for at in np.flatnonzero(np.abs(distances - limit) <= error):
        inside[at] = is_inside(points[at], centers[at], units[at], limit)
    return np.asarray(inside)


def is_inside(point: FloatArray, center: FloatArray, unit: FloatArray, limit: float) -> bool:
    """Whether a point is inside, computed in fractions; dimensions with the same unit share a denominator."""
    sums: defaultdict[float, Fraction] = defaultdict(Fraction)
    for x, m, s in zip(point.tolist(), center.tolist(), np.broadcast_to(unit, point.shape).tolist(), strict=True):
        sums[s] += (Fraction(x) - Fraction(m)) ** 2
    return sum(total / Fraction(s) ** 2 for s, total in sums.items()) <= Fraction(limit)


def _roundings(dimensions: int) -> float:
    """The relative error of a sum of `dimensions` terms with a few _roundings each, in float64."""
    return gamma(dimensions + 10, UNIT_ROUNDOFF[np.dtype(np.float64)]) * SAFETY
