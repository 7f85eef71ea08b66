"""`fnmr_at_fmr`: the false non-match rate at a false match rate, pooled over all pairs."""

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tieproof.analyses.rates.both_rates import equal_error_rate, steps
from tieproof.analyses.rates.counting import order_statistics, relevant_beyond
from tieproof.analyses.rates.curve import DetCurve
from tieproof.analyses.rates.pool import Pool
from tieproof.analyses.rates.result import METHODS, ErrorRates, Method, OperatingPoint, tied_estimate
from tieproof.distances import DistanceFunction, DistanceName
from tieproof.distances.exact.bounds import check_products, single_threaded
from tieproof.distances.exact.reals import least_rounding_to
from tieproof.engine.problem import Progress
from tieproof.errors import InputError, about
from tieproof.evaluation.problems import ArgumentSide, as_budget, in_memory, make_problem, watched
from tieproof.inputs.arrays import as_numbers, check_finite
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.options import as_shares, check_choice
from tieproof.ties import Estimate, FloatArray

PASSES, PASSES_OF_EER, PASSES_OF_CURVE = 2, 4, 2  # over all pairs, if a sample gives the right windows at once


@unchanged_files
def fnmr_at_fmr(
    embeddings: Any,
    labels: Any = None,
    *,
    gallery: Any = None,
    gallery_labels: Any = None,
    distance: DistanceName | str | DistanceFunction = "cosine",
    fmr: float | Iterable[float] = (0.1,),
    method: Method = "linear",
    eer: bool = False,
    curve: bool = False,
    relevance: Any = None,
    groups: Any = None,
    gallery_groups: Any = None,
    exclude: Any = None,
    memory: str | int = "1GiB",
    threads: int | None = None,
    progress: bool = False,
    bits: int | None = None,
) -> ErrorRates:
    """Compute the false non-match rate (FNMR) at given false match rates (FMR), over all pairs.

    All (query, item) pairs are pooled, except for the excluded ones: in leave-one-out every pair of items counts
    twice, once from each side. The threshold is the `fmr`-quantile of the distances of pairs that are not relevant;
    FNMR is the share of relevant pairs whose distance is at least the threshold. The pairs are counted, never stored.

    Parameters
    ----------
    embeddings, labels, gallery, gallery_labels, distance, relevance, groups, gallery_groups, exclude, bits :
        As in `evaluate`. The distances are 1 - x.y / (|x| |y|) (1 for a zero vector), |x - y|, its square,
        the sum of |x - y|, - x.y, the number of differing bits, or the values that a function returns.
    fmr : numbers from 0 to 1
    method : "linear" or "exact"
        "linear" rounds every distance to the nearest float64, interpolates between two of them as numpy.quantile
        does, and counts a relevant pair at exactly the threshold as a non-match; `lower`, `expected` and `upper` are
        then equal. "exact" takes, without any rounding, the smallest distance that at least a share `fmr` of the
        pairs does not exceed. Relevant pairs at exactly that distance are matches in `lower` and non-matches in
        `upper`. `expected` and `std` are over all orderings of the pairs at that distance, where the threshold is one
        of the pairs that are not relevant. FNMR is an error, so `upper` is the value to report.
    eer : whether to find the equal error rate, too, without any rounding; this takes about four more passes over all
        pairs. `rates.eer` is then an `EqualErrorRate`.
    curve : whether to count both rates at the distances of all relevant pairs, too, without any rounding; this finds
        the equal error rate, and takes two more passes over all pairs and about 512 bytes of memory for each relevant
        pair. `rates.curve` is then a `DetCurve`, as `det_curve` returns it, with `min_dcf`, `tar` and `plot`.
    memory, threads, progress :
        As in `evaluate`.

    Returns
    -------
    ErrorRates
        `rates[0.1]` is an `Estimate`; `rates.points` also has the thresholds.

    Raises
    ------
    InputError
        As in `evaluate`; also if no pair is relevant, if all pairs are relevant, or if a threshold exceeds the
        largest float64.

    Notes
    -----
    The definition is that of OpenMetricLearning's `calc_fnmr_at_fmr`, whose unit step is 1 at 0. Results are the
    same to the last bit for any order of items and dimensions, any memory and any number of threads.

    Examples
    --------
    >>> import tieproof as tp
    >>> rates = tp.fnmr_at_fmr([[0], [1], [3], [7]], ["a", "a", "b", "b"], distance="euclidean", fmr=0.5)
    >>> rates.points[0].threshold, rates[0.5].upper
    (4.5, 0.0)
    >>> tp.fnmr_at_fmr([[0.0, 0.0]] * 3, ["cat", "dog", "cat"], method="exact")[0.1]
    Estimate(lower=0.0, expected=0.8, upper=1.0, std=0.30550504633038933)

    """
    rates = as_shares(fmr, "A false match rate", "fmr=(0.1,)")
    check_choice("method", method, METHODS)
    for name, asked in (("eer", eer), ("curve", curve)):
        if not isinstance(asked, int | np.bool_):
            raise InputError(f"{name} must be True or False, not {asked!r}.", name)
    sides = ArgumentSide(embeddings, labels, groups), ArgumentSide(gallery, gallery_labels, gallery_groups)
    options: dict[str, Any] = {"relevance": relevance, "exclude": exclude, "bits": bits}
    problem = in_memory(make_problem(*sides, distance, as_budget(memory, threads), **options))
    pool = Pool(problem.gauge(), problem.relevance, problem.budget)
    passes = PASSES + (PASSES_OF_EER if eer or curve else 0) + (PASSES_OF_CURVE if curve else 0)
    check_products()
    with watched(progress)(passes * pool.entries) as advance, single_threaded():
        with about(problem.judged_by):
            check_counts(pool.n_relevant, pool.n_others)
        find = _linear_points if method == "linear" else _exact_points
        points = tuple(find(pool, rates, advance))
        equal = equal_error_rate(pool, advance) if eer or curve else None
        if equal is not None:
            _check_threshold(equal.threshold, equal.after[0])
        counted = DetCurve(*steps(pool, advance), _eer=equal) if curve else None
        return ErrorRates(method, problem.called, pool.n_relevant, pool.n_others, points, equal, counted)


