"""The distribution of a result's mean over the orderings of tied items."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tieproof.errors import InputError
from tieproof.measures import Measure
from tieproof.measures.distribution.distribution import Distribution
from tieproof.measures.distribution.sums import bracket
from tieproof.measures.distribution.tied import Ambiguous, tied
from tieproof.ties import Estimate, FloatArray

if TYPE_CHECKING:
    from tieproof.evaluation.measured import Measured

FINEST = 1e-7  # the finest resolution: with a finer one, the numbers would take gigabytes of memory
SHARPER = 8.0  # by how much smaller the error of small ties is in the tails, down to one in a thousand (measured)


def distribution_of(result: "Measured", measure: Measure, resolution: float) -> Distribution:
    """Return the distribution of a mean; see `Result.distribution`."""
    estimate, counted = result[measure], int((~np.isnan(result.per_query(measure).lower)).sum())
    return as_distribution(str(measure), estimate, counted, [tied_of(result, measure, 1.0)], resolution)


def as_distribution(
    name: str, estimate: Estimate[float], queries: int, ties: Sequence[Ambiguous | None], resolution: float
) -> Distribution:
    """Return the distribution of a number whose estimate is known, and to which these ties add."""
    if not isinstance(resolution, int | float) or not FINEST <= resolution <= 1:
        raise InputError(f"resolution must be a number from {FINEST:g} to 1, not {resolution!r}.", "resolution")
    between = partial(bracket, [each for each in ties if each], estimate, resolution)
    return Distribution(name, estimate, queries, resolution, between(), partial(between, sharper=SHARPER))


def tied_of(result: "Measured", measure: Measure, sign: float) -> Ambiguous | None:
    """Return the ties that can change a mean, with the weights of their queries times `sign`."""
    parts = result.evaluated.kept
    if parts is None:
        raise InputError(
            "This result has no ties of single queries: it is from a record, or the ties take more than a sixteenth "
            "of the memory. Evaluate the data again, with a larger memory=, and take its distribution.",
            "measure",
        )
    if result.ties.queries_with_open_last_tie:
        raise InputError(
            "Some queries have unseen items, which may continue the last tie of their lists, and nobody knows how "
            "likely that is. Pass whole lists.",
            "measure",
        )
    return tied(measure, parts, sign * _weights(result, measure))


def _weights(result: "Measured", measure: Measure) -> FloatArray:
    """Return the weight of each query in the mean, (Q,)."""
    counted = ~np.isnan(result.per_query(measure).lower)
    groups = [np.flatnonzero(counted)]
    categories = result.evaluated.categories
    if result.setting.average == "macro" and categories is not None:
        groups = [members[counted[members]] for members in categories.members.values()]
    weights = np.zeros(len(counted))
    for members in groups:
        weights[members] = 1.0 / (len(groups) * len(members))
    return weights
