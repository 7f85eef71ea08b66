"""collisions.h, compared with Python gap by gap and tie by tie."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from kernel_levels import LEVELS, at
from kernels import collisions as reference
from tieproof.distances.gauge import LINEAR, ROOT, SIGNED_SQUARE, SIMILARITY, SINE, Curve, curve
from tieproof.engine.collisions import (
    APART,
    OPEN,
    CollidingItems,
    CollisionDesk,
    DistanceScale,
    Listing,
    OrderedItems,
    RowRoom,
    bounds_of_each,
    judge_each,
    paint,
    rank_rows,
    write_ties,
)
from tieproof.ties import FloatArray, SmallIntArray

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
    """Rising values in rows: ties, neighbors one unit apart, zeros of either sign, subnormals, huge numbers."""
    random = np.random.default_rng(seed)
    few = random.integers(-3, 4, size=40) / 4
    hard = [0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 2.0**-1022]
    near = random.normal(size=20)
    steps = np.nextafter(near, np.inf)
    wide = random.normal(size=33) * 10.0 ** random.integers(-300, 300, size=33)
    return np.sort([np.concatenate([few, hard, near, steps, wide]), random.normal(size=120)], axis=1)


def listing(random: np.random.Generator, queries: int, width: int, most: int) -> Listing:
    """At most so many columns for each query, some of them repeated."""
    lengths = random.integers(0, most + 1, size=queries)
    pointer = np.concatenate([[0], np.cumsum(lengths)])
    return Listing(pointer, random.integers(0, width, size=pointer[-1]))


def rankings_of(count: int, width: int) -> tuple[OrderedItems, RowRoom]:
    """Working memory for rankings and for a row, filled with values that must not be read."""
    rankings = OrderedItems(
        np.full((count, width), -9, dtype=np.int32),
        np.full((count, width), -9, dtype=np.int8),
        np.full(count, -9),
        np.full(count, -9),
    )
    return rankings, CollisionDesk.of(0, width).room


def check_ranked(values: FloatArray, items: CollidingItems, scale: DistanceScale, level: str) -> None:
    """Whether rows are sorted and their gaps judged as they are one by one; rows without ties need not be sorted."""
    count, width = values.shape
    rankings, room = rankings_of(count, width)
    found = values.copy()
    is_open = at(level, rank_rows)(found, items, scale, rankings, room)
    assert is_open == rankings.open.sum()
    for q in range(count):
        span = slice(*items.excluded.pointer[q : q + 2].tolist())
        present = items.weight - np.bincount(items.excluded.items[span], minlength=width)
        ranked = int(rankings.ranked[q])
        order = rankings.order[q, :ranked]
        assert sorted(order.tolist()) == np.flatnonzero(present > 0).tolist()
        ascending = sorted(values[q, present > 0].tolist())
        expected = [reference.judge(*gap, scale) for gap in pairwise(ascending)]
        assert found[q, :ranked].tolist() == values[q, order].tolist()
        if any(state != APART for state in expected) or scale.epsilon or (items.weight != 1).any():
            assert found[q, :ranked].tolist() == ascending
        assert rankings.states[q].tolist() == [*expected, *[APART] * (width - len(expected))]
        assert rankings.open[q] == sum(state & OPEN > 0 for state in expected)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("epsilon", [0.0, 5e-324, 1e-12, 0.25, 1e300])
@pytest.mark.parametrize("shaped", CURVES, ids=str)
def test_gaps(shaped: Curve, epsilon: float, level: str) -> None:
    for seed, (absolute, relative) in enumerate(ERRORS):
        random = np.random.default_rng(seed)
        values = random.permuted(rising(seed), axis=1)
        weight = random.integers(1, 3, size=120, dtype=np.int32)
        for certain in (False, True):
            items = CollidingItems(
                weight, excluded_at_most(listing(random, 2, 120, 60), weight), listing(random, 2, 120, 9)
            )
            check_ranked(values, items, DistanceScale(shaped, absolute, relative, epsilon, certain), level)


def excluded_at_most(named: Listing, weight: SmallIntArray) -> Listing:
    """The listed columns, each at most as often as it exists."""
    kept = []
    for start, stop in pairwise(named.pointer.tolist()):
        columns = np.sort(named.items[start:stop])
        places = np.arange(len(columns)) - np.searchsorted(columns, columns)
        kept.append(columns[places < weight[columns]])
    return Listing(np.cumsum([0, *map(len, kept)]), np.concatenate(kept))


def piled_up(random: np.random.Generator) -> FloatArray:
    """Rows that a grid divides badly: near its ends, units in the last place apart, of all magnitudes, or equal."""
    size = 3000
    return np.array(
        [
            2.0 ** random.uniform(-1074, 1020, size=size),
            -(2.0 ** -random.integers(0, 1074, size=size).astype(float)),
            1 + random.integers(0, 50, size=size) * 2.0**-52,
            np.where(random.random(size) < 0.01, 1e308, random.normal(size=size)),
            random.choice([-1e308, 1e308, 0.0, -0.0], size=size),
            np.full(size, 7.25),
            np.concatenate([[1e300], 1e-300 * random.normal(size=size - 1)]),
            np.arange(size)[::-1] / 4,
            random.integers(0, 40, size=size) * 5e-324,
            random.normal(size=size),
        ]
    )


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("width", [0, 1, 2, 9, 24, 25, 200, 3000])
def test_sorting(width: int, level: str) -> None:
    random = np.random.default_rng(width)
    values = np.ascontiguousarray(piled_up(random)[:, :width])
    nothing = Listing(np.zeros(11, dtype=np.int64), np.zeros(0, dtype=np.int64))
    items = CollidingItems(np.ones(width, dtype=np.int32), nothing, nothing)
    check_ranked(values, items, DistanceScale(curve(LINEAR), 0.0, 2.0**-52, 0.0, False), level)
    everything = Listing(np.arange(11) * width, np.tile(np.arange(width), 10))
    check_ranked(
        values, items._replace(excluded=everything), DistanceScale(curve(LINEAR), 0.0, 0.0, 0.0, True), level
    )


def nearly_tied(random: np.random.Generator, width: int, error: float) -> FloatArray:
    """Rows of random values, of which two differ by about twice the error, which is where gaps begin to be open."""
    gaps = error * np.array([0.0, 0.5, 1.9, 2.0, 2.0 + 2.0**-30, 2.1, 9.0])
    values = np.concatenate([random.normal(size=(14, width)), random.random(size=(14, width))])
    values[:, -1] = values[:, 3] + np.tile(gaps, 4)
    return values


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("error", [0.0, 2.0**-45, 2.0**-24, 2.0**-15, 2.0**-4])
@pytest.mark.parametrize("width", [24, 25, 300, 3000])
def test_the_only_tie_of_a_row_is_found_without_sorting(width: int, error: float, level: str) -> None:
    random = np.random.default_rng(width)
    values = random.permuted(nearly_tied(random, width, error), axis=1)
    nothing = Listing(np.zeros(len(values) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64))
    items = CollidingItems(np.ones(width, dtype=np.int32), nothing, nothing)
    for certain in (False, True):
        check_ranked(values, items, DistanceScale(curve(LINEAR), error, 0.0, 0.0, certain), level)
        check_ranked(values, items, DistanceScale(curve(LINEAR), 0.0, error, 0.0, certain), level)


def test_rows_without_ties_are_not_sorted() -> None:
    values = np.random.default_rng(0).normal(size=(40, 500))
    nothing = Listing(np.zeros(41, dtype=np.int64), np.zeros(0, dtype=np.int64))
    items = CollidingItems(np.ones(500, dtype=np.int32), nothing, nothing)
    rankings, room = rankings_of(*values.shape)
    rank_rows(values, items, DistanceScale(curve(LINEAR), 2.0**-50, 0.0, 0.0, False), rankings, room)
    assert (rankings.order == np.arange(500)).all()


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


def test_distances_beyond_float64_have_no_bound() -> None:
    shaped, low, high = curve(LINEAR, Fraction(2) ** 30), np.empty(2), np.empty(2)
    bounds_of_each(np.array([-1e300, 1e300]), np.zeros(2), 1.0, shaped, low, high)
    assert (low[0], high[1]) == (-math.inf, math.inf)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("share", [0.0, 0.05, 0.6, 1.0])
@pytest.mark.parametrize("single", [False, True])
def test_ties(share: float, single: bool, level: str) -> None:
    random = np.random.default_rng(9)
    count, width = 7, 40
    rankings, room = rankings_of(count, width)
    rankings.order[:] = np.argsort(random.random((count, width)), axis=1)
    rankings.states[:] = random.random((count, width)) < share
    rankings.ranked[:] = 40, 0, 1, 2, 33, 40, 17
    rankings.states[np.arange(count), np.maximum(rankings.ranked - 1, 0)] = APART
    weight = np.ones(width, dtype=np.int32) if single else random.integers(1, 4, size=width, dtype=np.int32)
    items = CollidingItems(
        weight, excluded_at_most(listing(random, count, width, 9), weight - 1), listing(random, count, width, 9)
    )
    expected = []
    for q, ranked in enumerate(rankings.ranked.tolist()):
        counts = [
            np.bincount(side.items[side.pointer[q] : side.pointer[q + 1]], minlength=width)[
                rankings.order[q, :ranked]
            ]
            for side in items[1:]
        ]
        present = weight[rankings.order[q, :ranked]] - counts[0]
        found = reference.ties(rankings.states[q, :ranked].tolist(), present.tolist(), counts[1].tolist())
        expected += [[q, *tie] for tie in found]
    written = []
    query = 0
    ties = np.full((5, 70), -1)
    while query < count:
        query, number = at(level, write_ties)(rankings, items, query, single, room, ties)
        written += ties[:, :number].T.tolist()
    assert written == expected


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