@unchanged_files
def fnmr_at_fmr_of_distances(
    relevant: Any, others: Any, *, fmr: float | Iterable[float] = (0.1,), method: Method = "linear"
) -> ErrorRates:
    """Compute the false non-match rate at given false match rates from the distances of pairs.

    Parameters
    ----------
    relevant, others : arrays of any shape, smaller is nearer
        The distances of the relevant pairs and of all other pairs. They are compared as the numbers given.
    fmr, method :
        As in `fnmr_at_fmr`.

    Raises
    ------
    InputError
        If a distance is not finite or is an integer beyond 2^53, if an array is empty, or if a rate is wrong.

    Examples
    --------
    >>> import tieproof as tp
    >>> rates = tp.fnmr_at_fmr_of_distances(
    ...     [0, 0, 1, 1, 2, 2, 5, 5, 9, 9], [3, 3, 4, 4, 6, 6, 7, 7, 8, 8], fmr=(0.1, 0.5)
    ... )
    >>> rates[0.1].upper, rates[0.5].upper
    (0.4, 0.2)
    >>> tp.fnmr_at_fmr_of_distances([1, 2, 2, 3], [2, 3, 4], fmr=0.1, method="exact")[0.1]
    Estimate(lower=0.25, expected=0.5, upper=0.75, std=0.2041241452319315)

    """
    rates = as_shares(fmr, "A false match rate", "fmr=(0.1,)")
    check_choice("method", method, METHODS)
    near, far = as_both_distances(relevant, others, "fnmr_at_fmr_of_distances")
    far = np.sort(far)
    points = []
    for rate in rates:
        if method == "linear":
            first, second, part = linear_place(rate, len(far))
            threshold = _check_threshold(between(float(far[first]), float(far[second]), part), rate)
            share = int(np.count_nonzero(near >= threshold)) / len(near)
            fnmr = Estimate(share, share, share, 0.0)
        else:
            rank = _exact_rank(rate, len(far))
            threshold = float(far[rank]) + 0.0
            start, stop = np.searchsorted(far, threshold, "left"), np.searchsorted(far, threshold, "right")
            beyond, tied = int((near > threshold).sum()), int((near == threshold).sum())
            fnmr = tied_estimate(beyond, tied, len(near), rank - int(start) + 1, int(stop - start))
        points.append(OperatingPoint(rate, threshold, fnmr))
    return ErrorRates(method, "distances", len(near), len(far), tuple(points))


def as_both_distances(relevant: Any, others: Any, function: str) -> tuple[FloatArray, FloatArray]:
    """Return the distances of relevant and of other pairs, which must not be labels and scores instead."""
    both = as_distances(relevant, "relevant distances"), as_distances(others, "other distances")
    check_counts(*map(len, both))
    # Whether there are two values, which are those of labels that scikit-learn takes before the scores.
    labels = [set(np.unique(each).tolist()) in ({0.0, 1.0}, {-1.0, 1.0}) for each in both]
    if len(both[0]) == len(both[1]) and labels[0] != labels[1]:
        first, second = ("first", "second") if labels[0] else ("second", "first")
        raise InputError(
            f"The {first} argument has only two values, as labels have, and the {second} one has scores for as many "
            "pairs, but the distances of relevant pairs and those of other pairs are expected. For arrays of labels "
            f"and of scores, pass {function}(-scores[labels == 1], -scores[labels != 1]). If both are distances, add "
            "2 to all of them, which changes no rate.",
            ("relevant", "others"),
        )
    return both


