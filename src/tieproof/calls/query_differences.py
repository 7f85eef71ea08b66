"""The differences of every pair of systems on every query, as columns that tests and intervals read."""

import math
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

    ahead : (k,) 1 if the first system is ahead or neither is, -1 if the second is ahead
    expected, against : (n, k) the differences of the expected values; and the differences with all ties broken
        against the system that is ahead and in favour of the other
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
    weighted = expected * strata.weights[:, None]
    ahead = np.array([-1 if math.fsum(column.tolist()) < 0 else 1 for column in weighted.T])
    against = np.where(ahead > 0, lower, -upper)
    values = np.array([[found[name, measure].expected[queries] for name in systems] for measure in measures])
    return Columns(keys, ahead, expected * ahead, against, systems, np.moveaxis(values, 1, 2), strata)


def settled(differences: FloatArray) -> FloatArray:
    """Set differences that are only due to rounding to 0."""
    return np.where(np.abs(differences) <= ROUNDING, 0.0, differences)
