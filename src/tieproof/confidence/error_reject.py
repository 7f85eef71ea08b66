"""Means of the errors of the 1, 2, …, n most confident queries, computed in integers and rounded once."""

import json
import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.confidence.inputs import ConfidenceTies, Groups, as_column, as_floats
from tieproof.errors import InputError
from tieproof.measures.rank_weights import HARMONIC
from tieproof.ties import Estimate, FloatArray

Integers = npt.NDArray[np.object_]
"""Python integers of any size. Their quotients are rounded to the nearest float64."""


class ExactErrors(NamedTuple):
    """The errors of n queries without rounding: integers (n,) in units of 2^-shift."""

    lower: Integers
    expected: Integers
    upper: Integers
    std: Integers
    shift: int


class Sums(NamedTuple):
    """Sums over the l queries of each group, (G,) each.

    expected : the sum of the expected errors, in units of 2^-shift
    variance : the sum of the errors' variances, in units of 2^-(2 shift)
    spread : l times the sum of the squared deviations of the expected errors from their mean, in units of 2^-(2
        shift)
    """

    expected: Integers
    variance: Integers
    spread: Integers
    shift: int


def exact(errors: Estimate[FloatArray]) -> ExactErrors:
    """The columns of an estimate as integers in the largest unit 2^-shift that represents all of them exactly.

    >>> parts = exact(Estimate(*np.array([[0.25], [0.5], [3.0], [0.0]])))
    >>> [int(column[0]) for column in parts[:4]], parts.shift
    ([1, 2, 12, 0], 2)
    """
    mantissa, exponent = np.frexp(np.stack([errors.lower, errors.expected, errors.upper, errors.std]))
    digits = (mantissa * 2.0**53).astype(np.int64)
    lowest = digits & -digits  # the last digit that is not zero
    exponent = np.where(digits == 0, 0, exponent - 53 + np.frexp(lowest.astype(np.float64))[1] - 1)
    shift = max(0, -int(exponent.min()))
    digits //= np.maximum(lowest, 1)
    integers = digits.astype(object) << (exponent + shift).astype(object)
    return ExactErrors(integers[0], integers[1], integers[2], integers[3], shift)


def sums_of_groups(errors: ExactErrors, groups: Groups) -> Sums:
    """The sums that the expectation and the variance need."""
    order = np.argsort(groups.of_query, kind="stable")

    def sums(values: Integers) -> Integers:
        return np.add.reduceat(values[order], groups.start)

    expected = sums(errors.expected)
    spread = groups.length.astype(object) * sums(errors.expected**2) - expected**2
    return Sums(expected, sums(errors.std**2), spread, errors.shift)


def running_means(
    errors: ExactErrors, sums: Sums, values: Estimate[FloatArray], groups: Groups
) -> Estimate[FloatArray]:
    """The curve: the estimates, over ties, of the mean error of the 1, 2, …, n most confident queries.

    values : the errors as floats, by which the errors of a tie are sorted
    """
    rank = np.arange(1, len(groups.of_query) + 1)
    group = np.repeat(np.arange(len(groups.start)), groups.length)
    place, length = (array.astype(object) for array in (rank - groups.start[group], groups.length[group]))
    divisor = np.asarray(rank.astype(object) << errors.shift, dtype=object)

    def before_and_within(totals: Integers) -> Integers:
        """`length` times the sum of the totals before the tie and of the tie's mean at each position so far."""
        before = running_sums(totals) - totals
        return np.asarray(before[group] * length + totals[group] * place)

    others = np.maximum(length - 1, 1)
    variance = before_and_within(sums.variance) * length * others + place * (length - place) * sums.spread[group]
    rising = np.lexsort((values.lower, groups.of_query))
    falling = np.lexsort((-values.upper, groups.of_query))
    return Estimate(
        quotients(running_sums(errors.lower[rising]), divisor),
        quotients(before_and_within(sums.expected), divisor * length),
        quotients(running_sums(errors.upper[falling]), divisor),
        np.sqrt(quotients(variance, (divisor * length) ** 2 * others)),
    )


def running_sums(values: Integers) -> Integers:
    """The sums of the first 1, 2, … values."""
    return np.asarray(np.add.accumulate(values), dtype=object)


def quotients(numerator: Integers, denominator: Integers) -> FloatArray:
    """The quotients, each rounded once."""
    return np.asarray(numerator / denominator, dtype=np.float64)


def area_std(sums: Sums, groups: Groups) -> float:
    """The standard deviation of the mean of the curve."""
    count, length = len(groups.of_query), groups.length.astype(object)
    rank = np.arange(1, count + 1)
    group = np.repeat(np.arange(len(groups.start)), groups.length)
    weight = HARMONIC.sum(rank - 1, np.full(count, count)).hi / count
    fall = HARMONIC.sum(groups.start[group], rank - 1).hi / count  # from the weight at the start of the tie
    squares, falls, squared_falls = (np.bincount(group, values) for values in (weight * weight, fall, fall * fall))
    spread = squared_falls - falls * falls / groups.length
    unit = 1 << 2 * sums.shift
    of_order = quotients(sums.spread, length * np.maximum(length - 1, 1) * unit)
    of_errors = quotients(sums.variance, length * unit)
    return math.sqrt(math.fsum((spread * of_order + squares * of_errors).tolist()))


@dataclass(frozen=True)
class ErrorRejectCurve:
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

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)


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
    >>> from tieproof.confidence import error_reject_curve
    >>> curve = error_reject_curve([0, 1, 0, 1], [0.9, 0.5, 0.5, 0.1])
    >>> curve.error.lower.tolist(), curve.error.upper.tolist()
    ([0.0, 0.0, 0.3333333333333333, 0.5], [0.0, 0.5, 0.3333333333333333, 0.5])
    >>> curve.area.lower, curve.area.expected, curve.area.upper
    (0.20833333333333331, 0.2708333333333333, 0.3333333333333333)

    """
    values = as_errors(errors)
    groups = Groups.of(as_column(confidence, "confidences", len(values.lower)))
    parts = exact(values)
    sums = sums_of_groups(parts, groups)
    curve = running_means(parts, sums, values, groups)
    lower, expected, upper = (
        math.fsum(column.tolist()) / len(column) for column in (curve.lower, curve.expected, curve.upper)
    )
    area = Estimate(lower, expected, upper, area_std(sums, groups))
    return ErrorRejectCurve(curve, area, groups.ties)


def errors_of(scores: Estimate[FloatArray]) -> Estimate[FloatArray]:
    """The errors 1 - score of the queries whose score is not NaN."""
    known = ~np.isnan(scores.lower)
    columns = (1 - scores.upper, 1 - scores.expected, 1 - scores.lower, scores.std)
    return Estimate(*(column[known] for column in columns))


def as_errors(errors: Any) -> Estimate[FloatArray]:
    """Errors as arrays of equal length; bounds that are out of order are refused."""
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