def as_distances(values: Any, name: str) -> FloatArray:
    """Return distances or scores as float64 in one dimension; they must be finite and exact in float64."""
    array = as_numbers(values, name)
    check_finite(array, name)
    array = array.ravel()
    if array.dtype.kind in "iu" and array.size and max(abs(int(array.min())), abs(int(array.max()))) > 2**53:
        raise InputError(
            f"The {name} contain an integer beyond 2^53, which float64 cannot represent exactly. Pass "
            "floats, or smaller integers."
        )
    return array.astype(np.float64)


def _linear_points(pool: Pool, rates: Sequence[float], progress: Progress) -> Iterator[OperatingPoint]:
    """Thresholds between float64 distances; a relevant pair counts if its float64 distance is at or beyond it."""
    places = [linear_place(rate, pool.n_others) for rate in rates]
    orders = order_statistics(pool, [rank for place in places for rank in place[:2]], progress)
    thresholds = []
    for rate, (first, second, part) in zip(rates, places, strict=True):
        near, far = (pool.gauge.distance(orders[rank].key) for rank in (first, second))
        thresholds.append(_check_threshold(between(near, far, part), rate))
    boundaries = [least_rounding_to(threshold) for threshold in thresholds]
    counts = relevant_beyond(pool, [pool.gauge.key_of(boundary) for boundary, _ in boundaries])
    for rate, threshold, (_, reached), (beyond, equal) in zip(rates, thresholds, boundaries, counts, strict=True):
        share = (beyond + (equal if reached else 0)) / pool.n_relevant
        yield OperatingPoint(rate, threshold, Estimate(share, share, share, 0.0))


def _exact_points(pool: Pool, rates: Sequence[float], progress: Progress) -> Iterator[OperatingPoint]:
    """Thresholds that are distances, compared as real numbers."""
    ranks = [_exact_rank(rate, pool.n_others) for rate in rates]
    orders = order_statistics(pool, ranks, progress)
    counts = relevant_beyond(pool, [Fraction(orders[rank].key) for rank in ranks])
    for rate, rank, (beyond, equal) in zip(rates, ranks, counts, strict=True):
        order = orders[rank]
        threshold = _check_threshold(pool.gauge.distance(order.key), rate)
        fnmr = tied_estimate(beyond, equal, pool.n_relevant, rank - order.before + 1, order.equal)
        yield OperatingPoint(rate, threshold, fnmr)


def check_counts(relevant: int, others: int) -> None:
    """Refuse pairs that are all relevant, or of which none is."""
    if not relevant:
        raise InputError(
            "No pair is relevant, so there is no false non-match rate. Check that labels and embeddings belong "
            "together."
        )
    if not others:
        raise InputError(
            "Every pair is relevant or excluded, so there are no other pairs whose distances could give a threshold. "
            "Add items of other classes."
        )


def _check_threshold(threshold: float, fmr: float) -> float:
    if not math.isfinite(threshold):
        raise InputError(
            f"The distance at the false match rate {fmr:g} exceeds the largest float64. Divide all embeddings by one "
            "large number, which does not change the rates."
        )
    return threshold + 0.0  # no negative zero


def linear_place(fmr: float, count: int) -> tuple[int, int, float]:
    """The ranks of the two numbers, among `count`, on either side of the quantile, and its fraction of the way.

    Computed in float64 as numpy.quantile does (`method="linear"`; Hyndman and Fan 1996, definition 7).
    """
    place = (count - 1) * fmr
    first = math.floor(place)
    return first, min(first + 1, count - 1), place - first


def between(first: float, second: float, part: float) -> float:
    """Interpolate between two numbers from the nearer end, as numpy.quantile does."""
    if part < 0.5:
        return first + (second - first) * part
    return second - (second - first) * (1 - part)


def _exact_rank(fmr: float, count: int) -> int:
    """The rank, counted from 0, of the smallest of `count` numbers that a share `fmr` of them does not exceed.

    The share is the decimal number as written: 0.1 is exactly a tenth.

    >>> _exact_rank(0.1, 10), _exact_rank(0.11, 10), _exact_rank(0.0, 10)
    (0, 1, 0)
    """
    return max(0, math.ceil(Fraction(repr(fmr)) * count) - 1)
