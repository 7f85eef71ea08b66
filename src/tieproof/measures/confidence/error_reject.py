"""Means of the errors of the 1, 2, …, n most confident queries, computed in integers and rounded once."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError
from tieproof.measures.confidence.inputs import ConfidenceTies, Groups, as_column, as_floats
from tieproof.measures.rank_weights import HARMONIC
from tieproof.show.shown import AsJson
from tieproof.ties import Estimate, FloatArray

_Integers = npt.NDArray[np.object_]  # Python integers of any size, whose quotients are rounded to the nearest float64


@dataclass(frozen=True, eq=False)
class ErrorRejectCurve(AsJson):
    """The mean error of the i most confident of n queries, i = 1, …, n, and the mean over all i.

    error : arrays (n,), the curve; its last value is the mean error of all queries
    area : the mean of the curve
    ties : the ties among confidences

    Smaller errors are better, so the value to report is `upper`: ties never pay.
    """

    error: Estimate[FloatArray]
    area: Estimate[float]
    ties: ConfidenceTies

    @property
    def rejected(self) -> FloatArray:
        """The share of queries that each value of the curve leaves out, (n,), falling from almost 1 to 0."""
        count = len(self.error.lower)
        return np.asarray(np.arange(count - 1, -1, -1) / count)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain numbers, lists and dictionaries."""
        return {
            "area": asdict(self.area),
            "ties": self.ties._asdict(),
            "error": {name: values.tolist() for name, values in vars(self.error).items()},
        }


def error_reject_curve(errors: Any, confidence: Any) -> ErrorRejectCurve:
    """The error-versus-reject curve: the mean error of the remaining queries when the least confident are rejected.

    With the errors sorted by descending confidence, E_i = (e_1 + … + e_i) / i; the area is (E_1 + … + E_n) / n.

    Parameters
    ----------
    errors : (n,) numbers, or an `Estimate` of arrays (n,)
        For example 1 - score. If ties in the rankings make scores intervals, pass an `Estimate` with the lower,
        expected and upper error and the std of each query.
    confidence : (n,) numbers, larger is more confident
        Any range and any numeric type, because confidences are only compared.

    Returns
    -------
    ErrorRejectCurve
        Every value of the curve and its area, with intervals over ties. `lower` and `upper` are the smallest and the
        largest values over all orders of queries with equal confidence and over all errors within their bounds. One
        order, with ascending or descending errors within each tie, reaches the extreme at every point of the curve,
        and so for the area. `expected` and `std` take all orders of equal confidences as equally likely, and the
        errors as independent of these orders and of each other.

    Raises
    ------
    InputError
        NaN, infinity, errors larger than 1e60, different lengths, or estimates with bounds out of order.

    Notes
    -----
    The definition is from probabilistic-embeddings (tinkoff-ai; `erc-recall@1` of the errors 1 - Success@1, and
    `erc-mapr` of 1 - AP@R, the MAP@R of Musgrave et al. 2020) and from ranking-metrics (arrrrrmin). These libraries
    sort by confidence, and their sort decides the order within a tie. Let B be the sum of the errors before a tie of
    l queries. At the s-th position of the tie, which has rank i:

    - lower: (B + the s smallest errors of the tie) / i; upper: (B + the s largest) / i
    - expected: (B + s × the mean of the tie) / i
    - variance: (V + s × mean of the tie's variances + s (l - s) / (l (l - 1)) × Q) / i², where V is the sum of the
      variances before the tie, and Q the sum of the squared deviations of the tie's expected errors from their mean
    - variance of the area, in which the i-th error has the weight w_i = (1/i + … + 1/n) / n: the sum over ties of the
      mean variance × sum of w², plus Q / (l - 1) × sum of (w - mean w)²

    Sums are computed in integers and rounded once, so that any order of the queries gives the same bits.

    Examples
    --------
    >>> from tieproof.measures.confidence import error_reject_curve
    >>> curve = error_reject_curve([0, 1, 0, 1], [0.9, 0.5, 0.5, 0.1])
    >>> curve.error.lower.tolist(), curve.error.upper.tolist()
    ([0.0, 0.0, 0.3333333333333333, 0.5], [0.0, 0.5, 0.3333333333333333, 0.5])
    >>> curve.area.lower, curve.area.expected, curve.area.upper
    (0.20833333333333331, 0.2708333333333333, 0.3333333333333333)

    """
    values = _as_errors(errors)
    groups = Groups.of(as_column(confidence, "confidences", len(values.lower)))
    curve, area = _curve_and_area(values, groups)
    return ErrorRejectCurve(curve, area, groups.ties)


