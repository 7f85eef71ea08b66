"""collisions.h, against gap by gap and tie by tie."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from kernel_levels import LEVELS, at
from kernels import collisions as reference
from tieproof.distances.curves import LINEAR, ROOT, SIGNED_SQUARE, SIMILARITY, SINE, Curve, curve
from tieproof.engine.collisions.kernels import (
    OPEN,
    OrderedItems,
    Scale,
    bounds_of_each,
    judge_each,
    judge_gaps,
    paint,
    ties_of_rankings,
)
from tieproof.ties import FloatArray

CURVES = [
    curve(LINEAR),
    curve(LINEAR, Fraction(1, 3)),
    curve(ROOT, Fraction(2) ** -30),
    curve(SIMILARITY),
    curve(SIGNED_SQUARE),
    curve(SINE),
]

ERRORS = [(0.0, 0.0), (2.0**-45, 0.0), (0.0, 2.0**-40), (5e-324, 2.0**-51)]


def rising(seed: int) -> FloatArray:
    """Rising values in rows: ties, neighbours one unit apart, zeros of either sign, subnormals, huge numbers."""
    random = np.random.default_rng(seed)
    few = random.integers(-3, 4, size=40) / 4
    hard = [0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 2.0**-1022]
    near = random.normal(size=20)
    steps = np.nextafter(near, np.inf)
    wide = random.normal(size=33) * 10.0 ** random.integers(-300, 300, size=33)
    return np.sort([np.concatenate([few, hard, near, steps, wide]), random.normal(size=120)], axis=1)


@pytest.mark.parametrize("epsilon", [0.0, 5e-324, 1e-12, 0.25, 1e300])
@pytest.mark.parametrize("shaped", CURVES, ids=str)
def test_gaps(shaped: Curve, epsilon: float) -> None:
    for seed, (absolute, relative) in enumerate(ERRORS):
        values = rising(seed)
        for certain in (False, True):
            scale = Scale(shaped, absolute, relative, epsilon, certain)
            for counts in ([120, 77], [0, 1], [2, 120]):
                expected = np.zeros(values.shape, dtype=np.int8)
                for row, state, count in zip(values.tolist(), expected, counts, strict=True):
                    state[: max(count - 1, 0)] = [reference.judge(*gap, scale) for gap in pairwise(row[:count])]
                for level in LEVELS:
                    states = np.full(values.shape, 9, dtype=np.int8)
                    is_open = at(level, judge_gaps)(values, np.array(counts), scale, states)
                    assert states.tolist() == expected.tolist()
                    assert is_open == np.count_nonzero(expected & OPEN)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 0.25])
@pytest.mark.parametrize("shaped", CURVES, ids=str)
def test_gaps_between_values_with_errors_of_their_own(shaped: Curve, epsilon: float, level: str) -> None:
    values = rising(7)[0]
    errors = np.abs(values) * 2.0 ** -np.random.default_rng(8).integers(30, 60, size=len(values))
    low, high = np.empty_like(values), np.empty_like(values)
    at(level, bounds_of_each)(values, errors, epsilon, shaped, low, high)
    expected = [
        reference.bounds(*pair, epsilon, shaped) for pair in zip(values.tolist(), errors.tolist(), strict=True)
    ]
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == expected
    low.sort()
    high.sort()
    states = np.empty(len(values) - 1, dtype=np.int8)
    at(level, judge_each)(low, high, epsilon, states)
    bounds = pairwise(zip(low.tolist(), high.tolist(), strict=True))
    assert states.tolist() == [reference.judge_bounds(*pair, epsilon) for pair in bounds]


def test_what_float64_does_not_hold_has_no_bound() -> None:
    shaped, low, high = curve(LINEAR, Fraction(2) ** 30), np.empty(2), np.empty(2)
    bounds_of_each(np.array([-1e300, 1e300]), np.zeros(2), 1.0, shaped, low, high)
    assert (low[0], high[1]) == (-math.inf, math.inf)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_ties(share: float, level: str) -> None:
    random = np.random.default_rng(9)
    shape = (5, 40)
    order = np.argsort(random.random(shape), axis=1)
    states = (random.random(shape) < share).astype(np.int8)
    ranked = np.array([40, 0, 1, 2, 33])
    states[np.arange(5), np.maximum(ranked - 1, 0)] = 0
    present = random.integers(1, 4, size=shape, dtype=np.int32)
    relevant = random.integers(0, present + 1).astype(np.int32)
    expected = [
        [q, *tie]
        for q, count in enumerate(ranked.tolist())
        for tie in reference.ties(
            states[q, :count].tolist(), present[q, order[q, :count]].tolist(), relevant[q, order[q, :count]].tolist()
        )
    ]
    for room in (0, 3, 200):
        ties = np.full((5, room), -1)
        rankings = OrderedItems(order, states, ranked, present, relevant)
        found = at(level, ties_of_rankings)(rankings, ties[1], ties[2], ties[3], ties[4], ties[0])
        assert found == len(expected)
        assert ties.T.tolist()[:found] == expected[:room]


@pytest.mark.parametrize("level", LEVELS)
def test_painting(level: str) -> None:
    random = np.random.default_rng(10)
    column_of = np.arange(50) * 7 // 50
    edges = np.searchsorted(column_of, np.arange(8))
    start = random.integers(0, 50, size=30)
    stop, row = np.minimum(50, start + random.integers(0, 40, size=30)), random.integers(0, 3, size=30)
    cells, expected = np.zeros((3, 7), dtype=np.int64), np.zeros((3, 7), dtype=np.int64)
    at(level, paint)(row, start, stop, column_of, edges, cells)
    for where, first, end in zip(row, start, stop, strict=True):
        np.add.at(expected[where], column_of[first:end], 1)
    assert cells.tolist() == expected.tolist()
