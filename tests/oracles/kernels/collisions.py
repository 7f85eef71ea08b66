"""Gaps and ties, one at a time: the reference of collisions.h."""

import math
from collections.abc import Iterator

from kernels.curves import distance_of
from tieproof.distances.gauge import Curve
from tieproof.engine.collisions import APART, CLOSE, OPEN, TINY, UNORDERED, DistanceScale
from tieproof.engine.rounded import FARTHEST, SLACK

Bounds = tuple[float, float]


def bounds(value: float, error: float, epsilon: float, curve: Curve) -> Bounds:
    """Bounds of the distance that has this value; for epsilon 0, bounds of the value, which has the same order."""
    if error > 0.0:
        error += SLACK * (abs(value) + error)
    if epsilon == 0.0:
        return value - error, value + error
    low, high = distance_of(value - error, curve), distance_of(value + error, curve)
    is_low, is_high = low < -FARTHEST, high > FARTHEST
    low, high = min(max(low, -FARTHEST), FARTHEST), min(max(high, -FARTHEST), FARTHEST)
    low, high = low - curve.error * abs(low) - TINY, high + curve.error * abs(high) + TINY
    return -math.inf if is_low else low, math.inf if is_high else high


def judge_bounds(near: Bounds, far: Bounds, epsilon: float) -> int:
    """The state of the gap between two numbers with these bounds."""
    unordered = UNORDERED if far[0] <= near[1] else 0
    if epsilon == 0.0:
        if near[0] == near[1] == far[0] == far[1]:
            return CLOSE
        return OPEN + UNORDERED if unordered else APART
    if (far[1] - near[0]) * (1.0 + SLACK) < epsilon:
        return CLOSE + unordered
    return APART if (far[0] - near[1]) * (1.0 - SLACK) >= epsilon else OPEN + unordered


def judge(near: float, far: float, scale: DistanceScale) -> int:
    """The state of one gap between values."""
    if scale.epsilon == 0.0 and scale.certain:
        return CLOSE if near == far else APART
    first, last = (
        bounds(value, scale.absolute + scale.relative * abs(value), scale.epsilon, scale.curve)
        for value in (near, far)
    )
    return judge_bounds(first, last, scale.epsilon)


def ties(states: list[int], present: list[int], relevant: list[int]) -> Iterator[tuple[int, int, int, int]]:
    """(k, n, l, m) of each tie of at least two items; all lists are in the order of the ranking."""
    start = 0
    for stop in range(1, len(states) + 1):
        if states[stop - 1] == APART:
            items, hits = sum(present[start:stop]), sum(relevant[start:stop])
            if items > 1:
                yield sum(present[:start]), sum(relevant[:start]), items, hits
            start = stop
