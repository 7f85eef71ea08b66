"""Gaps between neighbours in rankings by float64 values, and the ties that closed gaps make."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.curves import Curve, distance_of
from tieproof.engine.rounded.kernels import FAR, SLACK
from tieproof.native.compiled import kernel
from tieproof.ties import FloatArray, IntArray, SmallIntArray

States = npt.NDArray[np.int8]

APART, CLOSE, OPEN = 0, 1, 2
"""What is known of the gap behind an item."""

UNORDERED = 4
"""Added where float64 leaves open which of the two neighbours is nearer."""


TINY = 2.0**-1068
"""More than roundings of subnormal numbers lose, and nothing beside a normal number of some size."""


class Scale(NamedTuple):
    """How values become distances, how far values may be off, and from where on neighbours are apart."""

    curve: Curve
    absolute: float
    relative: float
    epsilon: float
    certain: bool  # values have exactly the order and the ties of distances


@kernel
def judge_gaps(values: FloatArray, count: IntArray, scale: Scale, states: States) -> int:
    """Judge the gap behind each item of rankings whose first count[q] values are rising; return how many are open.

    The i-th smallest of the true distances lies between the i-th smallest lower and upper bounds, whatever their
    order, so bounds of neighbouring places bound the gap between these places.
    """
    found = 0
    for q in range(values.shape[0]):
        states[q] = APART
        for i in range(count[q] - 1):
            states[q, i] = judge(values[q, i], values[q, i + 1], scale)
            found += states[q, i] & OPEN != 0
    return found


@kernel
def judge(near: float, far: float, scale: Scale) -> int:
    """The state of one gap."""
    if scale.epsilon == 0.0 and scale.certain:
        return CLOSE if near == far else APART
    low, high = bounds(near, scale.absolute + scale.relative * abs(near), scale.epsilon, scale.curve)
    next_low, next_high = bounds(far, scale.absolute + scale.relative * abs(far), scale.epsilon, scale.curve)
    return judge_bounds(low, high, next_low, next_high, scale.epsilon)


@kernel
def judge_bounds(low: float, high: float, next_low: float, next_high: float, epsilon: float) -> int:
    """The state of the gap between two numbers with these bounds."""
    unordered = UNORDERED if next_low <= high else 0
    if epsilon == 0.0:
        if low == high and low == next_low and low == next_high:
            return CLOSE
        return OPEN + UNORDERED if unordered else APART
    if (next_high - low) * (1.0 + SLACK) < epsilon:
        return CLOSE + unordered
    return APART if (next_low - high) * (1.0 - SLACK) >= epsilon else OPEN + unordered


@kernel
def bounds(value: float, error: float, epsilon: float, curve: Curve) -> tuple[float, float]:
    """Bounds of the distance that has this value; for epsilon 0 of the value, which has the same order."""
    if error > 0.0:
        error += SLACK * (abs(value) + error)
    if epsilon == 0.0:
        return value - error, value + error
    low, high = distance_of(value - error, curve), distance_of(value + error, curve)
    # Float64 may not hold the distance: what is beyond FAR has no bound there, and below TINY anything may be lost.
    is_low, is_high = low < -FAR, high > FAR
    low, high = min(max(low, -FAR), FAR), min(max(high, -FAR), FAR)
    low, high = low - curve.error * abs(low) - TINY, high + curve.error * abs(high) + TINY
    return -np.inf if is_low else low, np.inf if is_high else high


@kernel
def bounds_of_each(
    values: FloatArray, errors: FloatArray, epsilon: float, curve: Curve
) -> tuple[FloatArray, FloatArray]:
    """Bounds of the distances that have these values, each with an error of its own."""
    low, high = np.empty(len(values)), np.empty(len(values))
    for i in range(len(values)):
        low[i], high[i] = bounds(values[i], errors[i], epsilon, curve)
    return low, high


@kernel
def judge_each(low: FloatArray, high: FloatArray, epsilon: float) -> States:
    """The states of the gaps between numbers with rising bounds."""
    states = np.empty(max(0, len(low) - 1), dtype=np.int8)
    for i in range(len(states)):
        states[i] = judge_bounds(low[i], high[i], low[i + 1], high[i + 1], epsilon)
    return states


class OrderedItems(NamedTuple):
    """Distinct items in order, the gap behind each, and of how many items they consist.

    order : (q, w) columns, of which the first ranked[q] are ranked
    states : (q, w) of the gap behind each
    ranked : (q,)
    present, relevant : (q, w) ranked and relevant items of each column, in the order of columns
    """

    order: IntArray
    states: States
    ranked: IntArray
    present: SmallIntArray
    relevant: SmallIntArray


@kernel
def ties_of_rankings(
    rankings: OrderedItems, k: IntArray, n: IntArray, l: IntArray, m: IntArray, query: IntArray
) -> int:
    """Write down all ties of at least two items, nearest first; return how many there are.

    The arrays may be too short: what does not fit is only counted.
    """
    found = 0
    for q in range(rankings.order.shape[0]):
        before = relevant_before = items = relevant = 0
        for i in range(rankings.ranked[q]):
            column = rankings.order[q, i]
            items += rankings.present[q, column]
            relevant += rankings.relevant[q, column]
            if rankings.states[q, i] != APART:
                continue
            if items > 1:
                if found < len(k):
                    query[found], k[found], n[found], l[found], m[found] = q, before, relevant_before, items, relevant
                found += 1
            before += items
            relevant_before += relevant
            items = relevant = 0
    return found


@kernel
def paint(
    row: IntArray, start: IntArray, stop: IntArray, column_of: IntArray, edges: IntArray, cells: IntArray
) -> None:
    """Add to cells[row[i], c] how many of the ranks start[i] … stop[i]-1 (from 0) lie in column c of the picture.

    column_of : the column of each rank; edges : the first rank of each column, and the end
    """
    for i in range(len(row)):
        rank = start[i]
        while rank < stop[i]:
            column = column_of[rank]
            end = min(stop[i], edges[column + 1])
            cells[row[i], column] += end - rank
            rank = end
