"""The differences of every pair of systems on every query, as columns that tests and intervals read."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tieproof.results.differences import ROUNDING, difference, values_in_order
from tieproof.results.intervals import BOUNDS, in_groups
from tieproof.results.results import Result
from tieproof.statistics.strata import Strata
from tieproof.ties import FloatArray, IntArray

Key = tuple[str, str, str]
"""Two systems and a measure."""


class Columns(NamedTuple):
    """The differences of n queries for each of k keys: the system that is ahead in expectation minus the other.

    ahead : (k,) 1 if the first system is ahead, -1 if the second is, and 0 if their means are equal except for
        rounding; the columns of such a pair are the first system minus the second
    expected, against : (n, k) the differences of the expected values; and the differences with all ties broken
        against the system that is ahead and in favor of the other, or if neither is ahead, against the one of the two
        whose mean is then below 0
    systems, values : all m systems, sorted, and their expected values (measures, n, m)
    strata : the categories of the queries if the mean is over categories; the queries are sorted by category
    """

    keys: list[Key]
    ahead: IntArray
    expected: FloatArray
    against: FloatArray
    systems: list[str]
    values: FloatArray
    strata: Strata


def columns_of(results: Mapping[str, Result], places: Mapping[str, IntArray], keys: list[Key]) -> Columns:
    """Return the differences of every pair and measure; differences that are only due to rounding are 0."""
    one, systems = next(iter(results.values())), sorted(results)
    measures = list(dict.fromkeys(measure for _, _, measure in keys))
    found = {
        (name, measure): values_in_order(results[name], places[name], measure)
        for name in systems
        for measure in measures
    }
    counted = ~np.isnan(found[systems[0], measures[0]].lower)
    categories = one.category_of_query if one.setting.average == "macro" else None
    order, strata = in_groups(int(counted.sum()), None if categories is None else categories[counted])
    queries = np.flatnonzero(counted)[order]

    estimates = [difference(found[a, measure], found[b, measure]) for a, b, measure in keys]
    lower, expected, upper = (
        settled(np.stack([getattr(each, bound)[queries] for each in estimates], axis=1)) for bound in BOUNDS
    )
    ahead = sides(expected, strata)
    against = np.where((ahead > 0) | ((ahead == 0) & (sides(lower, strata) < 0)), lower, -upper)
    values = np.array([[found[name, measure].expected[queries] for name in systems] for measure in measures])
    turned = np.where(ahead < 0, -expected, expected)
    return Columns(keys, ahead, turned, against, systems, np.moveaxis(values, 1, 2), strata)


def sides(differences: FloatArray, strata: Strata) -> IntArray:
    """The sign of the mean of each column of differences (n, k), which is 0 if only rounding makes it differ from 0.

    >>> sides(np.array([[0.1, 0.1, -0.5], [0.2, 0.2, 0.25], [-0.3, 0.3, 0.0]]), Strata(np.array([3])))
    array([ 0,  1, -1])
    """
    means = np.array([strata.mean(column) for column in differences.T])
    return np.where(np.abs(means) <= ROUNDING, 0, np.sign(means)).astype(np.int64)


def settled(differences: FloatArray) -> FloatArray:
    """Set differences that are only due to rounding to 0."""
    return np.where(np.abs(differences) <= ROUNDING, 0.0, differences)