def _as_errors(errors: Any) -> Estimate[FloatArray]:
    if not isinstance(errors, Estimate):
        known = as_floats(errors, "errors")
        return Estimate(known, known, known, np.zeros(len(known)))
    columns = [as_floats(errors.lower, "lower errors")]
    for name in ("expected", "upper", "std"):
        columns.append(as_floats(getattr(errors, name), f"{name} errors", len(columns[0]), "lower errors"))
    lower, expected, upper, std = columns
    wrong = ~((lower <= expected) & (expected <= upper) & (std >= 0))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise InputError(
            f"The errors must be lower <= expected <= upper with a std of at least 0, but query {place} has "
            f"{lower[place]}, {expected[place]}, {upper[place]} and {std[place]}."
        )
    return Estimate(lower, expected, upper, std)


def _as_integers(errors: Estimate[FloatArray]) -> tuple[list[_Integers], int]:
    """The lower, expected, upper errors and their std as integers, in the largest unit 2^-shift that is exact."""
    mantissa, exponent = np.frexp(np.stack([errors.lower, errors.expected, errors.upper, errors.std]))
    digits = (mantissa * 2.0**53).astype(np.int64)
    lowest = digits & -digits  # the last digit that is not zero
    exponent = np.where(digits == 0, 0, exponent - 53 + np.frexp(lowest.astype(np.float64))[1] - 1)
    shift = max(0, -int(exponent.min()))
    digits //= np.maximum(lowest, 1)
    return [*(digits.astype(object) << (exponent + shift).astype(object))], shift


def _running_sums(values: _Integers) -> _Integers:
    return np.asarray(np.add.accumulate(values), dtype=object)


def _quotients(numerator: _Integers, denominator: _Integers) -> FloatArray:
    return np.asarray(numerator / denominator, dtype=np.float64)


def _curve_and_area(errors: Estimate[FloatArray], groups: Groups) -> tuple[Estimate[FloatArray], Estimate[float]]:
    (lower, expected, upper, std), shift = _as_integers(errors)
    length, order = groups.length.astype(object), np.argsort(groups.of_query, kind="stable")

    # Sums over the queries of each group: of the expected errors and of the errors' variances; and the length of the
    # group times the sum of the squared deviations of the expected errors from their mean.
    totals, squares, variances = (
        np.add.reduceat(each[order], groups.start) for each in (expected, expected**2, std**2)
    )
    spreads = length * squares - totals**2

    count = len(groups.of_query)
    rank = np.arange(1, count + 1)
    group = np.repeat(np.arange(len(groups.start)), groups.length)
    tied, place = length[group], (rank - groups.start[group]).astype(object)
    pairs = np.maximum(length - 1, 1)
    divisor = np.asarray(rank.astype(object) << shift, dtype=object)

    def before_and_within(sums: _Integers) -> _Integers:
        """`tied` times the sum of the sums before the tie and of the tie's mean at each position so far."""
        before = _running_sums(sums) - sums
        return np.asarray(before[group] * tied + sums[group] * place)

    variance = before_and_within(variances) * tied * pairs[group] + place * (tied - place) * spreads[group]
    rising = np.lexsort((errors.lower, groups.of_query))
    falling = np.lexsort((-errors.upper, groups.of_query))
    curve = Estimate(
        _quotients(_running_sums(lower[rising]), divisor),
        _quotients(before_and_within(totals), divisor * tied),
        _quotients(_running_sums(upper[falling]), divisor),
        np.sqrt(_quotients(variance, (divisor * tied) ** 2 * pairs[group])),
    )

    weight = HARMONIC.sum(rank - 1, np.full(count, count)).hi / count
    fall = HARMONIC.sum(groups.start[group], rank - 1).hi / count  # from the weight at the start of the tie
    weights, falls, squared_falls = (np.bincount(group, each) for each in (weight * weight, fall, fall * fall))
    unit = 1 << 2 * shift
    of_order = (squared_falls - falls * falls / groups.length) * _quotients(spreads, length * pairs * unit)
    of_errors = weights * _quotients(variances, length * unit)
    low, mean, high = (math.fsum(each.tolist()) / count for each in (curve.lower, curve.expected, curve.upper))
    return curve, Estimate(low, mean, high, math.sqrt(math.fsum((of_order + of_errors).tolist())))


def errors_of(scores: Estimate[FloatArray]) -> Estimate[FloatArray]:
    """The errors 1 - score of the queries whose score is not NaN."""
    known = ~np.isnan(scores.lower)
    columns = (1 - scores.upper, 1 - scores.expected, 1 - scores.lower, scores.std)
    return Estimate(*(column[known] for column in columns))
