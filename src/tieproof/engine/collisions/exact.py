"""Gaps that float64 leaves open, decided by exact keys.

Neighbours with open gaps form chains, and so do those whose order is open. Within a chain the exact keys of all items
are computed, which put them in order; then each gap is decided. With an epsilon sharper float64 values are tried
before.
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
    """The items of chains: the distinct query row, the column and the value of each, and the number of its chain."""

    rows: IntArray
    columns: IntArray
    values: FloatArray
    chain: IntArray


Decided = tuple[IntArray, npt.NDArray[np.integer[Any]]]
"""The order of items, nearest first within each chain, and the state of the gap behind each but the last."""


def decide(gauge: Gauge, rows: IntArray, values: FloatArray, order: IntArray, states: States, epsilon: float) -> None:
    """Decide all open gaps of rankings of the distinct query rows `rows`, changing `order` and `states`.

    values, order, states : (q, w) the value of each place, its column, and what is known of the gap behind it
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
    """First places of the chains that hold an open gap, and the places after their last ones; in flat arrays."""
    linked = np.append(states.ravel() >= OPEN, False)  # the last place of a ranking is linked to nothing
    steps = np.diff(linked.astype(np.int8), prepend=0)
    start, stop = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) + 1
    if not len(start):
        return start, stop
    is_open = np.maximum.reduceat((states.ravel() & OPEN).astype(np.int8), start) > 0
    return start[is_open], stop[is_open]


def by_digits(gauge: Gauge, links: Links, epsilon: float) -> Decided:
    """Which links are exact ties, by the digits of exact keys."""
    digits = gauge.digits(links.rows, links.columns)
    varying = [~digit for digit in digits.T[::-1] if (digit != digit[0]).any()]
    sorting = np.lexsort((*varying, links.chain))
    digits = digits[sorting]
    return sorting, np.where((digits[1:] == digits[:-1]).all(axis=1), CLOSE, APART)


def by_sharp_values(gauge: Gauge, links: Links, epsilon: float) -> Decided | None:
    """Which links are close, by values whose errors are small for small distances, too, as of near-duplicates."""
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
    """Which links are close, by fractions, which decide everything that is left."""
    exact_epsilon, chain = Fraction(epsilon), links.chain.tolist()
    keys = [key * gauge.unit for key in gauge.exact(links.values, links.rows, links.columns)]
    sorting = sorted(range(len(keys)), key=lambda i: (chain[i], keys[i]))
    close = [gauge.is_closer(keys[i], keys[j], exact_epsilon) for i, j in pairwise(sorting)]
    return np.array(sorting), np.where(close, CLOSE, APART)
