"""Both error rates of all pairs: where they are equal, and what they are at the distances of all relevant pairs."""

import numpy as np

from tieproof.analyses.rates.counting import EVERYTHING, Goal, reached
from tieproof.analyses.rates.pool import Pool, Stripe, Table
from tieproof.analyses.rates.result import EqualErrorRate
from tieproof.engine.problem import Progress
from tieproof.errors import InputError
from tieproof.ties import FloatArray, IntArray

BYTES_PER_RELEVANT = 512  # the memory for a relevant pair while its exact key is kept


def equal_error_rate(pool: Pool, progress: Progress) -> EqualErrorRate:
    """The equal error rate of all pairs of a pool, whose distances are compared as real numbers."""
    n_relevant, n_others = pool.n_relevant, pool.n_others
    # The rates have crossed when the share of other pairs that are not farther is at least that of relevant ones
    # that are farther.
    crossed = Goal(n_relevant, n_others, n_relevant * n_others)
    key, before, equal, nearer, as_far = reached(pool, {crossed: EVERYTHING}, progress)[crossed]
    return EqualErrorRate.of_counts(pool.gauge.distance(key), before, nearer, equal, as_far, n_relevant, n_others)


def steps(pool: Pool, progress: Progress) -> tuple[FloatArray, IntArray, IntArray]:
    """The thresholds, and the numbers of false matches and of false non-matches at each, as `DetCurve` has them.

    Between the distances of relevant pairs, only false matches can increase.

    Around the value of each relevant pair is a window as wide as the errors of values; windows that overlap are one.
    Other pairs outside all windows are certainly nearer or farther than each relevant pair. The pairs inside are
    compared exactly.
    """
    needed = pool.n_relevant * BYTES_PER_RELEVANT
    if needed > pool.memory:
        raise InputError(
            f"A curve keeps the distances of all {pool.n_relevant:,} relevant pairs, about {needed:,} bytes, but the "
            f"memory is {pool.memory:,} bytes. Pass more memory, or leave the curve out.",
            "memory",
        )
    low, high = _windows(pool, progress)
    outside, others, relevant = np.zeros(len(low) + 1, dtype=np.int64), Table(), Table()
    for beside, more_others, more_relevant in pool.each(lambda stripe: _count(pool, stripe, low, high, progress)):
        outside += beside
        others.update(more_others)
        relevant.update(more_relevant)
    gauge, between = pool.gauge, np.cumsum(outside).tolist()
    rows = [(-np.inf, 0, pool.n_relevant)]
    inside = 0
    for key in sorted(relevant.keys() | others.keys()):
        if key in relevant:
            last, matches, misses = rows[-1]
            exact = key * gauge.unit
            window = int(np.searchsorted(low, gauge.near(exact), side="right")) - 1
            distance = gauge.distance(exact) + 0.0  # no negative zero
            nearer = between[window] + inside
            if nearer > matches:
                rows.append((max(last, float(np.nextafter(distance, -np.inf))), nearer, misses))
            rows.append((distance, nearer + others[key], misses - relevant[key]))
        inside += others[key]
    if rows[-1][1] < pool.n_others:
        rows.append((np.inf, pool.n_others, 0))
    thresholds, *counts = map(np.array, zip(*rows, strict=True))
    return thresholds, counts[0], counts[1]


def _windows(pool: Pool, progress: Progress) -> tuple[FloatArray, FloatArray]:
    """The ends of the windows around the values of relevant pairs, the smallest first."""

    def values(stripe: Stripe) -> FloatArray:
        found = [values for *_, values in pool.relevant_values(stripe)]
        columns = pool.columns(stripe)
        progress((stripe.stop - stripe.start) * (columns.stop - columns.start))
        return np.concatenate([np.empty(0), *found])

    distinct = np.unique(np.concatenate(list(pool.each(values))))
    if pool.gauge.certain:
        return distinct, distinct
    reach = np.array([pool.gauge.reach(value) for value in distinct.tolist()])
    low, high = distinct - reach, distinct + reach
    apart = low[1:] > high[:-1]
    return low[np.append(True, apart)], high[np.append(apart, True)]


def _count(
    pool: Pool, stripe: Stripe, low: FloatArray, high: FloatArray, progress: Progress
) -> tuple[IntArray, Table, Table]:
    """Count other pairs between windows, and other and relevant pairs inside windows by their exact keys."""
    columns = pool.columns(stripe)
    block = pool.gauge.wide_values(stripe, columns)
    weights = np.multiply.outer(*pool.weights(stripe))
    relevant = Table()
    for row, column, weight in pool.not_others(stripe, relevant_only=True):
        relevant.update(pool.table(block[row, column], row + stripe.start, column + columns.start, weight))
    for row, column, weight in pool.not_others(stripe):
        np.subtract.at(weights, (row, column), weight)
    before = np.searchsorted(low, block, side="right")  # windows that begin at or before a value
    outside = (before == 0) | (block > high[before - 1])
    between = np.bincount(before[outside], weights[outside], len(low) + 1).astype(np.int64)
    row, column = np.nonzero(~outside & (weights > 0))
    others = pool.table(block[row, column], row + stripe.start, column + columns.start, weights[row, column])
    progress(block.size)
    return between, others, relevant
