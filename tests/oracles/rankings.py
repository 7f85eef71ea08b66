"""The ties in the ranking of every item, from the definition and in fractions."""

from fractions import Fraction
from typing import Any

import numpy.typing as npt

import exact_oracle
import oracle
import rounding_oracle

Array = npt.NDArray[Any]


def leave_one_out(vectors: Array, labels: Array, distance: str, precision: str | None) -> list[oracle.Ranking]:
    """The ranking for each item whose label occurs again, by distances that are rounded to a precision."""
    points = exact_oracle.fractions(vectors)

    def nearness(x: exact_oracle.Vector, y: exact_oracle.Vector) -> Fraction:
        if precision is None:
            return exact_oracle.KEYS[distance](x, y)
        return -rounding_oracle.rounded(precision, rounding_oracle.distance(distance, x, y))

    found = []
    for query, label in enumerate(labels):
        others = [item for item in range(len(labels)) if item != query]
        keys = {item: nearness(points[query], points[item]) for item in others}
        ranking: oracle.Ranking = [
            [int(labels[item] == label) for item in others if keys[item] == key]
            for key in sorted(set(keys.values()), reverse=True)
        ]
        if any(grade for tie in ranking for grade in tie):
            found.append(ranking)
    return found


def mean(
    vectors: Array, labels: Array, distance: str, name: str, cutoff: int | None = None, precision: str | None = None
) -> list[float]:
    """Lower, expected and upper mean of the oracle's measure of that name over all orderings of all queries."""
    rankings = leave_one_out(vectors, labels, distance, precision)
    each = [oracle.enumerate_orderings(oracle.DEFINITIONS[name], ranking, cutoff=cutoff) for ranking in rankings]
    return [
        float(sum(values) / len(each))
        for values in zip(*((one.lower, one.expected, one.upper) for one in each), strict=True)
    ]
