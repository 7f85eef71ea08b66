"""The worst continuation of the last tie of a list that was cut off, for nDCG and ERR of graded items.

In the worst case the tie ends with its relevant items in ascending order of gain, after all other items that the
gallery has. A missing relevant item that joins the tie adds its own gain, and pushes every item of a larger gain down
by one rank. So the items that join are those with the smallest gains. The number of them that lowers the value most
depends on the weights of the ranks: this file finds that number, and the measure itself is then evaluated with it.
"""

from collections.abc import Callable

import numpy as np

from tieproof.errors import InputError
from tieproof.measures.base import Measure
from tieproof.measures.cascade import stops
from tieproof.measures.graded_gains import gains
from tieproof.measures.rank_weights import LOGARITHMIC
from tieproof.ties import CutOffTies, FloatArray, IntArray


def worst_counts(measure: Measure, ties: CutOffTies) -> IntArray:
    """Return how many missing items of each query join its last tie in the worst continuation of nDCG, (Q,)."""
    if ties.grades is None or ties.missing_grades is None:
        return np.zeros_like(ties.missing)
    return counts_by_query(measure, ties, *gains(measure, ties, ties.missing_grades), worst_count)


def worst_counts_of_stops(measure: Measure, ties: CutOffTies) -> IntArray:
    """Return how many missing items of each query join its last tie in the worst continuation of ERR, (Q,)."""
    if ties.grades is None:
        return np.zeros_like(ties.missing)
    if ties.missing_grades is None and ties.missing.any():
        raise InputError(
            f"'{measure}' needs the grades of the relevant items that are not in the list, because they may continue "
            "its last tie. Pass whole lists, without n_relevant, or use evaluate_run, which reads all grades from "
            "the qrels."
        )
    missing = np.zeros(0) if ties.missing_grades is None else ties.missing_grades
    return counts_by_query(measure, ties, stops(measure, ties.grades), stops(measure, missing), worst_count_of_stops)


def counts_by_query(
    measure: Measure,
    ties: CutOffTies,
    listed: FloatArray,
    missing: FloatArray,
    count: Callable[[FloatArray, FloatArray, int, int | None], int],
) -> IntArray:
    """Apply `count` to each query whose last tie has relevant items, lacks some, and has a limited length."""
    counts = np.zeros_like(ties.missing)
    ends, first = np.cumsum(ties.listed), np.cumsum(ties.missing) - ties.missing
    last = measure.last_rank(ties)
    size = ties.end.k + ties.end.l + np.where(np.isfinite(ties.end.others), ties.end.others, 0.0).astype(np.int64)
    searched = (ties.end.m > 0) & (ties.missing > 0) & np.isfinite(ties.end.others)
    for query in np.flatnonzero(searched).tolist():
        tied = listed[ends[query] - ties.end.m[query] : ends[query]]
        rising = missing[first[query] : first[query] + ties.missing[query]][::-1]
        counts[query] = count(tied, rising, int(size[query]), None if last is None else int(last[query]))
    return counts


def worst_count(tied: FloatArray, missing: FloatArray, end: int, last: int | None) -> int:
    """Return how many of the `missing` gains, ascending, join a tie of `tied` gains, descending, in the worst case.

    end : the rank of the tie's last item before any of them joins
    last : the last rank that counts

    >>> worst_count(np.array([2.0]), np.array([1.0]), 3, 3)
    1
    """
    joined = np.arange(np.searchsorted(missing, tied[0]) + 1)  # a gain as large as the largest pushes no item down
    if last is None:
        last = end + len(joined)
    total = np.zeros(len(joined))
    for gain in np.unique(np.concatenate([tied, missing[: len(joined) - 1]])):
        # The items of this gain come before the larger ones, which are at the end.
        below, up_to = (
            end + joined - larger_in_tie - np.maximum(joined - at, 0)
            for larger_in_tie, at in (
                ((tied >= gain).sum(), np.searchsorted(missing, gain)),
                ((tied > gain).sum(), np.searchsorted(missing, gain, side="right")),
            )
        )
        total += gain * LOGARITHMIC.sum(np.minimum(below, last), np.minimum(up_to, last)).hi
    return int(np.argmin(total))


def worst_count_of_stops(tied: FloatArray, missing: FloatArray, end: int, last: int | None) -> int:
    """Return how many of the `missing` probabilities, ascending, join a tie of `tied` ones in the worst case of ERR.

    end : the rank of the tie's last item before any of them joins
    last : the last rank that counts

    >>> worst_count_of_stops(np.array([0.5]), np.array([0.1]), 3, 3)
    1
    """
    values = []
    for joined in range(len(missing) + 1):
        rising = np.sort(np.concatenate([tied, missing[:joined]]))
        rank = np.arange(end - len(tied) + 1, end + joined + 1)
        on = np.cumprod(np.append(1.0, 1.0 - rising[:-1]))
        counts = slice(None) if last is None else rank <= last
        values.append(np.cumsum(np.append(0.0, (on * rising / rank)[counts]))[-1])
    return int(np.argmin(values))
