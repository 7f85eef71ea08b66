"""Decide by exact keys the gaps that float64 cannot decide.

Neighbours with an undecided gap or an undecided order form chains. Within a chain, the items are sorted by their
exact keys, and then each gap is decided. With an epsilon, more precise float64 values are tried first.
"""

from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.gauge import Gauge
from tieproof.engine.collisions.kernels import (
    APART,
    CLOSE,
    OPEN,
    States,
    bounds_of_each,
    judge_each,
)
from tieproof.engine.order import spans_of_runs
from tieproof.ties import FloatArray, IntArray


class Links(NamedTuple):
    """The items of chains: arrays of the distinct query row, the column, the value and the chain of each item."""

    rows: IntArray
    columns: IntArray
    values: FloatArray
    chain: IntArray


Decided = tuple[IntArray, npt.NDArray[np.integer[Any]]]
"""The order of the items, nearest first within each chain, and the state of the gap after each but the last."""


def decide(gauge: Gauge, rows: IntArray, values: FloatArray, order: IntArray, states: States, epsilon: float) -> None:
    """Decide all open gaps in the rankings of the distinct query rows `rows`, and update `order` and `states`.

    values, order, states : (q, w) for each position the value, the column, and the state of the gap after it
    """
    for step in (by_sharp_values, by_fractions) if epsilon else (by_digits,):
        start, stop = chains(states)
        length = stop - start
        number = np.repeat(np.arange(len(start)), length)
        place = np.arange(len(number)) + np.repeat(start - np.cumsum(length) + length, length)
        flat_order, flat_states, flat_values = order.reshape(-1), states.reshape(-1), values.reshape(-1)
        for span in spans_of_runs(number):
            some, chain = place[span], number[span]
            links = Links(rows[some // order.shape[1]], flat_order[some], flat_values[some], chain)
            decided = step(gauge, links, epsilon)
            if decided is not None:
                flat_order[some] = links.columns[decided[0]]
                inside = chain[1:] == chain[:-1]
                flat_states[some[:-1][inside]] = decided[1][inside]


def chains(states: States) -> tuple[IntArray, IntArray]:
    """The first positions, in the flattened arrays, of the chains with an open gap, and the positions after them."""
    linked = np.append(states.ravel() >= OPEN, False)  # the last position of a ranking has no gap after it
    steps = np.diff(linked.astype(np.int8), prepend=0)
    start, stop = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) + 1
    if not len(start):
        return start, stop
    is_open = np.maximum.reduceat((states.ravel() & OPEN).astype(np.int8), start) > 0
    return start[is_open], stop[is_open]


def by_digits(gauge: Gauge, links: Links, epsilon: float) -> Decided:
    """Find exact ties by the digits of exact keys."""
    digits = gauge.digits(links.rows, links.columns)
    varying = [~digit for digit in digits.T[::-1] if (digit != digit[0]).any()]
    sorting = np.lexsort((*varying, links.chain))
    digits = digits[sorting]
    return sorting, np.where((digits[1:] == digits[:-1]).all(axis=1), CLOSE, APART)


def by_sharp_values(gauge: Gauge, links: Links, epsilon: float) -> Decided | None:
    """Decide which neighbours are close by values whose errors are small even for small distances."""
    sharp = gauge.sharp(links.rows, links.columns)
    if sharp is None:
        return None
    low, high = (np.empty(len(links.chain)) for _ in range(2))
    bounds_of_each(*sharp, epsilon, gauge.sharp_curve(), low, high)
    low, high = (bound[np.lexsort((bound, links.chain))] for bound in (low, high))
    states = np.empty(len(low) - 1, dtype=np.int8)
    judge_each(low, high, epsilon, states)
    return np.lexsort((sharp[0], links.chain)), states


def by_fractions(gauge: Gauge, links: Links, epsilon: float) -> Decided:
    """Decide which neighbours are close by fractions, which decides all remaining gaps."""
    exact_epsilon, chain = Fraction(epsilon), links.chain.tolist()
    keys = [key * gauge.unit for key in gauge.exact(links.values, links.rows, links.columns)]
    sorting = sorted(range(len(keys)), key=lambda i: (chain[i], keys[i]))
    close = [gauge.is_closer(keys[i], keys[j], exact_epsilon) for i, j in pairwise(sorting)]
    return np.array(sorting), np.where(close, CLOSE, APART)
